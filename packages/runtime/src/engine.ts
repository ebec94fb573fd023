// The seam between what every host shares and what each host is: how inputs reach a session's one writer, and how what it
// decided is read. Local: an actor in this process. Others: an actor elsewhere, or a workflow.
import type { Accepted, Agent, Principal, Refused } from '@baton/core'
import type { History, Input, State } from '@baton/core/machine'
import type { SessionWorld } from './catalog/session-world.ts'
import type { FrameReader } from './session/frame-reader.ts'

/** What owns sessions, commits their records and keeps their time. Each kind of host brings its own. */
export interface Engine {
  /**
   * Opens a session, or makes a new one; it stays open while somebody holds it or something is outstanding.
   * @throws BatonError `session_held`, `store_failed`, `store_conflict`, `invalid_agent`, `unknown_model`
   */
  open(session: string, opening: SessionOpening): Promise<SessionEngine>
  /** Lets running turns end for `drainMs`, then closes every session. */
  stop(options: { readonly drainMs: number }): Promise<void>
}

export interface SessionOpening {
  /** Whose session it becomes, if it is new. */
  readonly principal: Principal
  /** Wins over the choice of the catalog. */
  readonly agent?: Agent
}

/** One session as one holder in one process has it. */
export interface SessionEngine extends SessionReplica {
  readonly session: string
  /** The session's agent, with its tools and models; another one after `agent-changed`. */
  world(): SessionWorld
  /**
   * Hands in inputs that belong together: they are decided in this order, with nothing between them, and committed at
   * once. Each has its own answer, which comes when the replica has what was decided.
   * @throws BatonError `session_closed`, `store_failed`, `store_conflict` when the session is gone from here
   */
  submit(inputs: readonly Input[]): Promise<readonly (Accepted | Refused)[]>
  /**
   * Frames from a position on, or from now on: the past, then live, in one order. `onEnd` is called when the reading has
   * ended, whoever ended it.
   */
  follow(fromPos?: number, onEnd?: (reader: FrameReader) => void): FrameReader
  /** Lets go of the session; what is outstanding goes on. */
  close(): Promise<void>
}

/** What was folded of a session's records, up to the newest that reached this process. */
export interface SessionReplica {
  state(): State
  history(): History
}
