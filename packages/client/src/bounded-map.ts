// A map that forgets its oldest entries, so that the memory of past ids does not grow forever.

export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined
  has(key: Key): boolean
  set(key: Key, value: Value): void
}

export function createBoundedMap<Key, Value>(entriesMax: number): BoundedMap<Key, Value> {
  const map = new Map<Key, Value>()
  return {
    get: (key) => map.get(key),
    has: (key) => map.has(key),
    set: (key, value) => {
      map.delete(key)
      map.set(key, value)
      if (map.size <= entriesMax) return
      const [oldest] = map.keys()
      if (oldest !== undefined) map.delete(oldest)
    },
  }
}
