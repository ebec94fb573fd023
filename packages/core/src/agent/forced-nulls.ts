// Removes nulls that models write for absent properties, for example because a provider's schemas cannot leave a
// property out.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { SchemaPlace } from './schema-parts.ts'
import { findProperty, findReference, listParts, listTypes, SCHEMA_DEPTH_MAX } from './schema-parts.ts'

/** Maximum schemas to visit per lookup; beyond that nothing counts as required, and null may be intended. */
const SCHEMAS_MAX = 1000

/** Removes properties that are null, not required by the schema, and not nullable. */
export function withoutForcedNulls(schema: JsonObject, value: JsonValue): JsonValue {
  return clean({ root: schema, depth: 0 }, schema, value)
}

function clean(place: SchemaPlace, schema: JsonValue | undefined, value: JsonValue): JsonValue {
  const inner = { ...place, depth: place.depth + 1 }
  const parts = listParts(inner, schema)
  if (place.depth > SCHEMA_DEPTH_MAX || parts.length === 0) return value
  if (Array.isArray(value)) {
    const items = parts.map((part) => part['items']).find(isJsonObject)
    return items ? (value as readonly JsonValue[]).map((one) => clean(inner, items, one)) : value
  }
  if (!isJsonObject(value)) return value
  const required = listRequired(place, schema)
  const kept = Object.entries(value).flatMap(([name, one]): [string, JsonValue][] => {
    const all = parts.map((part) => findProperty(part, name)).filter((found) => found !== undefined)
    const [own] = all
    if (one === null && own !== undefined && !required.has(name) && !all.some((each) => allowsNull(place.root, each)))
      return []
    return [[name, own === undefined ? one : clean(inner, own, one)]]
  })
  return Object.fromEntries(kept)
}

/**
 * Fields that every variant requires. A field that only some require may be missing because the model means another
 * variant.
 */
function listRequired(
  { root }: SchemaPlace,
  schema: JsonValue | undefined,
  known: Map<JsonObject, ReadonlySet<string>> = new Map(),
): ReadonlySet<string> {
  if (!isJsonObject(schema)) return new Set()
  const before = known.get(schema)
  if (before) return before
  if (known.size >= SCHEMAS_MAX) return new Set()
  known.set(schema, new Set()) // a recursive reference requires nothing more
  const read = (one: JsonValue | undefined): ReadonlySet<string> => listRequired({ root, depth: 0 }, one, known)
  const whole = [...listSchemas(schema['allOf']), findReference(root, schema['$ref'])].map(read)
  const choices = ['anyOf', 'oneOf'].map((keyword) => {
    const [first = new Set<string>(), ...others] = listSchemas(schema[keyword]).map(read)
    return new Set([...first].filter((name) => others.every((other) => other.has(name))))
  })
  const all = new Set([...textsIn(schema['required']), ...[...whole, ...choices].flatMap((names) => [...names])])
  known.set(schema, all)
  return all
}

function listSchemas(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : []
}

function allowsNull(
  root: JsonObject,
  schema: JsonValue | undefined,
  known: Map<JsonObject, boolean> = new Map(),
): boolean {
  if (!isJsonObject(schema)) return schema !== false
  const before = known.get(schema)
  if (before !== undefined || known.size >= SCHEMAS_MAX) return before ?? true
  known.set(schema, true) // a recursive reference forbids nothing more
  const { type, nullable, enum: values, $ref: reference } = schema
  if (nullable === true) return true
  if (type !== undefined && !listTypes(schema).includes('null')) return false
  if (Array.isArray(values) && !values.includes(null)) return false
  if ('const' in schema && schema['const'] !== null) return false
  const allows = (one: JsonValue | undefined): boolean => allowsNull(root, one, known)
  const isChosen = (['anyOf', 'oneOf'] as const).every((keyword) => {
    const variants = listSchemas(schema[keyword])
    return variants.length === 0 || variants.some(allows)
  })
  const isAllowed = isChosen && listSchemas(schema['allOf']).every(allows) && allows(findReference(root, reference))
  known.set(schema, isAllowed)
  return isAllowed
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
