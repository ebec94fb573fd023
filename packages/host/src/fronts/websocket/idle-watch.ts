// Notices that nothing came for a while and nothing goes on either.
import type { Clock, Timers } from '@baton/core'

export interface IdleWatch {
  /** Something came. */
  touch(): void
  stop(): void
}

export interface IdleWatchInit {
  readonly clock: Clock
  readonly timers: Timers
  readonly idleMs: number
  /** While true, it counts as if something came. */
  readonly isBusy: () => boolean
  readonly onIdle: () => void
}

export function watchIdle({ clock, timers, idleMs, isBusy, onIdle }: IdleWatchInit): IdleWatch {
  let lastMs = clock.nowMs()
  let stop = (): void => {}
  // One timer that is set again at its end, not one for each frame.
  const look = (): void => {
    if (isBusy()) lastMs = clock.nowMs()
    const leftMs = lastMs + idleMs - clock.nowMs()
    if (leftMs <= 0) onIdle()
    else stop = timers.start(leftMs, look)
  }
  stop = timers.start(idleMs, look)
  return {
    touch: () => {
      lastMs = clock.nowMs()
    },
    stop: () => stop(),
  }
}
