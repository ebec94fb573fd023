// The gate where the conversations of a soak meet: while it is open they continue, and once it closes each comes to
// rest and waits. Closing the gate also ends a conversation's pause.
import type { Timers } from '@baton/core/internal'

export class Gate {
  readonly #timers: Timers
  readonly #sleeping = new Set<() => void>()
  #waiting: (() => void)[] = []
  #isClosed = false

  constructor(timers: Timers) {
    this.#timers = timers
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Number of conversations at rest. */
  get arrived(): number {
    return this.#waiting.length
  }

  /** Resolves after this many milliseconds, or when the gate closes. */
  async sleep(delayMs: number): Promise<void> {
    if (this.#isClosed) return
    await new Promise<void>((resolve) => {
      const end = (): void => {
        stop()
        this.#sleeping.delete(end)
        resolve()
      }
      const stop = this.#timers.start(delayMs, end)
      this.#sleeping.add(end)
    })
  }

  /** Resolves when the gate is open again. */
  async arrive(): Promise<void> {
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  close(): void {
    this.#isClosed = true
    for (const end of this.#sleeping) end()
  }

  open(): void {
    this.#isClosed = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const go of waiting) go()
  }
}
