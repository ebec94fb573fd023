// The part of the history that a request holds: it fits, or the turn ends with a typed error; it moves by whole
// exchanges.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { validateHistory } from '../testing/neutral-history.ts'
import { decide } from './decide.ts'
import type { WindowSpec } from './spec.ts'
import { toOutcome, testSpec, TestSession } from '../testing/test-session.ts'

const RETRY = { type: 'timer-fired', timer: 'retry', generation: 2 } as const

function talk(window: Partial<WindowSpec>, ...said: readonly string[]): TestSession {
  const session = new TestSession({ window })
  for (const text of said) session.user(text).says(text.toUpperCase())
  return session
}

describe('the sliding window', () => {
  test('that a refusal names is kept to at once, in this turn and in later ones', () => {
    const said = Array.from({ length: 11 }, () => 'x'.repeat(100))
    const session = talk({ exchanges: 100, reserveTokens: 40 }, ...said).user('y'.repeat(100))
    expect(session.fact('model-started').chars).toBeGreaterThan(2000)
    const refusals = session.logged('model-started').length
    session.modelFails('context_overflow', { retryable: false, contextTokens: 200 }).says('A')
    for (const text of said) session.user(text).says(text)
    const later = session.logged('model-started').slice(refusals)
    expect(later).toHaveLength(12)
    // 160 tokens are left, each of four characters.
    expect(Math.max(...later.map(({ chars }) => chars))).toBeLessThanOrEqual(640)
    expect(session.told().length).toBeGreaterThan(3)
  })

  test('that a refusal names is that of its model, and never longer than the one that the agent has', () => {
    const session = talk({ exchanges: 100, contextTokens: 100, reserveTokens: 40 }, 'x'.repeat(100)).user('a')
    session
      .modelFails('context_overflow', { retryable: false, contextTokens: 4000 })
      .says('A')
      .user('x'.repeat(100))
      .says('B')
    session.user('x'.repeat(100))
    expect(session.fact('model-started').chars).toBeLessThanOrEqual(240)
  })

  test('holds so many exchanges, the running one included', () => {
    const session = talk({ exchanges: 2 }, 'a', 'b', 'c').user('d')
    expect(session.factTypes()).toContain('window-moved')
    expect(session.fact('window-moved')).toEqual({ type: 'window-moved', fromEntry: 5 })
    expect(session.fact('model-started')).toMatchObject({ fromEntry: 5, toEntry: 7 })
    expect(session.told()).toEqual(['user: c', 'assistant: C', 'user: d'])
    expect(session.history.entries()).toHaveLength(3)
  })

  test('holds 20 by default, and moves by a quarter more than it must, so that it moves seldom', () => {
    const session = new TestSession({ window: {} })
    const held = new Set<number>()
    for (let at = 0; at < 60; at++) {
      session.user(`t${at}`)
      held.add(session.told().length)
      session.says(`T${at}`)
    }
    // An exchange has two messages, the running one has one so far.
    expect(Math.max(...held)).toBe(39)
    expect(session.logged('window-moved').map(({ fromEntry }) => fromEntry)).toEqual([13, 25, 37, 49, 61, 73, 85])
  })

  test('of three exchanges is exact: a quarter of them is none', () => {
    const session = talk({ exchanges: 3 }, 'a', 'b', 'c').user('d')
    expect(session.told()).toEqual(['user: b', 'assistant: B', 'user: c', 'assistant: C', 'user: d'])
  })

  test('moves as far as it must', () => {
    const session = talk({ exchanges: 9 }, 'a', 'b', 'c')
    session.spec = testSpec({ hash: 'v2', window: { exchanges: 1 } })
    expect(session.send({ type: 'agent-changed' }).user('d').told()).toEqual(['user: d'])
  })

  test('never cuts between a call and its result', () => {
    const session = new TestSession({ window: { exchanges: 2 } })
      .user('a')
      .says({ calls: ['read'] })
      .returns('call_1_0')
    session.says('A').user('b').says('B').user('c')
    expect(session.told()[0]).toBe('user: b')
  })

  test('keeps as many messages as the window may hold, whatever else it allows, and says so', () => {
    const MESSAGES = 2000
    const { spec, state } = new TestSession({ window: { exchanges: 100_000 } })
    const index = Array.from({ length: MESSAGES }, (_, at) => {
      const role = at % 2 === 0 ? 'user' : 'step'
      return { entry: at + 1, exchange: Math.floor(at / 2) + 1, role, chars: 1 } as const
    })
    const counters = { ...state.counters, entry: MESSAGES, exchange: MESSAGES / 2 }
    const input = { type: 'user-input', inputId: 'x', parts: [{ type: 'text', text: 'x' }] } as const
    const decision = decide(spec, { ...state, index, counters }, input, 0)
    // One exchange and a quarter of the other 1,000.
    const moved = decision.type === 'decided' && decision.facts.filter((fact) => fact.type === 'window-moved')
    expect(moved).toEqual([{ type: 'window-moved', fromEntry: 1 + 2 * 251, messages: MESSAGES }])
    expect(decision.type === 'decided' && decision.state.index).toHaveLength(MESSAGES + 1 - 2 * 251)
    const full = decide(spec, { ...state, index: index.slice(2), counters }, input, 0)
    expect(full.type === 'decided' && full.facts.map((fact) => fact.type)).not.toContain('window-moved')
    const { spec: wider } = new TestSession({ window: { exchanges: 100_000, messages: MESSAGES + 1 } })
    const raised = decide(wider, { ...state, index, counters }, input, 0)
    expect(raised.type === 'decided' && raised.facts.map((fact) => fact.type)).not.toContain('window-moved')
    const all = index.map((entry) => ({ ...entry, exchange: 1 }))
    const alone = decide(
      spec,
      { ...new TestSession().user('go').modelFails('model_timeout').state, index: all },
      RETRY,
      0,
    )
    expect(alone.type === 'decided' && alone.facts.map((fact) => fact.type)).toEqual(['model-started'])
    const more = [...all, { entry: 2001, exchange: 1, role: 'step', chars: 1 } as const]
    const failed = decide(
      spec,
      { ...new TestSession().user('go').modelFails('model_timeout').state, index: more },
      RETRY,
      0,
    )
    expect(failed.type === 'decided' && failed.facts[0]).toMatchObject({
      error: { code: 'context_overflow', message: 'the running exchange has 2001 messages; the window holds 2000' },
    })
  })
})

describe('a model’s window', () => {
  // Four characters count as a token until a provider has counted.
  test('moves on where a request with room for the answer would not fit', () => {
    const fits = talk({ contextTokens: 100, reserveTokens: 40 }, 'x'.repeat(100))
    expect(fits.user('y'.repeat(40)).told()).toHaveLength(3)
    const not = talk({ contextTokens: 100, reserveTokens: 40 }, 'x'.repeat(100))
    expect(not.user('y'.repeat(41)).told()).toHaveLength(1)
  })

  test('acts before it is full where the agent wants it', () => {
    const window = { contextTokens: 1000, actAtTokens: 100, reserveTokens: 40 }
    expect(talk(window, 'x'.repeat(100)).user('y'.repeat(40)).told()).toHaveLength(3)
    expect(talk(window, 'x'.repeat(100)).user('y'.repeat(41)).told()).toHaveLength(1)
  })

  test('counts instructions and tools', () => {
    const window = { contextTokens: 100, reserveTokens: 40, overheadTokens: 10 }
    const session = talk(window, 'x'.repeat(80)).user('y'.repeat(40))
    expect(session.told()).toHaveLength(3)
    expect(session.fact('model-started').chars).toBe(10 * 4 + 160 + 40)
    expect(talk(window, 'x'.repeat(80)).user('y'.repeat(41)).told()).toHaveLength(1)
  })

  test('too small for the running exchange ends the turn with a typed error, and the next one is tried', () => {
    const session = new TestSession({ window: { contextTokens: 50, reserveTokens: 40 } }).user('x'.repeat(41))
    expect(session.fact('turn-finished').error).toEqual({
      code: 'context_overflow',
      message: 'the running exchange needs about 11 tokens; the model’s window has 50'.replace('’', "'"),
    })
    expect(session.user('x').told()).toEqual(['user: x'])
  })

  test('that waiting inputs do not fit either ends each of their turns', () => {
    const session = new TestSession({ window: { contextTokens: 50, reserveTokens: 40 } }).user('a').user('x'.repeat(90))
    session.says('A')
    expect(session.logged('turn-finished').map((fact) => fact.error?.code)).toEqual([undefined, 'context_overflow'])
    expect(session.state.phase).toBe('idle')
  })

  test('full by what results brought ends the turn between its steps', () => {
    const session = new TestSession({ window: { contextTokens: 100, reserveTokens: 0 } }).user('go')
    session.says({ calls: ['read'] }).returns('call_1_0', 'x'.repeat(400))
    expect(session.fact('turn-finished').error?.code).toBe('context_overflow')
    expect(session.lines().at(-1)).toBe(`call_1_0 = ${'x'.repeat(400)}`)
  })

  test('is measured by what the provider counted', () => {
    const session = talk({ contextTokens: 250, reserveTokens: 0 })
    session.user('x'.repeat(400)).says({ text: 'A', usage: { inputTokens: 200 } })
    expect(session.user('y'.repeat(400)).told()).toHaveLength(1)
  })
})

describe('a provider that says its window is full', () => {
  test('gets the newer half, three times in a turn', () => {
    const session = talk({}, 'a', 'b', 'c', 'd', 'e').user('f').modelFails('context_overflow')
    expect(session.fact('attempt-superseded')).toMatchObject({ attempt: 6, reason: 'context-full' })
    expect(session.told()[0]).toBe('user: d')
    expect(session.modelFails('context_overflow').told()[0]).toBe('user: e')
    expect(session.modelFails('context_overflow').told()).toEqual(['user: f'])
    session.modelFails('context_overflow', { retryable: false })
    expect(session.fact('turn-finished').error?.code).toBe('context_overflow')
  })

  test('more often than three times gets no less', () => {
    const said = Array.from({ length: 19 }, (_, at) => `t${at}`)
    const session = talk({}, ...said).user('last')
    for (const left of [10, 5, 3]) {
      session.modelFails('context_overflow', { retryable: false })
      expect(session.told().filter((line) => line.startsWith('user'))).toHaveLength(left)
    }
    session.modelFails('context_overflow', { retryable: false })
    expect(session.fact('turn-finished').outcome).toBe('failed')
  })

  test('and names another one each time is asked three times more in a turn', () => {
    const session = new TestSession({}).user('go')
    for (const contextTokens of [90_000, 100_000, 90_000]) {
      session.modelFails('context_overflow', { retryable: false, contextTokens })
      expect(session.state.phase).toBe('modelling')
    }
    session.modelFails('context_overflow', { retryable: false, contextTokens: 100_000 })
    expect(session.fact('turn-finished').error?.code).toBe('context_overflow')
  })

  test('and names fewer tokens than it takes afterwards does not shorten later turns', () => {
    const session = talk({}, 'a', 'b').user('c').modelFails('context_overflow', { retryable: false, contextTokens: 2 })
    session
      .says({ text: 'C', usage: { inputTokens: 30 } })
      .user('d')
      .says('D')
      .user('e')
    expect(session.told().slice(-5)).toEqual(['user: c', 'assistant: C', 'user: d', 'assistant: D', 'user: e'])
  })

  test('for one exchange alone goes to the next model, whose window may be larger', () => {
    const session = new TestSession({ models: ['one', 'two'] }).user('go')
    session.modelFails('context_overflow', { retryable: false })
    expect(session.fact('attempt-superseded').reason).toBe('fallback')
    expect(session.fact('model-started').model).toBe('two')
  })
})

describe('a summary', () => {
  test('replaces exactly the range that it was asked for, before the model is called', () => {
    const session = talk({ exchanges: 2, summarise: true, keepExchanges: 1 }, 'a', 'b').user('c')
    expect(session.fact('summary-started')).toEqual({ type: 'summary-started', attempt: 3, fromEntry: 1, toEntry: 4 })
    expect(session.owes()).toEqual(['summarise:3', `set-timer:turn:${session.state.pos}`])
    expect(session.effects).toContainEqual({ type: 'summarise', attempt: 3, fromEntry: 1, toEntry: 4 })
    session.send({
      type: 'summary-finished',
      attempt: 3,
      text: 'they said a and b',
      usage: { inputTokens: 5, costMicros: 7 },
    })
    expect(session.fact('summary-finished')).toEqual({
      type: 'summary-finished',
      attempt: 3,
      fromEntry: 1,
      toEntry: 4,
      text: 'they said a and b',
      usage: { inputTokens: 5, costMicros: 7 },
    })
    expect(session.told()).toEqual(['user: [Summary of the conversation so far] they said a and b', 'user: c'])
    expect(session.state.index).toEqual([
      { entry: 4, exchange: 2, role: 'summary', chars: 17 },
      expect.objectContaining({ entry: 5, exchange: 3, role: 'user' }),
    ])
    expect(session.state.turn).toMatchObject({ tokens: 5, costMicros: 7 })
  })

  test('absorbs the one before it', () => {
    const session = talk({ exchanges: 2, summarise: true, keepExchanges: 1 }, 'a', 'b').user('c')
    session.send({ type: 'summary-finished', attempt: 3, text: 'a, b', usage: {} }).says('C').user('d').says('D')
    session.user('e')
    expect(session.fact('summary-started')).toMatchObject({ fromEntry: 4, toEntry: 8 })
    session.send({ type: 'summary-finished', attempt: session.state.attempt?.attempt ?? 0, text: 'a to d', usage: {} })
    expect(session.told()).toEqual(['user: [Summary of the conversation so far] a to d', 'user: e'])
  })

  test('keeps the newest exchanges that the agent names, one less than the window holds', () => {
    const kept = (exchanges: number, keepExchanges: number): number | undefined => {
      const said = Array.from({ length: exchanges }, (_, at) => `t${at}`)
      const session = talk({ exchanges, keepExchanges, summarise: true }, ...said).user('last')
      return session.logged('summary-started')[0]?.toEntry
    }
    expect(kept(4, 2)).toBe(6)
    expect(kept(4, 3)).toBe(4)
    expect(kept(4, 9)).toBe(4)
    expect(kept(4, 0)).toBe(8)
  })

  test('keeps fewer where they do not fit into half of the room', () => {
    const window = { contextTokens: 140, reserveTokens: 40, summarise: true, keepExchanges: 5 }
    const session = talk(window, 'a'.repeat(60), 'b'.repeat(50), 'c'.repeat(40)).user('d'.repeat(110))
    // The room is 100 tokens or 400 characters, half of it 200: the running exchange and the one before it fit.
    expect(session.fact('summary-started')).toMatchObject({ fromEntry: 1, toEntry: 4 })
  })

  test('of the running exchange takes its older steps, never the newest', () => {
    const window = { contextTokens: 200, reserveTokens: 20, summarise: true }
    const session = new TestSession({ window }).user('go')
    for (const step of [1, 2, 3]) session.says({ calls: ['read'] }).returns(`call_${step}_0`, 'x'.repeat(240))
    expect(session.fact('summary-started')).toMatchObject({ fromEntry: 2, toEntry: 3 })
    session.send({ type: 'summary-finished', attempt: 4, text: 'found x', usage: {} })
    expect(session.told().slice(0, 3)).toEqual([
      'user: go',
      'user: [Summary of the conversation so far] found x',
      'call_3_0 read {}',
    ])
  })

  test('of a single step of the running exchange is not worth it', () => {
    const session = new TestSession({ window: { contextTokens: 200, reserveTokens: 20, summarise: true } }).user('go')
    for (const step of [1, 2]) session.says({ calls: ['read'] }).returns(`call_${step}_0`, 'x'.repeat(400))
    expect(session.fact('turn-finished').error?.code).toBe('context_overflow')
  })

  test('of earlier exchanges stays beside the running one up to the end of the window, and no further', () => {
    const open = (contextTokens: number, chars: number): TestSession => {
      const session = talk(
        { contextTokens, actAtTokens: 120, reserveTokens: 20, summarise: true },
        'a'.repeat(380),
      ).user('b')
      session.send({ type: 'summary-finished', attempt: 2, text: 'found a', usage: {} })
      return session.says({ calls: ['read'] }).returns('call_2_0', 'x'.repeat(chars))
    }
    const summary = 'user: [Summary of the conversation so far] found a'
    expect(open(1000, 500).told()[0]).toBe(summary)
    expect(open(140, 200).told()[0]).toBe(summary)
    expect(open(160, 550).told()[0]).toBe('user: b')
  })

  test('with nothing in it is no summary: the window slides', () => {
    const session = talk({ exchanges: 1, summarise: true }, 'a').user('b')
    session.send({ type: 'summary-finished', attempt: 2, text: ' \n', usage: {} })
    expect(session.factTypes()).toEqual(['summary-failed', 'window-moved', 'model-started'])
    expect(session.fact('summary-failed').error).toEqual({
      code: 'empty_answer',
      message: 'the summary was empty',
      retryable: true,
    })
  })

  test('that failed lets the window slide in that turn, and is tried again in the next', () => {
    const session = talk({ exchanges: 1, summarise: true }, 'a').user('b')
    const error = { code: 'model_timeout', message: 'too slow', retryable: true } as const
    session.send({ type: 'summary-failed', attempt: 2, error })
    expect(session.fact('summary-failed')).toEqual({ type: 'summary-failed', attempt: 2, error })
    expect(session.told()).toEqual(['user: b'])
    expect(session.says('B').user('c').state.phase).toBe('summarising')
  })

  test('of another attempt is stale', () => {
    const session = talk({ exchanges: 1, summarise: true }, 'a').user('b')
    session.send({ type: 'summary-finished', attempt: 1, text: 'old', usage: {} })
    expect(session.factTypes()).toEqual(['answer-ignored'])
    session.send({ type: 'summary-failed', attempt: 1, error: { code: 'internal', message: '', retryable: false } })
    expect(session.factTypes()).toEqual(['answer-ignored'])
  })

  test('counts to the turn’s tokens', () => {
    const session = new TestSession({ window: { exchanges: 1, summarise: true }, limits: { turnTokens: 10 } })
    session.user('a').says('A').user('b')
    session.send({ type: 'summary-finished', attempt: 2, text: 'a', usage: { inputTokens: 6, outputTokens: 5 } })
    expect(session.fact('turn-finished').error?.code).toBe('turn_tokens_exceeded')
  })

  test('is not made where nothing older is left to summarise', () => {
    const session = new TestSession({ window: { contextTokens: 50, reserveTokens: 40, summarise: true } })
    session.user('x'.repeat(60))
    expect(session.fact('turn-finished').error?.code).toBe('context_overflow')
  })
})

test('whatever is said, a request fits the window or its turn ends as context_overflow, and pairs are never split', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 12 })
  const window = { contextTokens: 300, reserveTokens: 50, exchanges: 4, keepExchanges: 2 }
  fc.assert(
    fc.property(sizes, fc.boolean(), (chars, summarise) => {
      const session = new TestSession({ window: { ...window, summarise } })
      for (const size of chars) {
        session.user('u'.repeat(size))
        for (let steps = 0; session.state.phase !== 'idle' && steps < 30; steps++) answer(session, size)
        expect(session.state.phase).toBe('idle')
      }
      for (const started of session.logged('model-started')) expect(started.chars).toBeLessThanOrEqual(1000)
      const failed = session.logged('turn-finished').flatMap((fact) => fact.error?.code ?? [])
      expect(failed.filter((code) => code !== 'context_overflow')).toEqual([])
    }),
    { numRuns: 60, seed: 7 },
  )
})

function answer(session: TestSession, size: number): void {
  const { phase, attempt } = session.state
  if (phase === 'summarising')
    session.send({ type: 'summary-finished', attempt: attempt?.attempt ?? 0, text: 's'.repeat(50), usage: {} })
  else if (phase === 'calling') session.returns(session.state.step?.calls[0]?.callId ?? '', toOutcome('r'.repeat(size)))
  else {
    const told = session.history.messages(attempt?.fromEntry ?? 0, attempt?.toEntry ?? 0)
    const [issue] = validateHistory(told)
    if (issue) throw new Error(issue.message)
    const calls = size % 3 === 0 && session.state.turn?.rounds === 0 ? ['read'] : []
    session.says({ text: 'a'.repeat(Math.ceil(size / 4)), calls })
  }
}
