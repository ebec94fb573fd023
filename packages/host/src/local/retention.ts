// Removes sessions that nobody has used for a while.
import type { Environment, Logger, Store } from '@baton/core'
import { messageOf } from './thrown-message.ts'

export interface RetentionInit {
  readonly store: Store
  readonly environment: Environment
  readonly log: Logger
  /** Milliseconds that a session is kept after its last record. */
  readonly keepMs: number
  readonly isOpen: (session: string) => boolean
  readonly remove: (session: string) => Promise<void>
}

/** Milliseconds between two looks. */
const LOOK_MS = 3_600_000

/** Looks at once, then every hour, until the returned function is called. */
export function startRetention(init: RetentionInit): () => void {
  let stop = (): void => {}
  let stopped = false
  const look = (): void => {
    void removeOld(init).finally(() => {
      if (!stopped) stop = init.environment.timers.start(LOOK_MS, look)
    })
  }
  look()
  return () => {
    stopped = true
    stop()
  }
}

async function removeOld({ store, environment, log, keepMs, isOpen, remove }: RetentionInit): Promise<void> {
  try {
    const untilMs = environment.clock.nowMs() - keepMs
    for await (const { session, lastMs } of store.list()) {
      if (lastMs > untilMs || isOpen(session)) continue
      await remove(session)
      log.info('a session was removed: nobody used it', { session, lastUse: new Date(lastMs).toISOString() })
    }
  } catch (cause) {
    log.warn('old sessions could not be removed', { cause: messageOf(cause) })
  }
}
