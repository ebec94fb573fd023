// Waits for the guests of a former holder: for a short time, a new holder grants nothing that may belong to a guest
// that has not reconnected.
import type { StoreProcess } from './store-processes.ts'
import { isRunning } from './store-processes.ts'

/** Milliseconds to wait for living guests. A guest looks for a new holder for the same time. */
export const RETURN_MS = 5000
/** Milliseconds between checks for whether missing guests are alive. */
const LOOK_MS = 50

export class Returning {
  readonly #missing: Map<string, StoreProcess>
  readonly #over = Promise.withResolvers<void>()
  #timer: NodeJS.Timeout | undefined

  constructor(expected: readonly StoreProcess[]) {
    this.#missing = new Map(expected.map((one) => [one.id, one]))
    this.#over.promise.catch(() => {}) // there may be no waiter
    this.#look(performance.now() + RETURN_MS)
  }

  /** `undefined` once no guest is missing. Rejects when the wait is given up. */
  untilOver(): Promise<void> | undefined {
    return this.#missing.size > 0 ? this.#over.promise : undefined
  }

  note(id: string): void {
    if (this.#missing.delete(id) && this.#missing.size === 0) this.#end()
  }

  /** Rejects all waits with this cause. */
  giveUp(cause: Error): void {
    clearTimeout(this.#timer)
    if (this.#missing.size > 0) this.#over.reject(cause)
  }

  #look(untilMs: number): void {
    for (const [id, { pid }] of this.#missing)
      if (!isRunning(pid) || performance.now() >= untilMs) this.#missing.delete(id)
    if (this.#missing.size === 0) this.#end()
    else this.#timer = setTimeout(() => this.#look(untilMs), LOOK_MS)
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#over.resolve()
  }
}
