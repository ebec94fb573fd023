// Timers that count the pending ones.
import type { Timers } from '@baton/core/internal'

export interface CountedTimers {
  readonly timers: Timers
  pending(): number
}

export function countTimers(timers: Timers): CountedTimers {
  let pending = 0
  const start: Timers['start'] = (delayMs, callback, options) => {
    let isPending = true
    pending += 1
    const end = (): void => {
      if (isPending) pending -= 1
      isPending = false
    }
    const stop = timers.start(
      delayMs,
      () => {
        end()
        callback()
      },
      options,
    )
    return () => {
      end()
      stop()
    }
  }
  return { timers: { start }, pending: () => pending }
}
