// Removes sessions that nobody has used for a while.
import type { Environment, Logger, Store } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describeThrown } from '@baton/runtime'
import type { OpenSessions } from './open-sessions.ts'

export interface RetentionInit {
  readonly store: Store
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
    for await (const { session, records, lastMs, isOwned, holder, damage } of store.list()) {
      if (damage !== undefined) log.warn('a damaged session is kept', { session, cause: damage })
      if (damage !== undefined) continue
      if (lastMs > untilMs || openSessions.isOpen(session) || holder || (isFirst && isOwned)) continue
      if (!(await openSessions.alone(session, () => removeUnused(init, session, records)))) continue
      log.info('a session was removed: nobody used it', { session, lastUse: new Date(lastMs).toISOString() })
    }
  } catch (cause) {
    log.warn('old sessions could not be removed', { cause: describeThrown(cause) })
  }
}

/**
 * A session with more records than it was listed with has been used since; it is kept, as one that another host took, and
 * one that cannot be read: somebody may want to look at what is left of it.
 */
async function removeUnused({ store, remove, log }: RetentionInit, session: string, records: number): Promise<boolean> {
  try {
    for await (const { pos } of store.read(session, 0)) if (pos >= records) return false
    await remove(session)
    return true
  } catch (cause) {
    if (isBatonError(cause) && cause.code === 'session_held') return false
    if (isBatonError(cause) && cause.code === 'log_damaged') {
      log.warn('a damaged session is kept', { session, cause: cause.message })
      return false
    }
    throw cause
  }
}
