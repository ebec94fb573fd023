// The answer to the sender of an input: accepted, or why not.
import type { ErrorCode } from '../errors.ts'

export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
}

export interface Accepted {
  readonly type: 'accepted'
  /** Position of its record; the first one for a repeated input. */
  readonly pos: number
  /** For a claim: the client had already claimed the call. */
  readonly again?: true
  /** For an interrupt: the turn that it ended. Absent if none was running, or not the named one. */
  readonly ended?: number
}

export interface Refused extends Refusal {
  readonly type: 'refused'
}
