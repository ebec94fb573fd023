// Events of a session whose calls other sessions run: the state of these, and what they ask, with their path.
import { expect, test } from 'vitest'
import { childTool, serverTool, TestSession } from '../testing/test-session.ts'
import type { ChildReport, ChildRequest } from '../machine/lane-values.ts'
import { readStart } from './projection.ts'
import { SessionProjection } from './projection.ts'
import type { SessionEvent } from './session-event.ts'

const CALL = 'call_1_0'
const PATH = [{ callId: CALL, agent: 'helper' }]
const NOTHING: ChildReport = {
  spent: { tokens: 7, costMicros: 0, rounds: 0, calls: 0 },
  acted: false,
  waits: false,
  untrusted: [],
  did: { calls: [] },
  requests: [],
  closed: [],
  ended: [],
}
const PAY = { callId: 'call_c_1_0', name: 'pay', arguments: '{"sum":3}', argumentsHash: 'h' } as const
const APPROVAL: ChildRequest = {
  id: 'approval_call_c_1_0_1',
  path: [],
  asking: { type: 'approval', ...PAY, effect: 'once', withinMs: 5000 },
}

function begun(): TestSession {
  const delegate = { agent: 'helper', task: [{ type: 'text', text: 'Find it.' } as const], acts: true }
  const session = new TestSession({ tools: [childTool('help'), serverTool('read')] }).user('go')
  return session.says({ calls: [{ name: 'help', delegate }] })
}

function says(session: TestSession, more: Partial<ChildReport>): TestSession {
  const from = session.state.children[0]?.pos ?? -1
  const report = { ...NOTHING, ...more }
  return session.send({ type: 'child-reported', callId: CALL, birth: 'c', from, to: from + 5, report })
}

function newest(session: TestSession): readonly SessionEvent[] {
  const projection = new SessionProjection()
  const all = session.records.map((record) => projection.takeRecord(record).read())
  return all.at(-1) ?? []
}

test('the view of a delegated call says how its agent fares', () => {
  const session = begun()
  const child = (): unknown => newest(session).findLast((event) => event.type === 'call')?.call.child
  expect(child()).toEqual({ agent: 'helper', depth: 1, status: 'opening' })
  says(session, { waits: true })
  expect(child()).toEqual({ agent: 'helper', depth: 1, status: 'waiting', spent: NOTHING.spent })
  says(session, { waits: false })
  expect(child()).toMatchObject({ status: 'running' })
  session.fire(`call:${CALL}`)
  expect(child()).toMatchObject({ status: 'ending' })
  says(session, { end: { stop: 'cancelled', text: '' } })
  expect(child()).toMatchObject({ status: 'ended' })
})

test('an approval of an agent below is shown at the call that it came through, and decided as any', () => {
  const session = says(begun(), { waits: true, requests: [APPROVAL] })
  expect(newest(session)).toContainEqual(
    expect.objectContaining({
      type: 'approval-requested',
      approvalId: APPROVAL.id,
      call: expect.objectContaining({ callId: PAY.callId, message: 't1', step: 1, input: { sum: 3 }, path: PATH }),
    }),
  )
  expect(newest(session)).toContainEqual(expect.objectContaining({ type: 'session', activity: 'waiting' }))
  session.send({ type: 'approval', approvalId: APPROVAL.id, principal: 'ann', decision: 'deny', reason: 'too much' })
  expect(newest(session)).toContainEqual(expect.objectContaining({ type: 'approval-decided', path: PATH }))
  expect(newest(session).findLast((event) => event.type === 'call')?.call.result).toMatchObject({
    type: 'denied',
    byPerson: true,
  })
})

test('a request that is over is withdrawn', () => {
  const session = says(begun(), { requests: [APPROVAL] }).fire(`call:${CALL}`)
  expect(newest(session)).toContainEqual(
    expect.objectContaining({
      type: 'request-withdrawn',
      requestId: APPROVAL.id,
      callId: PAY.callId,
      reason: 'ended',
      path: PATH,
    }),
  )
})

test('a question of an agent below has its path', () => {
  const question = {
    type: 'question',
    callId: PAY.callId,
    n: 1,
    message: 'Which?',
    schema: {},
    withinMs: 5000,
  } as const
  const session = says(begun(), { requests: [{ id: 'question_call_c_1_0_1', path: [], asking: question }] })
  const { nowMs } = session
  const asked = { questionId: 'question_call_c_1_0_1', callId: PAY.callId, message: 'Which?', schema: {} }
  expect(newest(session)).toContainEqual(
    expect.objectContaining({ type: 'question-asked', ...asked, expiresAtMs: nowMs + 5000, path: PATH }),
  )
})

test('a reader that begins in the middle knows the same calls', () => {
  const session = says(begun(), { waits: true, requests: [APPROVAL] })
  const late = new SessionProjection({ start: readStart(session.state, session.history) })
  const early = new SessionProjection()
  for (const record of session.records) early.takeRecord(record)
  session.send({ type: 'approval', approvalId: APPROVAL.id, principal: 'ann', decision: 'approve' })
  const record = session.records.at(-1)
  if (!record) throw new Error('no record')
  const bodies = (projection: SessionProjection): unknown =>
    projection
      .takeRecord(record)
      .read()
      .map((event) => ({ ...event, cursor: null }))
  expect(bodies(late)).toEqual(bodies(early))
})
