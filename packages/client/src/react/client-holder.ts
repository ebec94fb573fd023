// Holds a client for a component: opened when it is mounted, closed after it has gone. It knows no React.

export interface HeldClient<Snapshot> {
  getSnapshot(): Snapshot
  subscribe(listener: () => void): () => void
  close(): void
}

/**
 * React mounts a component twice in StrictMode, and may render it without mounting it: a client is opened by an effect or a
 * call alone, and closed a moment after the last effect has ended, unless another one begins.
 */
export class ClientHolder<Client extends HeldClient<Snapshot>, Snapshot> {
  readonly #open: () => Client
  readonly #empty: Snapshot
  readonly #listeners = new Set<() => void>()
  #client: Client | undefined
  #users = 0

  constructor(open: () => Client, empty: Snapshot) {
    this.#open = open
    this.#empty = empty
  }

  /** Opens it where that has not been done: an effect of a child runs before that of the component itself. */
  get client(): Client {
    if (!this.#client) {
      this.#client = this.#open()
      this.#client.subscribe(() => {
        for (const listener of this.#listeners) listener()
      })
      this.#closeLater()
    }
    return this.#client
  }

  /** An effect, and what ends it. */
  readonly mount = (): (() => void) => {
    this.#users += 1
    const isNew = !this.#client
    void this.client
    if (isNew) for (const listener of this.#listeners) listener()
    return () => {
      this.#users -= 1
      this.#closeLater()
    }
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  readonly getSnapshot = (): Snapshot => (this.#client ? this.#client.getSnapshot() : this.#empty)

  readonly getEmpty = (): Snapshot => this.#empty

  #closeLater(): void {
    setTimeout(() => {
      if (this.#users > 0) return
      this.#client?.close()
      this.#client = undefined
    }, 0)
  }
}
