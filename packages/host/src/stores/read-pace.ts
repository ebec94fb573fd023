// The pace at which readers take records from a store. Its answers come faster than readers read them, so without turns
// the event loop would wait until the last of them has read its log.

/** Records for all readers of a store on disk together in one turn of the event loop: a few milliseconds of work. */
export const RECORDS_A_TURN = 64
/** The same for a store in memory, where a short log is read in one turn: some 5 ms of work. */
export const MEMORY_RECORDS_A_TURN = 256
/** UTF-16 units of a record that count as one more record. */
const RECORD_CHARS = 8192

interface Waiting {
  readonly cost: number
  readonly resume: () => void
}

export class ReadPace {
  readonly #most: number
  #left: number
  /** In the order in which they came. */
  #waiting: Waiting[] = []
  /** Whether the turn's records are counted. */
  #counts = false

  constructor(most = RECORDS_A_TURN) {
    this.#most = this.#left = most
  }

  /** To be awaited before a record of this length is read; `undefined` while this turn has room. */
  takeTurn(chars: number): Promise<void> | undefined {
    const cost = 1 + Math.floor(chars / RECORD_CHARS)
    if (!this.#counts) setImmediate(this.#turn)
    this.#counts = true
    if (this.#left > 0 && this.#waiting.length === 0) {
      this.#left -= cost
      return undefined
    }
    return new Promise((resume) => void this.#waiting.push({ cost, resume }))
  }

  readonly #turn = (): void => {
    let count = 0
    this.#left = this.#most
    for (const { cost, resume } of this.#waiting) {
      if (this.#left <= 0) break
      this.#left -= cost
      count += 1
      resume()
    }
    this.#waiting = this.#waiting.slice(count)
    this.#counts = count > 0
    if (this.#counts) setImmediate(this.#turn)
  }
}
