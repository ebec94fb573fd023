// Models, and providers whose schemas cannot leave a property out, write null where nothing is meant.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'

/** The value without properties that are null, that its schema does not require, and that may not be null there. */
export function withoutForcedNulls(schema: JsonObject, value: JsonValue): JsonValue {
  return clean({ root: schema, depth: 0 }, schema, value)
}

interface Place {
  readonly root: JsonObject
  readonly depth: number
}

/** A schema may stand inside itself; a value so deep is taken as it is. */
const DEPTH_MAX = 64

function clean(place: Place, schema: JsonValue | undefined, value: JsonValue): JsonValue {
  const inner = { ...place, depth: place.depth + 1 }
  const parts = listParts(inner, schema)
  if (place.depth > DEPTH_MAX || parts.length === 0) return value
  if (Array.isArray(value)) {
    const items = parts.map((part) => part['items']).find(isJsonObject)
    return items ? (value as readonly JsonValue[]).map((one) => clean(inner, items, one)) : value
  }
  if (!isJsonObject(value)) return value
  const required = new Set(parts.flatMap((part) => textsIn(part['required'])))
  const kept = Object.entries(value).flatMap(([name, one]): [string, JsonValue][] => {
    const own = parts.map((part) => findProperty(part, name)).find((found) => found !== undefined)
    if (one === null && own !== undefined && !required.has(name) && !allowsNull(inner, own)) return []
    return [[name, own === undefined ? one : clean(inner, own, one)]]
  })
  return Object.fromEntries(kept)
}

function findProperty({ properties }: JsonObject, name: string): JsonValue | undefined {
  return isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** The schema, what it refers to, and all its variants: which of them is meant only a validator can say. */
function listParts(
  place: Place,
  schema: JsonValue | undefined,
  seen: Set<JsonObject> = new Set(),
): readonly JsonObject[] {
  // Once each: variants that share variants would double with every level.
  if (!isJsonObject(schema) || place.depth > DEPTH_MAX || seen.has(schema)) return []
  seen.add(schema)
  const inner = { ...place, depth: place.depth + 1 }
  const target = findReference(place.root, schema['$ref'])
  const variants = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => {
    const list = schema[keyword]
    return Array.isArray(list) ? (list as readonly JsonValue[]) : []
  })
  return [schema, ...[...(target ? [target] : []), ...variants].flatMap((one) => listParts(inner, one, seen))]
}

/** `#/$defs/name` and `#/definitions/name`: what schema libraries write. */
function findReference(root: JsonObject, reference: JsonValue | undefined): JsonObject | undefined {
  if (typeof reference !== 'string') return undefined
  if (reference === '#') return root
  const [, group = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? []
  const definitions = root[group]
  const found = isJsonObject(definitions) ? definitions[name] : undefined
  return isJsonObject(found) ? found : undefined
}

function allowsNull(place: Place, schema: JsonValue): boolean {
  const parts = listParts(place, schema)
  if (parts.length === 0) return true
  const says = parts.filter(({ type, enum: values }) => type !== undefined || values !== undefined)
  if (parts.some((part) => 'const' in part && part['const'] === null)) return true
  if (says.length === 0) return !parts.some((part) => 'const' in part)
  return says.some(({ type, enum: values, nullable }) => {
    const types = Array.isArray(type) ? (type as readonly JsonValue[]) : [type]
    return nullable === true || types.includes('null') || (Array.isArray(values) && values.includes(null))
  })
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
