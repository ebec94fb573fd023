// Waits and their measure: the time of a session, and a wait that ends. What the world does not answer in time counts as
// failed, so that nothing waits for it for ever.
import type { BatonError, Clock, Timers } from '@baton/core'
import { readMonotonicMs } from '@baton/core'

/**
 * The time of a session while one host has it open. It begins at the wall clock, or at the session's last record where that
 * is later, and goes on at the pace of a second a second, however the wall clock is set meanwhile.
 */
export function startSessionClock(clock: Clock, lastMs = 0): Clock {
  const beganMs = Math.max(lastMs, clock.nowMs())
  const readMs = (clock.monotonicMs ?? clock.nowMs).bind(clock)
  const startMs = readMonotonicMs(clock)
  return { nowMs: () => beganMs + Math.floor(readMs() - startMs) }
}

export interface Limit {
  readonly timeoutMs: number
  readonly error: () => BatonError
}

/** Resolves with the result of `work` within the limit. A later answer is dropped, also a later failure. */
export function within<Value>(timers: Timers, limit: Limit, work: PromiseLike<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = timers.start(limit.timeoutMs, () => reject(limit.error()))
    work.then(
      (value) => {
        cancel()
        resolve(value)
      },
      (cause: unknown) => {
        cancel()
        reject(cause as Error) // whatever it is, it goes on as it came
      },
    )
  })
}
