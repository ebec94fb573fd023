// Time that only moves when the simulation moves it. Between two events all promises run to their end.
import type { Clock, Timers } from '@baton/core'

export interface VirtualTime {
  readonly clock: Clock
  readonly timers: Timers
  /** Resolves after `delayMs` of virtual time. */
  wait(delayMs: number): Promise<void>
  /** Runs the next event. False when there is none before `untilMs`. */
  runNext(untilMs: number): Promise<boolean>
  /** Runs everything up to `untilMs` and stands there. */
  runUntil(untilMs: number): Promise<void>
}

interface Event {
  readonly atMs: number
  readonly order: number
  readonly callback: () => void
}

export function createVirtualTime(startMs: number): VirtualTime {
  let nowMs = startMs
  let order = 0
  const events: Event[] = []

  const start = (delayMs: number, callback: () => void): (() => void) => {
    order += 1
    const event: Event = { atMs: nowMs + Math.max(0, delayMs), order, callback }
    const index = events.findIndex((other) => other.atMs > event.atMs)
    events.splice(index < 0 ? events.length : index, 0, event)
    return () => {
      const at = events.indexOf(event)
      if (at >= 0) events.splice(at, 1)
    }
  }
  const runNext = async (untilMs: number): Promise<boolean> => {
    await settle()
    const next = events[0]
    if (!next || next.atMs > untilMs) return false
    events.shift()
    nowMs = next.atMs
    next.callback()
    await settle()
    return true
  }
  return {
    clock: { nowMs: () => nowMs },
    timers: { start },
    wait: (delayMs) => new Promise((resolve) => void start(delayMs, resolve)),
    runNext,
    runUntil: async (untilMs) => {
      while (await runNext(untilMs));
      nowMs = Math.max(nowMs, untilMs)
    },
  }
}

/** Simulated code waits for promises only: once the event loop turns, all of them have run. */
function settle(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
