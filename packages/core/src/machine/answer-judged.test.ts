// Answers that an agent checks: accepted, sent back with a reason, or submitted to a person for approval, as a call
// would be.
import { expect, test } from 'vitest'
import type { AnswerCheck, InputOf } from './input.ts'
import type { Saying, SpecChange } from '../testing/test-session.ts'
import { TestSession } from '../testing/test-session.ts'

const ASK: AnswerCheck = { verdict: 'ask', reason: 'confidence 0.2', title: 'Confirm "valid"' }
const CALL = 'call_1_0'

const begun = (change: SpecChange = {}): TestSession => new TestSession({ checksAnswer: true, ...change }).user('go')

function answers(session: TestSession, said: string | Saying, answer: AnswerCheck, issue?: string | null): TestSession {
  const output = issue === undefined ? {} : { output: { issue } }
  return session.send({ ...session.answer(said), ...output, answer })
}

const decided = (
  session: TestSession,
  decision: 'approve' | 'deny',
  more: Partial<InputOf<'approval'>> = {},
  callId = CALL,
): TestSession =>
  session.send(session.approval(callId, decision, decision === 'approve' ? { answer: 'A', ...more } : more))

test('an accepted answer ends the turn, and the log has the verdict', () => {
  const session = answers(begun(), 'Fine.', { verdict: 'accept' })
  expect(session.logged('step-finished')).toMatchObject([{ checked: 'accept' }])
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'Fine.' })
})

test('one that is sent back is asked for again with the reason, and is no part of the whole answer', () => {
  const session = begun()
    .says({ text: 'Let me look.', calls: ['read'] })
    .returns(CALL)
  answers(session, 'Fine.', { verdict: 'again', reason: 'it cites nothing' })
  expect(session.fact('output-refused')).toEqual({
    type: 'output-refused',
    step: 2,
    issue: 'it cites nothing',
    by: 'check',
  })
  expect(session.told().slice(-2)).toEqual([
    'assistant: Fine.',
    'user: Your answer was not accepted: it cites nothing\nThen answer again.',
  ])
  answers(session, 'Better.', { verdict: 'accept' })
  expect(session.fact('turn-finished')).toMatchObject({ text: 'Let me look.\n\nBetter.' })
})

test('it is sent back twice by default, then the turn fails', () => {
  const session = begun()
  for (const text of ['One.', 'Two.', 'Three.']) answers(session, text, { verdict: 'again', reason: 'no' })
  expect(session.fact('turn-finished')).toMatchObject({
    outcome: 'failed',
    error: { code: 'answer_refused', message: 'the answer was sent back 3 times; last reason: no' },
  })
  const strict = answers(begun({ limits: { answerRetries: 0 } }), 'One.', { verdict: 'again', reason: 'no' })
  expect(strict.fact('turn-finished')).toMatchObject({ error: { code: 'answer_refused' } })
})

test('the schema comes first: what does not fit is not checked, and has its own try', () => {
  const session = answers(begun(), 'three', ASK, 'no JSON')
  expect(session.logged('approval-requested')).toEqual([])
  expect(session.fact('output-refused')).toEqual({ type: 'output-refused', step: 1, issue: 'no JSON' })
  answers(session, '{"n":3}', { verdict: 'again', reason: 'too low' }, null)
  answers(session, '{"n":4}', { verdict: 'accept' }, null)
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: '{"n":4}' })
})

test('an answer without a verdict is not taken', () => {
  expect(begun().says('Fine.').fact('turn-finished')).toMatchObject({ error: { code: 'internal' } })
  const session = answers(begun(), 'Fine.', { verdict: 'failed', message: 'it threw' })
  expect(session.fact('turn-finished')).toMatchObject({ error: { code: 'internal', message: 'it threw' } })
})

test('a person is asked as for a call, and the model never reads that call', () => {
  const session = answers(begun(), '{"n":1}', ASK, null)
  expect(session.factTypes()).toEqual(['step-finished', 'approval-requested', 'turn-clock-set'])
  expect(session.fact('step-finished')).toMatchObject({
    parts: [{ type: 'text' }, { type: 'call', name: 'answer.approve', arguments: '{"n":1}' }],
    calls: [{ callId: CALL, asks: true, about: { title: 'Confirm "valid"', asked: { message: 'confidence 0.2' } } }],
    checked: 'ask',
  })
  expect(session.owes()[0]).toBe(`ask-approval:approval_${CALL}_1`)
  decided(session, 'approve', { answer: '{"n":1}' })
  expect(session.factTypes()).toEqual(['approval-decided', 'call-settled', 'step-closed', 'turn-finished'])
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: '{"n":1}' })
  expect(session.told()).toEqual(['user: go', 'assistant: {"n":1}'])
  expect(answers(session.user('more'), 'Fine.', { verdict: 'accept' }).state.phase).toBe('idle')
})

test('denied, the model reads the reason and answers again', () => {
  const session = decided(answers(begun(), 'Valid.', ASK), 'deny', { reason: 'no scan' })
  expect(session.fact('output-refused')).toMatchObject({ step: 1, issue: 'no scan', by: 'person' })
  expect(session.told()).toEqual([
    'user: go',
    'assistant: Valid.',
    'user: A person did not accept your answer: no scan\nThen answer again.',
  ])
  answers(session, 'Unclear.', { verdict: 'accept' })
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'Unclear.' })
})

test('a person who denies again and again ends the turn', () => {
  const session = begun({ limits: { answerRetries: 1 } })
  decided(answers(session, 'Valid.', ASK), 'deny')
  decided(answers(session, 'Valid!', ASK), 'deny', {}, 'call_2_0')
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'failed', error: { code: 'answer_refused' } })
})

test('where nobody decides in time the turn fails, and the model is not asked again', () => {
  const session = answers(begun(), 'Valid.', ASK).fire(`approval:${CALL}`)
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'failed', error: { code: 'approval_expired' } })
})

test('where nobody can be asked the turn fails at once', () => {
  const session = new TestSession({ checksAnswer: true }).user('go', { asks: false })
  answers(session, 'Valid.', ASK)
  expect(session.fact('turn-finished')).toMatchObject({ error: { code: 'answer_refused' } })
})

test('only those whom it names may decide, also where they are not the session’s own', () => {
  const session = new TestSession({ checksAnswer: true, principal: 'ann' }).user('go', { asks: false })
  answers(session, 'Valid.', { ...ASK, by: ['bob', 'eve'] })
  const approve = session.approval(CALL, 'approve', { answer: 'Valid.' })
  expect(session.refusal(approve)).toBe('approval_refused')
  session.send({ ...approve, principal: 'bob' })
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'answered', text: 'Valid.' })
})

test('an answer is not edited, and not approved without its text', () => {
  const session = answers(begun(), 'Valid.', ASK)
  expect(session.refusal(session.approval(CALL, 'approve'))).toBe('approval_refused')
  const edited = { arguments: '{}', check: { argumentsHash: '' } }
  expect(session.refusal(session.approval(CALL, 'edit', { edited, answer: 'A' }))).toBe('approval_refused')
})

test('a decision while the session is paused counts, and nothing begins before it goes on', () => {
  const approved = decided(answers(begun(), 'Valid.', ASK).send({ type: 'pause' }), 'approve')
  expect([approved.state.phase, approved.state.turn]).toEqual(['paused', null])
  const denied = decided(answers(begun(), 'Valid.', ASK).send({ type: 'pause' }), 'deny')
  expect([denied.state.phase, denied.state.attempt]).toEqual(['paused', null])
  expect(denied.send({ type: 'continue' }).state.phase).toBe('modelling')
})

test('a restart and a change of the agent leave the request open', () => {
  const session = answers(begun(), 'Valid.', ASK).send({ type: 'host-restarted', downMs: 5 })
  session.spec = { ...session.spec, hash: 'v2', tools: [] }
  session.send({ type: 'agent-changed' })
  expect(session.call(CALL).state).toBe('awaiting-approval')
  expect(decided(session, 'approve').fact('turn-finished')).toMatchObject({ outcome: 'answered' })
})

test('an interrupt ends the wait without an answer', () => {
  const session = answers(begun(), 'Valid.', ASK).interrupt()
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'interrupted' })
  expect(session.state.step).toBeNull()
})

test('it counts as no round and as no call of the turn', () => {
  const session = begun({ limits: { toolRounds: 1, callsPerTurn: 1 } })
  decided(answers(session, 'Valid.', ASK), 'deny')
  expect(session.state.turn).toMatchObject({ rounds: 0, calls: 0 })
  session.says({ calls: ['read'] }).returns('call_2_0')
  expect(answers(session, 'Valid.', { verdict: 'accept' }).fact('turn-finished')).toMatchObject({ outcome: 'answered' })
})

test('nobody is asked about a refusal, whatever the check said of it', () => {
  const session = begun().attach()
  answers(session, { text: 'I cannot.', finish: 'refusal' }, ASK)
  expect(session.logged('approval-requested')).toEqual([])
  expect(session.logged('step-finished')[0]).not.toHaveProperty('checked')
  expect(session.fact('turn-finished')).toMatchObject({ outcome: 'refused', text: 'I cannot.' })
})

test('a person who does not take a value has it corrected as a value', () => {
  const session = begun().attach()
  answers(session, '{"valid":true}', ASK, null)
  decided(session, 'deny', { reason: 'it is not' })
  expect(session.told().at(-1)).toBe(
    'user: A person did not accept your answer: it is not\nAnswer again, with the corrected JSON and nothing else.',
  )
})
