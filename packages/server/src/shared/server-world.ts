// A server's dependencies on its environment: time, ids and a log. The defaults work in Node and other runtimes with
// the standard web objects.
import type { Clock, Logger, Timers } from '@baton/core/internal'

export interface ServerWorld {
  readonly clock: Clock
  readonly timers: Timers
  readonly newId: () => string
  readonly log: Logger
}

/** The longest delay `setTimeout` accepts. A longer timer fires early, and its caller sets it again. */
const DELAY_MAX_MS = 2 ** 31 - 1

/** The process's clock, timers and ids, and a log that writes nothing. */
export function createServerWorld(): ServerWorld {
  return {
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
    timers: {
      start: (delayMs, callback, { isBackground = false } = {}) => {
        const timer = setTimeout(callback, Math.min(delayMs, DELAY_MAX_MS))
        if (isBackground && typeof timer === 'object') timer.unref() // elsewhere a timer is a number
        return () => clearTimeout(timer)
      },
    },
    newId: () => crypto.randomUUID(),
    log: { info: () => {}, warn: () => {} },
  }
}
