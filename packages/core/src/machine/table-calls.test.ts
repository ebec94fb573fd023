// Each event of a call, in each of its states, for each kind of tool: real inputs drive the call into the state, and
// its outcome is compared word for word. `no timer`, `no client`: nothing can cause the event there.
import { expect, test } from 'vitest'
import { renderSettlement } from './render.ts'
import type { CallState } from './state.ts'
import { CALL_STATES, findCall } from './state.ts'
import type { CallEvent, CallOutcome } from './table.ts'
import { CALL_TABLE } from './table.ts'
import { clientTool, serverTool, testSpec, TestSession } from '../testing/test-session.ts'

type Kind = 'once' | 'repeatable'

const TOOLS = [
  serverTool('beside', { timeoutMs: 300_000, onInterrupt: 'finish' }),
  serverTool('pay', { effect: 'once', onInterrupt: 'cancel' }),
  serverTool('put', { effect: 'idempotent', onInterrupt: 'cancel' }),
  serverTool('pay.on', { effect: 'once', onInterrupt: 'finish' }),
  serverTool('put.on', { effect: 'idempotent', onInterrupt: 'finish' }),
  clientTool('spawn', { effect: 'once' }),
  clientTool('cancel', { effect: 'idempotent' }),
]

const CALL = 'call_1_0'

/** A session whose first call is in the state; a second one runs next to it, so that its step stays open. */
function inState(state: CallState, kind: Kind, finishes = false): TestSession {
  const session = new TestSession({ tools: TOOLS })
  const client = kind === 'once' ? 'spawn' : 'cancel'
  const server = `${kind === 'once' ? 'pay' : 'put'}${finishes ? '.on' : ''}`
  const asks = (name: string, approval = false): TestSession =>
    session.user('go').says({ calls: [{ name, approval }, 'beside'] })
  switch (state) {
    case 'proposed':
      asks(server, true).send({ type: 'pause' })
      return session.replay({ ...OLD_EDIT, approvalId: session.call(CALL).approval?.id ?? '' })
    case 'awaiting-approval':
      return asks(server, true)
    case 'ready':
      return asks(client)
    case 'offered':
      session.attach()
      return asks(client)
    case 'claimed':
      session.attach()
      return asks(client).claim(CALL)
    case 'started':
      return asks(server)
    case 'settled':
      return asks(server).returns(CALL, 'first')
  }
}

const EDITED = { arguments: '{"a":2}', check: { argumentsHash: 'hash of {"a":2}' } }

/** Edits in older records needed their own approval: the only calls that rest as proposed. */
const OLD_EDIT = {
  type: 'approval-decided',
  callId: CALL,
  decision: 'edit',
  principal: 'ann',
  edited: { arguments: '{"a":2}', argumentsHash: 'hash of {"a":2}', tokenHash: 'token' },
} as const

/** Triggers the event; returns a description if it was refused or did not happen. */
function letHappen(session: TestSession, event: CallEvent): string | undefined {
  const call = session.call(CALL)
  const timer = (name: string): string | undefined => {
    if (!session.timers().includes(name)) return 'no timer'
    session.fire(name)
    return undefined
  }
  const approval = (decision: 'approve' | 'deny' | 'edit'): string | undefined => {
    const input = session.approval(CALL, decision, decision === 'edit' ? { edited: EDITED } : {})
    const refusal = session.refusal(input)
    if (refusal === undefined) session.send(input)
    return refusal
  }
  switch (event) {
    case 'result':
      if (call.state === 'started' || (call.state === 'settled' && call.runs === 'server'))
        session.returns(CALL, 'late')
      else {
        if (session.state.clients.length === 0) session.attach('phone', { sequential: false }).facts = []
        session.clientReturns(CALL, 'late')
      }
      return session.factTypes().includes('result-ignored') ? session.fact('result-ignored').reason : undefined
    case 'claim': {
      const { connection = 'phone', number: offer = 1 } = call.offer ?? {}
      const claim = { type: 'call-claimed', callId: CALL, connection, offer } as const
      const refusal = session.refusal(claim)
      if (refusal === undefined) session.send(claim)
      return refusal
    }
    case 'deadline':
      return timer(`call:${CALL}`)
    case 'approve':
    case 'deny':
    case 'edit':
      return approval(event)
    case 'approval-expiry':
      return timer(`approval:${CALL}`)
    case 'interrupt':
      session.interrupt()
      return undefined
    case 'grace-over':
      session.interrupt()
      if (session.state.step === null) return 'no timer'
      session.user('next')
      return timer('grace')
    case 'stop':
      session.send({ type: 'stop' })
      return undefined
    case 'cancel':
    case 'rewind':
      // The last test plays these.
      return 'no task'
    case 'turn-over':
      return timer('turn')
    case 'restart':
      session.restart()
      return undefined
    case 'detach':
      if (session.state.clients.length === 0) return 'no client'
      session.detach()
      return undefined
    case 'tool-gone':
      session.spec = testSpec({ hash: 'v2', tools: TOOLS.filter((tool) => tool.name !== call.name) })
      session.send({ type: 'agent-changed' })
      return undefined
  }
}

/** The outcome of the call: its state, or its settlement and the words for the model. */
function outcome(session: TestSession, event: CallEvent): string {
  const before = session.call(CALL)
  const settledBefore = before.settlement !== null
  session.facts = []
  const noted = letHappen(session, event)
  const settled = session.facts.find((fact) => fact.type === 'call-settled' && fact.callId === CALL)
  const now = findCall(session.state, CALL)
  const told =
    settled?.type === 'call-settled'
      ? `${settled.settlement.type}: ${renderSettlement(settled.settlement)
          .map((part) => (part.type === 'text' ? part.text : ''))
          .join('')}${settled.tellLate ? ' +late' : ''}`
      : settledBefore
        ? 'settled'
        : (now?.state ?? 'closed')
  return noted === undefined ? told : `${noted}, ${told}`
}

/** Events of a task, which are pinned apart. */
const OF_TASKS: ReadonlySet<CallEvent> = new Set(['cancel', 'rewind'])
const EVENTS = (Object.keys(CALL_TABLE) as CallEvent[]).filter((event): event is keyof Pins => !OF_TASKS.has(event)) // the table's own keys

// The words for the model follow the colon; `+late`: the model also learns of a result that arrives afterwards.
const TIMED_OUT = 'timed-out: Error: tool_result_timeout'
const UNKNOWN_IN_TIME = 'unknown: Error: tool_result_timeout (it may have run) +late'
const TIMED_OUT_BEGUN = 'timed-out: Error: tool_result_timeout (it may have run) +late'
const CANCELLED = 'cancelled: Error: cancelled (it has no effect) +late'
const CANCELLED_MAY_HAVE_RUN = 'cancelled: Error: cancelled (it may have run) +late'
const UNKNOWN = 'unknown: Error: tool_result_unknown (it may have run) +late'
const EXPIRED = 'denied: Error: the call was not approved in time'

/** For a tool that may run once, and for a repeatable tool. */
type Pins = Readonly<
  Record<
    Exclude<CallEvent, 'cancel' | 'rewind'>,
    Readonly<Record<CallState, readonly [once: string, repeatable: string]>>
  >
>

const PINS: Pins = {
  result: {
    proposed: ['foreign, proposed', 'foreign, proposed'],
    'awaiting-approval': ['foreign, awaiting-approval', 'foreign, awaiting-approval'],
    ready: ['ok: late', 'ok: late'],
    offered: ['ok: late', 'ok: late'],
    claimed: ['ok: late', 'ok: late'],
    started: ['ok: late', 'ok: late'],
    settled: ['duplicate, settled', 'duplicate, settled'],
  },
  claim: {
    proposed: ['call_not_offered, proposed', 'call_not_offered, proposed'],
    'awaiting-approval': ['call_not_offered, awaiting-approval', 'call_not_offered, awaiting-approval'],
    ready: ['call_not_offered, ready', 'call_not_offered, ready'],
    offered: ['claimed', 'claimed'],
    claimed: ['claimed', 'claimed'],
    started: ['call_not_offered, started', 'call_not_offered, started'],
    settled: ['call_over, settled', 'call_over, settled'],
  },
  deadline: {
    proposed: ['no timer, proposed', 'no timer, proposed'],
    'awaiting-approval': ['no timer, awaiting-approval', 'no timer, awaiting-approval'],
    ready: [TIMED_OUT, TIMED_OUT],
    offered: [TIMED_OUT, TIMED_OUT],
    claimed: [UNKNOWN_IN_TIME, TIMED_OUT_BEGUN],
    started: [UNKNOWN_IN_TIME, TIMED_OUT_BEGUN],
    settled: ['no timer, settled', 'no timer, settled'],
  },
  approve: {
    proposed: ['approval_refused, proposed', 'approval_refused, proposed'],
    'awaiting-approval': ['started', 'started'],
    ready: ['approval_refused, ready', 'approval_refused, ready'],
    offered: ['approval_refused, offered', 'approval_refused, offered'],
    claimed: ['approval_refused, claimed', 'approval_refused, claimed'],
    started: ['approval_refused, started', 'approval_refused, started'],
    settled: ['approval_refused, settled', 'approval_refused, settled'],
  },
  deny: {
    proposed: ['approval_refused, proposed', 'approval_refused, proposed'],
    'awaiting-approval': ['denied: Error: a person denied the call', 'denied: Error: a person denied the call'],
    ready: ['approval_refused, ready', 'approval_refused, ready'],
    offered: ['approval_refused, offered', 'approval_refused, offered'],
    claimed: ['approval_refused, claimed', 'approval_refused, claimed'],
    started: ['approval_refused, started', 'approval_refused, started'],
    settled: ['approval_refused, settled', 'approval_refused, settled'],
  },
  edit: {
    proposed: ['approval_refused, proposed', 'approval_refused, proposed'],
    'awaiting-approval': ['started', 'started'],
    ready: ['approval_refused, ready', 'approval_refused, ready'],
    offered: ['approval_refused, offered', 'approval_refused, offered'],
    claimed: ['approval_refused, claimed', 'approval_refused, claimed'],
    started: ['approval_refused, started', 'approval_refused, started'],
    settled: ['approval_refused, settled', 'approval_refused, settled'],
  },
  'approval-expiry': {
    proposed: ['no timer, proposed', 'no timer, proposed'],
    'awaiting-approval': [EXPIRED, EXPIRED],
    ready: ['no timer, ready', 'no timer, ready'],
    offered: ['no timer, offered', 'no timer, offered'],
    claimed: ['no timer, claimed', 'no timer, claimed'],
    started: ['no timer, started', 'no timer, started'],
    settled: ['no timer, settled', 'no timer, settled'],
  },
  interrupt: {
    proposed: [CANCELLED, CANCELLED],
    'awaiting-approval': [CANCELLED, CANCELLED],
    ready: [CANCELLED, CANCELLED],
    offered: ['offered', 'offered'],
    claimed: ['claimed', 'claimed'],
    started: [UNKNOWN, CANCELLED_MAY_HAVE_RUN],
    settled: ['settled', 'settled'],
  },
  'grace-over': {
    proposed: ['closed', 'closed'],
    'awaiting-approval': ['closed', 'closed'],
    ready: ['closed', 'closed'],
    offered: [CANCELLED, CANCELLED],
    claimed: [UNKNOWN, CANCELLED_MAY_HAVE_RUN],
    started: [UNKNOWN, CANCELLED_MAY_HAVE_RUN],
    settled: ['settled', 'settled'],
  },
  stop: {
    proposed: [CANCELLED, CANCELLED],
    'awaiting-approval': [CANCELLED, CANCELLED],
    ready: [CANCELLED, CANCELLED],
    offered: [CANCELLED, CANCELLED],
    claimed: [UNKNOWN, CANCELLED_MAY_HAVE_RUN],
    started: [UNKNOWN, CANCELLED_MAY_HAVE_RUN],
    settled: ['settled', 'settled'],
  },
  'turn-over': {
    proposed: ['no timer, proposed', 'no timer, proposed'],
    'awaiting-approval': [CANCELLED, CANCELLED],
    ready: [CANCELLED, CANCELLED],
    offered: [TIMED_OUT, TIMED_OUT],
    claimed: [UNKNOWN_IN_TIME, TIMED_OUT_BEGUN],
    started: [UNKNOWN_IN_TIME, TIMED_OUT_BEGUN],
    settled: ['settled', 'settled'],
  },
  restart: {
    proposed: ['proposed', 'proposed'],
    'awaiting-approval': ['awaiting-approval', 'awaiting-approval'],
    ready: ['ready', 'ready'],
    offered: ['ready', 'ready'],
    claimed: ['claimed', 'ready'],
    started: [UNKNOWN, 'started'],
    settled: ['settled', 'settled'],
  },
  detach: {
    proposed: ['no client, proposed', 'no client, proposed'],
    'awaiting-approval': ['no client, awaiting-approval', 'no client, awaiting-approval'],
    ready: ['no client, ready', 'no client, ready'],
    offered: ['ready', 'ready'],
    claimed: ['claimed', 'ready'],
    started: ['no client, started', 'no client, started'],
    settled: ['no client, settled', 'no client, settled'],
  },
  'tool-gone': {
    proposed: [
      'error: Error: the tool "pay" was removed while its call was open',
      'error: Error: the tool "put" was removed while its call was open',
    ],
    'awaiting-approval': [
      'error: Error: the tool "pay" was removed while its call was open',
      'error: Error: the tool "put" was removed while its call was open',
    ],
    ready: [
      'error: Error: the tool "spawn" was removed while its call was open',
      'error: Error: the tool "cancel" was removed while its call was open',
    ],
    offered: [
      'error: Error: the tool "spawn" was removed while its call was open',
      'error: Error: the tool "cancel" was removed while its call was open',
    ],
    claimed: ['claimed', 'claimed'],
    started: ['started', 'started'],
    settled: ['settled', 'settled'],
  },
}

const cells = EVENTS.flatMap((event) =>
  CALL_STATES.flatMap((state) => {
    const [once, repeatable] = PINS[event][state]
    return [
      { event, state, kind: 'once', expected: once } as const,
      { event, state, kind: 'repeatable', expected: repeatable } as const,
    ]
  }),
)

test.each(cells)('$event happens to a call that is $state, its tool $kind', ({ event, state, kind, expected }) => {
  // Only a tool that may finish silently outlives an interrupt.
  const session = inState(state, kind, event === 'grace-over')
  const befallen = outcome(session, event)
  expect(befallen).toBe(expected)
})

test('every cell of the call table is pinned', () => {
  console.log(
    `call table: ${cells.length} cells driven by real inputs, ${cells.filter(isReached).length} of them reached`,
  )
  expect(Object.keys(PINS)).toEqual(EVENTS)
  expect(cells.length).toBe(14 * 7 * 2)
})

/** Whether the event was not refused, and had a timer or a client to cause it. */
function isReached({ expected }: { readonly expected: string }): boolean {
  return !/^(no timer|no client|call_not_offered|call_over|approval_refused),/.test(expected)
}

test('a started tool that may finish silently is left alone by an interrupt', () => {
  const kept = (['once', 'repeatable'] as const).map((kind) => outcome(inState('started', kind, true), 'interrupt'))
  expect(kept).toEqual(['started', 'started'])
})

test('a result from a client that was never offered the call is foreign, and the call waits on', () => {
  const session = new TestSession({ tools: [...TOOLS, clientTool('alone', { parallel: false })] })
  session.attach()
  session.user('go').says({ calls: ['beside', 'alone'] })
  expect(session.call('call_1_1').state).toBe('ready')
  session.clientReturns('call_1_1')
  expect(session.fact('result-ignored').reason).toBe('foreign')
  expect(session.call('call_1_1').state).toBe('ready')
})

/** How each outcome of the table looks from outside. */
const LOOKS: Readonly<Record<CallOutcome, RegExp>> = {
  accept: /^ok: late/,
  late: /^(late|duplicate), settled$/,
  foreign: /^foreign, /,
  claim: /^claimed$/,
  ready: /^started$/,
  return: /^ready$/,
  again: /^started$/,
  stay: /^((no timer|no client|call_not_offered|call_over|approval_refused), )?(proposed|awaiting-approval|ready|offered|claimed|started|settled)$/,
  'settle-denied': /^denied: /,
  'settle-expired': /^denied: .* not approved in time/,
  'settle-cancelled': /^cancelled: /,
  'settle-timed-out': /^timed-out: /,
  'settle-unknown': /^unknown: /,
  'settle-gone': /^error: .* was removed/,
  // The column of children: children.test.ts plays it.
  end: /^$/,
  'settle-without': /^$/,
}

test('the table says of every cell what becomes of the call', () => {
  const wrong = cells.filter(({ event, state, kind, expected }) => {
    // Nothing causes the event there, or the preceding interrupt has settled the call: the cell has no witness.
    const unseen = /^no (timer|client), |^closed$/.test(expected)
    return !unseen && !LOOKS[CALL_TABLE[event][state][kind]]?.test(expected)
  })
  expect(wrong).toEqual([])
})

/** Opens an idle session with a task in the state. */
function taskIn(state: CallState, kind: Kind): TestSession {
  const session = new TestSession({ tools: TOOLS })
  const client = kind === 'once' ? 'spawn' : 'cancel'
  const server = kind === 'once' ? 'pay' : 'put'
  if (state === 'offered' || state === 'claimed') session.attach()
  const isAtClient = state === 'ready' || state === 'offered' || state === 'claimed'
  const call = { name: isAtClient ? client : server, approval: state === 'awaiting-approval', background: true }
  session
    .user('go')
    .says({ calls: [call] })
    .says('ok')
  return state === 'claimed' ? session.claim(CALL) : session
}

const TASK_STATES = ['awaiting-approval', 'ready', 'offered', 'claimed', 'started'] as const
const TASK_CELLS = TASK_STATES.flatMap((state) =>
  (['once', 'repeatable'] as const).flatMap((kind) =>
    [...OF_TASKS].map((event) => ({ state, kind, event: event as 'cancel' | 'rewind' })),
  ),
)

test.each(TASK_CELLS)('$event of a task that is $state, its tool $kind', ({ state, kind, event }) => {
  const session = taskIn(state, kind)
  expect(session.call(CALL).state).toBe(state)
  if (event === 'cancel') session.send({ type: 'cancel-call', callId: CALL, principal: 'ann' })
  else session.send({ type: 'rewind', inputId: 'r', exchange: 1, again: false })
  const hadBegun = state === 'claimed' || state === 'started'
  const expected = !hadBegun
    ? { type: 'cancelled', reason: event }
    : kind === 'once'
      ? { type: 'unknown', reason: event }
      : { type: 'cancelled', reason: event, begun: true }
  expect(session.fact('task-settled').settlement).toEqual(expected)
  expect(session.state.tasks).toEqual([])
})
