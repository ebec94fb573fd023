// Waits for a moment of the wall clock, which somebody may set meanwhile.
import type { ServerWorld } from './server-world.ts'

/** Milliseconds after which the clock is looked at again at the latest; no timer runs longer than 24 days. */
const LOOK_MS = 3_600_000

/** Calls back once, when the wall clock says `atMs`; never for undefined. What it returns cancels it. */
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

/** Shared, because a closure made in place would keep its scope alive with each connection. */
const NEVER = (): void => {}
