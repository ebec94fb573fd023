// Entries of a store that this process may not write. It derives the outdated ones from their logs, and keeps them in memory
// in the same lists.
import type { EntryQuery, EntryStore, FoundEntry, Logger, SessionEntry } from '@baton/core/internal'
import { compareEntries, EntryIndex, readPlace, writePlace } from '../stores/entry-index.ts'

/** Derived entries in memory. Lists show further outdated sessions as the store has them. */
const ENTRIES_MAX = 10_000
/** Prefix of derived keys. It sorts after every key of a store. */
const OWN = '~'
/** A key that sorts after every key of a store. */
const LAST_KEY = '9'.repeat(18)

interface Derived {
  readonly entry: SessionEntry
  /** Number of records that it covers. */
  readonly records: number
}

export class DerivedEntries implements EntryStore {
  readonly #store: EntryStore
  readonly #log: Logger
  readonly #derived = new Map<string, Derived>()
  readonly #index = new EntryIndex()
  #isFull = false

  constructor(store: EntryStore, log: Logger) {
    this.#store = store
    this.#log = log
  }

  get: EntryStore['get'] = async (session) => this.#derived.get(session)?.entry.body ?? (await this.#store.get(session))

  outdated: EntryStore['outdated'] = (options) => this.#listOutdated(options)

  put: EntryStore['put'] = (session, pos, entry) => {
    const former = this.#derived.get(session)
    this.#index.move(OWN + session, former?.entry.places ?? [], entry.places)
    this.#derived.set(session, { entry, records: pos + 1 })
    return Promise.resolve()
  }

  find: EntryStore['find'] = async (query) => {
    const { after, order, limit } = query
    const found = this.#index.find(query).flatMap(({ session: key, atMs, item }): readonly FoundEntry[] => {
      const session = key.slice(OWN.length)
      const body = this.#derived.get(session)?.entry.body
      return body === undefined ? [] : [{ session, place: writePlace(atMs, item, key), atMs, item, body }]
    })
    const place = after === undefined ? undefined : readPlace(after)
    const isOwn = place?.session.startsWith(OWN) === true
    const stored = await this.#findStored(
      isOwn ? { ...query, after: writePlace(place.atMs, place.item, LAST_KEY) } : query,
    )
    const sign = order === 'newest' ? -1 : 1
    return [...found, ...stored]
      .toSorted((one, other) => sign * compareEntries(readPlace(one.place), readPlace(other.place)))
      .slice(0, limit)
  }

  /** Reads a page of the store without sessions that have a derived entry. */
  async #findStored(query: EntryQuery): Promise<readonly FoundEntry[]> {
    const found: FoundEntry[] = []
    for (let after = query.after; ;) {
      const page = await this.#store.find({ ...query, ...(after !== undefined && { after }) })
      found.push(...page.filter(({ session }) => !this.#derived.has(session)))
      after = page.at(-1)?.place
      if (page.length < query.limit || found.length >= query.limit || after === undefined) return found
    }
  }

  #hasRoom(): boolean {
    if (this.#derived.size < ENTRIES_MAX) return true
    if (!this.#isFull)
      this.#log.warn('lists show some sessions as they were: a server has to list them', { derived: ENTRIES_MAX })
    this.#isFull = true
    return false
  }

  /** Skips derived entries, and drops those that the store has meanwhile. */
  async *#listOutdated(options: Parameters<EntryStore['outdated']>[0]) {
    const gone = new Set(options?.after === undefined ? this.#derived.keys() : [])
    for await (const one of this.#store.outdated(options)) {
      gone.delete(one.session)
      const known = this.#derived.get(one.session)
      if (known ? known.records !== one.records : this.#hasRoom()) yield one
    }
    for (const session of gone) {
      this.#index.move(OWN + session, this.#derived.get(session)?.entry.places ?? [], [])
      this.#derived.delete(session)
    }
  }
}
