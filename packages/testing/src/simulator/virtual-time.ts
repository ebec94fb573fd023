// Time that only moves when the simulation moves it. Between two events, all promises settle.
import type { Clock, Timers } from '@baton/core/internal'

export interface VirtualTime {
  /** Its wall clock can be set; its monotonic clock cannot. */
  readonly clock: Clock
  /** Milliseconds that only advance, however the wall clock is set; starts at the wall clock's value. */
  nowMs(): number
  /** Moves the wall clock forward, or back if `ms` is negative. Timers are unaffected. */
  setWall(ms: number): void
  /** The same time on another machine, whose wall clock is `aheadMs` ahead and is set independently. */
  seeFromElsewhere(aheadMs: number): VirtualTime
  readonly timers: Timers
  /** Resolves after `delayMs` of virtual time. */
  wait(delayMs: number): Promise<void>
  /** Lets all promises settle; no time passes. */
  settle(): Promise<void>
  /** Runs the next event. Returns false if there is none before `untilMs`. */
  runNext(untilMs: number): Promise<boolean>
  /** Runs everything up to `untilMs` and stops there. */
  runUntil(untilMs: number): Promise<void>
  /** Lets this much time pass; everything due meanwhile happens at its moment. */
  pass(ms: number): Promise<void>
  /** Lets time pass until `work` has settled, at most an hour. @throws Error if it does not settle in that time */
  until<Value>(work: Promise<Value>): Promise<Value>
}

interface Event {
  readonly atMs: number
  readonly order: number
  readonly callback: () => void
}

/** Virtual milliseconds that `until` waits. */
const PATIENCE_MS = 3_600_000

/** `isIdle` returns false while promises wait for real work; by default there is none. */
export function createVirtualTime(startMs: number, isIdle = (): boolean => true): VirtualTime {
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
  // Simulated code waits only for promises: once the event loop turns, all of them have run.
  const settle = async (): Promise<void> => {
    do await turnEventLoop()
    while (!isIdle())
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
  const runUntil = async (untilMs: number): Promise<void> => {
    while (await runNext(untilMs));
    nowMs = Math.max(nowMs, untilMs)
  }
  const until = async <Value>(work: Promise<Value>): Promise<Value> => {
    const untilMs = nowMs + PATIENCE_MS
    let ended = false
    work.finally(() => (ended = true)).catch(() => {})
    await settle()
    while (!ended) if (!(await runNext(untilMs))) throw new Error('no events are left, but the work has not ended')
    return await work
  }
  const see = (beginMs: number): VirtualTime => {
    let wallAheadMs = beginMs
    return {
      clock: { nowMs: () => nowMs + wallAheadMs, monotonicMs: () => nowMs - startMs },
      nowMs: () => nowMs,
      setWall: (ms) => {
        wallAheadMs += ms
      },
      seeFromElsewhere: see,
      timers: { start },
      wait: (delayMs) => new Promise((resolve) => void start(delayMs, resolve)),
      settle,
      runNext,
      runUntil,
      pass: (ms) => runUntil(nowMs + ms),
      until,
    }
  }
  return see(0)
}

function turnEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
