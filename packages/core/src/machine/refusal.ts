// Why an input is not taken, as its sender is told.
import type { ErrorCode } from '../errors.ts'

export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
}
