// A server's dependencies on its environment: time, ids and a log. The defaults work in Node and other runtimes with
// the standard web objects. `startExpiry` waits for a moment of the wall clock.
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

/** Maximum milliseconds between checks of the clock; no timer runs longer than 24 days. */
const LOOK_MS = 3_600_000

/** Calls back once, when the wall clock reaches `atMs`; never for `undefined`. The returned function cancels it. */
export function startExpiry(
  { clock, timers }: Pick<ServerWorld, 'clock' | 'timers'>,
  atMs: number | undefined,
  onExpired: () => void,
): () => void {
  if (atMs === undefined) return NEVER
  const look = (): (() => void) => {
    const leftMs = atMs - clock.nowMs()
    const wait = { isBackground: true }
    return timers.start(
      Math.min(Math.max(0, leftMs), LOOK_MS),
      () => {
        if (clock.nowMs() >= atMs) onExpired()
        else stop = look()
      },
      wait,
    )
  }
  let stop = look()
  return () => stop()
}

/** Shared, because a closure created in place would keep its scope alive with each connection. */
const NEVER = (): void => {}
