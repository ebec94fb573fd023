// The two timeouts of a streamed answer: to the first byte and between bytes. Both share one timer, re-armed only when
// it fires, so that a piece costs a clock reading and no timer.
import type { Clock, HttpRequest, Timers } from '@baton/core/internal'
import { BatonError, readMonotonicMs } from '@baton/core/internal'
import { describePlace } from './redact.ts'

export interface Time {
  readonly clock: Clock
  readonly timers: Timers
}

export interface Deadlines {
  /** Call it for the head and for every piece. */
  noteBytes(): void
  stop(): void
}

/** Milliseconds allowed for the rest of a rejection, counted from its head, which already says enough. */
export const REFUSAL_MS = 2000

/** Whether the status means that the response holds an error instead of an answer. */
export function isRefused(status: number): boolean {
  return status < 200 || status >= 300
}

export function startDeadlines(request: HttpRequest, time: Time, onTimeout: (error: BatonError) => void): Deadlines {
  let lastBytesMs = readMonotonicMs(time.clock)
  let limitMs = request.firstByteTimeoutMs
  let waitsForFirst = true
  let cancel = time.timers.start(limitMs, check)

  function check(): void {
    const silentMs = readMonotonicMs(time.clock) - lastBytesMs
    if (silentMs < limitMs) {
      cancel = time.timers.start(limitMs - silentMs, check)
      return
    }
    const what = waitsForFirst ? 'nothing' : 'nothing more'
    onTimeout(
      new BatonError({
        code: 'model_timeout',
        message: `${describePlace(request.url)} sent ${what} for ${limitMs} ms`,
        data: { phase: waitsForFirst ? 'first-byte' : 'between-bytes', timeoutMs: limitMs },
      }),
    )
  }

  return {
    noteBytes() {
      lastBytesMs = readMonotonicMs(time.clock)
      if (!waitsForFirst) return
      waitsForFirst = false
      const isLonger = limitMs > request.betweenBytesTimeoutMs
      limitMs = request.betweenBytesTimeoutMs
      // The running timer is for the other limit. If that one is not longer, it fires early and checks again.
      if (!isLonger) return
      cancel()
      cancel = time.timers.start(limitMs, check)
    },
    stop: () => cancel(),
  }
}

/** The system clock and timers, which exist in every JavaScript host. */
export const SYSTEM_TIME: Time = {
  clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
  timers: {
    start(delayMs, callback) {
      const timer = setTimeout(callback, delayMs)
      return () => clearTimeout(timer)
    },
  },
}
