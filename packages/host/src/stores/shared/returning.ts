// Who may come back to a store whose holder has ended: for a short time a new holder gives nobody what may be theirs.
import type { StoreProcess } from './store-processes.ts'
import { isRunning } from './store-processes.ts'

/** Milliseconds for which somebody who lives is waited for; a guest looks for a new holder as long. */
export const RETURN_MS = 5000
/** Milliseconds between two looks at whether those who are missing live. */
const LOOK_MS = 50

export class Returning {
  readonly #missing: Map<string, StoreProcess>
  readonly #over = Promise.withResolvers<void>()
  #timer: NodeJS.Timeout | undefined

  constructor(expected: readonly StoreProcess[]) {
    this.#missing = new Map(expected.map((one) => [one.id, one]))
    this.#over.promise.catch(() => {}) // nobody may be waiting
    this.#look(performance.now() + RETURN_MS)
  }

  /** Undefined when nobody is missing any more. Rejects when it is given up. */
  untilOver(): Promise<void> | undefined {
    return this.#missing.size > 0 ? this.#over.promise : undefined
  }

  note(id: string): void {
    if (this.#missing.delete(id) && this.#missing.size === 0) this.#end()
  }

  /** Whoever waits gets this cause. */
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
