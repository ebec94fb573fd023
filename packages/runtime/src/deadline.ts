// The system's time, session time, waits with a limit (whatever misses its deadline counts as failed, so nothing waits forever), and timers
// that share one of the platform.
import type { BatonError, Clock, Environment, TimerOptions, Timers } from '@baton/core/internal'
import { pause, readMonotonicMs } from '@baton/core/internal'
import type { State } from '@baton/core/machine'
import { detachedCalls } from '@baton/core/machine'

/** The longest delay `setTimeout` accepts. A longer timer fires early, and its caller sets it again. */
const DELAY_MAX_MS = 2 ** 31 - 1

/** The clock and the timers of the platform. */
export const SYSTEM_TIME: Pick<Environment, 'clock' | 'timers'> = {
  clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() },
  timers: {
    start: (delayMs, callback, { isBackground = false } = {}) => {
      // A number in browsers, an object in Node; the types of neither are certain here.
      const timer = setTimeout(callback, Math.min(delayMs, DELAY_MAX_MS)) as unknown as number | { unref(): void }
      if (isBackground && typeof timer === 'object') timer.unref()
      return () => clearTimeout(timer as number)
    },
  },
}

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
  while (isBusy() && readMonotonicMs(clock) < untilMs) await pause(timers, LOOK_MS)
}

/**
 * Whether a turn or a detached tool is running. Other tasks continue after a restart, and may take days: nothing
 * waits for them.
 */
export function hasRunningWork(state: State): boolean {
  const { turn, step } = state
  return (
    turn !== null || detachedCalls(state).length > 0 || (step?.calls ?? []).some(({ state }) => state === 'started')
  )
}

/** Microtasks to wait before starting a system timer; an in-memory store has finished by then. */
const HOPS = 4

interface Wait {
  readonly dueMs: number
  /** Orders waits that are due at the same time, older ones first. */
  readonly order: number
  readonly callback: () => void
  /** Index in the heap; -1 once ended. */
  at: number
}

export class SharedTimers implements Timers {
  readonly #timers: Timers
  /** Monotonic if the clock has it: the wall clock may be changed. */
  readonly #nowMs: () => number
  /** A binary heap: each wait is due before its two children. */
  readonly #waits: Wait[] = []
  #order = 0
  #stopSystem: (() => void) | undefined
  /** When the system timer fires; its wait may have ended already. */
  #armedMs = Infinity
  #isArming = false
  /** Counts the times when no wait was left. */
  #emptied = 0

  constructor({ clock, timers }: Pick<Environment, 'clock' | 'timers'>) {
    this.#timers = timers
    this.#nowMs = (clock.monotonicMs ?? clock.nowMs).bind(clock)
  }

  start(delayMs: number, callback: () => void, options?: TimerOptions): () => void {
    if (options?.isBackground) return this.#timers.start(delayMs, callback, options)
    const wait: Wait = {
      dueMs: this.#nowMs() + Math.max(0, delayMs),
      order: this.#order,
      callback,
      at: this.#waits.length,
    }
    this.#order += 1
    this.#waits.push(wait)
    if (wait.at > 0) this.#rise(wait)
    if (this.#stopSystem && wait.dueMs < this.#armedMs) this.#arm()
    else if (!this.#stopSystem && !this.#isArming) void this.#armSoon()
    return () => {
      if (wait.at < 0) return
      this.#remove(wait)
      if (this.#waits.length > 0) return
      this.#emptied += 1
      this.#stopSystem?.()
      this.#stopSystem = undefined
    }
  }

  /** Starts counting again whenever no wait was left, since later waits are new ones. */
  async #armSoon(): Promise<void> {
    this.#isArming = true
    for (let hop = 0, emptied = this.#emptied; hop < HOPS && this.#waits.length > 0; hop++) {
      await Promise.resolve()
      if (emptied === this.#emptied) continue
      emptied = this.#emptied
      hop = -1
    }
    this.#isArming = false
    if (!this.#stopSystem) this.#arm()
  }

  /** Arms the timer for the earliest wait. If that wait ends early, the timer still fires and is set again. */
  #arm(): void {
    const [first] = this.#waits
    this.#stopSystem?.()
    this.#armedMs = first?.dueMs ?? Infinity
    this.#stopSystem =
      first && this.#timers.start(Math.max(0, Math.ceil(first.dueMs - this.#nowMs())), () => this.#fire())
  }

  #fire(): void {
    this.#stopSystem = undefined
    // Waits that start meanwhile take their own turn, even without a delay.
    const next = this.#order
    try {
      for (
        let [first] = this.#waits;
        first && first.order < next && first.dueMs <= this.#nowMs();
        [first] = this.#waits
      ) {
        this.#remove(first)
        first.callback()
      }
    } finally {
      if (!this.#stopSystem) this.#arm() // even after a callback that throws
    }
  }

  #remove(wait: Wait): void {
    const last = this.#waits.pop()
    if (last && last !== wait) {
      last.at = wait.at
      this.#waits[last.at] = last
      this.#rise(last)
      this.#sink(last)
    }
    wait.at = -1
  }

  #rise(wait: Wait): void {
    for (;;) {
      const { at } = wait
      const parent = at > 0 ? this.#waits[(at - 1) >> 1] : undefined
      if (!parent || !isBefore(wait, parent)) return
      this.#swap(wait, parent)
    }
  }

  #sink(wait: Wait): void {
    for (;;) {
      const { at } = wait
      const left = this.#waits[2 * at + 1]
      const right = this.#waits[2 * at + 2]
      const child = left && right && isBefore(right, left) ? right : left
      if (!child || !isBefore(child, wait)) return
      this.#swap(wait, child)
    }
  }

  #swap(one: Wait, other: Wait): void {
    const { at } = one
    one.at = other.at
    other.at = at
    this.#waits[one.at] = one
    this.#waits[at] = other
  }
}

function isBefore(one: Wait, other: Wait): boolean {
  return one.dueMs < other.dueMs || (one.dueMs === other.dueMs && one.order < other.order)
}
