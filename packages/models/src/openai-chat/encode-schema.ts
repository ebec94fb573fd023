// Arguments' schemas in the dialect of Chat Completions: any JSON Schema but for three things that OpenAI refuses. Baton
// checks the arguments against the whole schema itself, so nothing is lost but a hint to the model.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'

/** 400 "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level". */
const NOT_AT_ROOT: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf', 'enum', 'not'])
const NESTED: ReadonlySet<string> = new Set(['items', 'additionalProperties', 'not', 'contains', 'propertyNames'])
const NESTED_LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const NESTED_MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions'])

export function encodeSchema(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([key]) => !NOT_AT_ROOT.has(key))
  const own = isJsonObject(schema['properties']) ? schema['properties'] : {}
  // Its own first, and what they say wins.
  const properties = { ...own, ...propertiesOfVariants(schema), ...own }
  const root = { ...Object.fromEntries(kept), type: 'object', properties }
  return withItems(root)
}

/** What one variant of a root `oneOf` declares may be given; which of them go together is for Baton's check to say. */
function propertiesOfVariants(schema: JsonObject): JsonObject {
  const found: Record<string, JsonValue> = {}
  for (const key of ['oneOf', 'anyOf', 'allOf']) {
    const variants = schema[key]
    if (!Array.isArray(variants)) continue
    for (const variant of variants as readonly JsonValue[])
      if (isJsonObject(variant) && isJsonObject(variant['properties'])) Object.assign(found, variant['properties'])
  }
  return found
}

/** 400 "array schema missing items". */
function withItems(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([key, value]): [string, JsonValue] => {
    if (NESTED.has(key)) return [key, nested(value)]
    if (NESTED_LISTS.has(key) && Array.isArray(value)) return [key, (value as readonly JsonValue[]).map(nested)]
    if (NESTED_MAPS.has(key) && isJsonObject(value))
      return [key, Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, nested(inner)]))]
    return [key, value]
  })
  const isBareArray = schema['type'] === 'array' && schema['items'] === undefined && schema['prefixItems'] === undefined
  return { ...Object.fromEntries(entries), ...(isBareArray && { items: {} }) }
}

function nested(value: JsonValue): JsonValue {
  return isJsonObject(value) ? withItems(value) : value
}
