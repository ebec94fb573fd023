// Holds a client for a component: opened when it is mounted, closed after it is unmounted. It knows no React.

export interface HeldClient<Snapshot> {
  getSnapshot(): Snapshot
  subscribe(listener: () => void): () => void
  close(): void
}

/**
 * React mounts a component twice in StrictMode, and may render it without mounting it. So a client is only opened by an
 * effect or a call, and closed a moment after the last effect has ended, unless another one begins.
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

  /** Opens the client if necessary: an effect of a child runs before the component's own. */
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

  /** An effect, which returns its cleanup. */
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
