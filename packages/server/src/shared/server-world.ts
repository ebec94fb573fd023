// A server's needs of the world around it: time, ids and a log. By default those of Node, and of other runtimes with the web's standard objects.
import type { Clock, Logger, Timers } from '@baton/core'

export interface ServerWorld {
  readonly clock: Clock
  readonly timers: Timers
  readonly newId: () => string
  readonly log: Logger
}

/** The longest delay that setTimeout takes. A caller that asks for more is called early, and asks again. */
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
