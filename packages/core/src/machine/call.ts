// A call in the ledger, and the step whose calls are open.
import type { CallProposal, ClockMode, SettlementType } from './fact.ts'
import type { MediaSize } from './size.ts'
import type { CallState, Deadline } from './state.ts'

export interface CallClock {
  readonly mode: ClockMode
  readonly deadline: Deadline | null
  readonly remainingMs: number
  readonly awayRemainingMs: number
  /** Restarts after which it was given a rest of time. */
  readonly graces: number
}

/** A call as it was handed to a client. */
export interface Offer {
  readonly number: number
  readonly connection: string
  readonly principal: string
  /** Whether its client claims a call before it acts. */
  readonly claims: boolean
}

export interface Call extends Omit<CallProposal, 'about'> {
  readonly state: CallState
  /** Starts of a server tool. */
  readonly attempt: number
  readonly approvals: number
  /** The newest request, also once it was granted: a call begins within its time only. */
  readonly approval: { readonly id: string; readonly deadline: Deadline } | null
  /** The last offer, also after it was taken back. */
  readonly offer: Offer | null
  /** A client that had claimed it left, and may have acted. */
  readonly mayHaveActed?: true
  readonly clock: CallClock
  /** Set for a started server tool; null while it waits for an answer of its user. */
  readonly deadline: Deadline | null
  /** Milliseconds that were left of `deadline` when the tool asked its user; null while it runs. */
  readonly heldMs: number | null
  /** Questions of the tool, over all its attempts. */
  readonly questions: readonly Question[]
  readonly settlement: SettlementType | null
  readonly resultChars: number
  /** The part of `resultChars` that may go behind a handle; absent if that would save little. */
  readonly longChars?: number
  /** Images and files of its result; absent if it has none. */
  readonly media?: MediaSize
  /** Length of the arguments that a person put in place of the model's: the model is shown them. */
  readonly editedChars: number
  /** Whether the model is told of a result that comes after the settlement. */
  readonly tellLate: boolean
}

export interface Question {
  readonly n: number
  readonly id: string
  /** Null once it is answered. */
  readonly deadline: Deadline | null
}

/** A step whose calls are not all settled. */
export interface OpenStep {
  readonly step: number
  readonly exchange: number
  readonly chars: number
  readonly calls: readonly Call[]
  /** The turn was interrupted: the calls settle without it. */
  readonly orphaned: boolean
  readonly grace: Deadline | null
}
