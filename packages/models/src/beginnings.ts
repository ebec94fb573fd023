// What was made of the beginnings of lists, kept so that a list that grew goes on from there.

/** What was made of `items`, one after another. */
export interface Beginning<Item, Value> {
  readonly items: readonly Item[]
  readonly value: Value
}

export interface Beginnings<Item, Value> {
  /**
   * The longest that `items` begin with (the same objects). It is taken out, so that its value may grow.
   * @param key all that the value depends on beside the items
   */
  take(items: readonly Item[], key?: string): Beginning<Item, Value> | undefined
  keep(beginning: Beginning<Item, Value>, key?: string): void
}

/** Beginnings that are held whatever memory is needed for. */
const HELD_MAX = 16

/**
 * Beside the newest it holds nothing that memory is needed for: a beginning goes with its last item, and before at a collection
 * of garbage.
 */
export function createBeginnings<Item extends WeakKey, Value>(): Beginnings<Item, Value> {
  const byLast = new WeakMap<Item, Map<string, WeakRef<Beginning<Item, Value>>>>()
  const held = new Set<Beginning<Item, Value>>()
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
    keep(beginning, key = '') {
      const last = beginning.items.at(-1)
      if (!last) return
      const entries = byLast.get(last) ?? new Map<string, WeakRef<Beginning<Item, Value>>>()
      byLast.set(last, entries.set(key, new WeakRef(beginning)))
      held.add(beginning)
      for (const oldest of held) if (held.size > HELD_MAX) held.delete(oldest)
    },
  }
}
