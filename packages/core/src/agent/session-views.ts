// Sessions as operators read them: from their logs, whoever owns them and whichever process runs them. Nothing is opened,
// continued or written.
import type { SessionRecord } from '../machine/record.ts'
import type { ModelRequest } from './model.ts'
import type { Principal } from './policy.ts'
import type { Session } from './session-api.ts'

/**
 * Reads any session of a store, for operators: it takes no lease, and changes nothing. `path` has the ids of the calls that
 * lead to the session of a delegated call. The program checks who may read.
 */
export interface SessionViews {
  /**
   * Opens a session for reading: from this process if it runs here, else from its log, which is looked at once a second.
   * @throws BatonError `unknown_session`, `store_failed`, `log_damaged`
   */
  open(session: string): Promise<SessionView>
  /** The owner; undefined if there is no such session. @throws BatonError `store_failed`, `log_damaged` */
  ownerOf(session: string): Promise<Principal | undefined>
  /** The records from `fromPos` on, in order; none if there is no such session. @throws BatonError `store_failed`, `log_damaged` */
  log(session: string, options?: LogOptions): AsyncIterable<SessionRecord>
  /** Sessions of delegated calls below it, at every depth, in the order in which they began. @throws BatonError `store_failed` */
  children(session: string): Promise<readonly ViewedChild[]>
  /**
   * Builds the request of a model's attempt again, as its host did: from the log, and from the agent as it is now.
   * @throws BatonError `unknown_input` if the log has no such attempt of a step; `store_failed`, `log_damaged`
   */
  request(session: string, attempt: number, path?: readonly string[]): Promise<RebuiltRequest>
  /** The whole text of a result, by the handle in its shortened text. @throws BatonError `store_failed` */
  longResult(session: string, handle: string, path?: readonly string[]): Promise<string | undefined>
  /** Replaces the host's secrets in a text by `[redacted]`. */
  hideSecrets(text: string): string
}

export interface LogOptions {
  /** 0 by default. */
  readonly fromPos?: number
  readonly path?: readonly string[]
}

/** A session that can only be read. */
export interface SessionView extends Pick<
  Session,
  'id' | 'events' | 'messages' | 'media' | 'info' | 'approvals' | 'child' | 'close'
> {}

/** The session of a delegated call. */
export interface ViewedChild {
  readonly session: string
  /** The call of the session above that it works for. */
  readonly callId: string
  /** Ids of the calls that lead to it, from the root's on. */
  readonly path: readonly string[]
  /** Delegating tools, from the root's on. */
  readonly tools: readonly string[]
  readonly agent: string
}

export interface RebuiltRequest {
  readonly attempt: number
  readonly step: number
  /** Id of the model. */
  readonly model: string
  readonly request: ModelRequest
  /** Ways in which it may differ from what was sent; empty if none is known. */
  readonly notes: readonly string[]
}
