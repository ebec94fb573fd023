// The inner schemas of a schema, and limits on the schemas that a validator may be given. Examples and values do not count
// as schemas.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'

/** Maximum references and variants of one schema: compile time grows with their square. */
export const JOINTS_MAX = 3000

/** Maximum values of one schema, at any depth; larger schemas are only read in outline, so that reading stays fast. */
export const VALUES_MAX = 50_000

/** Whether a schema has more values than the limit, where counting stops. */
export function isTooLarge(schema: JsonObject): boolean {
  let count = 0
  const open: (readonly JsonValue[])[] = [[schema]]
  for (let values = open.pop(); values; values = open.pop()) {
    count += values.length
    if (count > VALUES_MAX) return true
    for (const value of values)
      if (typeof value === 'object' && value !== null) open.push(Object.values(value as JsonObject)) // lists as well
  }
  return false
}

export function countJoints(schema: JsonObject): number {
  let count = 0
  for (const next of walkSchemas(schema))
    count += listVariants(next, 'allOf', 'anyOf', 'oneOf').length + (next['$ref'] === undefined ? 0 : 1)
  return count
}

/** The names and types of a schema's fields, for a schema that cannot be compiled in full. */
export function outlineSchema({ type, required, properties }: JsonObject): JsonObject {
  const fields = isJsonObject(properties) ? Object.entries(properties) : []
  const outlined = fields.map(([name, one]): [string, JsonValue] => [
    name,
    isJsonObject(one) && one['type'] !== undefined ? { type: one['type'] } : true,
  ])
  return {
    ...(type !== undefined && { type }),
    ...(required !== undefined && { required }),
    ...(fields.length > 0 && { properties: Object.fromEntries(outlined) }),
  }
}

const SINGLES =
  'items additionalItems additionalProperties not contains propertyNames if then else unevaluatedProperties unevaluatedItems contentSchema extends disallow'.split(
    ' ',
  )
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items', 'type', 'extends', 'disallow']
const MAPS = 'properties patternProperties $defs definitions dependentSchemas dependencies'.split(' ')

interface InnerSchema {
  /** The pointer's steps from the outer schema: `['properties', 'city']`. */
  readonly steps: readonly string[]
  readonly value: JsonValue
}

export function listInner(schema: JsonObject): readonly InnerSchema[] {
  const inner: InnerSchema[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (typeof value !== 'object' || value === null) continue
    if (Array.isArray(value)) {
      if (!LISTS.includes(keyword)) continue
      for (const [index, one] of (value as readonly JsonValue[]).entries())
        inner.push({ steps: [keyword, String(index)], value: one })
    } else if (SINGLES.includes(keyword)) inner.push({ steps: [keyword], value })
    else if (MAPS.includes(keyword) && isJsonObject(value))
      for (const [name, one] of Object.entries(value)) inner.push({ steps: [keyword, name], value: one })
  }
  return inner
}

/** The schema and all schemas inside it, each once. */
export function* walkSchemas(root: JsonObject): Generator<JsonObject, undefined> {
  const seen = new Set<JsonObject>()
  const open: JsonObject[] = [root]
  for (let next = open.pop(); next; next = open.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    yield next
    for (const { value } of listInner(next)) if (isJsonObject(value)) open.push(value)
  }
}

/** The schemas that a keyword such as `anyOf` lists. */
export function listVariants(schema: JsonObject, ...keywords: readonly string[]): readonly JsonValue[] {
  return keywords.flatMap((keyword) => {
    const list = schema[keyword]
    return Array.isArray(list) ? (list as readonly JsonValue[]) : []
  })
}
