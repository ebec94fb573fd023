// Events of a session whose calls other sessions run: the state of these, and what they ask, with their path.
import { expect, test } from 'vitest'
import { childTool, serverTool, TestSession } from '../testing/test-session.ts'
import type { ChildReport, ChildRequest } from '../machine/lane-values.ts'
import { createHistory } from '../machine/history.ts'
import { applyRecord } from '../machine/apply.ts'
import { initialState } from '../machine/state.ts'
import { readStart } from './projection.ts'
import { readRequest } from './requests.ts'
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

test('a call below that its own host takes over is over for readers here', () => {
  const asking = {
    type: 'call',
    ...PAY,
    effect: 'once',
    runs: 'client',
    timeoutMs: 5000,
    parallel: true,
    onInterrupt: 'finish',
    awayMs: 1000,
    fallback: true,
  } as const
  const session = says(begun(), { waits: true, requests: [{ id: PAY.callId, path: [], asking }] })
  expect(newest(session)).toContainEqual(expect.objectContaining({ type: 'session', activity: 'waiting' }))
  session.fire(`call:${PAY.callId}`)
  const shown = newest(session).flatMap((event) => (event.type === 'call' ? [event.call] : []))
  expect(shown).toMatchObject([
    { callId: PAY.callId, path: PATH, status: 'settled', result: { type: 'unknown', code: 'tool_result_unknown' } },
  ])
  expect(newest(session).filter(({ type }) => type === 'session')).toEqual([])
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

/** The newest record's events for a late and for an early reader. */
function readBoth(session: TestSession, records: number): readonly [unknown, unknown] {
  const { length } = session.records
  const replay = (): TestSession['records'] => session.records.slice(0, length - records)
  const before = foldRecords(replay())
  const late = new SessionProjection({ start: readStart(before.state, before.history) })
  const early = new SessionProjection()
  for (const record of replay()) early.takeRecord(record)
  const read = (projection: SessionProjection): unknown =>
    session.records
      .slice(length - records)
      .map((record) => projection.takeRecord(record).read())
      .at(-1)
      ?.map((event) => ({ ...event, cursor: null }))
  return [read(late), read(early)]
}

function foldRecords(records: TestSession['records']) {
  let state = initialState('s')
  const history = createHistory()
  for (const record of records) {
    state = applyRecord(state, record)
    history.fold(record)
  }
  return { state, history }
}

test.each(['approve', 'deny', 'edit'] as const)(
  'a reader that begins before or after a person decides is told the same: %s',
  (decision) => {
    const edited = decision === 'edit' && { edited: { arguments: '{"sum":2}', check: { argumentsHash: 'h2' } } }
    const session = says(begun(), { waits: true, requests: [APPROVAL] })
    session.send({ type: 'approval', approvalId: APPROVAL.id, principal: 'ann', decision, ...edited })
    const [before, whole] = readBoth(session, 1)
    expect(before).toEqual(whole)
    says(session, { closed: [APPROVAL.id] })
    const [after, wholeAfter] = readBoth(session, 1)
    expect(after).toEqual(wholeAfter)
    expect(after).toContainEqual(expect.objectContaining({ type: 'request-withdrawn', requestId: APPROVAL.id }))
  },
)

test('each event of a request opens or closes it, whatever its kind', () => {
  const session = says(begun(), { waits: true, requests: [APPROVAL] })
  const asked = newest(session).flatMap((event) => readRequest(event) ?? [])
  expect(asked).toMatchObject([
    { type: 'approval', id: APPROVAL.id, callId: PAY.callId, asked: { call: { path: PATH } } },
  ])
  session.send({ type: 'approval', approvalId: APPROVAL.id, principal: 'ann', decision: 'approve' })
  const over = [{ type: 'over', id: APPROVAL.id, callId: PAY.callId }]
  expect(newest(session).flatMap((event) => readRequest(event) ?? [])).toEqual(over)
  says(session, { closed: [APPROVAL.id] })
  expect(newest(session).flatMap((event) => readRequest(event) ?? [])).toEqual(over)
})
