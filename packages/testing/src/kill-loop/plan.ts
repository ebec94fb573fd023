// When a server of the kill loop dies.
import type { InputType } from '@baton/core/machine'

export interface KillPlan {
  /** Count only records of this session; if absent, of any. */
  readonly session?: string
  /** A record by its position, the next one with this input type, or the one with this number that the process writes. */
  readonly at: number | InputType | { readonly write: number }
  /** Before it is stored, after it is stored but before the host knows, or once the host has acted on it. */
  readonly moment: 'before' | 'after' | 'later'
  /** Delay for `later`, in milliseconds. */
  readonly laterMs: number
}
