// Caches results for prefixes of lists, so that a list that grew can continue from one.

/** A value built from `items` in order. */
export interface Prefix<Item, Value> {
  readonly items: readonly Item[]
  readonly value: Value
}

export interface PrefixCache<Item, Value> {
  /**
   * Removes and returns a prefix of `items` (the same objects), so that its value can grow: the longest held one,
   * otherwise the longest.
   * @param key everything else that the value depends on
   */
  take(items: readonly Item[], key?: string): Prefix<Item, Value> | undefined
  keep(prefix: Prefix<Item, Value>, key?: string): void
}

/** Prefixes kept even if memory is low. */
const HELD_MAX = 16

/**
 * Holds the most recent prefixes. Older ones are dropped with their last item, or when garbage collection needs the
 * memory.
 */
export function createPrefixCache<Item extends WeakKey, Value>(): PrefixCache<Item, Value> {
  /** Oldest first. */
  const held: Held<Item, Value>[] = []
  /** Entries by their last item, including those no longer held. */
  const byLast = new WeakMap<Item, Map<string, WeakRef<Prefix<Item, Value>>>>()
  const takeHeld = (items: readonly Item[], key: string): Prefix<Item, Value> | undefined => {
    const longest = held.reduce<Held<Item, Value> | undefined>((found, one) => {
      const isLonger = one.prefix.items.length > (found?.prefix.items.length ?? 0)
      return isLonger && one.key === key && isPrefix(one.prefix, items) ? one : found
    }, undefined)
    if (longest) held.splice(held.indexOf(longest), 1)
    return longest?.prefix
  }
  const takeWeak = (items: readonly Item[], key: string): Prefix<Item, Value> | undefined => {
    for (let length = items.length; length > 0; length--) {
      const last = items[length - 1]
      const entries = last && byLast.get(last)
      const kept = entries?.get(key)?.deref()
      if (!kept || !isPrefix(kept, items)) continue
      entries?.delete(key)
      return kept
    }
    return undefined
  }
  return {
    // Held entries are newer and rarely shorter. Checking the few held ones costs less than a weak entry for each.
    take: (items, key = '') => takeHeld(items, key) ?? takeWeak(items, key),
    keep(prefix, key = '') {
      if (prefix.items.length === 0) return
      held.push({ prefix, key })
      const oldest = held.length > HELD_MAX ? held.shift() : undefined
      const last = oldest?.prefix.items.at(-1)
      if (!oldest || !last) return
      const entries = byLast.get(last) ?? new Map<string, WeakRef<Prefix<Item, Value>>>()
      byLast.set(last, entries.set(oldest.key, new WeakRef(oldest.prefix)))
    },
  }
}

interface Held<Item, Value> {
  readonly prefix: Prefix<Item, Value>
  readonly key: string
}

/** Compares the last item first, which rules out most mismatches. */
function isPrefix<Item>({ items: kept }: Prefix<Item, unknown>, items: readonly Item[]): boolean {
  const last = kept.length - 1
  return kept.length <= items.length && kept[last] === items[last] && kept.every((item, at) => item === items[at])
}
