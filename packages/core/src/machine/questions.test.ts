// Questions of a running tool: asked once, answered once or declined, and the clocks pause meanwhile.
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../json.ts'
import type { InputOf } from './input.ts'
import { createHistory } from './history.ts'
import { serverTool, TestSession } from '../testing/test-session.ts'

const CALL = 'call_1_0'
const FIRST = 'question_call_1_0_1'
const TOOLS = [
  serverTool('book', { timeoutMs: 30_000 }),
  serverTool('pay', { effect: 'once' }),
  serverTool('slow', { onInterrupt: 'finish' }),
  serverTool('read'),
]

function asking(more: Partial<InputOf<'question-asked'>> = {}): InputOf<'question-asked'> {
  const asked = { callId: CALL, attempt: 1, n: 1, message: 'Which day?', schema: { type: 'string' }, timeoutMs: 60_000 }
  return { type: 'question-asked', ...asked, ...more }
}

function answering(questionId = FIRST, value: JsonObject | string = 'Monday'): InputOf<'question-answer'> {
  return { type: 'question-answer', questionId, principal: 'ann', value }
}

function running(tool = 'book', calls: readonly string[] = []): TestSession {
  return new TestSession({ tools: TOOLS }).user('go').says({ calls: [tool, ...calls] })
}

describe('a question of a running tool', () => {
  test('is a fact, is owed to people, and holds the clocks of call and turn', () => {
    const session = running().after(10_000).send(asking())
    expect(session.facts).toEqual([
      {
        type: 'question-asked',
        callId: CALL,
        questionId: FIRST,
        n: 1,
        message: 'Which day?',
        schema: { type: 'string' },
        expiresAtMs: session.nowMs + 60_000,
      },
      { type: 'turn-clock-set', deadlineMs: null, remainingMs: 590_000 },
    ])
    expect(session.owes()).toEqual([`run-tool:${CALL}:1`, `ask-question:${FIRST}`, `set-timer:question:${FIRST}:3`])
    expect(session.history.openQuestions()).toMatchObject([
      { callId: CALL, questionId: FIRST, n: 1, message: 'Which day?' },
    ])
    session.after(50_000).send(answering())
    expect(session.timer(`call:${CALL}`).atMs).toBe(session.nowMs + 20_000)
    expect(session.timer('turn').atMs).toBe(session.nowMs + 590_000)
  })

  test('is answered once, and the tool reads the answer', () => {
    const session = running().send(asking()).send(answering())
    expect(session.fact('question-answered')).toEqual({
      type: 'question-answered',
      callId: CALL,
      questionId: FIRST,
      n: 1,
      value: 'Monday',
    })
    expect(session.effects.map((effect) => effect.type)).not.toContain('withdraw-question')
    expect(session.history.answerTo(CALL, 1)).toEqual({ value: 'Monday' })
    expect(session.history.answerTo(CALL, 2)).toBeUndefined()
    expect(session.history.openQuestions()).toEqual([])
    expect(session.refusal(answering())).toBe('question_refused')
    expect(session.returns(CALL, 'booked').told().at(-1)).toBe(`${CALL} = booked`)
  })

  test('may be declined, with a reason for the tool', () => {
    const declining = { type: 'question-answer', questionId: FIRST, principal: 'ann', decline: true } as const
    const session = running()
      .send(asking())
      .send({ ...declining, reason: 'not now' })
    expect(session.history.answerTo(CALL, 1)).toEqual({ declined: 'person', reason: 'not now' })
    expect(running().send(asking()).send(declining).history.answerTo(CALL, 1)).toEqual({ declined: 'person' })
  })

  test('that nobody answers expires, and the tool goes on with its own time', () => {
    const session = running().send(asking()).fire(`question:${FIRST}`)
    expect(session.history.answerTo(CALL, 1)).toEqual({ declined: 'expired' })
    expect(session.effects.map((effect) => effect.type)).toContain('withdraw-question')
    expect(session.timer(`call:${CALL}`).atMs).toBe(session.nowMs + 30_000)
    expect(session.send({ type: 'timer-fired', timer: `question:${FIRST}`, generation: 3 }).facts).toEqual([])
    expect(session.fire(`call:${CALL}`).told().at(-1)).toBe(`${CALL} = Error: tool_result_timeout`)
  })

  test('is answered up to its last millisecond', () => {
    const session = running().send(asking()).after(60_000)
    expect(session.refusal(answering())).toBeUndefined()
    expect(session.after(1).refusal(answering())).toBe('question_refused')
  })

  test('is withdrawn when its call settles', () => {
    const session = running('book', ['read']).send(asking()).returns(CALL)
    expect(session.effects).toContainEqual({ type: 'withdraw-question', callId: CALL, questionId: FIRST })
    expect(session.history.openQuestions()).toEqual([])
    expect(session.refusal(answering())).toBe('question_refused')
  })

  test('of a call beside others that run holds only its own clock', () => {
    const session = running('book', ['read']).send(asking())
    expect(session.timers()).toContain('turn')
    expect(session.timers()).not.toContain(`call:${CALL}`)
  })

  test('beside another one of the same call: the clock runs again when both are answered', () => {
    const session = running()
      .send(asking())
      .send(asking({ n: 2 }))
      .send(answering())
    expect(session.timers()).not.toContain(`call:${CALL}`)
    expect(session.send(answering('question_call_1_0_2')).timers()).toContain(`call:${CALL}`)
  })

  test('where nobody can be asked is declined at once, and the tool is told so', () => {
    const session = new TestSession({ tools: TOOLS }).user('go', { asks: false }).says({ calls: ['book'] })
    session.send(asking())
    expect(session.factTypes()).toEqual(['question-asked', 'question-answered'])
    expect(session.history.answerTo(CALL, 1)).toEqual({ declined: 'nobody' })
    expect(session.owes().some((owed) => owed.startsWith('ask-question'))).toBe(false)
  })

  test('of a run that is over says nothing', () => {
    const session = running('book', ['read'])
    expect(session.send(asking({ attempt: 2 })).facts).toEqual([])
    expect(session.send(asking({ callId: 'call_9_9' })).facts).toEqual([])
    expect(session.returns(CALL).send(asking()).facts).toEqual([])
  })

  test('of a tool that outlives an interrupt is asked of who is there, and answered', () => {
    const session = running('slow').attach().interrupt().send(asking()).send(answering())
    expect(session.state.phase).toBe('idle')
    expect(session.history.answerTo(CALL, 1)).toEqual({ value: 'Monday' })
  })

  test.each([
    ['has no words', { message: ' ' }],
    ['is too long', { message: 'x'.repeat(4001) }],
    ['wants too much', { schema: { about: 'x'.repeat(16_384) } }],
    ['is the seventeenth', { n: 17 }],
    ['has no number', { n: 0 }],
    ['has half a number', { n: 1.5 }],
    ['has no time', { timeoutMs: 0 }],
    ['has no end', { timeoutMs: Infinity }],
  ])('that %s is refused', (_, more) => {
    expect(running().refusal(asking(more))).toBe('question_refused')
  })

  test('at its limits is asked', () => {
    const schema = { about: 'x'.repeat(16_384 - '{"about":""}'.length) }
    expect(running().refusal(asking({ n: 16, message: 'x'.repeat(4000), schema }))).toBeUndefined()
  })
})

describe('an answer', () => {
  test('of another principal is refused', () => {
    const session = new TestSession({ tools: TOOLS, principal: 'ann' })
      .user('go')
      .says({ calls: ['book'] })
      .send(asking())
    const bobs = session.decide({ ...answering(), principal: 'bob' })
    expect(bobs).toMatchObject({ refusal: { code: 'question_refused' } })
    expect(session.refusal(answering())).toBeUndefined()
  })

  test('to what was never asked is refused, in words, whatever the session does', () => {
    for (const session of [running(), new TestSession(), new TestSession().user('go')])
      expect(session.decide(answering('question_call_9_9_1'))).toMatchObject({
        refusal: { code: 'question_refused', message: expect.stringContaining('no such question is open') },
      })
  })

  test('that is too large, or no JSON, is refused', () => {
    const session = running().send(asking())
    expect(session.refusal(answering(FIRST, 'x'.repeat(16_383)))).toBe('question_refused')
    expect(session.refusal(answering(FIRST, 'x'.repeat(16_382)))).toBeUndefined()
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    const nothing = { ...answering(), value: undefined as unknown as string } // as a careless host submits it
    const endless = { ...answering(), value: circle as JsonObject } // the same
    for (const wrong of [nothing, endless]) expect(session.refusal(wrong)).toBe('question_refused')
  })
})

describe('a restart with a question', () => {
  test('answered: the run that begins again gets the recorded answer, and nothing is asked twice', () => {
    const session = running().send(asking()).send(answering()).restart()
    expect(session.call(CALL)).toMatchObject({ state: 'started', attempt: 2 })
    expect(session.send(asking({ attempt: 2 })).facts).toEqual([])
    expect(session.history.answerTo(CALL, 1)).toEqual({ value: 'Monday' })
    expect(session.send(asking({ attempt: 2, n: 2 })).fact('question-asked').questionId).toBe('question_call_1_0_2')
  })

  test('open: it is still owed, its time goes on, and the answer reaches the new run', () => {
    const session = running().send(asking()).restart(1000)
    expect(session.owes()).toContain(`ask-question:${FIRST}`)
    expect(session.timers()).not.toContain(`call:${CALL}`)
    session.send(answering())
    expect(session.timer(`call:${CALL}`).atMs).toBe(session.nowMs + 30_000)
  })

  test('of a once tool: the call is unknown, and the question withdrawn', () => {
    const session = running('pay', ['read']).send(asking()).restart()
    expect(session.fact('call-settled').settlement).toEqual({ type: 'unknown', reason: 'restart' })
    expect(session.refusal(answering())).toBe('question_refused')
    expect(session.history.openQuestions()).toEqual([])
  })

  test('keeps questions and answers in a snapshot', () => {
    const session = running()
      .send(asking())
      .send(asking({ n: 2 }))
      .send(answering())
    const kept = createHistory({ snapshot: JSON.parse(JSON.stringify(session.history.takeSnapshot())) })
    expect(kept.answerTo(CALL, 1)).toEqual({ value: 'Monday' })
    expect(kept.openQuestions().map((question) => question.n)).toEqual([2])
  })
})

test('the time of a tool that asks twice stands still until both are answered', () => {
  const session = new TestSession()
    .attach()
    .user('go')
    .says({ calls: ['read'] })
  const ask = (n: number): TestSession =>
    session.send({
      type: 'question-asked',
      callId: 'call_1_0',
      attempt: 1,
      n,
      message: 'Which?',
      schema: { type: 'object' },
      timeoutMs: 60_000,
    })
  const answer = (n: number): TestSession =>
    session.send({ type: 'question-answer', questionId: `question_call_1_0_${n}`, principal: 'ann', value: {} })
  session.after(10_000)
  ask(1).after(1000)
  ask(2).after(1000)
  answer(1).after(1000)
  expect(session.call('call_1_0').deadline).toBeNull()
  answer(2)
  expect(session.call('call_1_0').deadline?.atMs).toBe(session.nowMs + 20_000)
  expect(session.fire('call:call_1_0').fact('call-settled').settlement.type).toBe('timed-out')
})
