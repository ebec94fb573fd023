// Premature calls and answers: the machine denies them, whatever the model does.
import { expect, test } from 'vitest'
import { TestSession } from '../testing/test-session.ts'

const results = (session: TestSession): readonly string[] => session.told().filter((line) => line.includes(' = '))

test('before the first tool has a result, another call is denied with what to do', () => {
  const session = new TestSession({ firstTool: 'read' }).user('go').says({ calls: ['pay'] })
  expect(session.logged('call-settled')).toMatchObject([
    { callId: 'call_1_0', settlement: { type: 'denied', code: 'call_denied' } },
  ])
  expect(results(session)).toEqual([
    'call_1_0 = Error: "pay" may run only after "read" gave a result in this turn. Call "read" first, then "pay" again',
  ])
  session.says({ calls: ['read'] }).returns('call_2_0')
  session.says({ calls: ['pay'] }).returns('call_3_0', 'paid')
  expect(results(session).at(-1)).toBe('call_3_0 = paid')
  expect(session.says('Done.').fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'Done.' })
})

test('a call beside the first tool is denied: it has no result yet', () => {
  const session = new TestSession({ firstTool: 'read' }).user('go').says({ calls: ['read', 'pay'] })
  session.returns('call_1_0')
  expect(results(session)).toEqual(['call_1_0 = done', expect.stringContaining('call_1_1 = Error: "pay" may run only')])
})

test('a failed result of the first tool does not count', () => {
  const session = new TestSession({ firstTool: 'read' }).user('go').says({ calls: ['read'] })
  session.returns('call_1_0', { type: 'error', code: 'tool_failed', message: 'no' }).says({ calls: ['pay'] })
  expect(results(session).at(-1)).toContain('"pay" may run only after "read"')
})

test('each turn begins with it', () => {
  const session = new TestSession({ firstTool: 'read' })
    .user('go')
    .says({ calls: ['read'] })
    .returns('call_1_0')
  session
    .says('Done.')
    .user('again')
    .says({ calls: ['pay'] })
  expect(results(session).at(-1)).toContain('"pay" may run only after "read"')
})

test('an answer before the first tool is sent back, and none of it is the answer', () => {
  const session = new TestSession({ firstTool: 'read' }).user('go').says('It is fine.')
  expect(session.factTypes()).toEqual([
    'step-finished',
    'step-closed',
    'output-refused',
    'note-queued',
    'inputs-entered',
    'model-started',
  ])
  const issue = 'it may come only after "read" gave a result in this turn. Call "read" first'
  expect(session.fact('output-refused')).toEqual({ type: 'output-refused', step: 1, issue, by: 'order' })
  expect(session.told().at(-1)).toBe(`user: Your answer was not accepted: ${issue}\nThen answer again.`)
  session
    .says({ calls: ['read'] })
    .returns('call_2_0')
    .says('Now it is.')
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'Now it is.' })
})

test('a model that answers at once again and again gets no answer', () => {
  const session = new TestSession({ firstTool: 'read' }).user('go').says('Yes.').says('Yes!').says('Yes, I say.')
  expect(session.fact('turn-finished')).toMatchObject({
    outcome: 'failed',
    text: '',
    error: { code: 'answer_refused', message: expect.stringContaining('sent back 3 times') },
  })
  expect(session.logged('output-refused')).toHaveLength(3)
})

test('an answer without tools left ends the turn at once', () => {
  const session = new TestSession({ firstTool: 'read', limits: { toolRounds: 1 } }).user('go')
  session.says({ calls: ['pay'] }).says('Yes.')
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'failed', error: { code: 'answer_refused' } })
})

test('rules of order hold for a tool and for the answer', () => {
  const order = [{ tool: 'pay', after: ['read', 'put'] } as const, { answer: true, after: ['pay'] } as const]
  const session = new TestSession({ order })
    .user('go')
    .says({ calls: ['read'] })
    .returns('call_1_0')
  session.says({ calls: ['pay'] })
  expect(results(session).at(-1)).toContain('"pay" may run only after "put" gave a result in this turn')
  session.says('Paid.')
  expect(session.fact('output-refused')).toMatchObject({ by: 'order', issue: expect.stringContaining('"pay"') })
  session
    .says({ calls: ['put'] })
    .returns('call_4_0')
    .says({ calls: ['pay'] })
    .returns('call_5_0')
    .says('Paid.')
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'Paid.' })
})

test('a schema that the early answer does not fit is not what the model hears of', () => {
  const session = new TestSession({ firstTool: 'read' }).user('go')
  session.send({ ...session.answer('three'), output: { issue: 'no JSON' } })
  expect(session.logged('output-refused')).toMatchObject([{ by: 'order' }])
})
