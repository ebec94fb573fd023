// The pace at which readers take records from a store on disk. Its answers come faster than many readers read them, so
// without turns the event loop would wait until the last of them has read its log.

/** Records for all readers of a store together in one turn of the event loop: a few milliseconds of work. */
export const RECORDS_A_TURN = 64
/** UTF-16 units of a record that count as one more record. */
const RECORD_CHARS = 8192

interface Waiting {
  readonly cost: number
  readonly resume: () => void
}

export class ReadPace {
  #left = RECORDS_A_TURN
  /** In the order in which they came. */
  #waiting: Waiting[] = []

  /** To be awaited before a record of this length is read; `undefined` while this turn has room. */
  takeTurn(chars: number): Promise<void> | undefined {
    const cost = 1 + Math.floor(chars / RECORD_CHARS)
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left -= cost
      return undefined
    }
    if (this.#waiting.length === 0) setImmediate(this.#turn)
    return new Promise((resume) => void this.#waiting.push({ cost, resume }))
  }

  readonly #turn = (): void => {
    let count = 0
    this.#left = RECORDS_A_TURN
    for (const { cost, resume } of this.#waiting) {
      if (this.#left <= 0) break
      this.#left -= cost
      count += 1
      resume()
    }
    this.#waiting = this.#waiting.slice(count)
    if (this.#waiting.length > 0) setImmediate(this.#turn)
  }
}
