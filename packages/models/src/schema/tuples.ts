// Flattens tuples (`prefixItems`) for dialects with a single schema for all items.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { Dialect } from './dialects.ts'

export interface Flattened {
  readonly schema: JsonObject
  /** Keywords that now allow more. */
  readonly widened: readonly string[]
}

/** Items may match any position's schema. The number of items is kept as is, and their order is described in words. */
export function flattenTuple(schema: JsonObject, { keywords, refused }: Dialect): Flattened {
  const { prefixItems, items, ...rest } = schema
  const reads = (keyword: string): boolean => refused?.has(keyword) !== true && (keywords?.has(keyword) ?? true)
  if (reads('prefixItems')) return { schema, widened: [] }
  const places = Array.isArray(prefixItems) ? (prefixItems as readonly JsonValue[]) : []
  // `false` would be a grammar that allows only an empty list.
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

/** Maximum characters that describe one position. */
const PLACE_CHARS = 80

function showPlace(place: JsonValue): string {
  const text = JSON.stringify(place)
  return text.length <= PLACE_CHARS ? text : 'a value'
}
