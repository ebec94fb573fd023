// Lists of entries in memory: each is kept in the order of its times, so that a page costs the page.
import type { EntryPlace, EntryQuery } from '@baton/core/internal'

export interface IndexedEntry {
  readonly session: string
  readonly atMs: number
  readonly item: number
}

export class EntryIndex {
  /** Oldest first. */
  readonly #lists = new Map<string, IndexedEntry[]>()

  /** Moves a session from its old places to its new ones. */
  move(session: string, from: readonly EntryPlace[], to: readonly EntryPlace[]): void {
    for (const { list, atMs, item } of from) {
      const entries = this.#lists.get(list) ?? []
      entries.splice(findPlace(entries, { session, atMs, item }), 1)
      if (entries.length === 0) this.#lists.delete(list)
    }
    for (const { list, atMs, item } of to) {
      const entries = this.#lists.get(list) ?? []
      this.#lists.set(list, entries)
      const entry = { session, atMs, item }
      entries.splice(findPlace(entries, entry), 0, entry)
    }
  }

  find({ list, order, after, sinceMs = -Infinity, limit }: EntryQuery): readonly IndexedEntry[] {
    const entries = this.#lists.get(list) ?? []
    const first = findPlace(entries, { session: '', atMs: sinceMs, item: 0 })
    const place = after === undefined ? undefined : readPlace(after)
    if (order === 'oldest') {
      const at = place ? findPlace(entries, place) : first
      const isThere = place !== undefined && entries[at] !== undefined && compareEntries(entries[at], place) === 0
      const from = Math.max(first, at + (isThere ? 1 : 0))
      return entries.slice(from, from + limit)
    }
    const to = place ? findPlace(entries, place) : entries.length
    return entries.slice(Math.max(first, to - limit), Math.max(first, to)).toReversed()
  }
}

/** A place as `EntryStore` names it: the time, the item, and what the store calls the session. */
export function writePlace(atMs: number, item: number, key: string): string {
  return `${atMs}.${item}.${key}`
}

export function readPlace(place: string): IndexedEntry {
  const [atMs = '', item = '', ...key] = place.split('.')
  return { atMs: Number(atMs), item: Number(item), session: key.join('.') }
}

/** The first position that is not before the entry. */
function findPlace(entries: readonly IndexedEntry[], entry: IndexedEntry): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const one = entries[middle]
    if (one && compareEntries(one, entry) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Compares by time, item and session, as Array.sort wants it. */
export function compareEntries(one: IndexedEntry, other: IndexedEntry): number {
  if (one.atMs !== other.atMs) return one.atMs < other.atMs ? -1 : 1
  if (one.item !== other.item) return one.item - other.item
  return one.session < other.session ? -1 : Number(one.session > other.session)
}
