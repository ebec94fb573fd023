// The seam between what every host shares and what each host is: how inputs reach a session's one writer, and how what it
// decided is read. Local: an actor in this process. Others: an actor elsewhere, or a workflow.
import type { JsonObject, Accepted, Agent, Principal, Refused } from '@baton/core'
import { BatonError } from '@baton/core'
import type { History, Input, State } from '@baton/core/machine'
import type { SessionWorld } from './catalog/catalog.ts'
import type { FrameReader } from './session/frame-reader.ts'

/** Owns sessions, commits their records and keeps their time. Each kind of host brings its own. */
export interface Engine {
  /**
   * Opens a session, or makes a new one; it stays open while somebody holds it or something is outstanding.
   * @throws BatonError `session_held`, `store_failed`, `store_conflict`, `invalid_agent`, `unknown_model`
   */
  open(session: string, opening: SessionOpening): Promise<OpenedSession>
  /** Lets running turns end for `drainMs`, then closes every session. */
  stop(options: { readonly drainMs: number }): Promise<void>
}

export interface SessionOpening {
  /** Owner of the session, if it is new. */
  readonly principal: Principal
  /** Wins over the choice of the catalog; not for a session of another principal. */
  readonly agent?: Agent
  /** The meta that `describe` will set on a new session, for the choice of its agent. */
  readonly meta?: JsonObject
}

export interface OpenedSession {
  readonly engine: SessionEngine
  /** Lets go of the session; what is outstanding goes on. Called once. */
  readonly leave: () => void
}

/** One session as this process has it. */
export interface SessionEngine extends SessionReplica {
  readonly session: string
  /** The session's agent, with its tools and models; another one after `agent-changed`. */
  readonly world: SessionWorld
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
  /**
   * Resolves when the model calls that were aborted here have settled, or were abandoned. Undefined where there are none. Never
   * rejects.
   */
  abortedCalls?(): Promise<void> | undefined
}

/** A host that can copy a session's log has this too. */
export interface CopyingEngine extends SessionEngine {
  /**
   * Copies the log, with images and files, to a new session of this name: up to the newest record after which nothing ran
   * and nothing waited.
   * @throws BatonError `session_exists`, `store_failed`, `log_damaged`
   */
  copyTo(session: string): Promise<void>
}

/** A session's folded records, up to the newest that reached this process. */
export interface SessionReplica {
  state(): State
  history(): History
}

/**
 * Hands in an input that belongs to no other.
 * @throws BatonError as `submit` does
 */
export async function submitAlone(engine: Pick<SessionEngine, 'submit'>, input: Input): Promise<Accepted | Refused> {
  const [answer = NO_ANSWER] = await engine.submit([input])
  return answer
}

/** Returns an acceptance. @throws BatonError with the code of a refusal */
export function insist<Answer extends object>(answer: Answer | Refused): Answer {
  if ('type' in answer && answer.type === 'refused') {
    const { code, message } = answer as Refused // by its type
    throw new BatonError({ code, message })
  }
  return answer as Answer // what else there is
}

export const NO_ANSWER: Refused = { type: 'refused', code: 'internal', message: 'the engine gave no answer' }
