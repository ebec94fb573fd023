// A host: it opens sessions, and lists them for side bars.
import type { JsonObject } from '../json.ts'
import type { Principal } from './policy.ts'
import type { Session, SessionOptions } from './session-api.ts'
import type { KnownAgent } from './typed-calls.ts'

/**
 * Runs sessions: opens, lists, copies and removes them, and stops. `createHost` makes one over a store, and
 * `createTemporalHost` over Temporal.
 */
export interface Host<A extends KnownAgent = KnownAgent> {
  /**
   * Opens a session, or creates one if `id` is absent or unknown.
   * @throws BatonError `unauthorized` (it belongs to another principal), `session_held` (another host holds it),
   * `host_stopped`, `store_failed`, `store_conflict`, `unknown_model`, `invalid_agent`
   */
  session<B extends KnownAgent = A>(id?: string, options?: SessionOptions<B>): Promise<Session<B>>
  /**
   * Lets running turns and detached tools finish for `drainMs` (0 by default), then closes every session.
   * @throws BatonError `invalid_option`
   */
  stop(options?: { readonly drainMs?: number }): Promise<void>
}

/** The sessions of a host, for lists and side bars. */
export interface SessionDirectory {
  /** Sessions ordered by name, a page at a time. @throws BatonError `invalid_option`, `store_failed` */
  sessions(query?: SessionQuery): Promise<SessionPage>
  /** Whether a session with this name exists; does not create one. @throws BatonError `store_failed` */
  has(session: string): Promise<boolean>
  /**
   * Future changes of sessions: created, described, turn begun or ended, removed. Unread changes of one session are
   * merged into the newest. Ends when the reader leaves or the host stops.
   */
  watch(query?: Pick<SessionQuery, 'principal'>): AsyncIterable<SessionChange>
  /**
   * Closes a session and removes everything that belongs to it; opening it again creates a new one.
   * @throws BatonError `unauthorized` (it belongs to a principal other than `by`), `session_held` (another host has it),
   * `store_failed`
   */
  remove(session: string, by?: Principal): Promise<void>
}

/** A filter for `host.sessions`. Fields that are given must all match. */
export interface SessionQuery {
  /** Only sessions of this principal. */
  readonly principal?: Principal
  /** Only sessions of the agent with this name. */
  readonly agent?: string
  /** Only sessions whose metadata has these fields with these values. */
  readonly meta?: JsonObject
  /** The cursor from the previous page. */
  readonly cursor?: string
  /** At most 200; 50 by default. */
  readonly limit?: number
}

export interface SessionPage {
  readonly sessions: readonly SessionInfo[]
  /** Present if there are more. */
  readonly cursor?: string
}

/** One session in the list of `host.sessions()`. */
export interface SessionInfo {
  readonly id: string
  /** Name of the agent. */
  readonly agent: string
  readonly principal: Principal
  readonly title?: string
  readonly meta: JsonObject
  /** `running`: a turn is in progress. Read from the log if the session is not open. */
  readonly activity: 'idle' | 'running' | 'paused' | 'stopped'
  /** Milliseconds since 1970. */
  readonly createdMs: number
  readonly lastMs: number
}

export type SessionChange =
  | { readonly type: 'changed'; readonly session: SessionInfo }
  | { readonly type: 'removed'; readonly id: string; readonly principal: Principal }
