// The seam between the shared runtime and each host: how inputs reach a session's single writer, and how its decisions
// are read. The local host uses an actor in this process; others use a remote actor or a workflow.
import type { JsonObject, Accepted, Agent, Principal, Refused } from '@baton/core/internal'
import type { Input, SessionRecord } from '@baton/core/machine'
import type { SessionWorld } from './catalog/catalog.ts'
import type { SessionReplica, SessionStream } from './session/stream.ts'

export type { SessionReplica } from './session/stream.ts'

/** Owns sessions, commits their records and keeps their time. Each kind of host has its own. */
export interface Engine {
  /**
   * Opens or creates a session; it stays open while it has a holder or outstanding work.
   * @throws BatonError `session_held`, `store_failed`, `store_conflict`, `invalid_agent`, `unknown_model`;
   * `unknown_session` with `mustExist`
   */
  open(session: string, opening: SessionOpening): Promise<OpenedSession>
  /** Lets running turns finish for `drainMs`, then closes every session. */
  stop(options: { readonly drainMs: number }): Promise<void>
}

export interface SessionOpening {
  /** Owner of the session if it is new. */
  readonly principal: Principal
  /** Wins over the catalog's choice; not for a session of another principal. */
  readonly agent?: Agent
  /** Metadata that `describe` will set on a new session; used to choose its agent. */
  readonly meta?: JsonObject
  /** Refuses a session without records instead of creating it: it may have been removed since it was found. */
  readonly mustExist?: boolean
}

export interface OpenedSession {
  readonly engine: SessionEngine
  /** Releases the session; outstanding work continues. Called once. */
  readonly leave: () => void
}

/** One session as seen by this process. */
export interface SessionEngine extends SessionReplica {
  readonly session: string
  /** The session's agent, tools and models; replaced after `agent-changed`. */
  readonly world: SessionWorld
  /**
   * Submits inputs that belong together: they are decided in this order with nothing in the middle, and committed
   * together. Each gets its own answer, once the replica has what was decided.
   * @throws BatonError `session_closed`, `store_failed`, `store_conflict` if the session has left this process
   */
  submit(inputs: readonly Input[]): Promise<readonly (Accepted | Refused)[]>
  /** Records and live pieces of the session, projected for its readers. */
  readonly stream: SessionStream
  /**
   * Resolves when the model calls aborted here have settled or were abandoned; undefined if there are none. Never
   * rejects.
   */
  abortedCalls?(): Promise<void> | undefined
  /** The session of a delegated call; undefined while its owner opens it. Absent where there are none. */
  child?(callId: string): FoundSession
  /** Resolves when the next session of a delegated call is open in this process. Absent where others open them. */
  childOpened?(): Promise<void>
  /** Reads the log of a session in this one's tree; nothing if there is none. Absent where there are none. */
  readBelow?(session: string, fromPos: number): AsyncIterable<SessionRecord>
}

/** A promise where this process only reads the session, and may have to open it. It never rejects. */
export type FoundSession = SessionEngine | undefined | Promise<SessionEngine | undefined>

/** The session below that makes a relayed request; undefined while it is being opened. */
export function findBelow(root: SessionEngine, request: string): FoundSession {
  const asked = root
    .history()
    .relayed()
    .find(({ id }) => id === request)
  return asked?.path.reduce<FoundSession>((above, { callId }) => {
    if (above && 'then' in above) return above.then((found) => found?.child?.(callId))
    return above?.child?.(callId)
  }, root)
}

/** Implemented by hosts that can copy a session's log. */
export interface CopyingEngine extends SessionEngine {
  /**
   * Copies the log, with images and files, to a new session with this name, up to the newest record after which nothing
   * was running or waiting.
   * @throws BatonError `session_exists`, `store_failed`, `log_damaged`
   */
  copyTo(session: string): Promise<void>
}
