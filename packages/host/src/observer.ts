// Observers of a host's sessions: traces, metrics, or a program's own. An observer sees records committed by this host
// and frames streamed between them. It decides nothing and is never waited for. One of them warns of
// what delays or degrades a turn; its lines have neither content nor secrets.
import type { LiveFrame, Logger } from '@baton/core/internal'
import type { SessionRecord, State, FactOf } from '@baton/core/machine'

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

export function createSessionWarnings(log: Logger): SessionObserver {
  /** By session: the last model called, and whether a fallback follows. */
  const asked = new Map<string, { readonly model: string; readonly isLeft: boolean }>()
  return {
    onRecord: ({ facts, nowMs }, { id: session, state }) => {
      for (const fact of facts)
        if (fact.type === 'model-started') {
          const { model, attempt } = fact
          const before = asked.get(session)
          if (before?.isLeft === true && before.model !== model)
            log.warn('another model takes over', { session, attempt, from: before.model, to: model })
          asked.set(session, { model, isLeft: false })
        } else if (fact.type === 'attempt-superseded') {
          const { attempt, reason, error, retryAtMs } = fact
          const model = asked.get(session)?.model
          if (model !== undefined) asked.set(session, { model, isLeft: reason === 'fallback' })
          // The agent may choose to say nothing, and that ends the turn.
          if (facts.some((other) => other.type === 'turn-finished' && other.outcome === 'silent')) continue
          log.warn('a model call is retried', {
            session,
            attempt,
            reason,
            ...(model !== undefined && { model }),
            ...(error && { code: error.code }),
            ...(retryAtMs !== undefined && { retryInMs: Math.max(0, retryAtMs - nowMs) }),
          })
        } else if (fact.type === 'call-clock-set') warnOfCall(log, { session, nowMs, state: state() }, fact)
        else if (fact.type === 'turn-finished') asked.delete(session)
    },
    onClose: ({ id }) => void asked.delete(id),
  }
}

interface Moment {
  readonly session: string
  readonly nowMs: number
  readonly state: State
}

/**
 * Warns only about a call that was never offered to a client: clients come and go, and the next one takes over what
 * another left.
 */
function warnOfCall(log: Logger, { session, nowMs, state }: Moment, clock: FactOf<'call-clock-set'>): void {
  const { callId, mode, deadlineMs, graces } = clock
  const call = state.step?.calls.find((open) => open.callId === callId)
  if (mode !== 'away' || deadlineMs === null || graces > 0 || !call || call.offer) return
  const waitsMs = deadlineMs - nowMs
  const what = waitsMs > 0 ? 'so it waits for one' : 'and it does not wait for one'
  log.warn(`no connected client can run the call, ${what}`, {
    session,
    callId,
    tool: call.name,
    clients: state.clients.length,
    waitsMs,
  })
}
