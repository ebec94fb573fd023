// Lists whose places have schemas of their own (`prefixItems`), for dialects that know one schema for all items.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'
import type { Dialect } from './dialects.ts'

export interface Flattened {
  readonly schema: JsonObject
  /** Keywords that allow more now. */
  readonly widened: readonly string[]
}

/** Items are whatever stands in any of the places; how many there are is said where it was, and their order in words. */
export function flattenTuple(schema: JsonObject, { keywords, refused }: Dialect): Flattened {
  const { prefixItems, items, ...rest } = schema
  const reads = (keyword: string): boolean => refused?.has(keyword) !== true && (keywords?.has(keyword) ?? true)
  if (reads('prefixItems')) return { schema, widened: [] }
  const places = Array.isArray(prefixItems) ? (prefixItems as readonly JsonValue[]) : []
  // `false` is a grammar that allows an empty list and nothing else.
  const others = items === undefined && places.length > 0 ? true : items
  if (places.length === 0 && typeof others !== 'boolean') return { schema, widened: [] }
  const isClosed = others === false
  const count = isClosed ? { maxItems: Math.min(places.length, Number(rest['maxItems'] ?? Infinity)) } : {}
  const variants = [...places, ...(isJsonObject(others) ? [others] : [])]
  const isOpen = others === true || variants.some((one) => one === true)
  const distinct = [...new Map(variants.map((one) => [JSON.stringify(one), one])).values()].filter(isJsonObject)
  const [only = {}] = distinct
  const all = isOpen ? {} : distinct.length > 1 ? { anyOf: distinct } : only
  if (places.length === 0) return { schema: { ...rest, ...count, ...(others === true && { items: all }) }, widened: [] }
  const order = `(in this order: ${places.map(showPlace).join(', ')})`
  const { description } = rest
  const told = typeof description === 'string' ? `${description} ${order}` : order
  return { schema: { ...rest, ...count, items: all, description: told }, widened: ['prefixItems'] }
}

/** Characters of one place in words. */
const PLACE_CHARS = 80

function showPlace(place: JsonValue): string {
  const text = JSON.stringify(place)
  return text.length <= PLACE_CHARS ? text : 'a value'
}
