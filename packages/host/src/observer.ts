// Observers of a host's sessions: traces, metrics, or a program's own. An observer sees records committed by this host
// and frames streamed between them. It decides nothing and is never waited for.
import type { LiveFrame, Logger } from '@baton/core/internal'
import type { SessionRecord, State } from '@baton/core/machine'

/** A session as an observer sees it. */
export interface ObservedSession {
  readonly id: string
  /** The state after the newest commit. */
  state(): State
  /** The newest turn and the position of the record that began it. */
  lastTurn(): { readonly turn: number; readonly pos: number } | undefined
  /** The stored records from a position. @throws BatonError `store_failed`, `log_damaged` */
  read(fromPos: number): AsyncIterable<SessionRecord>
}

/** Observer callbacks, called synchronously. A callback that throws is logged and does not affect the session. */
export interface SessionObserver {
  /**
   * Called for each record this host commits, in order of position. Records of other hosts and earlier processes are
   * not reported; read them with `session.read`.
   */
  onRecord?(record: SessionRecord, session: ObservedSession): void
  /** Called for each piece of an answer and each progress report of a tool. */
  onLive?(frame: LiveFrame, session: ObservedSession): void
  /** Called when the session leaves this process. It may be opened again. */
  onClose?(session: ObservedSession): void
}

/** Combines observers into one; `undefined` for none. If one throws, that is logged and the others are still called. */
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
