// The state of a session's workflow, as its Query answers it.
import type { Principal } from '@baton/core'
import type { State } from '@baton/core/machine'

/** The result of the Query `baton.state`. */
export interface SessionStateView {
  readonly session: string
  readonly agent: string
  readonly principal: Principal
  readonly title: string | null
  readonly pos: number
  readonly phase: State['phase']
  readonly turn: number | null
  readonly openCalls: readonly { readonly callId: string; readonly name: string; readonly state: string }[]
  /** Activities in progress. */
  readonly underWay: readonly string[]
  /** Number of records on their way to the log. */
  readonly unpublished: number
  /** Number of inputs waiting to be decided. */
  readonly waiting: number
}
