// What was made of the prefixes of lists, kept so that a list that grew goes on from there.

/** What was made of `items`, one after another. */
export interface Prefix<Item, Value> {
  readonly items: readonly Item[]
  readonly value: Value
}

export interface PrefixCache<Item, Value> {
  /**
   * Takes out the longest prefix of `items` (the same objects), so that its value may grow.
   * @param key all that the value depends on beside the items
   */
  take(items: readonly Item[], key?: string): Prefix<Item, Value> | undefined
  keep(prefix: Prefix<Item, Value>, key?: string): void
}

/** Prefixes that are held even where memory is short. */
const HELD_MAX = 16

/** Holds the newest prefixes; an older one goes with its last item, or when a garbage collection wants its memory. */
export function createPrefixCache<Item extends WeakKey, Value>(): PrefixCache<Item, Value> {
  const byLast = new WeakMap<Item, Map<string, WeakRef<Prefix<Item, Value>>>>()
  const held = new Set<Prefix<Item, Value>>()
  return {
    take(items, key = '') {
      for (let length = items.length; length > 0; length--) {
        const last = items[length - 1]
        const entries = last && byLast.get(last)
        const kept = entries?.get(key)?.deref()
        if (!kept?.items.every((item, index) => item === items[index])) continue
        entries?.delete(key)
        held.delete(kept)
        return kept
      }
      return undefined
    },
    keep(prefix, key = '') {
      const last = prefix.items.at(-1)
      if (!last) return
      const entries = byLast.get(last) ?? new Map<string, WeakRef<Prefix<Item, Value>>>()
      byLast.set(last, entries.set(key, new WeakRef(prefix)))
      held.add(prefix)
      for (const oldest of held) if (held.size > HELD_MAX) held.delete(oldest)
    },
  }
}
