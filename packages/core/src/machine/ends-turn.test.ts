// Turns that end at the results of their calls, by `stopWhen`.
import { expect, test } from 'vitest'
import { clientTool, serverTool, TestSession, TOOLS } from '../testing/test-session.ts'

const SUBMIT = {
  tools: [...TOOLS, serverTool('submit'), clientTool('choose')],
  stopWhen: [{ tool: 'submit' }, { tool: 'choose' }],
}
const ENDED = { type: 'turn-finished', turn: 1, outcome: 'tool', text: '' }

test('an ok result ends the turn, and the model is not asked again', () => {
  const session = new TestSession(SUBMIT)
    .user('go')
    .says({ calls: ['submit'] })
    .returns('call_1_0', 'sent')
  expect(session.factTypes()).toEqual(['call-settled', 'step-closed', 'turn-finished'])
  expect(session.fact('turn-finished')).toEqual(ENDED)
})

test('the other calls of its step settle first', () => {
  const session = new TestSession(SUBMIT).user('go').says({ calls: ['submit', 'read'] })
  session.returns('call_1_0')
  expect(session.logged('turn-finished')).toEqual([])
  expect(session.returns('call_1_1').fact('turn-finished')).toEqual(ENDED)
})

test('an error, a denial and a time-out continue the turn', () => {
  const failed = new TestSession(SUBMIT).user('go').says({ calls: ['submit'] })
  failed.returns('call_1_0', { type: 'error', code: 'tool_failed', message: 'no' })
  expect(failed.factTypes().at(-1)).toBe('model-started')
  failed.says({ calls: ['submit'] }).returns('call_2_0', 'sent')
  expect(failed.fact('turn-finished')).toEqual(ENDED)
})

test('a client tool ends it by the result of its client', () => {
  const session = new TestSession(SUBMIT)
    .attach('phone')
    .user('go')
    .says({ calls: ['choose'] })
  expect(session.clientReturns('call_1_0', 'red').fact('turn-finished')).toEqual(ENDED)
})

test('an input that came meanwhile begins the next turn, and the model reads the result there', () => {
  const session = new TestSession(SUBMIT)
    .user('go')
    .says({ calls: ['submit'] })
    .user('and now?')
  session.returns('call_1_0', 'sent')
  expect(session.factTypes()).toEqual(
    expect.arrayContaining(['turn-finished', 'turn-started', 'inputs-entered', 'model-started']),
  )
  expect(session.told().slice(-2)).toEqual(['call_1_0 = sent', 'user: and now?'])
})

test('a turn that may not answer yet continues', () => {
  const order = [{ answer: true, after: ['read'] }] as const
  const session = new TestSession({ ...SUBMIT, order })
    .user('go')
    .says({ calls: ['submit'] })
    .returns('call_1_0')
  expect(session.factTypes().at(-1)).toBe('model-started')
  expect(
    session
      .says({ calls: ['read'] })
      .returns('call_2_0')
      .fact('turn-finished'),
  ).toEqual(ENDED)
})

test('stopWhen names a tool, and a number of rounds', () => {
  const byTool = new TestSession({ stopWhen: [{ tool: 'put' }] }).user('go').says({ calls: ['read'] })
  expect(byTool.returns('call_1_0').factTypes().at(-1)).toBe('model-started')
  expect(
    byTool
      .says({ calls: ['put'] })
      .returns('call_2_0')
      .fact('turn-finished'),
  ).toEqual(ENDED)

  const byRounds = new TestSession({ stopWhen: [{ rounds: 2 }] }).user('go').says({ calls: ['read'] })
  expect(byRounds.returns('call_1_0').factTypes().at(-1)).toBe('model-started')
  const failure = { type: 'error', code: 'tool_failed', message: 'no' } as const
  expect(
    byRounds
      .says({ calls: ['read'] })
      .returns('call_2_0', failure)
      .fact('turn-finished'),
  ).toEqual(ENDED)
})

test('each turn counts its own rounds and results', () => {
  const session = new TestSession({ stopWhen: [{ rounds: 2 }, { tool: 'put' }] }).user('go').says({ calls: ['put'] })
  session
    .returns('call_1_0')
    .user('again')
    .says({ calls: ['read'] })
    .returns('call_2_0')
  expect(session.factTypes().at(-1)).toBe('model-started')
})

test('a turn that ended so is not failed for the tokens that it used', () => {
  const session = new TestSession({ ...SUBMIT, limits: { turnTokens: 10 } }).user('go')
  session.says({ calls: ['submit'], usage: { inputTokens: 100, outputTokens: 100 } })
  expect(session.returns('call_1_0').fact('turn-finished')).toEqual(ENDED)
})
