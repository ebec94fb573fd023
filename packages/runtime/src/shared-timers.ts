// Many waits on one system timer, since nearly every wait of a host is a deadline that is never reached. It keeps the
// promises of the underlying timers: never early, in due order, and no ended wait keeps a process alive.
import type { Environment, TimerOptions, Timers } from '@baton/core/internal'

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
    this.#rise(wait)
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
