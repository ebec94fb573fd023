// Every legal transition, in two tables: session phases by input type, and call states by call event. Anything else is
// a typed error. The diagrams in docs/architecture.md are generated from them.
import type { ErrorCode } from '../errors.ts'
import type { InputType } from './input.ts'
import type { CallState, Phase } from './state.ts'

// Theory of operation. A session is one state machine, with one small machine for each call of its newest step. `decide`
// looks up the input's row in the table of its phase and runs that action, which answers with facts: what is now true,
// in order. `apply` folds each fact into the state and decides nothing. What happens to a call (`applyCallEvent`) is
// looked up in the second table. After the action, `advance` does everything that needs no outside help: it starts and
// offers calls, closes a step whose calls are settled, calls the model or finishes the turn. All facts of one input are
// one record. Effects are not written down: they are the difference between what the state before and after
// the record owes (`effect.ts`), so a restart owes exactly what the log says.

/** The action for an input; each is a function in the file of its subject, and `decide` lists them. */
export type Action =
  | 'accept-input'
  | 'accept-transcript'
  | 'accept-urgent'
  | 'interrupt'
  | 'cancel-call'
  | 'rewind'
  | 'set-model'
  | 'set-settings'
  | 'withdraw'
  | 'describe'
  | 'pause'
  | 'continue'
  | 'stop'
  | 'start'
  | 'decide-approval'
  | 'attach'
  | 'detach'
  | 'set-client-tools'
  | 'take-client-result'
  | 'claim-call'
  | 'reach-call'
  | 'return-offer'
  | 'note-display'
  | 'finish-step'
  | 'finish-interrupt'
  | 'fail-attempt'
  | 'ignore-answer'
  | 'note-progress'
  | 'finish-summary'
  | 'fail-summary'
  | 'take-tool-result'
  | 'ask-question'
  | 'set-plan'
  | 'note-use'
  | 'answer-question'
  | 'fire-timer'
  | 'recover'
  | 'lose-work'
  | 'change-agent'
  | 'set-reminder'
  | 'cancel-reminder'
  | 'pass-reminder'
  | 'take-report'
  | 'lose-child'
  | 'take-told'

/**
 * A cell: the action and the phases that may follow, the code of the refusal, or `quiet` for a notice that arrived too
 * late to matter.
 */
export type Cell =
  { readonly action: Action; readonly to: readonly Phase[] } | { readonly refuse: ErrorCode } | { readonly quiet: true }

const go = (action: Action, ...to: readonly Phase[]): Cell => ({ action, to })
const refuse = (code: ErrorCode): Cell => ({ refuse: code })
const QUIET: Cell = { quiet: true }
const STOPPED = refuse('session_stopped')
const ILLEGAL = refuse('illegal_input')

/** The phases of a session without a running turn, and of a session whose next model call is decided. */
const BEGIN: readonly Phase[] = ['idle', 'modelling', 'summarising']
const PROCEED: readonly Phase[] = ['calling', ...BEGIN]

/** Legal in every phase, which does not change. */
const everywhere = (action: Action): Record<Phase, Cell> => ({
  idle: go(action, 'idle'),
  modelling: go(action, 'modelling'),
  calling: go(action, 'calling'),
  interrupting: go(action, 'interrupting'),
  summarising: go(action, 'summarising'),
  paused: go(action, 'paused'),
  stopped: go(action, 'stopped'),
})

/** Legal in every phase; it may settle calls, and so end a step or the rest of an interrupted turn. */
const settling = (action: Action): Record<Phase, Cell> => ({
  ...everywhere(action),
  idle: go(action, ...BEGIN),
  calling: go(action, ...PROCEED),
})

/** Inputs of the running attempt; in other phases they are stale. */
const ofAttempt = (cells: Partial<Record<Phase, Cell>>): Record<Phase, Cell> => ({
  ...everywhere('ignore-answer'),
  ...cells,
})

/** Inputs about an open call: tasks are open in every phase but `stopped`. */
const ofOpenCalls = (action: Action, otherwise: Cell): Record<Phase, Cell> => ({
  ...everywhere(action),
  stopped: otherwise,
})

export const SESSION_TABLE: Readonly<Record<InputType, Readonly<Record<Phase, Cell>>>> = {
  'user-input': {
    idle: go('accept-input', ...BEGIN),
    modelling: go('accept-input', 'interrupting', ...BEGIN),
    calling: go('accept-input', ...PROCEED),
    interrupting: go('accept-input', 'interrupting'),
    summarising: go('accept-input', ...BEGIN),
    paused: go('accept-input', 'paused'),
    stopped: STOPPED,
  },
  transcript: {
    idle: go('accept-transcript', ...BEGIN),
    modelling: go('accept-transcript', 'modelling'),
    calling: go('accept-transcript', 'calling'),
    interrupting: go('accept-transcript', 'interrupting'),
    summarising: go('accept-transcript', 'summarising'),
    paused: go('accept-transcript', 'paused'),
    stopped: STOPPED,
  },
  'urgent-event': {
    idle: go('accept-urgent', ...BEGIN),
    modelling: go('accept-urgent', 'interrupting', ...BEGIN),
    calling: go('accept-urgent', ...PROCEED),
    interrupting: go('accept-urgent', 'interrupting'),
    summarising: go('accept-urgent', ...BEGIN),
    paused: go('accept-urgent', 'paused'),
    stopped: STOPPED,
  },
  interrupt: {
    idle: go('interrupt', ...BEGIN),
    modelling: go('interrupt', 'interrupting', ...BEGIN),
    calling: go('interrupt', ...BEGIN),
    interrupting: go('interrupt', 'interrupting'),
    summarising: go('interrupt', ...BEGIN),
    paused: go('interrupt', 'paused'),
    stopped: go('interrupt', 'stopped'),
  },
  'cancel-call': { ...settling('cancel-call'), stopped: refuse('call_over') },
  rewind: {
    idle: go('rewind', ...BEGIN),
    modelling: go('rewind', ...BEGIN),
    calling: go('rewind', ...BEGIN),
    interrupting: go('rewind', ...BEGIN),
    summarising: go('rewind', ...BEGIN),
    paused: go('rewind', 'paused'),
    stopped: STOPPED,
  },
  'set-model': everywhere('set-model'),
  'set-settings': everywhere('set-settings'),
  withdraw: everywhere('withdraw'),
  describe: everywhere('describe'),
  'set-reminder': everywhere('set-reminder'),
  'cancel-reminder': everywhere('cancel-reminder'),
  pause: {
    idle: go('pause', 'paused'),
    modelling: go('pause', 'paused'),
    calling: go('pause', 'paused'),
    interrupting: go('pause', 'paused'),
    summarising: go('pause', 'paused'),
    paused: ILLEGAL,
    stopped: STOPPED,
  },
  continue: {
    idle: ILLEGAL,
    modelling: ILLEGAL,
    calling: ILLEGAL,
    interrupting: ILLEGAL,
    summarising: ILLEGAL,
    paused: go('continue', ...PROCEED),
    stopped: STOPPED,
  },
  stop: {
    idle: go('stop', 'stopped'),
    modelling: go('stop', 'stopped'),
    calling: go('stop', 'stopped'),
    interrupting: go('stop', 'stopped'),
    summarising: go('stop', 'stopped'),
    paused: go('stop', 'stopped'),
    stopped: STOPPED,
  },
  start: {
    idle: ILLEGAL,
    modelling: ILLEGAL,
    calling: ILLEGAL,
    interrupting: ILLEGAL,
    summarising: ILLEGAL,
    paused: ILLEGAL,
    stopped: go('start', ...BEGIN),
  },
  approval: {
    ...ofOpenCalls('decide-approval', refuse('approval_refused')),
    // A denied task ends.
    idle: go('decide-approval', ...BEGIN),
    calling: go('decide-approval', ...PROCEED),
  },
  'question-answer': ofOpenCalls('answer-question', refuse('question_refused')),
  // A call offered now may find that its approval has expired.
  'client-attached': { ...everywhere('attach'), idle: go('attach', ...BEGIN), calling: go('attach', ...PROCEED) },
  'client-detached': settling('detach'),
  'client-tools': settling('set-client-tools'),
  'tool-result': settling('take-client-result'),
  'call-claimed': ofOpenCalls('claim-call', refuse('call_over')),
  'call-reached': ofOpenCalls('reach-call', QUIET),
  'offer-failed': {
    ...ofOpenCalls('return-offer', QUIET),
    idle: go('return-offer', ...BEGIN),
    calling: go('return-offer', ...PROCEED),
  },
  'display-written': everywhere('note-display'),
  'model-finished': ofAttempt({
    modelling: go('finish-step', ...PROCEED),
    interrupting: go('finish-interrupt', 'interrupting', ...BEGIN),
  }),
  'model-failed': ofAttempt({
    modelling: go('fail-attempt', ...BEGIN),
    interrupting: go('finish-interrupt', 'interrupting', ...BEGIN),
  }),
  'model-stopped': ofAttempt({ interrupting: go('finish-interrupt', 'interrupting', ...BEGIN) }),
  'attempt-progress': {
    idle: QUIET,
    modelling: go('note-progress', 'modelling'),
    calling: QUIET,
    interrupting: go('note-progress', 'interrupting'),
    summarising: QUIET,
    paused: QUIET,
    stopped: QUIET,
  },
  'summary-finished': ofAttempt({ summarising: go('finish-summary', ...BEGIN) }),
  'summary-failed': ofAttempt({ summarising: go('fail-summary', ...BEGIN) }),
  'tool-finished': settling('take-tool-result'),
  'question-asked': ofOpenCalls('ask-question', QUIET),
  'plan-set': ofOpenCalls('set-plan', QUIET),
  'model-used': everywhere('note-use'),
  'timer-fired': {
    idle: go('fire-timer', ...BEGIN),
    modelling: go('fire-timer', ...BEGIN),
    calling: go('fire-timer', ...PROCEED),
    interrupting: go('fire-timer', 'interrupting', ...BEGIN),
    summarising: go('fire-timer', ...BEGIN),
    paused: go('fire-timer', 'paused'),
    stopped: go('fire-timer', 'stopped'),
  },
  'host-restarted': {
    idle: go('recover', ...BEGIN),
    modelling: go('recover', ...BEGIN),
    calling: go('recover', ...PROCEED),
    interrupting: go('recover', ...BEGIN),
    summarising: go('recover', ...BEGIN),
    paused: go('recover', 'paused'),
    stopped: go('recover', 'stopped'),
  },
  'work-lost': {
    idle: go('lose-work', ...BEGIN),
    modelling: go('lose-work', ...BEGIN),
    calling: go('lose-work', ...PROCEED),
    interrupting: go('lose-work', 'interrupting', ...BEGIN),
    summarising: go('lose-work', ...BEGIN),
    paused: go('lose-work', 'paused'),
    stopped: go('lose-work', 'stopped'),
  },
  'agent-changed': settling('change-agent'),
  // A stopped session keeps it for its next start.
  'reminder-due': { ...everywhere('pass-reminder'), idle: go('pass-reminder', ...BEGIN), stopped: QUIET },
  'child-reported': settling('take-report'),
  'child-lost': settling('lose-child'),
  'parent-told': {
    idle: go('take-told', 'paused', ...BEGIN),
    modelling: go('take-told', 'interrupting', 'paused', ...BEGIN),
    calling: go('take-told', 'paused', ...PROCEED),
    interrupting: go('take-told', 'interrupting', 'paused', ...BEGIN),
    summarising: go('take-told', 'paused', ...BEGIN),
    paused: go('take-told', 'paused', ...PROCEED),
    stopped: QUIET,
  },
}

/** Events of a call. */
export type CallEvent =
  | 'result'
  | 'claim'
  | 'deadline'
  | 'approve'
  | 'deny'
  | 'edit'
  | 'approval-expiry'
  | 'interrupt'
  | 'grace-over'
  | 'stop'
  | 'turn-over'
  | 'restart'
  | 'detach'
  | 'tool-gone'
  | 'cancel'
  | 'rewind'

/**
 * `accept`: the result settles it. `late`: the result is logged and changes nothing. `foreign`: the result is from a
 * client without an offer. `return`: it may be offered again. `again`: the tool is started again. `stay`: nothing
 * changes. `end`: its child has to end, and settles it. `settle-without`: it settles without its child, which has to end.
 */
export type CallOutcome =
  | 'accept'
  | 'late'
  | 'foreign'
  | 'claim'
  | 'ready'
  | 'return'
  | 'again'
  | 'stay'
  | 'settle-denied'
  | 'settle-expired'
  | 'settle-cancelled'
  | 'settle-timed-out'
  | 'settle-unknown'
  | 'settle-gone'
  | 'end'
  | 'settle-without'

export interface CallCell {
  /** Outcome for effect class `once`. */
  readonly once: CallOutcome
  /** Outcome for `idempotent` and `pure`. */
  readonly repeatable: CallOutcome
  /** Outcome for a call that a child runs. */
  readonly child: CallOutcome
}

const both = (outcome: CallOutcome): CallCell => ({ once: outcome, repeatable: outcome, child: outcome })
/** A call that may have had its effect; the model is informed if that matters. */
const mayHaveRun = (otherwise: CallOutcome, child: CallOutcome = otherwise): CallCell => ({
  once: 'settle-unknown',
  repeatable: otherwise,
  child,
})
const STAY = both('stay')
const CANCELLED = both('settle-cancelled')
/** Not begun: cancelled; begun: unknown for `once`. No step waits for a child: it says later what it did. */
const ENDED: Readonly<Record<CallState, CallCell>> = {
  proposed: CANCELLED,
  'awaiting-approval': CANCELLED,
  ready: CANCELLED,
  offered: CANCELLED,
  claimed: mayHaveRun('settle-cancelled'),
  started: mayHaveRun('settle-cancelled', 'settle-without'),
  settled: STAY,
}
const RETURNED: CallCell = { once: 'stay', repeatable: 'return', child: 'stay' }
const STAYING: Readonly<Record<CallState, CallCell>> = {
  proposed: STAY,
  'awaiting-approval': STAY,
  ready: STAY,
  offered: STAY,
  claimed: STAY,
  started: STAY,
  settled: STAY,
}

export const CALL_TABLE: Readonly<Record<CallEvent, Readonly<Record<CallState, CallCell>>>> = {
  result: {
    proposed: both('foreign'),
    'awaiting-approval': both('foreign'),
    // Offered once, then withdrawn when its client left: the client may have run it anyway.
    ready: both('accept'),
    offered: both('accept'),
    claimed: both('accept'),
    started: both('accept'),
    settled: both('late'),
  },
  claim: { ...STAYING, offered: both('claim') },
  deadline: {
    ...STAYING,
    ready: both('settle-timed-out'),
    offered: both('settle-timed-out'),
    claimed: mayHaveRun('settle-timed-out'),
    started: mayHaveRun('settle-timed-out', 'end'),
  },
  approve: { ...STAYING, 'awaiting-approval': both('ready') },
  deny: { ...STAYING, 'awaiting-approval': both('settle-denied') },
  edit: { ...STAYING, 'awaiting-approval': both('ready') },
  // `ready`: approved, but not begun within the approval's time.
  'approval-expiry': { ...STAYING, 'awaiting-approval': both('settle-expired'), ready: both('settle-expired') },
  // Written and running calls get their grace when the next input arrives.
  interrupt: { ...ENDED, offered: STAY, claimed: STAY, started: mayHaveRun('settle-cancelled', 'end') },
  'grace-over': ENDED,
  stop: ENDED,
  'turn-over': {
    ...ENDED,
    offered: both('settle-timed-out'),
    claimed: mayHaveRun('settle-timed-out'),
    started: mayHaveRun('settle-timed-out', 'settle-without'),
  },
  restart: {
    ...STAYING,
    offered: both('return'),
    claimed: RETURNED,
    started: mayHaveRun('again', 'stay'),
  },
  detach: { ...STAYING, offered: both('return'), claimed: RETURNED },
  'tool-gone': {
    ...STAYING,
    proposed: both('settle-gone'),
    'awaiting-approval': both('settle-gone'),
    ready: both('settle-gone'),
    offered: both('settle-gone'),
    started: { once: 'stay', repeatable: 'stay', child: 'end' },
  },
  // Events of tasks, which hold up no step.
  cancel: { ...ENDED, offered: CANCELLED, started: mayHaveRun('settle-cancelled', 'end') },
  rewind: ENDED,
}
