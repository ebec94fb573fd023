// A host: it opens sessions, and lists them for side bars.
import type { JsonObject } from '../json.ts'
import type { Principal } from './policy.ts'
import type { Accepted } from '../machine/input.ts'
import type { Decision, PendingApproval, Session, SessionOptions } from './session-api.ts'
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
  /**
   * Sessions by their last use, the newest first, a page at a time. A session that is used while you page moves to the
   * front; with `order: 'oldest'` it comes once more, and none is missed. The first list of a store from before lists
   * reads every log once.
   * @throws BatonError `invalid_option`, `store_failed`
   */
  sessions(query?: SessionQuery): Promise<SessionPage>
  /**
   * Calls and answers that wait for a person's decision in all sessions of the store, whichever process runs them,
   * including those of agents below a session. @throws BatonError `invalid_option`, `store_failed`
   */
  approvals(query?: ApprovalQuery): Promise<ApprovalPage>
  /**
   * The first page of `approvals`, now and whenever it changes. Changes of this process come at once, those of other
   * processes within a second or two. Ends when the reader leaves or the host stops.
   * @throws BatonError `invalid_option`
   */
  watchApprovals(query?: Omit<ApprovalQuery, 'cursor'>): AsyncIterable<ApprovalPage>
  /**
   * Decides a request in the name of `by`, whom the program has authenticated. The session may have another owner. Opens
   * the session if needed, even after the death of the process that had it.
   * @throws BatonError `approval_refused` if there is no such request, or none that `by` may decide; `session_held` if
   * another host has the session; as `Session.decide`
   */
  decide(session: string, decision: Decision, options: { readonly by: Principal }): Promise<Accepted>
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

/** A filter for `host.approvals`. Fields that are given must all match. */
export interface ApprovalQuery {
  /** Only requests of this principal's sessions. */
  readonly principal?: Principal
  /** Only requests that this principal may decide, by their `id` and `roles`, and has not approved yet. */
  readonly decider?: Principal
  /** Only requests of this session. */
  readonly session?: string
  /** Only sessions of the agent with this name. */
  readonly agent?: string
  readonly tool?: string
  /** `newest` by default. */
  readonly order?: 'newest' | 'oldest'
  /** The cursor from the previous page; undefined for the first one. */
  readonly cursor?: string | undefined
  /** At most 200; 50 by default. */
  readonly limit?: number
}

/** A page of `host.approvals`. */
export interface ApprovalPage {
  readonly approvals: readonly WaitingApproval[]
  /** Present if there are more. */
  readonly cursor?: string
}

/** A request in the inbox: all that a decider sees of a session with another owner. */
export interface WaitingApproval extends PendingApproval {
  readonly session: string
  readonly askedMs: number
  /** The session's agent; for a call of an agent below, `path` names that one. */
  readonly agent: string
  /** The asker: the session's principal. */
  readonly principal: Principal
  /** The list has no room for its arguments and differences; `session.approvals()` of its owner has them. */
  readonly cut?: true
}

/** A filter for `host.sessions`. Fields that are given must all match. */
export interface SessionQuery {
  /** Only sessions of this principal. */
  readonly principal?: Principal
  /** Only sessions of the agent with this name. */
  readonly agent?: string
  readonly activity?: SessionInfo['activity']
  /** Only sessions used at this time or later, in milliseconds since 1970. */
  readonly since?: number
  /** `newest` by default: by last use. */
  readonly order?: 'newest' | 'oldest'
  /** Only sessions whose metadata has these fields with these values. */
  readonly meta?: JsonObject
  /** The cursor from the previous page; undefined for the first one. */
  readonly cursor?: string | undefined
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
  /** `running`: a turn is in progress. `waiting`: nothing works on it until what `waitsFor` names has happened. */
  readonly activity: 'idle' | 'running' | 'waiting' | 'paused' | 'stopped'
  /** With `waiting`. */
  readonly waitsFor?: readonly WaitReason[]
  /** The error with which its newest turn failed. Absent while a turn is in progress, and in entries of older versions. */
  readonly error?: { readonly code: string }
  /** Milliseconds since 1970. */
  readonly createdMs: number
  /** Last use: a turn began or ended, a person decided, the description changed, or it began to wait for another reason. */
  readonly lastMs: number
}

/** `person`: an approval or a question. `client`: a call for a client. `time`: a model is asked again later. `child`: another agent. */
export type WaitReason = 'person' | 'client' | 'time' | 'child'

export type SessionChange =
  | { readonly type: 'changed'; readonly session: SessionInfo }
  | { readonly type: 'removed'; readonly id: string; readonly principal: Principal }
