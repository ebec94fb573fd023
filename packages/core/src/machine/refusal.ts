// The answer to the sender of an input: that it is accepted, or why not.
import type { ErrorCode } from '../errors.ts'

export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
}

export interface Accepted {
  readonly type: 'accepted'
  /** Position of the record that holds it; of the first one, for an input that was sent again. */
  readonly pos: number
  /** For a claim: the client had claimed the call before. */
  readonly again?: true
  /** For an interrupt: the turn that it ended. Absent if none ran, or another one than was named. */
  readonly ended?: number
}

export interface Refused extends Refusal {
  readonly type: 'refused'
}
