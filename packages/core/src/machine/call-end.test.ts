// The description of a call's end, by kind of tool: for the model, and for people and programs. The table of
// docs/error-handling.md ("How a call ends") is written out here.
import { describe, expect, test } from 'vitest'
import { readCallResult } from '../events/call-results.ts'
import { clientTool, serverTool, TestSession } from '../testing/test-session.ts'
import { renderSettlement } from './render.ts'

const CALL = 'call_1_0'
const TOOLS = (['pure', 'idempotent', 'once'] as const).flatMap((effect) => [
  serverTool(`server-${effect}`, { effect, onInterrupt: 'cancel' }),
  clientTool(`client-${effect}`, { effect, onInterrupt: 'cancel' }),
])

type Play = (session: TestSession) => TestSession

function run(name: string): TestSession {
  return new TestSession({ tools: TOOLS })
    .attach()
    .user('go')
    .says({ calls: [name] })
}

const claim: Play = (session) => session.claim(CALL)
const untaken: Play = (session) => session
const timeOut: Play = (session) => session.fire(`call:${CALL}`)
const turnOver: Play = (session) => session.fire('turn')
const interrupt: Play = (session) => session.interrupt()
const graceOver: Play = (session) => session.interrupt().user('next').fire('grace')
const stop: Play = (session) => session.send({ type: 'stop' })
const die: Play = (session) => session.restart(1000)
const lose: Play = (session) =>
  session.returns(CALL, { type: 'error', code: 'tool_result_unknown', message: 'the printer is gone' })
const dieThrice: Play = (session) => die(die(die(session)))

const RAN = 'it may have run'
const NOT = 'it has no effect'
const LATE = 'no result came in the time of the call'
const OVER = 'the turn ended before a result arrived'
const GRACE = 'the turn was interrupted, and no result arrived in the remaining time'

interface Row {
  readonly tool: string
  readonly begin: Play
  readonly end: Play
  readonly says: readonly [type: string, code: string, message: string]
  readonly model: string
}

const TIMEOUT = 'Error: tool_result_timeout'
const row = (tool: string, [begin, end]: readonly [Play, Play], says: Row['says'], model: string): Row => ({
  tool,
  begin,
  end,
  says,
  model,
})

const ROWS: readonly Row[] = [
  row('server-pure', [untaken, timeOut], ['timed-out', 'tool_result_timeout', `${LATE}: ${NOT}`], TIMEOUT),
  row(
    'server-idempotent',
    [untaken, timeOut],
    ['timed-out', 'tool_result_timeout', `${LATE}: ${RAN}`],
    `${TIMEOUT} (${RAN})`,
  ),
  row('server-once', [untaken, timeOut], ['unknown', 'tool_result_timeout', `${LATE}: ${RAN}`], `${TIMEOUT} (${RAN})`),
  ...(['pure', 'idempotent', 'once'] as const).map((effect) =>
    row(`client-${effect}`, [untaken, timeOut], ['timed-out', 'tool_result_timeout', `${LATE}: ${NOT}`], TIMEOUT),
  ),
  row('client-pure', [claim, timeOut], ['timed-out', 'tool_result_timeout', `${LATE}: ${NOT}`], TIMEOUT),
  row(
    'client-idempotent',
    [claim, timeOut],
    ['timed-out', 'tool_result_timeout', `${LATE}: ${RAN}`],
    `${TIMEOUT} (${RAN})`,
  ),
  row('client-once', [claim, timeOut], ['unknown', 'tool_result_timeout', `${LATE}: ${RAN}`], `${TIMEOUT} (${RAN})`),
  // Claimed by a client that left, and taken by no other.
  row(
    'client-idempotent',
    [(session) => claim(session).detach(), timeOut],
    ['timed-out', 'tool_result_timeout', `${LATE}: ${RAN}`],
    `${TIMEOUT} (${RAN})`,
  ),
  row(
    'client-once',
    [(session) => claim(session).detach(), timeOut],
    ['unknown', 'tool_result_timeout', `${LATE}: ${RAN}`],
    `${TIMEOUT} (${RAN})`,
  ),
  row('client-once', [claim, turnOver], ['unknown', 'tool_result_timeout', `${OVER}: ${RAN}`], `${TIMEOUT} (${RAN})`),
  row(
    'server-idempotent',
    [untaken, turnOver],
    ['timed-out', 'tool_result_timeout', `${OVER}: ${RAN}`],
    `${TIMEOUT} (${RAN})`,
  ),
  row('server-pure', [untaken, turnOver], ['timed-out', 'tool_result_timeout', `${OVER}: ${NOT}`], TIMEOUT),
  row(
    'server-pure',
    [untaken, interrupt],
    ['cancelled', 'cancelled', `the turn was interrupted: ${NOT}`],
    `Error: cancelled (${NOT})`,
  ),
  row(
    'server-idempotent',
    [untaken, interrupt],
    ['cancelled', 'cancelled', `the turn was interrupted: ${RAN}`],
    `Error: cancelled (${RAN})`,
  ),
  row(
    'server-once',
    [untaken, interrupt],
    ['unknown', 'tool_result_unknown', `the turn was interrupted: ${RAN}`],
    `Error: tool_result_unknown (${RAN})`,
  ),
  row('client-once', [untaken, graceOver], ['cancelled', 'cancelled', `${GRACE}: ${NOT}`], `Error: cancelled (${NOT})`),
  row(
    'client-once',
    [claim, graceOver],
    ['unknown', 'tool_result_unknown', `${GRACE}: ${RAN}`],
    `Error: tool_result_unknown (${RAN})`,
  ),
  row(
    'client-idempotent',
    [claim, graceOver],
    ['cancelled', 'cancelled', `${GRACE}: ${RAN}`],
    `Error: cancelled (${RAN})`,
  ),
  row(
    'server-pure',
    [untaken, stop],
    ['cancelled', 'cancelled', `the session was stopped: ${NOT}`],
    `Error: cancelled (${NOT})`,
  ),
  row(
    'server-once',
    [untaken, stop],
    ['unknown', 'tool_result_unknown', `the session was stopped: ${RAN}`],
    `Error: tool_result_unknown (${RAN})`,
  ),
  row(
    'server-once',
    [untaken, die],
    ['unknown', 'tool_result_unknown', `the process that ran the tool died: ${RAN}`],
    `Error: tool_result_unknown (${RAN})`,
  ),
  row(
    'server-once',
    [untaken, lose],
    ['unknown', 'tool_result_unknown', `the printer is gone: ${RAN}`],
    `Error: tool_result_unknown (${RAN}): the printer is gone`,
  ),
  row(
    'server-idempotent',
    [untaken, dieThrice],
    ['unknown', 'tool_result_unknown', `each process that ran the tool died: ${RAN}`],
    `Error: tool_result_unknown (${RAN})`,
  ),
]

describe('the end of a call', () => {
  test.each(ROWS.map((each) => [`${each.tool} is ${each.says[0]}: ${each.says[2]}`, each] as const))(
    '%s',
    (_, each) => {
      const session = each.end(each.begin(run(each.tool)))
      const settled = session.logged('call-settled').at(-1)
      if (!settled) throw new Error('the call is open')
      const [type, code, message] = each.says
      expect(readCallResult(settled.settlement)).toMatchObject({ type, code, message })
      expect(renderSettlement(settled.settlement)).toEqual([{ type: 'text', text: each.model }])
      // A model that reads that a tool may have run also reads its late result.
      const mayHaveRun = message.endsWith(RAN)
      expect(settled.tellLate || !mayHaveRun).toBe(true)
    },
  )
})

test('ends of older logs read the same, as far as they say what happened', () => {
  expect(readCallResult({ type: 'timed-out' })).toEqual({
    type: 'timed-out',
    code: 'tool_result_timeout',
    message: LATE,
  })
  expect(readCallResult({ type: 'unknown', reason: 'missing' })).toEqual({
    type: 'unknown',
    code: 'tool_result_unknown',
    message: `the call ended without a result: ${RAN}`,
  })
})

test('a call that a client had claimed, and that ends for want of its tool or approval, may have run', () => {
  const session = run('client-idempotent').claim(CALL).detach()
  session.spec = { ...session.spec, hash: 'v2', tools: [] }
  session.send({ type: 'agent-changed' })
  expect(session.fact('call-settled')).toMatchObject({
    settlement: { code: 'tool_gone', message: expect.stringMatching(/: it may have run$/) },
    tellLate: true,
  })
})
