// When a server of the kill loop dies.
import type { InputType } from '@baton/core/machine'

export interface KillPlan {
  /** Records of this session alone; absent: of any. */
  readonly session?: string
  /** A record by its position, or the next one of an input's type. */
  readonly at: number | InputType
  /** Before it is stored, after it is stored and before the host knows, or when the host has acted on it. */
  readonly moment: 'before' | 'after' | 'later'
  /** Arguments of `later`. */
  readonly laterMs: number
}
