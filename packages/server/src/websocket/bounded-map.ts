// The newest entries of a map: past its bound the oldest give way. It holds nothing until something is put in, since most
// connections wait most of the time.

export class BoundedMap<Value> {
  readonly #entriesMax: number
  /** The oldest first. */
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

  /** The entry, which is there no more. */
  take(key: string): Value | undefined {
    const value = this.get(key)
    this.#entries?.delete(key)
    return value
  }
}
