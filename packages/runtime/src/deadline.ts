// Session time, and waits with a limit: whatever misses its deadline counts as failed, so nothing waits forever.
import type { BatonError, Clock, Timers, Environment } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'
import type { State } from '@baton/core/machine'

/**
 * The time of a session while one host has it open. It starts at the wall clock, or at the session's last record if
 * that is later, and follows the monotonic clock even if the wall clock is changed.
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

/** Resolves with the result of `work` within the limit. Late results and late failures are dropped. */
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
        reject(cause as Error) // rethrown unchanged, whatever it is
      },
    )
  })
}

/** Milliseconds between two polls. */
const LOOK_MS = 20

/** Lets a stopping host wait for running turns and detached tools, by polling up to a limit. */
export async function waitForTurns(
  { clock, timers }: Pick<Environment, 'clock' | 'timers'>,
  drainMs: number,
  isBusy: () => boolean,
): Promise<void> {
  const untilMs = readMonotonicMs(clock) + drainMs
  while (isBusy() && readMonotonicMs(clock) < untilMs)
    await new Promise<void>((resolve) => void timers.start(LOOK_MS, resolve))
}

/** Whether a turn or a detached tool is running. */
export function hasRunningWork({ turn, step, detached }: State): boolean {
  return turn !== null || detached.length > 0 || (step?.calls ?? []).some(({ state }) => state === 'started')
}
