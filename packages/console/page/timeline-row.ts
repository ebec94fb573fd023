// The rows of a timeline: one for each logical thing of a session, however many records tell of it. Plain data, which a
// page draws and a test reads.
import type { Provenance } from '@baton/core/internal'
import type { CallProposal, Fact, FactOf, Settlement } from '@baton/core/machine'
import type { Usage } from '@baton/core'

/**
 * `person`, `client`, `time`, `child`: it waits for that. `superseded`: another attempt has replaced it. `info`: it happened at
 * one moment.
 */
export type RowState =
  | 'running'
  | 'queued'
  | 'person'
  | 'client'
  | 'time'
  | 'child'
  | 'ok'
  | 'error'
  | 'denied'
  | 'timed-out'
  | 'cancelled'
  | 'unknown'
  | 'superseded'
  | 'info'

/** The states of something that has not ended. */
export const OPEN_STATES: ReadonlySet<RowState> = new Set(['running', 'queued', 'person', 'client', 'time', 'child'])

/** A stretch of a bar, in session time. Without `toMs` it is still open. */
export interface Segment {
  readonly state: RowState
  readonly fromMs: number
  readonly toMs?: number
  /** A few words, such as `offered to ann-phone`. */
  readonly note: string
}

/** A moment on a bar: a decision, a retry, a late result. */
export interface Mark {
  readonly atMs: number
  readonly text: string
  readonly pos: number
  readonly kind: 'decision' | 'retry' | 'late' | 'note'
}

/** One result that the model has read, and that strangers may have written. */
export interface TaintSource {
  /** The tool or the event. */
  readonly name: string
  /** The row where it came from. */
  readonly row: string
  /** Arguments of the call, and the source that its result names. */
  readonly about?: string
}

export interface Attempt {
  readonly attempt: number
  readonly fromMs: number
  readonly deadlineMs: number
}

export interface ApprovalOfCall {
  readonly id: string
  readonly askedMs: number
  readonly expiresAtMs: number
  /** People who have approved it while it needed more. */
  readonly given: readonly FactOf<'approval-given'>[]
  readonly decided?: FactOf<'approval-decided'>
  /** When it was decided, in session time. */
  readonly decidedMs?: number
}

/** A client that is, or was, attached. */
export interface ClientView {
  readonly connection: string
  readonly principal: string
  /** End of its lease in session time; absent: it has none. */
  readonly untilMs?: number
  readonly isAttached: boolean
}

export interface ChildOfCall {
  readonly agent: string
  readonly depth: number
  /** Only people or clients can continue it. */
  readonly waits: boolean
  readonly spent?: FactOf<'child-reported'>['spent']
  readonly stop?: FactOf<'child-closed'>['stop']
  readonly lost?: string
}

/** Details of a call. */
export interface CallDetails {
  readonly callId: string
  readonly name: string
  /** JSON text as the model wrote it. */
  readonly arguments: string
  /** JSON text that a person put in its place. */
  readonly edited?: string
  readonly proposal: CallProposal
  readonly proposedMs: number
  readonly approvals: readonly ApprovalOfCall[]
  readonly attempts: readonly Attempt[]
  /** Clients that it was offered to, oldest first. */
  readonly offeredTo: readonly string[]
  readonly claimedBy?: string
  readonly clock?: FactOf<'call-clock-set'>
  readonly questions: readonly FactOf<'question-asked'>[]
  readonly child?: ChildOfCall
  /** `running`: its step has a receipt, and it continues. */
  readonly task?: 'running' | 'settled'
  readonly settlement?: Settlement
  readonly provenance?: Provenance
  readonly detail?: string
  /** Results that arrived late, twice, or from a stranger. */
  readonly ignored: readonly FactOf<'result-ignored'>[]
}

/** Details of a request to a model. */
export interface AttemptDetails {
  readonly attempt: number
  readonly step: number
  readonly model: string
  /** The position of the record that began it. */
  readonly pos: number
  readonly started: FactOf<'model-started'>
  readonly error?: { readonly code: string; readonly message: string }
  readonly supersededFor?: string
  readonly retryAtMs?: number
}

export interface TurnDetails {
  readonly turn: number
  readonly started: FactOf<'turn-started'>
  readonly finished?: FactOf<'turn-finished'>
  /** Ids of the inputs that it answers. */
  readonly inputs: readonly string[]
}

export interface TimelineRow {
  /** Unique in the session and stable: a permalink ends with it. */
  readonly id: string
  readonly kind: 'input' | 'turn' | 'step' | 'attempt' | 'call' | 'note'
  readonly parent?: string
  readonly depth: number
  /** Row of the turn that it belongs to. */
  readonly turn?: string
  readonly title: string
  /** How it stands or ended, in a few words. */
  readonly outcome: string
  readonly state: RowState
  readonly fromMs: number
  readonly toMs?: number
  readonly segments: readonly Segment[]
  readonly marks: readonly Mark[]
  /** Positions of the records that tell of it, in order. */
  readonly records: readonly number[]
  /** Untrusted results that the model had read when it wrote this. */
  readonly taint: readonly TaintSource[]
  readonly usage?: Usage
  /** Text of a step or input. */
  readonly text?: string
  readonly call?: CallDetails
  readonly attempt?: AttemptDetails
  readonly turnDetails?: TurnDetails
  readonly fact?: Fact
  /** The delegated calls that lead to its session; absent for the session itself. */
  readonly path?: readonly string[]
}

export interface Timeline {
  readonly session: string
  readonly agent: string
  readonly principal: string
  /** In the order in which they began, each below its parent. */
  readonly rows: readonly TimelineRow[]
  readonly byId: ReadonlyMap<string, TimelineRow>
  readonly clients: ReadonlyMap<string, ClientView>
  /** Session time of the newest record. */
  readonly lastMs: number
  /** The wall clock minus session time. */
  readonly wallOffsetMs: number
  readonly newest: number
}
