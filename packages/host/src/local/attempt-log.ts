// Tells the log which model calls are made again, and which model takes over: neither content nor a secret is in it.
import type { Logger } from '@baton/core'
import type { SessionObserver } from '../observer.ts'

export function createAttemptLog(log: Logger): SessionObserver {
  /** By session: the model that was asked last, and whether another one takes over. */
  const asked = new Map<string, { readonly model: string; readonly isLeft: boolean }>()
  return {
    onRecord: ({ facts, nowMs }, { id: session }) => {
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
          log.warn('a model is asked again', {
            session,
            attempt,
            reason,
            ...(model !== undefined && { model }),
            ...(error && { code: error.code }),
            ...(retryAtMs !== undefined && { retryInMs: Math.max(0, retryAtMs - nowMs) }),
          })
        } else if (fact.type === 'turn-finished') asked.delete(session)
    },
    onClose: ({ id }) => void asked.delete(id),
  }
}
