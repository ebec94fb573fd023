// Reads a JSON Schema in its own dialect and returns a schema of draft 2020-12, which the check of calls and all
// providers' dialects use. Meaningless or uncheckable parts are dropped and reported. Nothing is fetched.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import type { SchemaDialect } from './schema-dialect.ts'
import { findDialect, inWordsOfToday } from './schema-dialect.ts'
import { describeShape, hasShape, readTypes } from './keyword-shapes.ts'
import { measurePattern } from './linear-pattern.ts'
import { translatePattern } from './translate-pattern.ts'
import type { Resource, Target } from './schema-references.ts'
import { findFreeName, indexReferences } from './schema-references.ts'
import { countJoints, isTooLarge, JOINTS_MAX, outlineSchema, VALUES_MAX } from './schema-walk.ts'
import { withoutContradictions } from './contradictions.ts'
import { breakCircles, loosenNegations } from './loosened-schema.ts'

export interface SchemaFault {
  /** Path such as `properties.address.items`; empty for the root. */
  readonly path: string
  readonly keyword: string
  /** Message for people. */
  readonly message: string
  /** `invalid`: no draft has such a value. `unchecked`: meaningful, but calls are not checked against it. */
  readonly how: 'invalid' | 'unchecked'
}

export interface ReadSchema {
  /**
   * Draft 2020-12: every reference leads to `#` or into `$defs` or `definitions` of the root. The schema itself if it
   * already has that form.
   */
  readonly schema: JsonObject
  readonly faults: readonly SchemaFault[]
}

export interface ReadSchemaOptions {
  /** True: the root gets the type `object` if it names none. */
  readonly isObject?: boolean
}

/** Maximum nesting of schemas; arguments nest at most 100 levels. */
const DEPTH_MAX = 200

/** Never throws for JSON. */
export function readSchema(given: JsonObject, options: ReadSchemaOptions = {}): ReadSchema {
  return isTooLarge(given) ? readOutline(given, options) : readWhole(given, options)
}

/** Reads the outline of a schema that is too large to read in full. */
function readOutline(given: JsonObject, { isObject = false }: ReadSchemaOptions): ReadSchema {
  const fields = Object.keys(mapOf(given['properties']))
  const outline = fields.length > VALUES_MAX ? {} : outlineSchema(given)
  const { schema } = readWhole(isTooLarge(outline) ? {} : outline, {})
  const why = `has more than ${VALUES_MAX} values, so only the names and types of its fields are checked`
  return {
    schema: isObject ? { ...schema, type: 'object' } : schema,
    faults: [{ path: '', keyword: 'the schema', message: `the schema ${why}`, how: 'unchecked' }],
  }
}

function readWhole(given: JsonObject, { isObject = false }: ReadSchemaOptions): ReadSchema {
  const index = indexReferences(given)
  const isUntyped = isObject && given['type'] !== 'object'
  const work: Work = {
    root: given,
    resolve: index.resolve,
    names: index.definitions,
    isRootShared: !isUntyped,
    faults: [],
    loose: new Set(),
    hoisted: [],
    known: new Map(),
    taken: new Set(index.taken),
    numbers: new Map(),
    patternStates: 0,
  }
  const place: Place = { path: '', depth: 0, resource: index.resource, dialect: findDialect(given) }
  const read = readObject(work, given, place)
  const hoisted = readHoisted(work, place)
  const types = isUntyped ? { type: 'object' } : {}
  const isSame = hoisted === undefined && (!isUntyped || read['type'] === 'object')
  const whole = isSame
    ? read
    : { ...read, ...types, ...(hoisted && { $defs: { ...mapOf(read['$defs']), ...hoisted } }) }
  const open = work.loose.size === 0 ? whole : loosenNegations(whole, work.loose)
  const schema = breakCircles(open, (reference) =>
    tell(work, { path: '' }, '$ref', `"${reference}" only leads back to itself, so it is dropped`),
  )
  const joints = countJoints(schema)
  if (joints > JOINTS_MAX)
    tellUnchecked(
      work,
      { path: '' },
      'the schema',
      `has ${joints} references and variants; over ${JOINTS_MAX}, only the names and types of its fields are checked`,
    )
  return { schema, faults: work.faults }
}

interface Work {
  readonly root: JsonObject
  readonly resolve: (reference: string, from: Resource) => Target | undefined
  /** References to the definitions of the root. */
  readonly names: Map<JsonValue, string>
  /** False if the root gets a type that schemas referring to it must not inherit. */
  readonly isRootShared: boolean
  readonly faults: SchemaFault[]
  /** Schemas that allow more than intended. */
  readonly loose: Set<JsonObject>
  /** Schemas that are referenced in place, and get a definition. */
  readonly hoisted: { readonly name: string; readonly target: Target }[]
  readonly known: Map<JsonObject, JsonObject>
  readonly taken: Set<string>
  /** Next number to try for a definition's name that is taken. */
  readonly numbers: Map<string, number>
  /** Total states of all patterns. */
  patternStates: number
}

interface Place {
  readonly path: string
  readonly depth: number
  readonly resource: Resource
  readonly dialect: SchemaDialect
}

function tell(work: Work, { path }: Pick<Place, 'path'>, keyword: string, message: string): void {
  work.faults.push({ path, keyword, message: `${keyword} ${message}`, how: 'invalid' })
}

/** Reports a meaningful keyword that is not checked. */
function tellUnchecked(work: Work, { path }: Pick<Place, 'path'>, keyword: string, message: string): void {
  work.faults.push({ path, keyword, message: `${keyword} ${message}`, how: 'unchecked' })
}

function mapOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** Returns undefined for a value that is not a schema. */
function readValue(work: Work, value: JsonValue, place: Place): JsonValue | undefined {
  if (typeof value === 'boolean') return value
  if (!isJsonObject(value)) return undefined
  const known = work.known.get(value)
  if (known) return known
  if (place.depth > DEPTH_MAX) {
    tellUnchecked(work, place, 'the schema', `is deeper than ${DEPTH_MAX} levels, so any value is accepted there`)
    const anything: JsonObject = {}
    work.loose.add(anything)
    return anything
  }
  const read = readObject(work, value, place)
  work.known.set(value, read)
  return read
}

function readObject(work: Work, given: JsonObject, outer: Place): JsonObject {
  const dialect = outer.depth > 0 && typeof given['$schema'] === 'string' ? findDialect(given) : outer.dialect
  const place: Place = { ...outer, dialect, resource: outer.resource.inner.get(given) ?? outer.resource }
  const isRoot = given === work.root
  const today = inWordsOfToday(given, dialect, isRoot)
  const read: Record<string, JsonValue> = {}
  let isLoose = false
  for (const [keyword, value] of Object.entries(today)) {
    const isAbsent = (value as JsonValue | undefined) === undefined // as programs write it
    if (isAbsent || DROPPED.has(keyword) || (DEFINITIONS.has(keyword) && !isRoot)) continue
    const said = readKeyword(work, keyword, value, place)
    if (said === undefined || (keyword === 'patternProperties' && hasFewer(value, said))) isLoose = true
    if (said !== undefined)
      Object.defineProperty(read, keyword, { value: said, enumerable: true, writable: true, configurable: true })
    if (keyword === 'pattern' && said !== undefined && !isCheckedPattern(work, said, place)) isLoose = true
  }
  if (isLoose) openRemainders(today, read)
  const settled = withoutContradictions(read, {
    find: (reference) => work.resolve(reference, place.resource)?.schema,
    tell: (keyword, message) => tellUnchecked(work, place, keyword, message),
  })
  const kept = isSame(given, settled) ? given : settled
  if (settled !== read) isLoose = true
  if (isLoose) work.loose.add(kept)
  return kept
}

/** Allows anything for the values that a dropped keyword would restrict. */
function openRemainders(today: JsonObject, read: Record<string, JsonValue>): void {
  const isLost = (keyword: string): boolean =>
    today[keyword] !== undefined && today[keyword] !== null && !(keyword in read)
  const hasFewerPatterns = hasFewer(today['patternProperties'], read['patternProperties'])
  if (isLost('properties') || hasFewerPatterns) delete read['additionalProperties']
  if (isLost('prefixItems')) delete read['items']
}

function hasFewer(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  return Object.keys(mapOf(after)).length < Object.keys(mapOf(before)).length
}

/** Keywords that name a schema are no longer needed, and a library must not interpret them. */
const DROPPED: ReadonlySet<string> = new Set(
  '$schema $id id $anchor $dynamicAnchor $recursiveAnchor $vocabulary $async'.split(' '),
)
const DEFINITIONS: ReadonlySet<string> = new Set(['$defs', 'definitions'])

/** The same keywords with the same values in the same order. */
function isSame(given: JsonObject, read: JsonObject): boolean {
  const [before, after] = [Object.entries(given), Object.entries(read)]
  return (
    before.length === after.length &&
    before.every(([keyword, value], index) => after[index]?.[0] === keyword && after[index]?.[1] === value)
  )
}

/** Returns undefined for a keyword that is dropped and reported. */
function readKeyword(work: Work, keyword: string, value: JsonValue, place: Place): JsonValue | undefined {
  if (keyword === '$ref') return readReference(work, value, place)
  if (keyword === 'type') return readType(work, value, place)
  if (keyword === 'pattern') return readPattern(work, value, place)
  if (keyword === 'required') return readRequired(work, value, place)
  if (keyword === 'enum' && Array.isArray(value) && value.length > 0) return value
  const inner = stepInto(place, keyword)
  if (LISTS.has(keyword) && Array.isArray(value) && value.length > 0)
    return readList(work, keyword, value as readonly JsonValue[], inner)
  if (MAPS.has(keyword) && isJsonObject(value)) return readMap(work, keyword, value, inner)
  if (SINGLES.has(keyword)) {
    const read = readValue(work, value, inner)
    if (read === undefined) tellShape(work, keyword, value, place)
    return read
  }
  if (hasShape(keyword, value)) return value
  tellShape(work, keyword, value, place)
  return undefined
}

const LISTS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems'])
const MAPS: ReadonlySet<string> = new Set('properties patternProperties $defs definitions dependentSchemas'.split(' '))
const SINGLES: ReadonlySet<string> = new Set(
  'items additionalProperties not contains propertyNames if then else unevaluatedProperties unevaluatedItems'.split(
    ' ',
  ),
)

const VALUE_CHARS = 60

function tellShape(work: Work, keyword: string, value: JsonValue, place: Place): void {
  tell(work, place, keyword, `is ${show(value)}, which is not ${describeShape(keyword)}, so it is dropped`)
}

function show(value: JsonValue): string {
  let text: string
  try {
    text = JSON.stringify(value)
  } catch {
    return 'a value that nests too deeply'
  }
  return text.length <= VALUE_CHARS ? text : `${text.slice(0, VALUE_CHARS)}…`
}

function stepInto(place: Place, step: string): Place {
  return { ...place, path: place.path === '' ? step : `${place.path}.${step}`, depth: place.depth + 1 }
}

function readList(work: Work, keyword: string, list: readonly JsonValue[], place: Place): JsonValue | undefined {
  const read = list.map((one, index) => {
    const inner = stepInto(place, String(index))
    const said = readValue(work, one, inner)
    if (said === undefined) tell(work, inner, keyword, `has ${show(one)}, which is not a schema`)
    return said
  })
  if (read.every((one, index) => one === list[index])) return list
  const kept = read.filter((one) => one !== undefined)
  if (kept.length === read.length) return kept
  if (keyword === 'prefixItems') return read.map((one) => one ?? true)
  // A variant would allow too much.
  return keyword === 'allOf' && kept.length > 0 ? kept : undefined
}

function readMap(work: Work, keyword: string, map: JsonObject, place: Place): JsonObject | undefined {
  const given = Object.entries(map).filter(([, one]) => (one as JsonValue | undefined) !== undefined)
  let isChanged = given.length < Object.keys(map).length
  const entries = given.flatMap(([name, one]): [string, JsonValue][] => {
    const inner = stepInto(place, name)
    const read = readValue(work, one, inner)
    if (read === undefined) tell(work, inner, name, `is ${show(one)}, which is not a schema, so any value is accepted`)
    const said = read ?? true
    const key = keyword === 'patternProperties' ? readCheckedPattern(work, name, inner) : readName(work, keyword, name)
    if (said !== one || key !== name) isChanged = true
    return key === undefined ? [] : [[key, said]]
  })
  if (!isChanged) return map
  return Object.fromEntries(entries)
}

/** Definitions get names that every reader of references accepts. */
function readName(work: Work, keyword: string, name: string): string {
  if (!DEFINITIONS.has(keyword)) return name
  const definition = mapOf(work.root[keyword])[name]
  const reference = definition === undefined ? undefined : work.names.get(definition)
  return reference?.startsWith(`#/${keyword}/`) === true ? reference.slice(keyword.length + 3) : name
}

function readReference(work: Work, value: JsonValue, place: Place): JsonValue | undefined {
  if (typeof value !== 'string') {
    tellShape(work, '$ref', value, place)
    return undefined
  }
  const target = work.resolve(value, place.resource)
  if (!target) {
    const isInside = value.startsWith('#')
    const why = isInside ? 'leads nowhere' : 'leads out of the schema, and nothing is fetched'
    tell(work, place, '$ref', `${show(value)} ${why}, so any value is accepted there`)
    return undefined
  }
  return nameTarget(work, target)
}

function nameTarget(work: Work, target: Target): string {
  const { schema } = target
  if (schema === work.root && work.isRootShared) return '#'
  const known = work.names.get(schema)
  if (known !== undefined) return known
  const wished = schema === work.root ? 'root' : target.name.replaceAll(/[^\w.-]/g, '_').slice(0, 64) || 'schema'
  const name = findFreeName(wished, work.taken, work.numbers)
  work.taken.add(name)
  work.hoisted.push({ name, target })
  const reference = `#/$defs/${name}`
  // Booleans are equal to each other; objects are not.
  if (isJsonObject(schema)) work.names.set(schema, reference)
  return reference
}

/** A hoisted schema may contain references to hoist in turn. */
function readHoisted(work: Work, { dialect }: Pick<Place, 'dialect'>): JsonObject | undefined {
  const read: [string, JsonValue][] = []
  for (let next = work.hoisted.shift(); next; next = work.hoisted.shift()) {
    const { name, target } = next
    const { schema, resource } = target
    const place: Place = { path: `$defs.${name}`, depth: 1, resource, dialect }
    const isRoot = schema === work.root
    const { $defs: _, definitions: __, ...bare } = isRoot && isJsonObject(schema) ? schema : {}
    read.push([name, readValue(work, isRoot ? bare : schema, place) ?? true])
  }
  return read.length === 0 ? undefined : Object.fromEntries(read)
}

function readType(work: Work, value: JsonValue, place: Place): JsonValue | undefined {
  const { types, unknown } = readTypes(value)
  for (const { said, meant } of unknown)
    tellUnchecked(
      work,
      place,
      'type',
      `${show(said)} is not a JSON Schema type${meant === undefined ? ', so any value is accepted there' : `, and is read as "${meant}"`}`,
    )
  return types
}

function readRequired(work: Work, value: JsonValue, place: Place): JsonValue | undefined {
  if (!Array.isArray(value)) {
    tellShape(work, 'required', value, place)
    return undefined
  }
  const names = (value as readonly JsonValue[]).filter((one) => typeof one === 'string')
  if (names.length < value.length) tellShape(work, 'required', value, place)
  const distinct = [...new Set(names)]
  return distinct.length === value.length ? value : distinct
}

/** Translates a pattern to ECMA 262 with Unicode. */
function readPattern(work: Work, value: JsonValue, place: Place): string | undefined {
  if (typeof value !== 'string') {
    tellShape(work, 'pattern', value, place)
    return undefined
  }
  if (value.length > PATTERN_CHARS_MAX || work.patternStates > PATTERN_STATES_MAX) {
    const reason = value.length > PATTERN_CHARS_MAX ? 'is too long' : 'follows patterns that exceed the total limit'
    tellUnchecked(work, place, 'pattern', `${show(value)} ${reason}, so it is dropped`)
    return undefined
  }
  const { pattern, why } = translatePattern(value)
  if (pattern === undefined) tell(work, place, 'pattern', `${show(value)} ${why ?? 'cannot be read'}, so it is dropped`)
  return pattern
}

function readCheckedPattern(work: Work, name: string, place: Place): string | undefined {
  const pattern = readPattern(work, name, place)
  return pattern !== undefined && isCheckedPattern(work, pattern, place) ? pattern : undefined
}

/** Maximum characters of one pattern. */
const PATTERN_CHARS_MAX = 50_000
/** Maximum total states and characters of a schema's patterns; further patterns are not read. */
const PATTERN_STATES_MAX = 500_000

/** Whether calls are checked against the pattern; a provider may still read an unbounded one. */
function isCheckedPattern(work: Work, pattern: JsonValue, place: Place): boolean {
  if (typeof pattern !== 'string') return true
  const { why, states } = measurePattern(pattern)
  work.patternStates += states + pattern.length
  if (why === undefined) return true
  tell(work, place, 'pattern', `${show(pattern)} has ${why}, so its matching time is unbounded, and it is not checked`)
  return false
}
