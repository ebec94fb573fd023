// Merges several schemas that apply together into one.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, listTypes } from '@baton/core/internal'

/** Merges objects as `allOf` does: all properties and all requirements. For other keywords, the later schema wins. */
export function mergeSchemas(schemas: readonly JsonObject[]): JsonObject {
  // Merges in halves, because each merge copies all previous properties.
  const half = schemas.length >> 1
  if (half >= 4) return mergeSchemas([mergeSchemas(schemas.slice(0, half)), mergeSchemas(schemas.slice(half))])
  return schemas.reduce(
    (merged, next) => ({
      ...merged,
      ...next,
      ...mergedTypes(merged, next),
      ...mergedValues(merged, next),
      ...mergedMap('properties', merged, next),
      ...mergedMap('$defs', merged, next),
      ...mergedList('required', merged, next),
    }),
    {},
  )
}

/** Keeps the types common to both schemas. If there are none, no value is valid, and the later type is kept. */
function mergedTypes(one: JsonObject, other: JsonObject): JsonObject {
  if (one['type'] === undefined || other['type'] === undefined) return {}
  const [first, second] = [listTypes(one), listTypes(other)]
  const both = [
    ...first.filter((type) => second.includes(type) || (type === 'integer' && second.includes('number'))),
    ...second.filter((type) => type === 'integer' && first.includes('number') && !first.includes('integer')),
  ]
  const [only] = both
  if (only === undefined) return {}
  return { type: both.length === 1 ? only : both }
}

function mergedValues({ enum: one }: JsonObject, { enum: other }: JsonObject): JsonObject {
  if (!Array.isArray(one) || !Array.isArray(other)) return {}
  const texts = new Set((one as readonly JsonValue[]).map((value) => JSON.stringify(value)))
  const both = (other as readonly JsonValue[]).filter((value) => texts.has(JSON.stringify(value)))
  return both.length > 0 ? { enum: both } : {}
}

/**
 * Merges properties; one declared in both must satisfy both. Numeric names move to the front, but tools have no such
 * properties.
 */
function mergedMap(keyword: string, one: JsonObject, other: JsonObject): JsonObject {
  const [first, second] = [one[keyword], other[keyword]]
  if (!isJsonObject(first) || !isJsonObject(second)) return {}
  const both = Object.entries(second).map(([name, schema]): [string, JsonValue] => {
    const before = Object.hasOwn(first, name) ? first[name] : undefined
    return [name, isJsonObject(before) && isJsonObject(schema) ? mergeSchemas([before, schema]) : schema]
  })
  return { [keyword]: { ...first, ...Object.fromEntries(both) } }
}

function mergedList(keyword: string, one: JsonObject, other: JsonObject): JsonObject {
  const [first, second] = [one[keyword], other[keyword]]
  if (!Array.isArray(first) || !Array.isArray(second)) return {}
  return { [keyword]: [...new Set([...(first as readonly JsonValue[]), ...(second as readonly JsonValue[])])] }
}

/** Merges a union at the root: properties of all variants are allowed, and properties required by all are required. */
export function unionOfProperties(schema: JsonObject, follow: (schema: JsonObject) => JsonObject): JsonObject {
  const all = listVariants(schema, 'allOf', follow)
  const base = mergeSchemas([propertiesOnly(schema), ...all.map(propertiesOnly)])
  const choices = (['anyOf', 'oneOf'] as const).map((key) => listVariants(schema, key, follow)).filter(isFilled)
  const known = isJsonObject(base['properties']) ? base['properties'] : {}
  const offered = offeredProperties(choices.flat())
  const demanded = choices.flatMap((variants) => intersection(variants.map(listRequired)))
  const required = [...new Set([...listRequired(base), ...demanded])]
  return {
    properties: { ...offered, ...known },
    ...(required.length > 0 && { required }),
  }
}

/** A property that variants declare differently (`kind` of a tagged union) may match any of the declarations. */
function offeredProperties(variants: readonly JsonObject[]): JsonObject {
  const offers = new Map<string, Map<string, JsonValue>>()
  for (const { properties } of variants)
    for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {}))
      offers.set(name, (offers.get(name) ?? new Map<string, JsonValue>()).set(JSON.stringify(schema), schema))
  return Object.fromEntries([...offers].map(([name, schemas]) => [name, joinEither([...schemas.values()])]))
}

function joinEither(schemas: readonly JsonValue[]): JsonValue {
  const [only = {}, ...others] = schemas
  if (others.length === 0) return only
  const values = schemas.map(listValues)
  if (!values.every((list) => list !== undefined)) return { anyOf: schemas }
  const types = new Set(schemas.map((schema) => (isJsonObject(schema) ? schema['type'] : undefined)))
  const [type] = types
  return { ...(types.size === 1 && type !== undefined && { type }), enum: [...new Set(values.flat())] }
}

/** Returns the values of a schema that only lists values, so that nothing else is lost. */
function listValues(schema: JsonValue): readonly JsonValue[] | undefined {
  if (!isJsonObject(schema)) return undefined
  const { type: _, const: only, enum: several, title: __, description: ___, default: ____, ...rest } = schema
  if (Object.keys(rest).length > 0) return undefined
  if (only !== undefined) return [only]
  return Array.isArray(several) ? (several as readonly JsonValue[]) : undefined
}

function isFilled(list: readonly unknown[]): boolean {
  return list.length > 0
}

function propertiesOnly({ properties, required }: JsonObject): JsonObject {
  return { ...(properties !== undefined && { properties }), ...(required !== undefined && { required }) }
}

function listVariants(
  schema: JsonObject,
  keyword: string,
  follow: (schema: JsonObject) => JsonObject,
): readonly JsonObject[] {
  const list = schema[keyword]
  return Array.isArray(list) ? (list as readonly JsonValue[]).filter(isJsonObject).map(follow) : []
}

function listRequired({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

function intersection(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...rest] = lists
  return first.filter((name) => rest.every((list) => list.includes(name)))
}
