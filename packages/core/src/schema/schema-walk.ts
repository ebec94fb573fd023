// The inner schemas of one schema, by keyword. Examples and values do not count.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'

const SINGLES =
  'items additionalItems additionalProperties not contains propertyNames if then else unevaluatedProperties unevaluatedItems contentSchema extends disallow'.split(
    ' ',
  )
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items', 'type', 'extends', 'disallow']
const MAPS = 'properties patternProperties $defs definitions dependentSchemas dependencies'.split(' ')

export interface InnerSchema {
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
