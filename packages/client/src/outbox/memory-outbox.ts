// An outbox in memory: it outlives a client, but not the program.
import type { Outbox, OutboxEntry, OutboxOptions, OutboxPlace } from './outbox.ts'

/**
 * Keeps messages in memory until the server has them: they survive lost connections, but not a reload of the page. For
 * that, `createIndexedDbOutbox`.
 */
export function createMemoryOutbox(): Outbox {
  const places = new Set<Place>()
  /** Entries left without a running copy, by scope. */
  const left = new Map<string, readonly OutboxEntry[]>()
  return {
    join: (init) => {
      const place = new Place(init, (entries) => {
        places.delete(place)
        const heir = [...places].find(({ scope }) => scope === init.scope)
        if (heir) heir.adopt(entries)
        else if (entries.length > 0) left.set(init.scope, [...(left.get(init.scope) ?? []), ...entries])
      })
      places.add(place)
      const entries = left.get(init.scope) ?? []
      left.delete(init.scope)
      // Asynchronous, like a place that has to be read: never within `join`.
      void Promise.resolve().then(() => place.adopt(entries))
      return place
    },
  }
}

class Place implements OutboxPlace {
  readonly scope: string
  readonly #init: OutboxOptions
  readonly #onLeave: (entries: readonly OutboxEntry[]) => void
  readonly #entries = new Map<string, OutboxEntry>()
  #isGone = false

  constructor(init: OutboxOptions, onLeave: (entries: readonly OutboxEntry[]) => void) {
    this.scope = init.scope
    this.#init = init
    this.#onLeave = onLeave
  }

  adopt(entries: readonly OutboxEntry[]): void {
    if (entries.length === 0) return
    const sorted = entries.toSorted((one, other) => one.atMs - other.atMs)
    for (const entry of sorted) this.save(entry)
    if (this.#isGone) this.#onLeave(sorted)
    else this.#init.onLeft(sorted)
  }

  save(entry: OutboxEntry): void {
    this.#entries.set(`${entry.kind} ${entry.id}`, entry)
  }

  remove(kind: OutboxEntry['kind'], id: string): void {
    this.#entries.delete(`${kind} ${id}`)
  }

  leave(): Promise<void> {
    if (!this.#isGone) {
      this.#isGone = true
      this.#onLeave([...this.#entries.values()])
    }
    return Promise.resolve()
  }
}
