// Several schemas that hold together, as one.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'

/** What `allOf` means for objects: the properties and demands of all. For other keywords the later schema wins. */
export function mergeSchemas(schemas: readonly JsonObject[]): JsonObject {
  return schemas.reduce(
    (merged, next) => ({
      ...merged,
      ...next,
      ...mergedMap('properties', merged, next),
      ...mergedMap('$defs', merged, next),
      ...mergedList('required', merged, next),
    }),
    {},
  )
}

/** Names that are numbers would move to the front of an object, but no property of a tool's input is one. */
function mergedMap(keyword: string, one: JsonObject, other: JsonObject): JsonObject {
  const [first, second] = [one[keyword], other[keyword]]
  return isJsonObject(first) && isJsonObject(second) ? { [keyword]: { ...first, ...second } } : {}
}

function mergedList(keyword: string, one: JsonObject, other: JsonObject): JsonObject {
  const [first, second] = [one[keyword], other[keyword]]
  if (!Array.isArray(first) || !Array.isArray(second)) return {}
  return { [keyword]: [...new Set([...(first as readonly JsonValue[]), ...(second as readonly JsonValue[])])] }
}

/** A root that offers a choice: what any of the variants declares may be given, what all demand must be. */
export function unionOfProperties(schema: JsonObject, follow: (schema: JsonObject) => JsonObject): JsonObject {
  const all = variantsOf(schema, 'allOf', follow)
  const base = mergeSchemas([propertiesOnly(schema), ...all.map(propertiesOnly)])
  const choices = (['anyOf', 'oneOf'] as const).map((key) => variantsOf(schema, key, follow)).filter(isFilled)
  const known = isJsonObject(base['properties']) ? base['properties'] : {}
  const offered = choices.flat().map((variant) => (isJsonObject(variant['properties']) ? variant['properties'] : {}))
  const demanded = choices.flatMap((variants) => intersection(variants.map(requiredOf)))
  const required = [...new Set([...requiredOf(base), ...demanded])]
  return {
    properties: Object.assign({}, ...offered, known) as JsonObject, // of schemas
    ...(required.length > 0 && { required }),
  }
}

function isFilled(list: readonly unknown[]): boolean {
  return list.length > 0
}

function propertiesOnly({ properties, required }: JsonObject): JsonObject {
  return { ...(properties !== undefined && { properties }), ...(required !== undefined && { required }) }
}

function variantsOf(
  schema: JsonObject,
  keyword: string,
  follow: (schema: JsonObject) => JsonObject,
): readonly JsonObject[] {
  const list = schema[keyword]
  return Array.isArray(list) ? (list as readonly JsonValue[]).filter(isJsonObject).map(follow) : []
}

function requiredOf({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

function intersection(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...rest] = lists
  return first.filter((name) => rest.every((list) => list.includes(name)))
}
