// The dialects of JSON Schema: identifies a schema's dialect, and translates its keywords to draft 2020-12.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { listInner } from './schema-walk.ts'

export type SchemaDialect = 'draft-03' | 'draft-04' | 'draft-07' | '2019-09' | '2020-12' | 'openapi-3.0'

/** Addresses without their scheme and the trailing `#`. Draft 5 is 4 by another name, and 6 is read as 7. */
const ADDRESSES: Readonly<Record<string, SchemaDialect>> = {
  'json-schema.org/draft-03/schema': 'draft-03',
  'json-schema.org/draft-04/schema': 'draft-04',
  'json-schema.org/draft-05/schema': 'draft-04',
  'json-schema.org/draft-06/schema': 'draft-07',
  'json-schema.org/draft-07/schema': 'draft-07',
  'json-schema.org/draft/2019-09/schema': '2019-09',
  'json-schema.org/draft/2020-12/schema': '2020-12',
  'spec.openapis.org/oas/3.0/dialect/base': 'openapi-3.0',
  'spec.openapis.org/oas/3.1/dialect/base': '2020-12',
}

/** The dialect named by `$schema`; without one, or with an unknown one, the dialect that its keywords suggest. */
export function findDialect(root: JsonObject): SchemaDialect {
  const { $schema: said } = root
  const address = typeof said === 'string' ? said.replace(/^https?:\/\//i, '').replace(/[#/]+$/, '') : ''
  if (Object.hasOwn(ADDRESSES, address)) return ADDRESSES[address] ?? '2020-12'
  return findByShape(root)
}

const NEW_WORDS =
  '$defs prefixItems unevaluatedProperties unevaluatedItems dependentRequired dependentSchemas $anchor $dynamicRef $dynamicAnchor minContains maxContains'.split(
    ' ',
  )
const SHAPES_MAX = 20_000

/** A schema with keywords of several drafts counts as the newest. */
function findByShape(root: JsonObject): SchemaDialect {
  let found: SchemaDialect | undefined
  const seen = new Set<JsonObject>()
  const open: JsonValue[] = [root]
  for (let next = open.pop(); next !== undefined && seen.size < SHAPES_MAX; next = open.pop()) {
    if (!isJsonObject(next) || seen.has(next)) continue
    seen.add(next)
    if (NEW_WORDS.some((word) => Object.hasOwn(next as JsonObject, word))) return '2020-12'
    if ('$recursiveRef' in next || '$recursiveAnchor' in next) return '2019-09'
    const { exclusiveMinimum, exclusiveMaximum, items, nullable } = next
    if (typeof exclusiveMinimum === 'boolean' || typeof exclusiveMaximum === 'boolean') found ??= 'draft-04'
    else if (nullable === true) found ??= 'openapi-3.0'
    else if (Array.isArray(items) || 'additionalItems' in next || 'dependencies' in next) found ??= 'draft-07'
    for (const { value } of listInner(next)) open.push(value)
  }
  return found ?? '2020-12'
}

/** Up to draft 7, siblings of a reference are ignored. */
const REFERENCE_ALONE: ReadonlySet<SchemaDialect> = new Set(['draft-03', 'draft-04', 'draft-07', 'openapi-3.0'])
/** Annotations stay next to a reference. */
const NOTES: ReadonlySet<string> = new Set(
  '$ref title description default examples example deprecated readOnly writeOnly nullable $schema $comment'.split(' '),
)

/**
 * Translates one schema, not its inner ones, to the keywords of draft 2020-12. Returns the schema itself if it already
 * uses them.
 */
export function inWordsOfToday(given: JsonObject, dialect: SchemaDialect, isRoot: boolean): JsonObject {
  let schema = given
  if (typeof schema['$ref'] === 'string' && REFERENCE_ALONE.has(dialect)) schema = withReferenceAlone(schema, isRoot)
  if (dialect === 'draft-03') schema = withWordsOfDraft3(schema)
  schema = withDynamicReference(schema)
  schema = withPlaces(schema, dialect)
  schema = withNumericLimit(schema, 'exclusiveMinimum', 'minimum')
  schema = withNumericLimit(schema, 'exclusiveMaximum', 'maximum')
  schema = withDependencies(schema)
  return 'nullable' in schema ? withNull(schema) : schema
}

function withReferenceAlone(schema: JsonObject, isRoot: boolean): JsonObject {
  const isKept = (word: string): boolean => NOTES.has(word) || (isRoot && /^(?:\$defs|definitions|type)$/.test(word))
  const entries = Object.entries(schema)
  const kept = entries.filter(([word]) => isKept(word))
  return kept.length === entries.length ? schema : Object.fromEntries(kept)
}

/** The meaning of several anchors with one name depends on the path to them; the outermost is used. */
function withDynamicReference(schema: JsonObject): JsonObject {
  const { $dynamicRef: dynamic, $recursiveRef: recursive, ...rest } = schema
  const reference = dynamic ?? recursive
  if (reference === undefined) return schema
  const keyword = dynamic === undefined ? '$recursiveRef' : '$dynamicRef'
  const said: JsonValue = typeof reference === 'string' ? `${keyword} ${reference}` : reference
  if (rest['$ref'] === undefined) return { ...rest, $ref: said }
  const { allOf } = rest
  return { ...rest, allOf: [...(Array.isArray(allOf) ? (allOf as readonly JsonValue[]) : []), { $ref: said }] }
}

/** A list of schemas for the first items, and a schema for the rest. */
function withPlaces(schema: JsonObject, dialect: SchemaDialect): JsonObject {
  const { items, additionalItems, ...rest } = schema
  if (!Array.isArray(items)) {
    if (additionalItems === undefined || dialect === '2020-12') return schema
    return items === undefined ? rest : { ...rest, items }
  }
  return {
    ...rest,
    ...(items.length > 0 && { prefixItems: items }),
    ...(additionalItems !== undefined && { items: additionalItems }),
  }
}

/** In draft 4 this was a boolean that modified the adjacent limit. */
function withNumericLimit(schema: JsonObject, exclusive: string, limit: string): JsonObject {
  const { [exclusive]: isExclusive, [limit]: value, ...rest } = schema
  if (typeof isExclusive !== 'boolean') return schema
  if (value === undefined) return rest
  return { ...rest, [isExclusive ? exclusive : limit]: value }
}

function withDependencies(schema: JsonObject): JsonObject {
  const { dependencies, ...rest } = schema
  if (!isJsonObject(dependencies)) return schema
  const entries = Object.entries(dependencies)
  const names = entries
    .filter(([, one]) => Array.isArray(one) || typeof one === 'string')
    .map(([name, one]): [string, JsonValue] => [name, typeof one === 'string' ? [one] : one])
  const schemas = entries.filter(([, one]) => !Array.isArray(one) && typeof one !== 'string')
  return {
    ...rest,
    ...(names.length > 0 && {
      dependentRequired: { ...Object.fromEntries(names), ...mapOf(rest['dependentRequired']) },
    }),
    ...(schemas.length > 0 && {
      dependentSchemas: { ...Object.fromEntries(schemas), ...mapOf(rest['dependentSchemas']) },
    }),
  }
}

function mapOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** Keywords with which adding null to the types is not enough. */
const BINDING = ['const', '$ref', 'allOf', 'anyOf', 'oneOf', 'not', 'if']

/** Translates `nullable` of OpenAPI 3.0. */
function withNull(schema: JsonObject): JsonObject {
  const { nullable, ...rest } = schema
  const { type, enum: values, description, title } = rest
  if (nullable !== true) return rest
  if (BINDING.some((word) => word in rest)) {
    const { description: _, title: __, ...bound } = rest
    const notes = { ...(title !== undefined && { title }), ...(description !== undefined && { description }) }
    return { ...notes, anyOf: [bound, { type: 'null' }] }
  }
  const types = Array.isArray(type) ? (type as readonly JsonValue[]) : type === undefined ? [] : [type]
  return {
    ...rest,
    ...(types.length > 0 && { type: types.includes('null') ? types : [...types, 'null'] }),
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...(values as readonly JsonValue[]), null] }),
  }
}

function withWordsOfDraft3(schema: JsonObject): JsonObject {
  const { type, disallow, extends: above, divisibleBy, properties, required: own, ...rest } = schema
  const schemas = Array.isArray(type) && type.some((one) => isJsonObject(one))
  const demanded = Object.entries(mapOf(properties)).flatMap(([name, one]) =>
    isJsonObject(one) && one['required'] === true ? [name] : [],
  )
  return {
    ...rest,
    ...(schemas
      ? { anyOf: (type as readonly JsonValue[]).map(asSchema) }
      : type !== undefined && type !== 'any' && { type }),
    ...(disallow !== undefined && {
      not: Array.isArray(disallow) ? { anyOf: disallow.map(asSchema) } : asSchema(disallow),
    }),
    ...(above !== undefined && { allOf: Array.isArray(above) ? above : [above] }),
    ...(divisibleBy !== undefined && { multipleOf: divisibleBy }),
    ...(properties !== undefined && { properties }),
    ...(demanded.length > 0
      ? { required: demanded }
      : own !== undefined && typeof own !== 'boolean' && { required: own }),
  }
}

function asSchema(value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value
  return value === 'any' ? {} : { type: value }
}
