// The state of a session: the fold of its facts. It holds counts, ids and sizes, never text.
import type { JsonObject } from '../json.ts'
import type { Provenance, Usage } from '../messages.ts'
import type { ModelSettings } from '../model-settings.ts'
import type { CallProposal, ClockMode, FactOf, SettlementType, TurnOutcome } from './fact.ts'
import type { StepPlace } from './step-place.ts'
import type { Deeds, Grant, Spent } from './tree-values.ts'
import type { Deciders, IndexEntry, MediaSize, ClientToolSpec, Delivery, Played, WakePolicy } from './values.ts'

export type Phase = 'idle' | 'modelling' | 'calling' | 'interrupting' | 'summarising' | 'paused' | 'stopped'
export const PHASES: readonly Phase[] = [
  'idle',
  'modelling',
  'calling',
  'interrupting',
  'summarising',
  'paused',
  'stopped',
]

export interface Client {
  readonly connection: string
  readonly principal: string
  /** It runs its calls strictly one after another. */
  readonly sequential: boolean
  /** It claims a call before it acts; otherwise delivery counts as the claim. */
  readonly claims: boolean
  /** It reports how much of an answer was heard. */
  readonly reportsPlayback: boolean
  /** A person behind it can answer questions. */
  readonly asks: boolean
  /** Names of the agent's own client tools that it can run; null: all. */
  readonly tools: readonly string[] | null
  /** Lease of a client without a connection, which is dropped when it ends. */
  readonly lease: Deadline | null
}

export interface ClientToolList {
  /** Null for an older record, which did not name the tools' client. */
  readonly connection: string | null
  readonly tools: readonly ClientToolSpec[]
}

export interface QueuedInput {
  readonly inputId: string
  readonly type: 'user' | 'transcript' | 'urgent' | 'task'
  /** Estimated size in a request, and size of its text; they differ for images and files. */
  readonly chars: number
  readonly heldChars: number
  readonly ready: boolean
  readonly delivery: Delivery
  /** Absent if it has none. */
  readonly media?: MediaSize
  readonly model?: string
  readonly settings?: ModelSettings
  /** JSON Schema for its answer. */
  readonly output?: JsonObject
  /** Its sender cannot answer questions. */
  readonly asks?: false
}

export interface TurnStep {
  readonly step: number
  readonly textChars: number
  readonly hasCalls: boolean
}

export interface Turn {
  readonly turn: number
  readonly exchange: number
  readonly models: readonly string[]
  readonly settings: ModelSettings
  /** JSON Schema for the answer; if absent, the agent's, if any. */
  readonly output?: JsonObject
  /** Index into `models`. */
  readonly candidate: number
  readonly failures: number
  readonly recoveries: number
  readonly rounds: number
  readonly calls: number
  readonly pauses: number
  readonly shrinks: number
  readonly tokens: number
  /** Cost of the calls whose cost is known. */
  readonly costMicros: number
  readonly askedAgain: boolean
  /** Answers that missed the output schema; absent: none. */
  readonly misfits?: number
  /** Answers sent back by `order`, `checkAnswer` or a person; absent: none. */
  readonly refusals?: number
  /** Names of the tools with an `ok` result in this turn; absent: none. */
  readonly done?: readonly string[]
  readonly steps: readonly TurnStep[]
  readonly deadline: Deadline | null
  readonly remainingMs: number
  /** Absent if it waits for no first word, or without a limit. */
  readonly wait?: Wait
  /** A provider paused its answer: nothing may be inserted before the next request. */
  readonly continuing: boolean
  /** Whether the sender of one of its inputs can answer questions. */
  readonly asks: boolean
  /** Steps with calls and calls of its children; absent: none. */
  readonly below?: Pick<Spent, 'rounds' | 'calls'>
}

/** The wait for the first word of a step whose answer has not begun, under `limits.firstWordMs`. */
export interface Wait {
  /** Time of its first request. */
  readonly sinceMs: number
  /** When the current model's share ends; null: the next model starts one. */
  readonly untilMs: number | null
}

/** A running model call. */
export interface RunningAttempt {
  readonly attempt: number
  readonly purpose: 'step' | 'summary'
  readonly model: string
  readonly step: number
  readonly fromEntry: number
  readonly toEntry: number
  readonly choice: 'auto' | 'none'
  readonly chars: number
  readonly progressChars: number
  /** Milliseconds for the first piece of its answer to arrive; absent: no limit. */
  readonly firstWordMs?: number
}

export interface ClosedCall {
  readonly callId: string
  readonly settlement: SettlementType
  readonly name: string
  readonly runs: Call['runs']
  /** The client with the offer: only its late result counts. */
  readonly offer: Offer | null
  /** Whether the model learns of a late result. */
  readonly tellLate: boolean
  /** Absent: see `CallProposal`. */
  readonly provenance?: Provenance
}

export interface RememberedDecision {
  readonly name: string
  /** Null for any arguments. */
  readonly argumentsHash: string | null
  /** If present, it only counts for calls with the same destination. */
  readonly asksFor?: string
  /** Agents from the session's child down, for a call below it; absent for the session's own. */
  readonly agents?: readonly string[]
  readonly decision: 'approve' | 'deny'
}

export interface FinishedTurn {
  readonly turn: number
  readonly steps: readonly TurnStep[]
  /** See `Turn.asks`. */
  readonly asks: boolean
  /** Code of the error with which it failed. */
  readonly error?: string
}

export interface Counters {
  readonly turn: number
  readonly step: number
  readonly attempt: number
  readonly entry: number
  readonly exchange: number
  readonly offer: number
  readonly note: number
}

/** The provider's count of the newest answered request, and of its answer. */
export interface Counted {
  readonly model: string
  readonly exchange: number
  /** The request's last entry. */
  readonly toEntry: number
  /** Input tokens. */
  readonly tokens: number
  /** UTF-16 units of the request's entries, and of its instructions and tools. */
  readonly historyChars: number
  readonly overheadChars: number
  readonly answerChars: number
  /** Output tokens that the next request includes. */
  readonly answerTokens: number
  readonly answerCalls: number
  /** Tokens of the exchange's thoughts so far; only the requests of that exchange include them. */
  readonly thoughtTokens: number
}

export interface State {
  readonly session: string
  readonly birth: string
  /** The principal who owns the session; empty if it is not checked. */
  readonly principal: string
  /** Its name for people. */
  readonly title: string | null
  /** Metadata of programs; the machine does not read it. */
  readonly meta: JsonObject
  readonly agent: string
  readonly specHash: string
  /** Time of the first record; 0 for none. */
  readonly createdMs: number
  /** Position of the last record. */
  readonly pos: number
  readonly nowMs: number
  readonly epoch: number
  readonly phase: Phase
  /** Set by `set-model`; null: the agent's own. */
  readonly model: string | null
  /** Set by `set-settings`; an input's own settings win. */
  readonly settings: ModelSettings
  readonly clients: readonly Client[]
  /** One list per client that provides tools, including disconnected ones; the newest last. */
  readonly clientTools: readonly ClientToolList[]
  readonly queue: readonly QueuedInput[]
  readonly batch: { readonly sinceMs: number; readonly deadline: Deadline } | null
  readonly recentInputs: readonly { readonly inputId: string; readonly pos: number }[]
  readonly recentCalls: readonly ClosedCall[]
  /** People's decisions that also apply to later calls; the newest last. */
  readonly remembered: readonly RememberedDecision[]
  readonly notes: readonly { readonly note: number; readonly chars: number }[]
  readonly counters: Counters
  readonly index: readonly IndexEntry[]
  readonly turn: Turn | null
  readonly step: OpenStep | null
  /** Calls that run in the background: a receipt or an interrupt has settled them for their step. */
  readonly tasks: readonly Task[]
  /** The newest ended ones, oldest first. */
  readonly endedTasks: readonly EndedTask[]
  /** Turns in a row that tasks alone began. */
  readonly wakes: number
  /** Reminders whose time has not come, in the order in which they were set. */
  readonly reminders: readonly Reminder[]
  readonly attempt: RunningAttempt | null
  readonly retry: Deadline | null
  readonly interrupting: { readonly heard: Played; readonly deadline: Deadline } | null
  readonly lastTurn: FinishedTurn | null
  /** The newest turn whose answer was passed to an app's voice. */
  readonly displayedTurn: number
  /**
   * UTF-16 units of that answer that the voice has reported as played; null if it does not report, and all of the
   * answer counts.
   */
  readonly displayedChars: number | null
  /** Tokens per 1,000 characters, calibrated by the provider's counts. */
  readonly tokensPer1000Chars: number
  /** Tokens that a tool's result costs in addition to its characters, learnt from the provider's counts. */
  readonly tokensPerResult: number
  /** Windows in tokens that refusals have named, by model; absent: none. */
  readonly learntWindows?: readonly { readonly model: string; readonly tokens: number }[]
  /** Null until a provider has counted a request of this session. */
  readonly counted: Counted | null
  /** Summaries of the running turn that a restart cut short. */
  readonly summaryRecoveries: number
  /** The running turn's summary failed: its window slides instead. */
  readonly summaryFailed: boolean
  /** Null for a root. */
  readonly parent: Parent | null
  /** Children that are owed, in the order of their beginning. */
  readonly children: readonly Child[]
  /** Requests of sessions below that are not closed there. */
  readonly relayed: readonly Relayed[]
}

/** A reminder. It holds its text, since the log may be long when its time comes. */
export type Reminder = Omit<FactOf<'reminder-set'>, 'type'>

type TurnError = Pick<NonNullable<FactOf<'turn-finished'>['error']>, 'code' | 'message'>

/** A child's side: the session that delegated to this one. */
export interface Parent {
  readonly session: string
  readonly birth: string
  /** The delegating call. */
  readonly callId: string
  readonly root: string
  readonly depth: number
  /** Delegating tools from the root down. */
  readonly tools: readonly string[]
  /** Position up to which its log was read; -1: nothing of it. */
  readonly pos: number
  /** Differs for another record at this position; empty if unknown. */
  readonly mark: string
  /** Null until the task came. */
  readonly grant: Grant | null
  /** Why this session has to end; null if it may continue. */
  readonly end: string | null
  /** How its newest turn ended; null while one runs. The text of an answer is in the log. */
  readonly finished: { readonly outcome: TurnOutcome; readonly error?: TurnError } | null
  /** Totals of this session and everything below it. */
  readonly spent: Spent
  readonly acted: boolean
  readonly did: Deeds
  readonly untrusted: readonly string[]
}

/** A parent's side: the session of a delegated call. */
export interface Child extends StepPlace {
  readonly callId: string
  /** Name of the delegating tool. */
  readonly name: string
  readonly agent: string
  /** `opening`: nothing of its log was read. `ending`: it has to end. */
  readonly phase: 'opening' | 'running' | 'ending'
  /** Position of the record that began it. */
  readonly began: number
  /** Position up to which its log was read; -1: nothing of it. */
  readonly pos: number
  /** Differs for another record at this position; empty if unknown. */
  readonly mark: string
  /** Position of the newest record with something for it. */
  readonly told: number
  /** Birth of its log; empty until the first report. */
  readonly birth: string
  readonly turn: number
  readonly spent: Spent
  readonly acted: boolean
  /** Its turn's clock is stopped, because it waits only for people. */
  readonly waits: boolean
  readonly untrusted: readonly string[]
  /** A sender of the inputs that it was begun for can be asked. */
  readonly asks: boolean
  /** It may act: see `Delegation.acts`. */
  readonly acts: boolean
  readonly grant: Grant
  /** Why it has to end; empty if it may continue. */
  readonly reason: string
  /** When its call settles without it; null while it runs, and once the call has settled. */
  readonly deadline: Deadline | null
  /** Its call was rewound: no model learns of its end. */
  readonly isRewound: boolean
}

/** A request of a session below, under the id that it has there. */
export interface Relayed {
  readonly id: string
  readonly type: 'approval' | 'question' | 'call'
  /** The child through which it came. */
  readonly via: string
  /** The call that it is about. */
  readonly callId: string
  /** Agents from the child down. */
  readonly agents: readonly string[]
  /** At the root, while an approval or a question waits. */
  readonly deadline: Deadline | null
  /** When it came here. */
  readonly askedMs: number
  /** Decided or answered; it stays until the child has closed it. */
  readonly isDecided: boolean
  /** A call that this level has ended; the root says whether a client had it. */
  readonly isLeaving?: true
  /** For an approval. */
  readonly asked?: {
    readonly name: string
    readonly argumentsHash: string
    readonly asksFor?: string
    readonly asksEach?: true
    readonly deciders?: Deciders
    /** As in `Call`. */
    readonly given?: readonly string[]
    readonly answer?: { readonly by?: readonly string[] }
  }
  /** For a call: offered, claimed and settled at the root as the session's own. */
  readonly call?: Call
}

export function initialState(session: string): State {
  return {
    session,
    birth: '',
    principal: '',
    title: null,
    meta: {},
    agent: '',
    specHash: '',
    createdMs: 0,
    pos: -1,
    nowMs: 0,
    epoch: 0,
    phase: 'idle',
    model: null,
    settings: {},
    clients: [],
    clientTools: [],
    queue: [],
    batch: null,
    recentInputs: [],
    recentCalls: [],
    remembered: [],
    notes: [],
    counters: { turn: 0, step: 0, attempt: 0, entry: 0, exchange: 0, offer: 0, note: 0 },
    index: [],
    turn: null,
    step: null,
    tasks: [],
    endedTasks: [],
    wakes: 0,
    reminders: [],
    attempt: null,
    retry: null,
    interrupting: null,
    lastTurn: null,
    displayedTurn: 0,
    displayedChars: null,
    tokensPer1000Chars: 250,
    tokensPerResult: 12,
    counted: null,
    summaryRecoveries: 0,
    summaryFailed: false,
    parent: null,
    children: [],
    relayed: [],
  }
}

export function openCalls(state: State): readonly Call[] {
  return state.step?.calls ?? []
}

/** An open call of the session, also as a task, or one of a session below that came here for a client. */
export function findCall({ step, relayed, tasks }: State, callId: string): Call | undefined {
  const task = tasks.length === 0 ? undefined : findTask(tasks, callId)
  if (task) return task
  const own = step?.calls[findCallIndex(step.calls, callId)]
  if (own || relayed.length === 0) return own
  return relayed.find(({ call }) => call?.callId === callId)?.call
}

/** A task that may be answered; not a detached tool, which only reports its end. */
export function findTask(tasks: readonly Task[], callId: string): Task | undefined {
  return tasks.find((task) => task.callId === callId && task.task.origin === 'call')
}

/** Open tasks, without detached tools. */
export function openTasks({ tasks }: State): readonly Task[] {
  return tasks.length === 0 ? tasks : tasks.filter(({ task }) => task.origin === 'call')
}

/** The calls that clients may run: those of the open step, of tasks, and of sessions below. */
export function offeredCalls(state: State): readonly Call[] {
  const { step, relayed, tasks } = state
  const own = step?.calls ?? []
  if (relayed.length === 0 && tasks.length === 0) return own
  return [...own, ...openTasks(state), ...relayed.flatMap(({ call }) => call ?? [])]
}

export function findChild({ children }: State, callId: string): Child | undefined {
  return children.find((child) => child.callId === callId)
}

export function findRelayed({ relayed }: State, id: string): Relayed | undefined {
  return relayed.find((one) => one.id === id)
}

/** The calls of sessions below run where their clients are: at the root. */
export function isRoot({ parent }: State): boolean {
  return parent === null
}

/** Returns -1 if there is none. An id ends with the call's index, so that an answer with many calls is not searched. */
export function findCallIndex(calls: readonly Call[], callId: string): number {
  const index = Number(callId.slice(callId.lastIndexOf('_') + 1))
  return calls[index]?.callId === callId ? index : calls.findIndex((call) => call.callId === callId)
}

/** The detached call whose tool runs as this attempt. */
export function findDetached(
  state: State,
  run: { readonly callId: string; readonly attempt: number },
): Call | undefined {
  return detachedCalls(state).find((call) => call.callId === run.callId && call.attempt === run.attempt)
}

/** Tools of interrupted turns that still run: a note reports their outcome, and they end with their process. */
export function detachedCalls({ tasks }: State): readonly Task[] {
  return tasks.length === 0 ? tasks : tasks.filter(({ task }) => task.origin === 'interrupt')
}

/** The call whose newest request has this id, even after it was granted. */
export function findApproval(state: State, approvalId: string): Call | undefined {
  const asked = (call: Call): boolean => call.approval?.id === approvalId
  return openTasks(state).find(asked) ?? state.step?.calls.find(asked)
}

/** The question with this id, if it is open. */
export function findQuestion(
  state: State,
  questionId: string,
): { readonly call: Call; readonly question: Question } | undefined {
  for (const call of [...openTasks(state), ...(state.step?.calls ?? [])]) {
    const question = call.questions.find((asked) => asked.id === questionId && asked.deadline !== null)
    if (question) return { call, question }
  }
  return undefined
}

/** The turn of the answer with this id; undefined if it is not an answer's id. */
export function readTurnOf(message: string): number | undefined {
  const turn = /^t([1-9]\d{0,15})$/.exec(message)?.[1]
  return turn === undefined ? undefined : Number(turn)
}

export function waitsForAnswer(call: Call): boolean {
  return call.questions.some((asked) => asked.deadline !== null)
}

/** Whether a call may have had its effect already. */
export function mayHaveRun(call: Call): boolean {
  return call.state === 'started' || call.state === 'claimed'
}

/** The turn's spending after a model call outside a step. */
export function spend({ tokens, costMicros }: Turn, usage: Usage): Pick<Turn, 'tokens' | 'costMicros'> {
  return {
    tokens: tokens + (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
    costMicros: costMicros + (usage.costMicros ?? 0),
  }
}

/** Whether a person can be asked: behind one of the turn's inputs, or behind a client. `call`: for a task, its own turn. */
export function canAsk(state: State, call?: Call): boolean {
  const asks = call && isTask(call) ? call.task.asks : state.turn?.asks === true
  // A child asks upwards, and the root knows who is there.
  return state.parent !== null || asks || state.clients.some((client) => client.asks)
}

export function isTask(call: Call): call is Task {
  return 'task' in call
}

export type CallState = 'proposed' | 'awaiting-approval' | 'ready' | 'offered' | 'claimed' | 'started' | 'settled'
export const CALL_STATES: readonly CallState[] = [
  'proposed',
  'awaiting-approval',
  'ready',
  'offered',
  'claimed',
  'started',
  'settled',
]

/** A running timer: it fires at `atMs`; a firing of another generation is stale. */
export interface Deadline {
  readonly atMs: number
  readonly generation: number
}

export interface CallClock {
  readonly mode: ClockMode
  readonly deadline: Deadline | null
  readonly remainingMs: number
  readonly awayRemainingMs: number
  /** Number of restarts that gave it extra time. */
  readonly graces: number
}

/** A call as offered to a client. */
export interface Offer {
  readonly number: number
  readonly connection: string
  readonly principal: string
  /** Whether its client claims a call before it acts. */
  readonly claims: boolean
}

export interface Call extends Omit<CallProposal, 'about'> {
  readonly state: CallState
  /** Number of starts of a server tool. */
  readonly attempt: number
  readonly approvals: number
  /** The newest request, even after it was granted: a call may only begin before it expires. */
  readonly approval: { readonly id: string; readonly askedMs: number; readonly deadline: Deadline } | null
  /** Principals who approved the newest request, of the several whom it needs. */
  readonly given?: readonly string[]
  /** The last offer, even after it was withdrawn. */
  readonly offer: Offer | null
  /** A client that had claimed it left, and may have acted. */
  readonly mayHaveActed?: true
  readonly clock: CallClock
  /** Set for a started server tool; null while it waits for its user's answer. */
  readonly deadline: Deadline | null
  /** Milliseconds left of `deadline` when the tool asked its user; null while it runs. */
  readonly heldMs: number | null
  /** Questions of the tool, over all its attempts. */
  readonly questions: readonly Question[]
  readonly settlement: SettlementType | null
  readonly resultChars: number
  /** The part of `resultChars` that may move behind a handle; absent if that would save little. */
  readonly longChars?: number
  /** Images and files of its result; absent if it has none. */
  readonly media?: MediaSize
  /** Length of the arguments that a person put in place of the model's; the model sees them. */
  readonly editedChars: number
  /** Whether the model learns of a result that arrives after the settlement. */
  readonly tellLate: boolean
  /** Set for a call of a session below. */
  readonly relayed?: RelayedCall
}

/** A call in the background. */
export interface Task extends Call {
  readonly task: TaskPlace
}

export interface TaskPlace extends StepPlace {
  /** `interrupt`: it was detached from its turn. See `detachedCalls`. */
  readonly origin: 'call' | 'interrupt'
  readonly wake: WakePolicy
  /** A sender of the inputs that it was begun for can be asked. */
  readonly asks: boolean
  readonly turn: number
  readonly begunMs: number
  readonly cancelledBy?: FactOf<'task-cancelled'>['by']
}

/** A task that has settled. */
export interface EndedTask extends StepPlace {
  readonly callId: string
  readonly name: string
  readonly runs: Call['runs']
  readonly effect: Call['effect']
  readonly settlement: SettlementType
  readonly turn: number
  readonly begunMs: number
  readonly offer: Offer | null
  readonly tellLate: boolean
  readonly provenance?: Provenance
  readonly asks: boolean
  /** Whether its model knows the end: `queued` in an input, or `awaited` by a call that will tell it. */
  readonly news: 'told' | 'queued' | 'awaited'
  /** Size of its outcome in a request. */
  readonly chars: number
  readonly longChars?: number
  readonly media?: MediaSize
}

export interface RelayedCall {
  /** The child through which it came. */
  readonly via: string
  /** The root's agent has a client tool of the name, so that a client with all tools knows it. */
  readonly isKnown: boolean
  readonly fallback: boolean
}

export interface Question {
  readonly n: number
  readonly id: string
  /** Null once it is answered. */
  readonly deadline: Deadline | null
}

/** A step with unsettled calls. */
export interface OpenStep {
  readonly step: number
  readonly exchange: number
  readonly chars: number
  readonly calls: readonly Call[]
  /** The turn was interrupted: the calls settle without it. */
  readonly orphaned: boolean
  readonly grace: Deadline | null
}
