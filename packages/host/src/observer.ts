// Observers of a host's sessions: traces, metrics, a program's own. An observer hears what was committed here and
// what is streamed in between; it decides nothing, and nothing waits for it.
import type { LiveFrame, Logger } from '@baton/core'
import type { SessionRecord, State } from '@baton/core/machine'

/** One session as an observer sees it. */
export interface ObservedSession {
  readonly id: string
  /** After the newest commit. */
  state(): State
  /** The newest turn and the position of the record that began it. */
  lastTurn(): { readonly turn: number; readonly pos: number } | undefined
  /** The records from a position on, as the store has them. @throws BatonError `store_failed`, `log_damaged` */
  read(fromPos: number): AsyncIterable<SessionRecord>
}

/** Its methods are called synchronously. One that throws is logged, and changes nothing for the session. */
export interface SessionObserver {
  /**
   * A record was committed by this host, in the order of positions. What other hosts and former processes committed is
   * not told; `session.read` has it.
   */
  onRecord?(record: SessionRecord, session: ObservedSession): void
  /** A piece of an answer, or a tool's progress. */
  onLive?(frame: LiveFrame, session: ObservedSession): void
  /** The session left this process; it may be opened again. */
  onClose?(session: ObservedSession): void
}

/** One observer for several; undefined for none. What one of them throws is logged, and the others go on. */
export function joinObservers(observers: readonly SessionObserver[], log: Logger): SessionObserver | undefined {
  if (observers.length === 0) return undefined
  const tell = (session: ObservedSession, call: (observer: SessionObserver) => void): void => {
    for (const observer of observers)
      try {
        call(observer)
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause)
        log.warn('an observer of sessions failed', { session: session.id, cause: why })
      }
  }
  return {
    onRecord: (record, session) => tell(session, (observer) => observer.onRecord?.(record, session)),
    onLive: (frame, session) => tell(session, (observer) => observer.onLive?.(frame, session)),
    onClose: (session) => tell(session, (observer) => observer.onClose?.(session)),
  }
}
