// Whether the store of a server can keep what it is given, for its readiness check: the store is asked at most once a second, however many ask.
import type { Clock, LogStore, Logger, StoreHealth } from '@baton/core'

export interface ReadinessInit {
  readonly store: Pick<LogStore, 'health'>
  readonly log: Logger
  readonly clock: Clock
}

const SHARED_MS = 1000

/** Resolves with the code of what is wrong; its words are for the log, since anybody may ask. */
export function createReadiness({ store, log, clock }: ReadinessInit): () => Promise<string | undefined> {
  let asked: { readonly atMs: number; readonly health: Promise<StoreHealth> } | undefined
  let told: string | undefined
  return async () => {
    const nowMs = clock.nowMs()
    if (!asked || Math.abs(nowMs - asked.atMs) >= SHARED_MS) asked = { atMs: nowMs, health: store.health() }
    const health = await asked.health
    const said = health.ok ? undefined : health.message
    if (said !== told && !health.ok)
      log.warn('the store cannot keep what it is given', {
        code: health.code,
        cause: health.message,
        hint: health.hint,
      })
    if (said !== told && health.ok) log.info('the store can keep what it is given again')
    told = said
    return health.ok ? undefined : health.code
  }
}
