// Results for the prefixes of lists, kept so that a list that grew goes on from there.

/** The value made of `items`, one after another. */
export interface Prefix<Item, Value> {
  readonly items: readonly Item[]
  readonly value: Value
}

export interface PrefixCache<Item, Value> {
  /**
   * Takes out a prefix of `items` (the same objects), so that its value may grow: the longest that is held, else the longest.
   * @param key all that the value depends on beside the items
   */
  take(items: readonly Item[], key?: string): Prefix<Item, Value> | undefined
  keep(prefix: Prefix<Item, Value>, key?: string): void
}

/** Prefixes that are held even where memory is short. */
const HELD_MAX = 16

/** Holds the newest prefixes; an older one goes with its last item, or when a garbage collection wants its memory. */
export function createPrefixCache<Item extends WeakKey, Value>(): PrefixCache<Item, Value> {
  /** The oldest first. */
  const held: Held<Item, Value>[] = []
  /** Entries by their last item, also those no longer held. */
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
    // Held ones are newer, and hardly ever shorter. Looking at the few that are held costs less than a weak entry for each.
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

/** The last item is compared first: by it most others are told apart. */
function isPrefix<Item>({ items: kept }: Prefix<Item, unknown>, items: readonly Item[]): boolean {
  const last = kept.length - 1
  return kept.length <= items.length && kept[last] === items[last] && kept.every((item, at) => item === items[at])
}
