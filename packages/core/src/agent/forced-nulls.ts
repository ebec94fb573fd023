// Models, and providers whose schemas cannot leave a property out, write null where nothing is meant.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { SchemaPlace } from './schema-parts.ts'
import { findProperty, listParts, listTypes, SCHEMA_DEPTH_MAX } from './schema-parts.ts'

/** The value without properties that are null, that its schema does not require, and that may not be null there. */
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
  const required = new Set(parts.flatMap((part) => textsIn(part['required'])))
  const kept = Object.entries(value).flatMap(([name, one]): [string, JsonValue][] => {
    const own = parts.map((part) => findProperty(part, name)).find((found) => found !== undefined)
    if (one === null && own !== undefined && !required.has(name) && !allowsNull(inner, own)) return []
    return [[name, own === undefined ? one : clean(inner, own, one)]]
  })
  return Object.fromEntries(kept)
}

function allowsNull(place: SchemaPlace, schema: JsonValue): boolean {
  const parts = listParts(place, schema)
  if (parts.length === 0) return true
  const says = parts.filter(({ type, enum: values }) => type !== undefined || values !== undefined)
  if (parts.some((part) => 'const' in part && part['const'] === null)) return true
  if (says.length === 0) return !parts.some((part) => 'const' in part)
  return says.some((part) => {
    const { enum: values, nullable } = part
    return nullable === true || listTypes(part).includes('null') || (Array.isArray(values) && values.includes(null))
  })
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
