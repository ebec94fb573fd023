// Compiles a JSON Schema to a provider's dialect and reports what the dialect cannot express. This never weakens
// Baton's own check: results are validated against the original schema.
import type { SchemaLoss, Dialect, DialectName } from './dialects.ts'
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, readSchema } from '@baton/core/internal'
import { DIALECTS, NOT_AT_ROOT } from './dialects.ts'
import { shapeForGemini } from './gemini-shape.ts'
import { mergeSchemas, unionOfProperties } from './merge-schemas.ts'
import type { Resolve } from './references.ts'
import { createResolver, withoutUnusedDefinitions } from './references.ts'
import { closeSchema, isNever, isNullSchema, namesMore, spreadChoice } from './strict-shape.ts'

export interface CompiledSchema {
  readonly schema: JsonObject
  readonly losses: readonly SchemaLoss[]
}

/** Maximum nesting of schemas; deeper ones allow anything. */
const DEPTH_MAX = 24
/** Maximum schemas of one compilation, including inlined references; the rest allows anything. */
const SCHEMAS_MAX = 5000
/** Maximum nesting of inlined references. */
const REFERENCES_MAX = 256

export type CompileSchema = (schema: JsonObject, name: DialectName) => CompiledSchema

/** Never throws: a schema that cannot be expressed at all becomes an object of anything, with the loss `degraded`. */
export function compileSchema(schema: JsonObject, name: DialectName): CompiledSchema {
  const losses: SchemaLoss[] = []
  const dialect = DIALECTS[name]
  try {
    const { schema: read, faults } = readSchema(schema)
    for (const { path, keyword, how } of faults) if (how === 'invalid') losses.push({ path, keyword, how })
    const root = withoutUnusedDefinitions(read)
    return {
      schema: compileRoot({
        dialect,
        root,
        resolve: createResolver(root),
        losses,
        left: SCHEMAS_MAX,
        references: SCHEMAS_MAX,
      }),
      losses: distinct(losses),
    }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    return { schema: anyObject(dialect), losses: [{ path: '', keyword: why, how: 'degraded' }] }
  }
}

interface Work {
  readonly dialect: Dialect
  readonly root: JsonObject
  readonly resolve: Resolve
  readonly losses: SchemaLoss[]
  left: number
  /** Number of references that may still be inlined. */
  references: number
}

/** The location of a schema and the references that led to it. */
interface Place {
  readonly path: string
  readonly depth: number
  readonly followed: readonly string[]
}

const ROOT: Place = { path: '', depth: 0, followed: [] }

function anyObject({ isStrict }: Dialect): JsonObject {
  return { type: 'object', properties: {}, ...(isStrict && { required: [], additionalProperties: false }) }
}

function lose(work: Work, { path }: Place, keyword: string, how: SchemaLoss['how']): void {
  work.losses.push({ path, keyword, how })
}

function distinct(losses: readonly SchemaLoss[]): readonly SchemaLoss[] {
  return [...new Map(losses.map((loss) => [`${loss.path} ${loss.keyword}`, loss])).values()]
}

/** Every provider requires an object at the root rather than a union. The properties of all variants are allowed. */
function compileRoot(work: Work): JsonObject {
  const { dialect } = work
  let root = followed(work, work.root, ROOT).schema
  const unions = Object.keys(root).filter((keyword) => NOT_AT_ROOT.has(keyword))
  if (unions.length > 0) {
    for (const keyword of unions) if (keyword !== 'allOf') lose(work, ROOT, keyword, 'widened')
    if (dialect.isStrict && namesMore({ ...root, required: [] })) lose(work, ROOT, 'additionalProperties', 'narrowed')
    const variants = unionOfProperties(root, (one) => followed(work, one, ROOT).schema)
    const kept = Object.fromEntries(Object.entries(root).filter(([keyword]) => !NOT_AT_ROOT.has(keyword)))
    root = { ...kept, ...variants }
  }
  const said = compileAt(work, { ...root, type: 'object' }, ROOT)
  const compiled = dialect.name === 'gemini' ? shapeForGemini(said, work.losses) : said
  const { rootKeywords } = dialect
  const entries = Object.entries(compiled).filter(([keyword]) => !rootKeywords || rootKeywords.has(keyword))
  return { ...Object.fromEntries(entries), type: 'object', properties: compiled['properties'] ?? {} }
}

/** Resolves `$ref` if the dialect requires it to be inlined. */
function followed(
  work: Work,
  schema: JsonObject,
  place: Place,
): { readonly schema: JsonObject; readonly place: Place } {
  const { $ref: reference, ...beside } = schema
  if (typeof reference !== 'string') return { schema, place }
  const found = work.resolve(reference)
  const isPointer = reference === '#' || reference.startsWith('#/')
  if (!work.dialect.inlinesRefs && isPointer && place.depth > 0 && found !== undefined) return { schema, place }
  work.references -= 1
  const isDeep = place.depth >= DEPTH_MAX || place.followed.length >= REFERENCES_MAX || work.references < 0
  const isInside = isDeep || place.followed.includes(reference)
  if (!isJsonObject(found) || isInside) {
    lose(work, place, isInside ? 'recursion' : '$ref', 'widened')
    // Keeps at least the type at the point where recursion ends.
    const type = isJsonObject(found) ? found['type'] : undefined
    return { schema: type === undefined ? beside : { type, ...beside }, place }
  }
  const inner = { ...place, followed: [...place.followed, reference] }
  const { schema: target, place: end } = followed(work, found, inner)
  return { schema: mergeSchemas([target, beside]), place: end }
}

function compile(work: Work, value: JsonValue | undefined, place: Place): JsonObject {
  work.left -= 1
  const { isStrict } = work.dialect
  if (!isJsonObject(value)) {
    if (value === false) lose(work, place, 'false', 'widened')
    else if (isStrict) lose(work, place, 'type', 'narrowed')
    return {}
  }
  if (work.left < 0 || place.depth > DEPTH_MAX) {
    lose(work, place, 'depth', isStrict ? 'narrowed' : 'widened')
    return {}
  }
  const { schema, place: end } = followed(work, value, place)
  return compileAt(work, schema, end)
}

function compileAt(work: Work, given: JsonObject, place: Place): JsonObject {
  const { dialect } = work
  const merged = mergeAllOf(work, given, place)
  const list = flattenTuple(dialect.isStrict ? spreadChoice(merged) : merged, dialect)
  for (const keyword of list.widened) lose(work, place, keyword, 'widened')
  const schema = withReadableNames(work, withNullability(dialect, list.schema), place)
  const kept: Record<string, JsonValue> = {}
  const told: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    const mapped = mapKeyword(work, keyword, value)
    if (mapped) kept[mapped.keyword] = compileValue(work, mapped, place)
    else if (dialect.refused?.has(keyword) !== true) tell(work, { keyword, value, told }, place)
  }
  narrowValues(work, kept, place)
  if (told.length > 0) describe(kept, `(${told.join(', ')})`)
  const isList = kept['type'] === 'array' && dialect.name !== 'gemini'
  if (isList && kept['items'] === undefined && kept['prefixItems'] === undefined) {
    if (dialect.isStrict) lose(work, place, 'items', 'narrowed')
    // Every list must declare its items.
    kept['items'] = {}
  }
  return dialect.isStrict
    ? closeSchema({ dialect, schema, kept, narrow: (keyword) => lose(work, place, keyword, 'narrowed') })
    : kept
}

function describe(schema: Record<string, JsonValue>, words: string): void {
  const { description } = schema
  schema['description'] = typeof description === 'string' ? `${description} ${words}` : words
}

interface Keyword {
  readonly keyword: string
  readonly value: JsonValue
}

/** Returns the equivalent keyword that the dialect supports, or `undefined` if there is none. */
function mapKeyword({ dialect }: Work, keyword: string, value: JsonValue): Keyword | undefined {
  const reads = (one: string): boolean => dialect.refused?.has(one) !== true && (dialect.keywords?.has(one) ?? true)
  if (reads(keyword)) return { keyword, value }
  if (keyword === 'const' && reads('enum')) return { keyword: 'enum', value: [value] }
  if (keyword === 'oneOf' && reads('anyOf')) return { keyword: 'anyOf', value }
  if (keyword === 'anyOf' && reads('oneOf')) return { keyword: 'oneOf', value }
  if (keyword === 'exclusiveMinimum' && reads('minimum') && typeof value === 'number')
    return { keyword: 'minimum', value }
  if (keyword === 'exclusiveMaximum' && reads('maximum') && typeof value === 'number')
    return { keyword: 'maximum', value }
  return undefined
}

const LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])
const SINGLES: ReadonlySet<string> = new Set(
  'items additionalProperties not contains propertyNames if then else unevaluatedProperties unevaluatedItems'.split(
    ' ',
  ),
)

function compileValue(work: Work, { keyword, value }: Keyword, place: Place): JsonValue {
  const inner = (step: string | number): Place => ({
    ...place,
    path: place.path === '' ? `${keyword}${step}` : `${place.path}.${keyword}${step}`,
    depth: place.depth + 1,
  })
  if (LISTS.has(keyword) && Array.isArray(value))
    return (value as readonly JsonValue[]).map((one, index) => compile(work, one, inner(`.${index}`)))
  if (MAPS.has(keyword) && isJsonObject(value))
    return Object.fromEntries(
      givableEntries(work, keyword, value).map(([name, one]) => [name, compile(work, one, inner(`.${name}`))]),
    )
  return SINGLES.has(keyword) && isJsonObject(value) ? compile(work, value, inner('')) : value
}

/** A closed object omits properties that are forbidden. */
function givableEntries({ dialect }: Work, keyword: string, value: JsonObject): readonly [string, JsonValue][] {
  const entries = Object.entries(value)
  return dialect.isStrict && keyword === 'properties' ? entries.filter(([, one]) => !isNever(one)) : entries
}

/** Limits that a model can follow when it reads them; all others are only for validators. */
const TELLING: ReadonlySet<string> = new Set(
  'minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties format const default examples not'.split(
    ' ',
  ),
)
/** Keywords that do not restrict values. */
const SILENT: ReadonlySet<string> = new Set(
  '$comment title examples default readOnly writeOnly deprecated discriminator example $defs definitions propertyOrdering'.split(
    ' ',
  ),
)
const TOLD_CHARS = 200

function tell(work: Work, { keyword, value, told }: Keyword & { readonly told: string[] }, place: Place): void {
  const text = JSON.stringify(value)
  if (TELLING.has(keyword) && text.length <= TOLD_CHARS) {
    told.push(`${keyword}: ${text}`)
    if (!SILENT.has(keyword)) lose(work, place, keyword, 'described')
  } else if (!SILENT.has(keyword) && !(keyword === 'additionalProperties' && value === false))
    lose(work, place, keyword, 'widened')
}

/** Expresses lists of types, and `null` among variants, the way the dialect supports. */
function withNullability(dialect: Dialect, schema: JsonObject): JsonObject {
  if (dialect.nullable === 'type') return schema
  const { type, ...rest } = schema
  const types = Array.isArray(type) ? (type as readonly JsonValue[]) : type === undefined ? [] : [type]
  const variants = (['anyOf', 'oneOf'] as const).flatMap((key) => {
    const list = schema[key]
    return Array.isArray(list) ? [{ key, list: list as readonly JsonValue[] }] : []
  })
  const hasNull = variants.some(({ list }) => list.some(isNullSchema))
  const isNullable = types.includes('null') || hasNull
  const unions = Object.fromEntries(variants.map(({ key, list }) => [key, list.filter((one) => !isNullSchema(one))]))
  const named = types.filter((one) => one !== 'null')
  return { ...rest, ...unions, ...typeOrVariants(rest, named), ...(isNullable && { nullable: true }) }
}

/** 400 "Proto field is not repeating, cannot start list." for a list of types. */
function typeOrVariants(schema: JsonObject, types: readonly JsonValue[]): JsonObject {
  const [only] = types
  if (only === undefined) return {}
  return types.length === 1 || schema['anyOf'] ? { type: only } : { anyOf: types.map((type) => ({ type })) }
}

/** Merges the parts of `allOf` for dialects without it. @param known earlier merges, by part or reference */
function mergeAllOf(
  work: Work,
  schema: JsonObject,
  place: Place,
  known: Map<JsonValue, JsonObject> = new Map(),
): JsonObject {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf) || (work.dialect.keywords?.has('allOf') ?? true)) return schema
  const parts = (allOf as readonly JsonValue[]).filter(isJsonObject)
  const inner = { ...place, depth: place.depth + 1 }
  if (place.depth > DEPTH_MAX) return rest
  const merge = (part: JsonObject): JsonObject => {
    const { $ref: reference = part, ...beside } = part
    const key = Object.keys(beside).length === 0 ? reference : part
    const before = known.get(key)
    if (before) return before
    work.left -= 1
    if (work.left < 0) return {}
    const merged = mergeAllOf(work, followedFully(work, part, inner), inner, known)
    known.set(key, merged)
    return merged
  }
  return mergeSchemas([rest, ...new Set(parts.map(merge))])
}

/** Describes properties in words if their name would be rejected; they are still allowed. */
function withReadableNames(work: Work, schema: JsonObject, place: Place): JsonObject {
  const { properties, required } = schema
  const pattern = work.dialect.propertyNames
  if (!pattern || !isJsonObject(properties)) return schema
  const odd = Object.entries(properties).filter(([name]) => !pattern.test(name))
  if (odd.length === 0) return schema
  for (const [name] of odd) lose(work, place, `properties.${name}`, 'described')
  const told: Record<string, JsonValue> = { ...schema }
  describe(told, `(also accepts ${odd.map(([name, one]) => `${JSON.stringify(name)}: ${shown(one)}`).join(', ')})`)
  const isOdd = new Set(odd.map(([name]) => name))
  return {
    ...told,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !isOdd.has(name))),
    ...(Array.isArray(required) && {
      required: (required as readonly JsonValue[]).filter((name) => typeof name !== 'string' || !isOdd.has(name)),
    }),
  }
}

function shown(schema: JsonValue): string {
  const text = JSON.stringify(schema)
  return text.length <= TOLD_CHARS ? text : 'any'
}

/** Merged schemas must be inlined, even if the dialect supports references. */
function followedFully(work: Work, schema: JsonObject, place: Place): JsonObject {
  const { $ref: reference, ...beside } = schema
  if (typeof reference !== 'string') return schema
  const found = work.resolve(reference)
  if (isJsonObject(found) && found['$ref'] === undefined && !place.followed.includes(reference))
    return mergeSchemas([found, beside])
  lose(work, place, '$ref', 'widened')
  return beside
}

/** Restricts values of keywords that the dialect supports only in part. */
function narrowValues(work: Work, kept: Record<string, JsonValue>, place: Place): void {
  const { formats, textEnums, refusedPatterns } = work.dialect
  const { format, enum: values, pattern } = kept
  if (typeof pattern === 'string' && refusedPatterns?.test(pattern)) {
    delete kept['pattern']
    describe(kept, `(pattern: ${JSON.stringify(pattern)})`)
    lose(work, place, 'pattern', 'described')
  }
  if (formats && typeof format === 'string' && !formats.has(format)) {
    delete kept['format']
    tell(work, { keyword: 'format', value: format, told: [] }, place)
    describe(kept, `(format: ${format})`)
  }
  if (!textEnums || !Array.isArray(values)) return
  const texts = (values as readonly JsonValue[]).filter((value) => typeof value === 'string' && value !== '')
  if (texts.length === values.length) {
    kept['type'] ??= 'string'
    return
  }
  delete kept['enum']
  describe(kept, `(one of ${JSON.stringify(values)})`)
  lose(work, place, 'enum', 'described')
}

interface Flattened {
  readonly schema: JsonObject
  /** Keywords that now allow more. */
  readonly widened: readonly string[]
}

/** Items may match any position's schema. The number of items is kept as is, and their order is described in words. */
function flattenTuple(schema: JsonObject, { keywords, refused }: Dialect): Flattened {
  const { prefixItems, items, ...rest } = schema
  const reads = (keyword: string): boolean => refused?.has(keyword) !== true && (keywords?.has(keyword) ?? true)
  if (reads('prefixItems')) return { schema, widened: [] }
  const places = Array.isArray(prefixItems) ? (prefixItems as readonly JsonValue[]) : []
  // `false` would be a grammar that allows only an empty list.
  const others = items === undefined && places.length > 0 ? true : items
  if (places.length === 0 && typeof others !== 'boolean') return { schema, widened: [] }
  const isClosed = others === false
  const count = isClosed ? { maxItems: Math.min(places.length, Number(rest['maxItems'] ?? Infinity)) } : {}
  const variants = [...places, ...(isJsonObject(others) ? [others] : [])]
  const isOpen = others === true || variants.some((one) => one === true)
  const distinct = [...new Map(variants.map((one) => [JSON.stringify(one), one])).values()].filter(isJsonObject)
  const [only = {}] = distinct
  const all = isOpen ? {} : distinct.length > 1 ? { anyOf: distinct } : only
  if (places.length === 0) return { schema: { ...rest, ...count, ...(others === true && { items: all }) }, widened: [] }
  const order = `(in this order: ${places.map(showPlace).join(', ')})`
  const { description } = rest
  const told = typeof description === 'string' ? `${description} ${order}` : order
  return { schema: { ...rest, ...count, items: all, description: told }, widened: ['prefixItems'] }
}

/** Maximum characters that describe one position. */
const PLACE_CHARS = 80

function showPlace(place: JsonValue): string {
  const text = JSON.stringify(place)
  return text.length <= PLACE_CHARS ? text : 'a value'
}
