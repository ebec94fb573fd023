// Waits for a moment of the wall clock, which may be set meanwhile.
import type { ServerWorld } from './server-world.ts'

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
