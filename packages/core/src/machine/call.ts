// A call in the ledger, and the step whose calls are open.
import type { CallProposal, ClockMode, SettlementType } from './fact.ts'
import type { MediaSize } from './size.ts'

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
  readonly approval: { readonly id: string; readonly deadline: Deadline } | null
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
