// Interrupts: legal in every phase, and the history keeps only what the listener heard or read.
import { describe, expect, test } from 'vitest'
import { defineAgent } from '../agent/agent.ts'
import { createSpec } from '../agent/create-spec.ts'
import { decideBatch } from './decide.ts'
import type { Input } from './input.ts'
import { clientTool, toOutcome, serverTool, TestSession } from '../testing/test-session.ts'

test('an interrupt that names a turn ends no later one', () => {
  const session = new TestSession().user('one')
  const { turn = 0 } = session.state.turn ?? {}
  const named = { type: 'interrupt', reason: 'stop', heard: { type: 'all' }, turn } as const
  const answers = (input: Input) => {
    const start = { spec: session.spec, state: session.state, nowMs: session.nowMs }
    return decideBatch(start, [input]).answers
  }
  expect(answers(named)).toMatchObject([{ type: 'accepted', ended: turn }])
  session.send(named).user('two').fire('interrupt')
  expect(session.state.turn?.turn).toBe(turn + 1)
  const [repeated] = answers(named)
  expect(repeated).not.toHaveProperty('ended')
  expect(session.send(named).facts).toEqual([])
  expect(session.refusal({ ...named, turn: turn + 2 })).toBe('invalid_event')
  expect(session.interrupt().factTypes()).toContain('interrupt-accepted')
})

describe('an interrupt while the model speaks', () => {
  test('asks it to stop, and gives it a second', () => {
    const session = new TestSession().user('go').progress('I wi').interrupt()
    expect(session.facts).toEqual([
      { type: 'interrupt-accepted', reason: 'barge_in', heard: { type: 'all' }, untilMs: session.nowMs + 1000 },
    ])
    expect(session.effects).toEqual([
      { type: 'abort-model', attempt: 1 },
      { type: 'set-timer', timer: 'interrupt', generation: 3, atMs: session.nowMs + 1000 },
    ])
  })

  test('waits for the answer as long as its host wants', () => {
    const session = new TestSession({ interruptMs: 20_000 }).user('go').interrupt()
    expect(session.fact('interrupt-accepted').untilMs).toBe(session.nowMs + 20_000)
  })

  test('and the time that a host gives is no part of the agent’s hash', () => {
    const agent = defineAgent({ name: 'a' })
    const [local, remote] = [createSpec(agent, ['m']), createSpec(agent, ['m'], undefined, 20_000)]
    expect([local.interruptMs, remote.interruptMs, remote.hash]).toEqual([1000, 20_000, local.hash])
  })

  test('keeps what it says it had said, as far as it was heard', () => {
    const session = new TestSession().user('go').interrupt({ type: 'chars', chars: 4 })
    session.send({ type: 'model-stopped', attempt: 1, text: 'I will do it' })
    expect(session.fact('step-finished')).toEqual({
      type: 'step-finished',
      step: 1,
      attempt: 1,
      model: 'one',
      parts: [{ type: 'text', text: 'I wi' }],
      calls: [],
      finish: 'end',
      usage: {},
      textChars: 4,
      chars: 4,
      interrupted: true,
    })
    expect(session.fact('turn-finished')).toEqual({ type: 'turn-finished', turn: 1, outcome: 'interrupted', text: '' })
    expect(session.owes()).toEqual([])
  })

  test('takes an answer that was finished all the same, without its calls', () => {
    const session = new TestSession().user('go').interrupt()
    session.says({ text: 'I look', calls: ['pay'], usage: { outputTokens: 3 } })
    expect(session.lines()).toEqual(['user: go', 'assistant: I look'])
    expect(session.fact('step-finished')).toMatchObject({ usage: { outputTokens: 3 }, interrupted: true })
    expect(session.state.phase).toBe('idle')
  })

  test.each([
    ['the second is over', (session: TestSession) => session.fire('interrupt')],
    ['the model fails', (session: TestSession) => session.modelFails('model_timeout')],
    ['the turn is over its time', (session: TestSession) => session.fire('turn')],
    ['the host restarts', (session: TestSession) => session.restart()],
  ])('falls back on the logged progress when %s', (_, end) => {
    const session = new TestSession({ limits: { turnMs: 500 } }).user('go').progress('I wi').progress('ll')
    end(session.interrupt({ type: 'chars', chars: 5 }))
    expect(session.fact('step-salvaged')).toEqual({ type: 'step-salvaged', step: 1, attempt: 1, textChars: 5 })
    expect(session.lines()).toEqual(['user: go', 'assistant: I wil'])
    expect(session.fact('turn-finished').outcome).toBe('interrupted')
    expect(session.state.index.at(-1)).toMatchObject({ role: 'step', chars: 5 })
  })

  test('what was salvaged can be cut by the next one', () => {
    const session = new TestSession().user('go').progress('I will').interrupt().fire('interrupt')
    expect(session.interrupt({ type: 'chars', chars: 1 }).lines()).toEqual(['user: go', 'assistant: I'])
    expect(session.interrupt({ type: 'chars', chars: 0 }).lines()).toEqual(['user: go'])
    expect(session.state.index).toHaveLength(1)
  })

  test('stores nothing where nothing was said, heard or logged', () => {
    const session = new TestSession().user('go').interrupt().fire('interrupt')
    expect(session.factTypes()).toEqual(['turn-finished'])
    session.user('again').interrupt({ type: 'chars', chars: 0 }).send({ type: 'model-stopped', attempt: 2, text: 'hi' })
    expect(session.factTypes()).toEqual(['turn-finished'])
    session.user('more').interrupt().send({ type: 'model-stopped', attempt: 3, text: '  ' })
    expect(session.factTypes()).toEqual(['turn-finished'])
    expect(session.lines()).toEqual(['user: go', 'user: again', 'user: more'])
  })

  test('does not end by the answer of another attempt', () => {
    const session = new TestSession().user('go').interrupt().send({ type: 'model-stopped', attempt: 7, text: 'x' })
    expect(session.facts).toEqual([{ type: 'answer-ignored', attempt: 7, input: 'model-stopped', reason: 'stale' }])
    expect(session.state.phase).toBe('interrupting')
  })

  test('keeps both halves of a surrogate pair or neither', () => {
    const session = new TestSession().user('go').interrupt({ type: 'chars', chars: 2 })
    session.send({ type: 'model-stopped', attempt: 1, text: 'a😀b' })
    expect(session.lines()).toEqual(['user: go', 'assistant: a😀'])
  })

  test('a second one changes nothing: the first truth stands', () => {
    const session = new TestSession().user('go').interrupt({ type: 'chars', chars: 2 }).interrupt({ type: 'all' })
    expect(session.facts).toEqual([{ type: 'interrupt-accepted', reason: 'barge_in', heard: { type: 'all' } }])
    session.send({ type: 'model-stopped', attempt: 1, text: 'abcd' })
    expect(session.lines()).toEqual(['user: go', 'assistant: ab'])
  })

  test('what comes meanwhile is answered after it', () => {
    const session = new TestSession().user('go').interrupt().user('and?')
    session.send({ type: 'model-stopped', attempt: 1, text: 'I' })
    expect(session.told()).toEqual(['user: go', 'assistant: I', 'user: and?'])
  })

  test('counts no blank line for a step without a word', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['read'] })
      .returns('call_1_0')
    session.interrupt({ type: 'chars', chars: 3 }).send({ type: 'model-stopped', attempt: 2, text: 'Found' })
    expect(session.lines().at(-1)).toBe('assistant: Fou')
  })

  test('cuts the texts of earlier steps too, and counts the blank line between them', () => {
    const speaking = (): TestSession =>
      new TestSession()
        .user('go')
        .says({ text: 'I look.', calls: ['read'] })
        .returns('call_1_0')
    const at = (chars: number): readonly string[] =>
      speaking()
        .interrupt({ type: 'chars', chars })
        .send({ type: 'model-stopped', attempt: 2, text: 'Found' })
        .lines()
        .filter((line) => line.startsWith('assistant'))
    expect(at(0)).toEqual([])
    expect(at(6)).toEqual(['assistant: I look'])
    expect(at(7)).toEqual(['assistant: I look.'])
    expect(at(9)).toEqual(['assistant: I look.'])
    expect(at(10)).toEqual(['assistant: I look.', 'assistant: F'])
    expect(at(99)).toEqual(['assistant: I look.', 'assistant: Found'])
  })
})

describe('an interrupt while a retry waits', () => {
  test('ends the turn at once', () => {
    const session = new TestSession().user('go').modelFails('model_timeout').interrupt()
    expect(session.factTypes()).toEqual(['interrupt-accepted', 'turn-finished'])
    expect(session.owes()).toEqual([])
  })
})

describe('an interrupt while the voice of an ended turn speaks', () => {
  const spoken = (): TestSession =>
    new TestSession()
      .user('go')
      .says({ text: 'I look.', calls: ['read'] })
      .returns('call_1_0')
      .says('Found.')

  test('cuts its texts to what was heard, calls and results stay', () => {
    const session = spoken().interrupt({ type: 'chars', chars: 11 })
    expect(session.fact('answer-cut').cuts).toEqual([{ step: 2, keepChars: 2 }])
    expect(session.lines()).toEqual([
      'user: go',
      'assistant: I look.',
      'call_1_0 read {}',
      'call_1_0 = done',
      'assistant: Fo',
    ])
    session.interrupt({ type: 'chars', chars: 3 })
    expect(session.fact('answer-cut').cuts).toEqual([
      { step: 1, keepChars: 3 },
      { step: 2, keepChars: 0 },
    ])
    expect(session.lines()).toEqual(['user: go', 'assistant: I l', 'call_1_0 read {}', 'call_1_0 = done'])
    expect(session.state.index.map((entry) => entry.chars)).toEqual([2, 13])
  })

  test('cuts nothing when all was heard', () => {
    expect(spoken().interrupt().factTypes()).toEqual(['interrupt-accepted'])
    expect(spoken().interrupt({ type: 'chars', chars: 15 }).factTypes()).toEqual(['interrupt-accepted'])
  })

  test('of a version 1 app: nothing was heard before the voice got it, all after', () => {
    expect(spoken().interrupt({ type: 'display' }).lines()).toEqual(['user: go', 'call_1_0 read {}', 'call_1_0 = done'])
    const voiced = spoken().send({ type: 'display-written', turn: 1 }).interrupt({ type: 'display' })
    expect(voiced.factTypes()).toEqual(['interrupt-accepted'])
    const next = spoken().send({ type: 'display-written', turn: 1 }).user('more').says('Yes.')
    expect(next.interrupt({ type: 'display' }).lines().at(-1)).toBe('user: more')
  })

  test('drops provider state from the cut text only', () => {
    const state = { provider: 'p', model: 'm', data: 'signed' }
    const session = new TestSession().user('go')
    session.says({
      more: [
        { type: 'reasoning', text: 'hm', state },
        { type: 'text', text: 'whole ', state },
        { type: 'text', text: 'and cut', state },
      ],
    })
    session.interrupt({ type: 'chars', chars: 9 })
    expect(session.history.messages(2, 2)).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: 'hm', state },
          { type: 'text', text: 'whole ', state },
          { type: 'text', text: 'and' },
        ],
      },
    ])
  })

  test('an answer that blanks alone are left of leaves the history with the next cut', () => {
    const session = new TestSession().user('go').says('  word').interrupt({ type: 'chars', chars: 2 })
    expect(session.lines()).toEqual(['user: go'])
    session.interrupt({ type: 'chars', chars: 0 })
    expect(session.state.index).toHaveLength(1)
    expect(session.user('on').told()).toEqual(['user: go', 'user: on'])
  })

  test.each([-1, Number.NaN, Infinity])('by a number of characters that is none (%d) is refused', (chars) => {
    const interrupt = { type: 'interrupt', reason: 'barge_in', heard: { type: 'chars', chars } } as const
    expect(new TestSession().refusal(interrupt)).toBe('invalid_event')
    expect(new TestSession().refusal({ ...interrupt, heard: { type: 'chars', chars: 0 } })).toBeUndefined()
  })

  test('before anything was said is logged and changes nothing', () => {
    expect(new TestSession().interrupt().factTypes()).toEqual(['interrupt-accepted'])
  })
})

describe('an interrupt while calls run', () => {
  test('ends the turn; what runs on gets 2 s once the next input is there', () => {
    const tools = [serverTool('read', { onInterrupt: 'finish' }), serverTool('put'), clientTool('look')]
    const session = new TestSession({ tools })
      .attach()
      .user('go')
      .says({ text: 'I look', calls: ['read', 'put', 'look'] })
    session.interrupt({ type: 'chars', chars: 3 })
    expect(session.factTypes()).toEqual(['interrupt-accepted', 'answer-cut', 'call-settled', 'turn-finished'])
    expect(session.fact('turn-finished').outcome).toBe('interrupted')
    expect(session.fact('call-settled')).toEqual({
      type: 'call-settled',
      callId: 'call_1_1',
      settlement: { type: 'cancelled', reason: 'interrupt' },
      tellLate: true,
    })
    expect(session.effects).toContainEqual({ type: 'abort-tool', callId: 'call_1_1', attempt: 1 })
    expect(session.timers()).toEqual(['call:call_1_0', 'call:call_1_2'])
    session.user('next')
    expect(session.fact('grace-started')).toEqual({ type: 'grace-started', untilMs: session.nowMs + 2000 })
    expect(session.timer('grace')).toEqual({
      type: 'set-timer',
      timer: 'grace',
      generation: session.state.pos,
      atMs: session.nowMs + 2000,
    })
    expect(session.user('more').factTypes()).toEqual(['input-accepted'])
    session.fire('grace')
    expect(session.factTypes().filter((type) => type !== 'call-settled')).toEqual([
      'step-closed',
      'turn-started',
      'inputs-entered',
      'model-started',
    ])
    expect(session.told()).toEqual([
      'user: go',
      'assistant: I l',
      'call_1_0 read {}',
      'call_1_1 put {}',
      'call_1_2 look {}',
      'call_1_0 = Error: cancelled (it has no effect)',
      'call_1_1 = Error: cancelled (it has no effect)',
      'call_1_2 = Error: cancelled (it has no effect)',
      'user: next',
      'user: more',
    ])
  })

  test('a second one cuts further', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ text: 'I look', calls: ['look'] })
    session.interrupt({ type: 'chars', chars: 3 }).interrupt({ type: 'chars', chars: 1 })
    expect(session.fact('answer-cut').cuts).toEqual([{ step: 1, keepChars: 1 }])
    expect(session.state.step?.chars).toBe('I'.length + 'look{}'.length)
  })

  test('a late result is told with the first of the inputs that enter after it', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['pay'] })
      .interrupt()
      .user('a')
    session.send({ type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome: toOutcome('paid') })
    session.user('b').user('cc').says('ok')
    expect(session.told().slice(-3)).toEqual([
      'user: The tool "pay" (call_1_0) finished after all: "paid"',
      'user: b',
      'user: cc',
    ])
    expect(session.state.index.slice(-2).map(({ notes, chars }) => [notes, chars])).toEqual([
      [[1], 1 + 52],
      [[], 2],
    ])
  })

  test('a result within the grace is a result, and lets the next turn begin', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['look'] })
      .interrupt()
      .user('next')
    session.after(1500).clientReturns('call_1_0', 'seen')
    expect(session.told()).toEqual(['user: go', 'call_1_0 look {}', 'call_1_0 = seen', 'user: next'])
    expect(session.timers()).toEqual(['turn'])
  })

  test('without a next input a call has its own deadline', () => {
    const session = new TestSession()
      .attach()
      .user('go')
      .says({ calls: ['look'] })
      .interrupt()
    expect(session.fire('call:call_1_0').lines().at(-1)).toBe('call_1_0 = Error: tool_result_timeout')
    expect(session.state).toMatchObject({ phase: 'idle', step: null })
  })

  test('an offer that comes back after it goes to nobody any more', () => {
    const session = new TestSession()
      .attach()
      .attach('desk')
      .user('go')
      .says({ calls: ['look'] })
      .interrupt()
    session.detach('desk')
    expect(session.factTypes()).toEqual(['client-detached', 'call-returned', 'call-settled', 'step-closed'])
  })

  test('a late result is logged and told to the model as a note, once', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['pay'] })
      .interrupt()
    expect(session.lines().at(-1)).toBe('call_1_0 = Error: tool_result_unknown (it may have run)')
    const late = { type: 'tool-finished', callId: 'call_1_0', attempt: 1, outcome: toOutcome('paid 5') } as const
    session.send(late)
    expect(session.facts).toEqual([
      { type: 'result-ignored', callId: 'call_1_0', reason: 'late', outcome: 'ok', preview: 'paid 5' },
      { type: 'note-queued', note: 1, text: 'The tool "pay" (call_1_0) finished after all: "paid 5"' },
    ])
    expect(session.send(late).factTypes()).toEqual(['result-ignored'])
    session.user('did it work?')
    expect(session.told().slice(-2)).toEqual([
      'user: The tool "pay" (call_1_0) finished after all: "paid 5"',
      'user: did it work?',
    ])
    expect(session.state.notes).toEqual([])
    expect(session.state.index.at(-1)).toMatchObject({ notes: [1], chars: 54 + 12 })
    expect(session.says('yes').user('and?').told().at(-1)).toBe('user: and?')
  })

  test('while the session is paused ends the turn, and the session stays paused', () => {
    const session = new TestSession()
      .user('go')
      .says({ calls: ['read'] })
      .send({ type: 'pause' })
      .interrupt()
    expect(session.state).toMatchObject({ phase: 'paused', turn: null, step: null })
    expect(session.send({ type: 'continue' }).state.phase).toBe('idle')
  })
})

describe('an interrupt while the history is summarised', () => {
  const summarising = (): TestSession =>
    new TestSession({ window: { exchanges: 1, summarise: true } }).user('one').says('1').user('two')

  test('ends the turn and the summary', () => {
    const session = summarising().interrupt()
    expect(session.effects).toContainEqual({ type: 'abort-summary', attempt: 2 })
    expect(session.state).toMatchObject({ phase: 'idle', turn: null, attempt: null })
  })

  test('by an input that waits for nobody: its turn summarises anew', () => {
    const session = summarising().user('no', { delivery: 'interrupt' })
    expect(session.state.phase).toBe('summarising')
    session.send({ type: 'summary-finished', attempt: 3, text: 'so far', usage: {} })
    expect(session.told()).toEqual(['user: [Summary of the conversation so far] so far', 'user: no'])
  })
})

test('of a newer answer that begins while an older one is spoken nothing was heard, and an answer that is not there is refused', () => {
  const session = new TestSession().user('go').says('One two.').user('more').says('Three four.')
  session.interrupt({ type: 'chars', chars: 3, message: 't1' })
  expect(session.lines()).toEqual(['user: go', 'assistant: One two.', 'user: more'])
  for (const message of ['t3', 't0', 'x', ''])
    expect(session.refusal({ type: 'interrupt', reason: 'r', heard: { type: 'chars', chars: 1, message } })).toBe(
      'invalid_event',
    )
  expect(session.refusal({ type: 'interrupt', reason: 'r', heard: { type: 'words', words: 1 } })).toBe('invalid_event')
})
