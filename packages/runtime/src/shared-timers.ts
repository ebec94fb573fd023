// Many waits, one system timer: nearly every wait of a host is a deadline that nothing comes to. It promises what the timers
// promise that it stands on: never early, in the order in which waits are due, and no wait keeps a process alive once it has
// ended.
import type { Environment, TimerOptions, Timers } from '@baton/core'

/** Microtasks before a system timer is started: an act of a store in memory has ended by then. */
const HOPS = 4

interface Wait {
  readonly dueMs: number
  /** Orders timers that are due at once, older ones first. */
  readonly order: number
  readonly callback: () => void
  /** Its place in the heap; -1 when it has ended. */
  at: number
}

export class SharedTimers implements Timers {
  readonly #timers: Timers
  /** Moments that only go forward, where the clock has them: the time of day may be set. */
  readonly #nowMs: () => number
  /** A binary heap: each is due before the two at twice its place. */
  readonly #waits: Wait[] = []
  #order = 0
  #stopSystem: (() => void) | undefined
  /** When the system timer fires; the wait that it was set for may have ended. */
  #armedMs = Infinity
  #isArming = false
  /** How often no wait was left. */
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

  /** Counts anew whenever no wait was left: those that wait then are other ones. */
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

  /** For the wait that is due first. One that ends before leaves the timer: it fires for nothing, and is set again. */
  #arm(): void {
    const [first] = this.#waits
    this.#stopSystem?.()
    this.#armedMs = first?.dueMs ?? Infinity
    this.#stopSystem =
      first && this.#timers.start(Math.max(0, Math.ceil(first.dueMs - this.#nowMs())), () => this.#fire())
  }

  #fire(): void {
    this.#stopSystem = undefined
    // Those that begin meanwhile come in their own turn, also without a delay.
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
      if (!this.#stopSystem) this.#arm() // also after a callback that throws
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
