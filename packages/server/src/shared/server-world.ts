// A server's dependencies on its environment: time, ids and a log. The defaults work in Node and other runtimes with
// the standard web objects.
import type { Clock, Logger, Timers } from '@baton/core/internal'
import { SYSTEM_TIME } from '@baton/runtime'

export interface ServerWorld {
  readonly clock: Clock
  readonly timers: Timers
  readonly newId: () => string
  readonly log: Logger
}

/** The process's clock, timers and ids, and a log that writes nothing. */
export function createServerWorld(): ServerWorld {
  return {
    ...SYSTEM_TIME,
    newId: () => crypto.randomUUID(),
    log: { info: () => {}, warn: () => {} },
  }
}
