// Unwraps lists and objects that models write as JSON text although the schema wants the value itself.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { repairJson } from '../repair-json.ts'
import type { SchemaPlace } from './schema-parts.ts'
import { findProperty, listParts, listTypes, SCHEMA_DEPTH_MAX } from './schema-parts.ts'

/** Parses texts as JSON where the schema wants a list or an object and allows no text. */
export function withoutTextValues(schema: JsonObject, value: JsonValue): JsonValue {
  return read({ root: schema, depth: 0 }, schema, value)
}

function read(place: SchemaPlace, schema: JsonValue | undefined, given: JsonValue): JsonValue {
  const inner = { ...place, depth: place.depth + 1 }
  const parts = listParts(inner, schema)
  if (place.depth > SCHEMA_DEPTH_MAX || parts.length === 0) return given
  const value = typeof given === 'string' ? readText(parts, given) : given
  if (Array.isArray(value)) {
    const items = parts.map((part) => part['items']).find(isJsonObject)
    return items ? (value as readonly JsonValue[]).map((one) => read(inner, items, one)) : value
  }
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]): [string, JsonValue] => {
      const own = parts.map((part) => findProperty(part, name)).find((found) => found !== undefined)
      return [name, own === undefined ? one : read(inner, own, one)]
    }),
  )
}

function readText(parts: readonly JsonObject[], text: string): JsonValue {
  const types = parts.flatMap(listTypes)
  const isList = /^\s*\[/.test(text) && types.includes('array')
  const isObject = /^\s*\{/.test(text) && types.includes('object')
  if ((!isList && !isObject) || types.includes('string')) return text
  return repairJson(text)?.value ?? text
}
