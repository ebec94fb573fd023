// Logs warnings about what delays or degrades a turn: retried model calls, a fallback model, a call that no client
// runs. Warnings contain neither content nor secrets.
import type { Logger } from '@baton/core'
import type { FactOf, State } from '@baton/core/machine'
import type { SessionObserver } from '../observer.ts'

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
