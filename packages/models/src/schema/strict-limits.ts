// Limits of a provider's strict dialect on a schema: nesting, unions, patterns. The provider rejects a schema beyond
// them (400 "Circular reference detected", "too many union types"), so it is checked beforehand.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { SchemaLimits } from '../traits/model-traits.ts'

/** Keywords that contain schemas. */
const INSIDE = ['items', 'additionalProperties', 'not'] as const
const LISTS = ['anyOf', 'allOf', 'oneOf'] as const
const MAPS = ['properties', '$defs', 'definitions'] as const
/** Maximum nesting of schemas, more than any provider accepts; anything deeper is rejected unread. */
const DEPTH_MAX = 100

interface Counts {
  depth: number
  enumValues: number
  unions: number
  optional: number
  lookaround: boolean
  recursion: boolean
  isTooDeep: boolean
}

/** @param schema in the form of the strict dialect */
export function exceedsLimits(schema: JsonObject, limits: SchemaLimits): boolean {
  const counts: Counts = {
    depth: 0,
    enumValues: 0,
    unions: 0,
    optional: 0,
    lookaround: false,
    recursion: false,
    isTooDeep: false,
  }
  count(schema, counts, 0, 0)
  if (counts.isTooDeep) return true
  counts.recursion = isRecursive(schema)
  const isAbove = (['depth', 'enumValues', 'unions', 'optional'] as const).some(
    (name) => counts[name] > (limits[name] ?? Number.MAX_SAFE_INTEGER),
  )
  return isAbove || (counts.lookaround && !limits.lookaround) || (counts.recursion && !limits.recursion)
}

/** @param depth number of enclosing objects @param nesting number of enclosing schemas */
function count(schema: JsonValue | undefined, counts: Counts, depth: number, nesting: number): void {
  if (nesting > DEPTH_MAX) counts.isTooDeep = true
  if (!isJsonObject(schema) || nesting > DEPTH_MAX) return
  const { type, properties, required, pattern, anyOf, enum: values } = schema
  const isObject = isJsonObject(properties)
  const level = isObject ? depth + 1 : depth
  counts.depth = Math.max(counts.depth, level)
  if (Array.isArray(values)) counts.enumValues += values.length
  if (Array.isArray(anyOf) || (Array.isArray(type) && type.length > 1)) counts.unions++
  if (typeof pattern === 'string' && /\(\?<?[=!]/.test(pattern)) counts.lookaround = true
  if (isObject) {
    const needed = Array.isArray(required) ? required.length : 0
    counts.optional += Math.max(Object.keys(properties).length - needed, 0)
  }
  for (const inner of listInner(schema)) count(inner, counts, level, nesting + 1)
}

function listInner(schema: JsonObject): readonly JsonValue[] {
  const listed = LISTS.flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as readonly JsonValue[]) : []))
  const mapped = MAPS.flatMap((key) => (isJsonObject(schema[key]) ? Object.values(schema[key]) : []))
  return [...listed, ...mapped, ...INSIDE.flatMap((key) => schema[key] ?? [])]
}

/** Whether a definition refers to itself, directly or through others; `#` is the schema itself. */
function isRecursive(root: JsonObject): boolean {
  const definitions = new Map<string, JsonValue>([['#', root]])
  for (const key of ['$defs', 'definitions'] as const)
    if (isJsonObject(root[key]))
      for (const [name, schema] of Object.entries(root[key])) definitions.set(`#/${key}/${name}`, schema)
  const done = new Set<string>()
  const isInCircle = (name: string, above: ReadonlySet<string>): boolean => {
    if (above.has(name)) return true
    if (done.has(name)) return false
    const below = new Set([...above, name])
    const inCircle = listReferences(definitions.get(name), name === '#').some((next) => isInCircle(next, below))
    done.add(name)
    return inCircle
  }
  return [...definitions.keys()].some((name) => isInCircle(name, new Set()))
}

/** References of the root outside of its definitions, which are checked separately. */
function listReferences(schema: JsonValue | undefined, isRoot: boolean): readonly string[] {
  if (!isJsonObject(schema)) return []
  const { $defs: _, definitions: __, ...bare } = schema
  const own = typeof schema['$ref'] === 'string' ? [schema['$ref']] : []
  return [...own, ...listInner(isRoot ? bare : schema).flatMap((inner) => listReferences(inner, false))]
}
