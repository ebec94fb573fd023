// Virtual time in steps, for thousands of timers: everything due within a step happens at its end, all at once, as in a
// busy process. Time is paused until all work started by a step has ended.
import type { Clock, Timers } from '@baton/core/internal'
import { setImmediate as turn } from 'node:timers/promises'

export interface CoarseTime {
  readonly clock: Clock
  readonly timers: Timers
  /** Number of pending timers. */
  pending(): number
  /** Runs everything up to `untilMs` on the clock and stops there. */
  runUntil(untilMs: number): Promise<void>
}

export interface CoarseTimeOptions {
  readonly startMs: number
  readonly stepMs: number
  /** Resolves once no promise waits for real work; `undefined` if there is none. */
  readonly untilIdle: () => Promise<void> | undefined
}

export function createCoarseTime({ startMs, stepMs, untilIdle }: CoarseTimeOptions): CoarseTime {
  let step = 0
  let pending = 0
  const due = new Map<number, Set<() => void>>()
  const elapsedMs = (): number => step * stepMs
  const start: Timers['start'] = (delayMs, callback) => {
    const at = Math.max(step + 1, Math.ceil((elapsedMs() + delayMs) / stepMs))
    const callbacks = due.get(at) ?? new Set()
    due.set(at, callbacks)
    const call = (): void => callback() // the same function may wait twice
    callbacks.add(call)
    pending += 1
    return () => {
      if (!callbacks.delete(call)) return
      pending -= 1
      if (callbacks.size === 0) due.delete(at)
    }
  }
  const settle = async (): Promise<void> => {
    await turn()
    for (let busy = untilIdle(); busy; busy = untilIdle()) {
      await busy
      await turn()
    }
  }
  const runStep = async (): Promise<void> => {
    step += 1
    const callbacks = due.get(step)
    if (!callbacks) return
    for (const call of callbacks) {
      if (!callbacks.delete(call)) continue
      pending -= 1
      call()
    }
    due.delete(step)
    await settle()
  }
  return {
    clock: { nowMs: () => startMs + elapsedMs(), monotonicMs: elapsedMs },
    timers: { start },
    pending: () => pending,
    runUntil: async (untilMs) => {
      await settle()
      while (startMs + elapsedMs() + stepMs <= untilMs) await runStep()
    },
  }
}
