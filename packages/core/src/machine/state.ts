// The state of a session: the fold of its facts. It holds counts, ids and sizes, never text.
import type { JsonObject } from '../json.ts'
import type { Provenance } from '../messages.ts'
import type { ModelSettings } from '../agent/model.ts'
import type { Call, Offer, OpenStep, Question } from './call.ts'
import type { SettlementType } from './fact.ts'
import type { LongResult, MediaSize } from './size.ts'
import type { ClientToolSpec, Delivery, Played } from './input.ts'

export type { Call, CallClock, Offer, OpenStep, Question } from './call.ts'

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

/** One entry of the history: a message of the user, or a step (an assistant message and its results). */
export interface IndexEntry {
  readonly entry: number
  readonly exchange: number
  readonly role: 'user' | 'step' | 'summary'
  /** Estimated size in characters. */
  readonly chars: number
  /** For `step`: its number. */
  readonly step?: number
  /** For `user`: what entered, so that a rewind can ask it again. */
  readonly inputs?: readonly string[]
  readonly notes?: readonly number[]
  /** Absent where it has none. */
  readonly media?: EntryMedia
  /** For `step`: results that may go behind a handle. */
  readonly long?: readonly LongResult[]
}

/** Images and files of an entry of the history. */
export interface EntryMedia extends MediaSize {
  /** For `user`: the inputs that brought them. */
  readonly inputs?: readonly string[]
}

/** A timer that is running: it fires at `atMs`; a firing of another generation is stale. */
export interface Deadline {
  readonly atMs: number
  readonly generation: number
}

export interface Client {
  readonly connection: string
  readonly principal: string
  /** It answers its calls strictly one after another. */
  readonly sequential: boolean
  /** It claims a call before it acts; else delivery is the claim. */
  readonly claims: boolean
  /** It says how much of an answer was heard. */
  readonly reportsPlayback: boolean
  /** A person behind it can be asked. */
  readonly asks: boolean
  /** Names of the agent's own client tools that it can run; null: all. */
  readonly tools: readonly string[] | null
  /** Lease of a client without a connection: it is gone then, unless renewed. */
  readonly lease: Deadline | null
}

export interface ClientToolList {
  /** Null: of an older record, which did not say whose the tools are. */
  readonly connection: string | null
  readonly tools: readonly ClientToolSpec[]
}

export interface QueuedInput {
  readonly inputId: string
  readonly type: 'user' | 'transcript' | 'urgent'
  /** Estimated size in a request, and what it holds as text; they differ for images and files. */
  readonly chars: number
  readonly heldChars: number
  readonly ready: boolean
  readonly delivery: Delivery
  /** Absent where it has none. */
  readonly media?: MediaSize
  readonly model?: string
  readonly settings?: ModelSettings
  /** JSON Schema that its answer fits. */
  readonly output?: JsonObject
  /** Its sender cannot be asked anything. */
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
  /** JSON Schema that the answer fits; absent: the agent's, where it has one. */
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
  /** Answers that were sent back by `order`, `checkAnswer` or a person; absent: none. */
  readonly refusals?: number
  /** Names of the tools that have an `ok` result in this turn; absent: none. */
  readonly done?: readonly string[]
  readonly steps: readonly TurnStep[]
  readonly deadline: Deadline | null
  readonly remainingMs: number
  /** Absent: nothing is waited for, or without a limit. */
  readonly wait?: Wait
  /** A provider paused its answer: nothing may come between it and the next request. */
  readonly continuing: boolean
  /** Whether somebody who sent one of its inputs can be asked. */
  readonly asks: boolean
}

/** The wait for the first word of a step whose answer has not begun, under `limits.firstWordMs`. */
export interface Wait {
  /** When its first request was made. */
  readonly sinceMs: number
  /** When the share of the model that is asked ends; null: the next model begins one. */
  readonly untilMs: number | null
}

/** A model call that is under way. */
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
  /** Milliseconds in which the first piece of its answer must come; absent: no limit. */
  readonly firstWordMs?: number
}

export interface ClosedCall {
  readonly callId: string
  readonly settlement: SettlementType
  readonly name: string
  readonly runs: 'server' | 'client'
  /** Who was asked: nobody else's late result counts. */
  readonly offer: Offer | null
  /** Whether a late result is told to the model. */
  readonly tellLate: boolean
  /** Absent: see `CallProposal`. */
  readonly provenance?: Provenance
}

export interface RememberedDecision {
  readonly name: string
  /** Null: whatever the arguments. */
  readonly argumentsHash: string | null
  /** Present: it counts for calls that ask for the same, and for no other. */
  readonly asksFor?: string
  readonly decision: 'approve' | 'deny'
}

export interface FinishedTurn {
  readonly turn: number
  readonly steps: readonly TurnStep[]
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
  /** Output tokens that the next request holds. */
  readonly answerTokens: number
  readonly answerCalls: number
  /** Tokens of the exchange's thoughts so far; only the requests of that exchange hold them. */
  readonly thoughtTokens: number
}

export interface State {
  readonly session: string
  readonly birth: string
  /** The principal who owns the session; empty if nobody asks. */
  readonly principal: string
  /** Its name for people. */
  readonly title: string | null
  /** Notes of programs; the machine does not read them. */
  readonly meta: JsonObject
  readonly agent: string
  readonly specHash: string
  /** Position of the last record. */
  readonly pos: number
  readonly nowMs: number
  readonly epoch: number
  readonly phase: Phase
  /** Set by `set-model`; null: the agent's own. */
  readonly model: string | null
  /** Set by `set-settings`; those of an input stand above them. */
  readonly settings: ModelSettings
  readonly clients: readonly Client[]
  /** One list for each client that brought tools, also of those that are gone; the newest last. */
  readonly clientTools: readonly ClientToolList[]
  readonly queue: readonly QueuedInput[]
  readonly batch: { readonly sinceMs: number; readonly deadline: Deadline } | null
  readonly recentInputs: readonly { readonly inputId: string; readonly pos: number }[]
  readonly recentCalls: readonly ClosedCall[]
  /** Decisions of people that hold for later calls too; the newest last. */
  readonly remembered: readonly RememberedDecision[]
  readonly notes: readonly { readonly note: number; readonly chars: number }[]
  readonly counters: Counters
  readonly index: readonly IndexEntry[]
  readonly turn: Turn | null
  readonly step: OpenStep | null
  /** Tools of interrupted turns that still run: their calls are settled, and a note will tell their outcome. */
  readonly detached: readonly Call[]
  readonly attempt: RunningAttempt | null
  readonly retry: Deadline | null
  readonly interrupting: { readonly heard: Played; readonly deadline: Deadline } | null
  readonly lastTurn: FinishedTurn | null
  /** The newest turn whose answer was handed to an app's voice. */
  readonly displayedTurn: number
  /** UTF-16 units of that answer that the voice has reported as played; null: it reports nothing, and all of the answer counts. */
  readonly displayedChars: number | null
  /** Tokens in 1,000 characters, calibrated by what the provider counts. */
  readonly tokensPer1000Chars: number
  /** Tokens that a tool's result costs beside its characters, learnt from the provider's counts. */
  readonly tokensPerResult: number
  /** Windows in tokens that refusals have named, by model; absent: none. */
  readonly learntWindows?: readonly { readonly model: string; readonly tokens: number }[]
  /** Null: no provider has counted a request of this session. */
  readonly counted: Counted | null
  /** Summaries of the running turn that were cut short by a restart. */
  readonly summaryRecoveries: number
  /** The running turn's summary failed: its window slides instead. */
  readonly summaryFailed: boolean
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
    detached: [],
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
  }
}

export function openCalls(state: State): readonly Call[] {
  return state.step?.calls ?? []
}

export function findCall({ step }: State, callId: string): Call | undefined {
  return step?.calls[findCallIndex(step.calls, callId)]
}

/** -1 where there is none. An id ends with the place of its call, so that an answer with many calls is not searched. */
export function findCallIndex(calls: readonly Call[], callId: string): number {
  const index = Number(callId.slice(callId.lastIndexOf('_') + 1))
  return calls[index]?.callId === callId ? index : calls.findIndex((call) => call.callId === callId)
}

/** The detached call whose tool runs as this attempt. */
export function findDetached(
  { detached }: State,
  run: { readonly callId: string; readonly attempt: number },
): Call | undefined {
  return detached.find((call) => call.callId === run.callId && call.attempt === run.attempt)
}

/** The call whose newest request has this id, also after that was granted. */
export function findApproval(state: State, approvalId: string): Call | undefined {
  return state.step?.calls.find((call) => call.approval?.id === approvalId)
}

/** The question of this id, if it is open. */
export function findQuestion(
  state: State,
  questionId: string,
): { readonly call: Call; readonly question: Question } | undefined {
  for (const call of state.step?.calls ?? []) {
    const question = call.questions.find((asked) => asked.id === questionId && asked.deadline !== null)
    if (question) return { call, question }
  }
  return undefined
}

/** The turn of the answer with this id; undefined if it is no answer's id. */
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
