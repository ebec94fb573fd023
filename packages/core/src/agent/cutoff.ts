// An end that many short waits watch, such as that of a connection. `Promise.race` with one promise for it would keep
// every wait there ever was, with its value, until that promise settles.

export class Cutoff {
  readonly #waits = new Set<(cause: Error) => void>()
  #cause: Error | undefined

  /** Settles as `work` does, or rejects with the cause of an earlier end. */
  until<Value>(work: PromiseLike<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#cause) reject(this.#cause)
      else this.#waits.add(reject)
      work.then(
        (value) => {
          this.#waits.delete(reject)
          resolve(value)
        },
        (cause: unknown) => {
          this.#waits.delete(reject)
          reject(cause as Error) // rethrown unchanged, whatever it is
        },
      )
    })
  }

  /** Rejects all waits, and later ones at once. The first cause counts. */
  end(cause: Error): void {
    this.#cause ??= cause
    for (const reject of this.#waits) reject(this.#cause)
    this.#waits.clear()
  }
}
