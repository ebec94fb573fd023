// A server's readiness check, based on its store's health, which is checked at most once a second regardless of the
// number of requests.
import type { Clock, LogStore, Logger, StoreHealth } from '@baton/core/internal'

export interface ReadinessOptions {
  readonly store: Pick<LogStore, 'health'>
  readonly log: Logger
  readonly clock: Clock
}

const SHARED_MS = 1000

/** Resolves with the code of the problem; its message is only logged, since any client may ask. */
export function createReadiness({ store, log, clock }: ReadinessOptions): () => Promise<string | undefined> {
  let asked: { readonly atMs: number; readonly health: Promise<StoreHealth> } | undefined
  let told: string | undefined
  return async () => {
    const nowMs = clock.nowMs()
    if (!asked || Math.abs(nowMs - asked.atMs) >= SHARED_MS) asked = { atMs: nowMs, health: store.health() }
    const health = await asked.health
    const said = health.ok ? undefined : health.message
    if (said !== told && !health.ok)
      log.warn('the store cannot be written', {
        code: health.code,
        cause: health.message,
        hint: health.hint,
      })
    if (said !== told && health.ok) log.info('the store can be written again')
    told = said
    return health.ok ? undefined : health.code
  }
}
