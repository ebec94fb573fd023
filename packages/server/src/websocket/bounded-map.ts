// A map of limited size that drops its oldest entries. It allocates nothing until the first entry, since most
// connections are idle most of the time.

export class BoundedMap<Value> {
  readonly #entriesMax: number
  /** Oldest first. */
  #entries: Map<string, Value> | undefined

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  get(key: string): Value | undefined {
    return this.#entries?.get(key)
  }

  set(key: string, value: Value): void {
    const entries = (this.#entries ??= new Map())
    if (entries.size >= this.#entriesMax && !entries.has(key)) {
      const [oldest] = entries.keys()
      if (oldest !== undefined) entries.delete(oldest)
    }
    entries.set(key, value)
  }

  /** Removes and returns the entry. */
  take(key: string): Value | undefined {
    const value = this.get(key)
    this.#entries?.delete(key)
    return value
  }
}
