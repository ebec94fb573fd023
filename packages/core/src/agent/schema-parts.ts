// Collects what a JSON Schema says about a value over all its variants and references; only a validator can tell which
// applies.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'

/** A position in a schema. */
export interface SchemaPlace {
  readonly root: JsonObject
  readonly depth: number
}

/** Schemas may be recursive; values deeper than this are accepted as is. */
export const SCHEMA_DEPTH_MAX = 64

/** The schema, its references, and all its variants. */
export function listParts(
  place: SchemaPlace,
  schema: JsonValue | undefined,
  seen: Set<JsonObject> = new Set(),
): readonly JsonObject[] {
  // Visit each once: variants that share variants would double with every level.
  if (!isJsonObject(schema) || place.depth > SCHEMA_DEPTH_MAX || seen.has(schema)) return []
  seen.add(schema)
  const inner = { ...place, depth: place.depth + 1 }
  const target = findReference(place.root, schema['$ref'])
  const variants = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => {
    const list = schema[keyword]
    return Array.isArray(list) ? (list as readonly JsonValue[]) : []
  })
  return [schema, ...[...(target ? [target] : []), ...variants].flatMap((one) => listParts(inner, one, seen))]
}

export function findProperty({ properties }: JsonObject, name: string): JsonValue | undefined {
  return isJsonObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
}

/** The types that a part of a schema names: none, one or several. */
export function listTypes({ type }: JsonObject): readonly JsonValue[] {
  if (type === undefined) return []
  return Array.isArray(type) ? (type as readonly JsonValue[]) : [type]
}

/** Resolves `#/$defs/name`, `#/definitions/name` and `#anchor`, the forms that schema libraries write. */
export function findReference(root: JsonObject, reference: JsonValue | undefined): JsonObject | undefined {
  if (typeof reference !== 'string') return undefined
  if (reference === '#') return root
  const [, group = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? []
  if (group === '') return findAnchor(root, reference)
  const definitions = root[group]
  const found = isJsonObject(definitions) ? definitions[name] : undefined
  return isJsonObject(found) ? found : undefined
}

function findAnchor({ $defs, definitions }: JsonObject, reference: string): JsonObject | undefined {
  const all = [$defs, definitions].flatMap((group) => (isJsonObject(group) ? Object.values(group) : []))
  return all.filter(isJsonObject).find((one) => one['$anchor'] === reference.slice(1))
}
