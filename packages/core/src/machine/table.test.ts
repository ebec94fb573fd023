// Each input type in each phase of a session: the facts that it makes and the next phase, or the code of its refusal,
// word for word.
import { expect, test } from 'vitest'
import type { Input, InputType } from './input.ts'
import type { Phase } from './state.ts'
import { PHASES } from './state.ts'
import { SESSION_TABLE } from './table.ts'
import { clientTool, serverTool, testSpec, TestSession } from '../testing/test-session.ts'

const TOOLS = [
  serverTool('read', { onInterrupt: 'finish' }),
  serverTool('pay', { effect: 'once' }),
  clientTool('look', { timeoutMs: 20_000 }),
]
const WINDOW = { exchanges: 1, keepExchanges: 1, summarise: true }

function inPhase(phase: Phase): TestSession {
  const session = new TestSession({ tools: TOOLS, ...(phase === 'summarising' && { window: WINDOW }) })
  session.attach('phone', { sequential: true })
  session.user('first').says('answer')
  switch (phase) {
    case 'idle':
      return session
    case 'modelling':
    case 'summarising':
      return session.user('second')
    case 'calling':
      return session.user('second').says({ calls: ['look', { name: 'pay', approval: true }, 'read'] })
    case 'interrupting':
      return session.user('second').progress('so far').interrupt()
    case 'paused':
      return inPhase('calling').send({ type: 'pause' })
    case 'stopped':
      return session.send({ type: 'stop' })
  }
}

/** In idle there are open calls only after an interrupted turn. */
const OF_CALLS: ReadonlySet<InputType> = new Set([
  'tool-result',
  'call-claimed',
  'call-reached',
  'offer-failed',
  'tool-finished',
  'question-asked',
  'plan-set',
  'model-used',
  'work-lost',
  'question-answer',
  'client-detached',
  'client-tools',
  'agent-changed',
  'timer-fired',
])

/** Inputs about calls reach a task in phases without an open step. */
const OF_TASKS: ReadonlySet<InputType> = new Set([
  'approval',
  'question-asked',
  'question-answer',
  'plan-set',
  'call-claimed',
  'call-reached',
  'offer-failed',
  'cancel-call',
])

/** The calls of the first turn run in the background. */
function withTasks(phase: Phase): TestSession {
  const session = new TestSession({ tools: TOOLS, ...(phase === 'summarising' && { window: WINDOW }) })
  session.attach('phone', { sequential: true }).user('first')
  const background = { background: true }
  const calls = [
    { name: 'look', ...background },
    { name: 'pay', approval: true, ...background },
    { name: 'read', ...background },
  ]
  session.says({ calls }).says('answer')
  switch (phase) {
    case 'modelling':
    case 'summarising':
      return session.user('second')
    case 'calling':
      return session.user('second').says({ calls: ['read'] })
    case 'interrupting':
      return session.user('second').progress('so far').interrupt()
    case 'paused':
      return session.send({ type: 'pause' })
    case 'stopped':
      return session.send({ type: 'stop' })
    case 'idle':
      return session
  }
}

const REMINDER = { type: 'set-reminder', reminder: 'tea', dueMs: 5000, zone: 'UTC', event: { name: 'due' } } as const

function sessionFor(phase: Phase, type: InputType): TestSession {
  if (OF_TASKS.has(type)) return withTasks(phase)
  if (phase === 'idle' && OF_CALLS.has(type)) return inPhase('calling').interrupt()
  if (type === 'withdraw') return withWaiting(phase)
  if (type === 'cancel-reminder' || type === 'reminder-due') return inPhase(phase).send(REMINDER)
  if (phase === 'paused' && type === 'rewind') return inPhase('idle').send({ type: 'pause' })
  return inPhase(phase)
}

/** An overheard line waits in every phase: its batch is still open. */
function withWaiting(phase: Phase): TestSession {
  const waits = { type: 'transcript', inputId: 'waits', speaker: 'ann', text: 'hello' } as const
  if (phase === 'stopped') return inPhase('idle').send(waits).send({ type: 'stop' })
  return inPhase(phase).send(waits)
}

const CAN = { sequential: false, claims: true, reportsPlayback: true, asks: true } as const
function inputFor(session: TestSession, type: InputType): Input {
  const { state } = session
  const step = OF_TASKS.has(type) ? 1 : 2
  const [LOOK, PAY, READ] = [`call_${step}_0`, `call_${step}_1`, `call_${step}_2`]
  const attempt = state.attempt?.attempt ?? 99
  const error = { code: 'model_overloaded', message: 'busy', retryable: true } as const
  switch (type) {
    case 'user-input':
      return { type, inputId: 'new', parts: [{ type: 'text', text: 'more' }] }
    case 'transcript':
      return { type, inputId: 'new', speaker: 'ann', text: 'hello' }
    case 'urgent-event':
      return { type, inputId: 'new', name: 'offer' }
    case 'interrupt':
      return { type, reason: 'barge_in', heard: { type: 'chars', chars: 2 } }
    case 'cancel-call':
      return { type, callId: READ, principal: 'ann' }
    case 'rewind':
      return {
        type,
        inputId: 'new',
        exchange: 1,
        again: state.phase === 'idle',
        ...(state.turn && { interrupt: true }),
      }
    case 'withdraw':
      return { type, target: 'waits' }
    case 'set-settings':
      return { type, settings: { temperature: 0 } }
    case 'set-model':
      return { type, model: 'two' }
    case 'describe':
      return { type, title: 'a trip' }
    case 'pause':
    case 'continue':
    case 'stop':
    case 'start':
      return { type }
    case 'approval':
      return {
        type,
        approvalId: `approval_${PAY}_1`,
        principal: 'ann',
        decision: 'approve',
      }
    case 'question-answer':
      return { type, questionId: `question_${READ}_1`, principal: 'ann', value: 1 }
    case 'question-asked':
      return { type, callId: READ, attempt: 1, n: 1, message: 'which?', schema: {}, timeoutMs: 1000 }
    case 'plan-set':
      return { type, callId: READ, attempt: 1, entries: [{ content: 'look', status: 'pending' }] }
    case 'model-used':
      return { type, callId: READ, attempt: 1, model: 'small', usage: { inputTokens: 5, costMicros: 2 } }
    case 'client-attached':
      return { type, connection: 'desk', principal: 'ann', ...CAN }
    case 'client-detached':
      return { type, connection: 'phone' }
    case 'client-tools':
      return {
        type,
        connection: 'phone',
        tools: [{ ...clientTool('camera'), description: 'takes a picture', inputSchema: {} }],
      }
    case 'tool-result':
      return { type, callId: LOOK, connection: 'phone', outcome: { type: 'ok', content: [] } }
    case 'call-claimed':
      return { type, callId: LOOK, connection: 'phone', offer: 1 }
    case 'call-reached':
    case 'offer-failed':
      return { type, callId: LOOK, offer: 1 }
    case 'display-written':
      return { type, turn: 1 }
    case 'model-finished':
      return session.answer('said', attempt)
    case 'model-failed':
    case 'summary-failed':
      return { type, attempt, error }
    case 'model-stopped':
      return { type, attempt, text: 'said' }
    case 'attempt-progress':
      return { type, attempt, offset: state.attempt?.progressChars ?? 0, text: ' on' }
    case 'summary-finished':
      return { type, attempt, text: 'so far', usage: {} }
    case 'tool-finished':
      return { type, callId: READ, attempt: 1, outcome: { type: 'ok', content: [] } }
    case 'timer-fired':
      return firstTimer(session)
    case 'host-restarted':
      return { type, downMs: 1000 }
    case 'work-lost':
      return state.attempt
        ? { type, work: { type: 'model', attempt } }
        : { type, work: { type: 'tool', callId: READ, attempt: 1 } }
    case 'agent-changed':
      return { type }
    case 'set-reminder':
      return REMINDER
    case 'cancel-reminder':
      return { type, reminder: 'tea' }
    case 'reminder-due':
      return { type, reminder: 'tea', dueMs: 5000, told: { due: 'at five' } }
    case 'child-reported':
      return { type, callId: READ, birth: 'c', from: -1, to: 0, report: NO_REPORT }
    case 'child-lost':
      return { type, callId: READ, code: 'log_damaged', message: 'it is damaged' }
    case 'parent-told':
      return { type, birth: '', from: -1, to: 3, items: [] }
  }
}

/** About a child that the session does not have. */
const NO_REPORT = {
  spent: { tokens: 0, costMicros: 0, rounds: 0, calls: 0 },
  acted: false,
  waits: false,
  untrusted: [],
  did: { calls: [] },
  requests: [],
  closed: [],
  ended: [],
} as const

/** The timer that guards the phase; a timer that never ran if there is none. */
function firstTimer(session: TestSession): Input {
  const timers = session.timers()
  const name = timers.includes('interrupt') ? 'interrupt' : timers.at(-1)
  if (name === undefined) return { type: 'timer-fired', timer: 'turn', generation: 1 }
  const { atMs, generation } = session.timer(name)
  session.nowMs = atMs
  return { type: 'timer-fired', timer: name, generation }
}

function whatHappens(phase: Phase, type: InputType): string {
  const session = sessionFor(phase, type)
  if (type === 'question-answer' && phase !== 'stopped') session.send(inputFor(session, 'question-asked'))
  const input = inputFor(session, type)
  if (type === 'agent-changed') session.spec = testSpec({ hash: 'v2', tools: TOOLS.slice(0, 2) })
  const refusal = session.refusal(input)
  if (refusal !== undefined) return `refused: ${refusal}`
  session.send(input)
  if (session.facts.length === 0) return 'quiet'
  return `${session.state.phase}: ${session.factTypes().join(' ')}`
}

const PINS: Readonly<Record<InputType, Readonly<Record<Phase, string>>>> = {
  'user-input': {
    idle: 'modelling: input-accepted turn-started inputs-entered model-started',
    modelling: 'modelling: input-accepted',
    calling: 'calling: input-accepted',
    interrupting: 'interrupting: input-accepted',
    summarising: 'summarising: input-accepted',
    paused: 'paused: input-accepted',
    stopped: 'refused: session_stopped',
  },
  transcript: {
    idle: 'idle: input-accepted',
    modelling: 'modelling: input-accepted',
    calling: 'calling: input-accepted',
    interrupting: 'interrupting: input-accepted',
    summarising: 'summarising: input-accepted',
    paused: 'paused: input-accepted',
    stopped: 'refused: session_stopped',
  },
  'urgent-event': {
    idle: 'modelling: input-accepted turn-started inputs-entered model-started',
    modelling: 'modelling: input-accepted',
    calling: 'calling: input-accepted',
    interrupting: 'interrupting: input-accepted',
    summarising: 'summarising: input-accepted',
    paused: 'paused: input-accepted',
    stopped: 'refused: session_stopped',
  },
  interrupt: {
    idle: 'idle: interrupt-accepted answer-cut',
    modelling: 'interrupting: interrupt-accepted',
    calling: 'idle: interrupt-accepted call-settled turn-finished',
    interrupting: 'interrupting: interrupt-accepted',
    summarising: 'idle: interrupt-accepted turn-finished',
    paused: 'paused: interrupt-accepted call-settled turn-finished',
    stopped: 'stopped: interrupt-accepted answer-cut',
  },
  'cancel-call': {
    idle: 'idle: task-cancelled task-settled note-queued',
    modelling: 'modelling: task-cancelled task-settled note-queued',
    calling: 'calling: task-cancelled task-settled note-queued',
    interrupting: 'interrupting: task-cancelled task-settled note-queued',
    summarising: 'summarising: task-cancelled task-settled note-queued',
    paused: 'paused: task-cancelled task-settled note-queued',
    stopped: 'refused: call_over',
  },
  rewind: {
    idle: 'modelling: history-rewound turn-started inputs-entered model-started',
    modelling: 'idle: turn-finished history-rewound',
    calling: 'idle: call-settled turn-finished call-settled call-settled step-closed history-rewound',
    interrupting: 'idle: turn-finished history-rewound',
    summarising: 'idle: turn-finished history-rewound',
    paused: 'paused: history-rewound',
    stopped: 'refused: session_stopped',
  },
  'set-model': {
    idle: 'idle: model-set',
    modelling: 'modelling: model-set',
    calling: 'calling: model-set',
    interrupting: 'interrupting: model-set',
    summarising: 'summarising: model-set',
    paused: 'paused: model-set',
    stopped: 'stopped: model-set',
  },
  'set-settings': {
    idle: 'idle: settings-set',
    modelling: 'modelling: settings-set',
    calling: 'calling: settings-set',
    interrupting: 'interrupting: settings-set',
    summarising: 'summarising: settings-set',
    paused: 'paused: settings-set',
    stopped: 'stopped: settings-set',
  },
  withdraw: {
    idle: 'idle: input-withdrawn',
    modelling: 'modelling: input-withdrawn',
    calling: 'calling: input-withdrawn',
    interrupting: 'interrupting: input-withdrawn',
    summarising: 'summarising: input-withdrawn',
    paused: 'paused: input-withdrawn',
    stopped: 'stopped: input-withdrawn',
  },
  describe: {
    idle: 'idle: session-described',
    modelling: 'modelling: session-described',
    calling: 'calling: session-described',
    interrupting: 'interrupting: session-described',
    summarising: 'summarising: session-described',
    paused: 'paused: session-described',
    stopped: 'stopped: session-described',
  },
  'set-reminder': {
    idle: 'idle: reminder-set',
    modelling: 'modelling: reminder-set',
    calling: 'calling: reminder-set',
    interrupting: 'interrupting: reminder-set',
    summarising: 'summarising: reminder-set',
    paused: 'paused: reminder-set',
    stopped: 'stopped: reminder-set',
  },
  'cancel-reminder': {
    idle: 'idle: reminder-cancelled',
    modelling: 'modelling: reminder-cancelled',
    calling: 'calling: reminder-cancelled',
    interrupting: 'interrupting: reminder-cancelled',
    summarising: 'summarising: reminder-cancelled',
    paused: 'paused: reminder-cancelled',
    stopped: 'stopped: reminder-cancelled',
  },
  pause: {
    idle: 'paused: session-paused',
    modelling: 'paused: attempt-superseded session-paused turn-clock-set',
    calling: 'paused: session-paused turn-clock-set',
    interrupting: 'paused: step-salvaged step-closed turn-finished session-paused',
    summarising: 'paused: attempt-superseded session-paused turn-clock-set',
    paused: 'refused: illegal_input',
    stopped: 'refused: session_stopped',
  },
  continue: {
    idle: 'refused: illegal_input',
    modelling: 'refused: illegal_input',
    calling: 'refused: illegal_input',
    interrupting: 'refused: illegal_input',
    summarising: 'refused: illegal_input',
    paused: 'calling: session-continued turn-clock-set',
    stopped: 'refused: session_stopped',
  },
  stop: {
    idle: 'stopped: session-stopped',
    modelling: 'stopped: turn-finished session-stopped',
    calling: 'stopped: call-settled call-settled call-settled step-closed turn-finished session-stopped',
    interrupting: 'stopped: step-salvaged step-closed turn-finished session-stopped',
    summarising: 'stopped: turn-finished session-stopped',
    paused: 'stopped: call-settled call-settled call-settled step-closed turn-finished session-stopped',
    stopped: 'refused: session_stopped',
  },
  start: {
    idle: 'refused: illegal_input',
    modelling: 'refused: illegal_input',
    calling: 'refused: illegal_input',
    interrupting: 'refused: illegal_input',
    summarising: 'refused: illegal_input',
    paused: 'refused: illegal_input',
    stopped: 'idle: session-started',
  },
  approval: {
    idle: 'idle: approval-decided call-started',
    modelling: 'modelling: approval-decided call-started',
    calling: 'calling: approval-decided call-started',
    interrupting: 'interrupting: approval-decided call-started',
    summarising: 'summarising: approval-decided call-started',
    paused: 'paused: approval-decided',
    stopped: 'refused: approval_refused',
  },
  'question-answer': {
    idle: 'idle: question-answered',
    modelling: 'modelling: question-answered',
    calling: 'calling: question-answered',
    interrupting: 'interrupting: question-answered',
    summarising: 'summarising: question-answered',
    paused: 'paused: question-answered',
    stopped: 'refused: question_refused',
  },
  'client-attached': {
    idle: 'idle: client-attached',
    modelling: 'modelling: client-attached',
    calling: 'calling: client-attached',
    interrupting: 'interrupting: client-attached',
    summarising: 'summarising: client-attached',
    paused: 'paused: client-attached',
    stopped: 'stopped: client-attached',
  },
  'client-detached': {
    idle: 'idle: client-detached call-returned call-settled',
    modelling: 'modelling: client-detached',
    calling: 'calling: client-detached call-returned call-clock-set',
    interrupting: 'interrupting: client-detached',
    summarising: 'summarising: client-detached',
    paused: 'paused: client-detached call-returned call-clock-set',
    stopped: 'stopped: client-detached',
  },
  'client-tools': {
    idle: 'idle: client-tools-set',
    modelling: 'modelling: client-tools-set',
    calling: 'calling: client-tools-set',
    interrupting: 'interrupting: client-tools-set',
    summarising: 'summarising: client-tools-set',
    paused: 'paused: client-tools-set',
    stopped: 'stopped: client-tools-set',
  },
  'tool-result': {
    idle: 'idle: call-settled',
    modelling: 'modelling: result-ignored',
    calling: 'calling: call-settled',
    interrupting: 'interrupting: result-ignored',
    summarising: 'summarising: result-ignored',
    paused: 'paused: call-settled',
    stopped: 'stopped: result-ignored',
  },
  'call-claimed': {
    idle: 'idle: call-claimed',
    modelling: 'modelling: call-claimed',
    calling: 'calling: call-claimed',
    interrupting: 'interrupting: call-claimed',
    summarising: 'summarising: call-claimed',
    paused: 'paused: call-claimed',
    stopped: 'refused: call_over',
  },
  'call-reached': {
    idle: 'idle: call-clock-set',
    modelling: 'modelling: call-clock-set',
    calling: 'calling: call-clock-set',
    interrupting: 'interrupting: call-clock-set',
    summarising: 'summarising: call-clock-set',
    paused: 'paused: call-clock-set',
    stopped: 'quiet',
  },
  'offer-failed': {
    idle: 'idle: call-returned client-detached call-clock-set',
    modelling: 'modelling: call-returned client-detached call-clock-set',
    calling: 'calling: call-returned client-detached call-clock-set',
    interrupting: 'interrupting: call-returned client-detached call-clock-set',
    summarising: 'summarising: call-returned client-detached call-clock-set',
    paused: 'paused: call-returned client-detached call-clock-set',
    stopped: 'quiet',
  },
  'display-written': {
    idle: 'idle: display-written',
    modelling: 'modelling: display-written',
    calling: 'calling: display-written',
    interrupting: 'interrupting: display-written',
    summarising: 'summarising: display-written',
    paused: 'paused: display-written',
    stopped: 'stopped: display-written',
  },
  'model-finished': {
    idle: 'idle: answer-ignored',
    modelling: 'idle: step-finished step-closed turn-finished',
    calling: 'calling: answer-ignored',
    interrupting: 'idle: step-finished step-closed turn-finished',
    summarising: 'summarising: answer-ignored',
    paused: 'paused: answer-ignored',
    stopped: 'stopped: answer-ignored',
  },
  'model-failed': {
    idle: 'idle: answer-ignored',
    modelling: 'modelling: attempt-superseded',
    calling: 'calling: answer-ignored',
    interrupting: 'idle: step-salvaged step-closed turn-finished',
    summarising: 'summarising: answer-ignored',
    paused: 'paused: answer-ignored',
    stopped: 'stopped: answer-ignored',
  },
  'model-stopped': {
    idle: 'idle: answer-ignored',
    modelling: 'modelling: answer-ignored',
    calling: 'calling: answer-ignored',
    interrupting: 'idle: step-finished step-closed turn-finished',
    summarising: 'summarising: answer-ignored',
    paused: 'paused: answer-ignored',
    stopped: 'stopped: answer-ignored',
  },
  'attempt-progress': {
    idle: 'quiet',
    modelling: 'modelling: attempt-progressed',
    calling: 'quiet',
    interrupting: 'interrupting: attempt-progressed',
    summarising: 'quiet',
    paused: 'quiet',
    stopped: 'quiet',
  },
  'summary-finished': {
    idle: 'idle: answer-ignored',
    modelling: 'modelling: answer-ignored',
    calling: 'calling: answer-ignored',
    interrupting: 'interrupting: answer-ignored',
    summarising: 'modelling: summary-finished model-started',
    paused: 'paused: answer-ignored',
    stopped: 'stopped: answer-ignored',
  },
  'summary-failed': {
    idle: 'idle: answer-ignored',
    modelling: 'modelling: answer-ignored',
    calling: 'calling: answer-ignored',
    interrupting: 'interrupting: answer-ignored',
    summarising: 'modelling: summary-failed window-moved model-started',
    paused: 'paused: answer-ignored',
    stopped: 'stopped: answer-ignored',
  },
  'tool-finished': {
    idle: 'idle: call-settled',
    modelling: 'modelling: result-ignored',
    calling: 'calling: call-settled',
    interrupting: 'interrupting: result-ignored',
    summarising: 'summarising: result-ignored',
    paused: 'paused: call-settled',
    stopped: 'stopped: result-ignored',
  },
  'question-asked': {
    idle: 'idle: question-asked',
    modelling: 'modelling: question-asked',
    calling: 'calling: question-asked',
    interrupting: 'interrupting: question-asked',
    summarising: 'summarising: question-asked',
    paused: 'paused: question-asked',
    stopped: 'quiet',
  },
  'plan-set': {
    idle: 'idle: plan-set',
    modelling: 'modelling: plan-set',
    calling: 'calling: plan-set',
    interrupting: 'interrupting: plan-set',
    summarising: 'summarising: plan-set',
    paused: 'paused: plan-set',
    stopped: 'quiet',
  },
  'model-used': {
    idle: 'idle: model-used',
    modelling: 'modelling: model-used',
    calling: 'calling: model-used',
    interrupting: 'interrupting: model-used',
    summarising: 'summarising: model-used',
    paused: 'paused: model-used',
    stopped: 'stopped: model-used',
  },
  'timer-fired': {
    idle: 'idle: call-settled',
    modelling: 'idle: turn-finished',
    calling: 'idle: call-settled call-settled call-settled step-closed turn-finished',
    interrupting: 'idle: step-salvaged step-closed turn-finished',
    summarising: 'idle: turn-finished',
    paused: 'paused: call-settled',
    stopped: 'quiet',
  },
  'host-restarted': {
    idle: 'idle: host-restarted',
    modelling: 'modelling: host-restarted turn-clock-set attempt-superseded model-started',
    calling: 'calling: host-restarted turn-clock-set call-clock-set call-returned call-started',
    interrupting: 'idle: host-restarted turn-clock-set step-salvaged step-closed turn-finished',
    summarising: 'summarising: host-restarted turn-clock-set attempt-superseded summary-started',
    paused: 'paused: host-restarted call-clock-set call-returned call-started',
    stopped: 'stopped: host-restarted',
  },
  'work-lost': {
    idle: 'idle: call-started',
    modelling: 'modelling: attempt-superseded model-started',
    calling: 'calling: call-started',
    interrupting: 'idle: step-salvaged step-closed turn-finished',
    summarising: 'summarising: attempt-superseded summary-started',
    paused: 'paused: call-started',
    stopped: 'quiet',
  },
  'agent-changed': {
    idle: 'idle: agent-changed call-settled',
    modelling: 'modelling: agent-changed',
    calling: 'calling: agent-changed call-settled',
    interrupting: 'interrupting: agent-changed',
    summarising: 'summarising: agent-changed',
    paused: 'paused: agent-changed call-settled',
    stopped: 'stopped: agent-changed',
  },
  'reminder-due': {
    idle: 'modelling: reminder-passed input-accepted turn-started inputs-entered model-started',
    modelling: 'modelling: reminder-passed input-accepted',
    calling: 'calling: reminder-passed input-accepted',
    interrupting: 'interrupting: reminder-passed input-accepted',
    summarising: 'summarising: reminder-passed input-accepted',
    paused: 'paused: reminder-passed input-accepted',
    stopped: 'quiet',
  },
  'child-reported': {
    idle: 'quiet',
    modelling: 'quiet',
    calling: 'quiet',
    interrupting: 'quiet',
    summarising: 'quiet',
    paused: 'quiet',
    stopped: 'quiet',
  },
  'child-lost': {
    idle: 'quiet',
    modelling: 'quiet',
    calling: 'quiet',
    interrupting: 'quiet',
    summarising: 'quiet',
    paused: 'quiet',
    stopped: 'quiet',
  },
  'parent-told': {
    idle: 'quiet',
    modelling: 'quiet',
    calling: 'quiet',
    interrupting: 'quiet',
    summarising: 'quiet',
    paused: 'quiet',
    stopped: 'quiet',
  },
}

const TYPES = Object.keys(SESSION_TABLE) as InputType[] // the table's own keys
const cells = TYPES.flatMap((type) => PHASES.map((phase) => ({ type, phase, expected: PINS[type][phase] })))

test.each(cells)('$type while $phase', ({ type, phase, expected }) => {
  expect(whatHappens(phase, type)).toBe(expected)
})

test('every cell of the session table is pinned, as what the table says', () => {
  const kind = (pin: string): string => (pin.startsWith('refused') ? 'refused' : pin === 'quiet' ? pin : 'fact')
  const wrong = cells.filter(({ type, phase, expected }) => {
    const cell = SESSION_TABLE[type][phase]
    if ('refuse' in cell) return expected !== `refused: ${cell.refuse}`
    if ('quiet' in cell) return expected !== 'quiet'
    const [to] = expected.split(':')
    return kind(expected) === 'refused' || (kind(expected) === 'fact' && !cell.to.some((phase) => phase === to))
  })
  const count = (wanted: string): number => cells.filter(({ expected }) => kind(expected) === wanted).length
  console.log(
    `session table: ${cells.length} cells, ${count('fact')} make facts, ${count('refused')} refuse, ${count('quiet')} are quiet`,
  )
  expect(wrong).toEqual([])
  expect(Object.keys(PINS)).toEqual(TYPES)
})

test('phases that the table names are phases', () => {
  const named = cells.flatMap(({ type, phase }) => {
    const cell = SESSION_TABLE[type][phase]
    return 'to' in cell ? cell.to : []
  })
  expect(new Set(named)).toEqual(
    new Set(['idle', 'modelling', 'calling', 'interrupting', 'summarising', 'paused', 'stopped']),
  )
  expect(PHASES).toHaveLength(7)
})
