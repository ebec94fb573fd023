// Removes sessions that nobody has used for a while.
import type { Environment, Logger } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describeThrown } from '@baton/runtime'
import type { OpenSessions } from './open-sessions.ts'
import type { LimitedStore } from './store-in-time.ts'

export interface RetentionInit {
  readonly store: LimitedStore
  readonly environment: Environment
  readonly log: Logger
  /** Milliseconds that a session is kept after its last record. */
  readonly keepMs: number
  readonly openSessions: OpenSessions
  /** Removes one session. @throws BatonError `session_held`, `store_failed` */
  readonly remove: (session: string) => Promise<void>
}

/** Milliseconds between two looks. */
const LOOK_MS = 3_600_000

/**
 * Looks at once, then every hour, until the returned function is called. The first look leaves what a dead host was at
 * work on: a recovery comes first, however long the host was away.
 */
export function startRetention(init: RetentionInit): () => void {
  let stop = (): void => {}
  let stopped = false
  const look = (isFirst: boolean): void => {
    void removeOld(init, isFirst).finally(() => {
      if (!stopped) stop = init.environment.timers.start(LOOK_MS, () => look(false))
    })
  }
  look(true)
  return () => {
    stopped = true
    stop()
  }
}

async function removeOld(init: RetentionInit, isFirst: boolean): Promise<void> {
  const { store, environment, log, keepMs, openSessions } = init
  try {
    const untilMs = environment.clock.nowMs() - keepMs
    for await (const { session, records, lastMs, isOwned, holder } of store.list()) {
      if (lastMs > untilMs || openSessions.isOpen(session) || holder || (isFirst && isOwned)) continue
      if (!(await openSessions.alone(session, () => removeUnused(init, session, records)))) continue
      log.info('a session was removed: nobody used it', { session, lastUse: new Date(lastMs).toISOString() })
    }
  } catch (cause) {
    log.warn('old sessions could not be removed', { cause: describeThrown(cause) })
  }
}

/** A session with more records than it was listed with has been used since; it is kept, as one that another host took. */
async function removeUnused({ store, remove }: RetentionInit, session: string, records: number): Promise<boolean> {
  const { done } = await store.read(session, records)[Symbol.asyncIterator]().next()
  if (!done) return false
  try {
    await remove(session)
    return true
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'session_held') return false
    throw cause
  }
}
