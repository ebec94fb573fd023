// Values that models write in a form that the schema does not name: lists and objects as JSON text, and nulls for absent
// properties. They are found by what a JSON Schema says about a value over all its variants and references; only a
// validator can tell which applies.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { repairJson } from '../repair-json.ts'
import { listVariants } from '../schema/schema-walk.ts'

/** Parses texts as JSON where the schema wants a list or an object and allows no text. */
export function withoutTextValues(schema: JsonObject, value: JsonValue): JsonValue {
  const read = (parts: readonly JsonObject[], given: JsonValue): JsonValue =>
    typeof given === 'string' ? readText(parts, given) : given
  return change({ root: schema, depth: 0, read }, schema, value)
}

/**
 * Removes properties that are null, not required by the schema, and not nullable: a provider's schemas may be unable to
 * leave a property out.
 */
export function withoutForcedNulls(schema: JsonObject, value: JsonValue): JsonValue {
  return change({ root: schema, depth: 0, dropsNulls: true }, schema, value)
}

interface ChangedPlace extends SchemaPlace {
  readonly read?: (parts: readonly JsonObject[], given: JsonValue) => JsonValue
  readonly dropsNulls?: boolean
}

function change(place: ChangedPlace, schema: JsonValue | undefined, given: JsonValue): JsonValue {
  const { root, read, dropsNulls } = place
  const inner = { ...place, depth: place.depth + 1 }
  const parts = listParts(inner, schema)
  if (place.depth > SCHEMA_DEPTH_MAX || parts.length === 0) return given
  const value = read?.(parts, given) ?? given
  if (Array.isArray(value)) {
    const items = parts.map((part) => part['items']).find(isJsonObject)
    return items ? (value as readonly JsonValue[]).map((one) => change(inner, items, one)) : value
  }
  if (!isJsonObject(value)) return value
  const required = dropsNulls ? listRequired(place, schema) : undefined
  const kept = Object.entries(value).flatMap(([name, one]): [string, JsonValue][] => {
    const all = parts.map((part) => findProperty(part, name)).filter((found) => found !== undefined)
    const [own] = all
    if (own === undefined) return [[name, one]]
    if (one === null && required && !required.has(name) && !all.some((each) => allowsNull(root, each))) return []
    return [[name, change(inner, own, one)]]
  })
  return Object.fromEntries(kept)
}

function readText(parts: readonly JsonObject[], text: string): JsonValue {
  const types = parts.flatMap(listTypes)
  const isList = /^\s*\[/.test(text) && types.includes('array')
  const isObject = /^\s*\{/.test(text) && types.includes('object')
  if ((!isList && !isObject) || types.includes('string')) return text
  return repairJson(text)?.value ?? text
}

/** Maximum schemas to visit per lookup; beyond that nothing counts as required, and null may be intended. */
const SCHEMAS_MAX = 1000

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
  const whole = [...listVariants(schema, 'allOf'), findReference(root, schema['$ref'])].map(read)
  const choices = ['anyOf', 'oneOf'].map((keyword) => {
    const [first = new Set<string>(), ...others] = listVariants(schema, keyword).map(read)
    return new Set([...first].filter((name) => others.every((other) => other.has(name))))
  })
  const all = new Set([...textsIn(schema['required']), ...[...whole, ...choices].flatMap((names) => [...names])])
  known.set(schema, all)
  return all
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
    const variants = listVariants(schema, keyword)
    return variants.length === 0 || variants.some(allows)
  })
  const isAllowed = isChosen && listVariants(schema, 'allOf').every(allows) && allows(findReference(root, reference))
  known.set(schema, isAllowed)
  return isAllowed
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}

/** A position in a schema. */
interface SchemaPlace {
  readonly root: JsonObject
  readonly depth: number
}

/** Schemas may be recursive; values deeper than this are accepted as is. */
const SCHEMA_DEPTH_MAX = 64

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
  const variants = listVariants(schema, 'allOf', 'anyOf', 'oneOf')
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
function findReference(root: JsonObject, reference: JsonValue | undefined): JsonObject | undefined {
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
