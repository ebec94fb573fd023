// Adjusts a schema in which some subschemas allow more than intended, or lead only back to themselves.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { listInner, listVariants, walkSchemas } from './schema-walk.ts'

/**
 * Removes keywords that would forbid more if an inner schema allows more: `not`, conditions, `oneOf`'s exclusivity, and limits on
 * remaining properties or items.
 * @param loose schemas that allow more, as objects of `root`
 */
export function loosenNegations(root: JsonObject, loose: ReadonlySet<JsonObject>): JsonObject {
  const isLoose = createLooseness(root, loose)
  return mapAll(root, (schema) => loosenOne(schema, isLoose))
}

/** The schema with each inner schema changed once, and then those inside it. */
function mapAll(root: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject {
  const known = new Map<JsonObject, JsonObject>()
  const map = (value: JsonValue): JsonValue => {
    if (!isJsonObject(value)) return value
    const before = known.get(value)
    if (before) return before
    known.set(value, value)
    const made = mapInner(change(value), map)
    known.set(value, made)
    return made
  }
  return map(root) as JsonObject // an object like the root
}

function loosenOne(schema: JsonObject, isLoose: (value: JsonValue | undefined) => boolean): JsonObject {
  const { not, if: condition, oneOf, maxContains, contains } = schema
  const left: Record<string, JsonValue> = { ...schema }
  if (isLoose(not)) delete left['not']
  if (isLoose(condition)) for (const keyword of ['if', 'then', 'else']) delete left[keyword]
  if (maxContains !== undefined && isLoose(contains)) delete left['maxContains']
  delete left['unevaluatedProperties']
  delete left['unevaluatedItems']
  if (Array.isArray(oneOf) && (oneOf as readonly JsonValue[]).some(isLoose)) {
    delete left['oneOf']
    const { allOf } = left
    if (left['anyOf'] === undefined) left['anyOf'] = oneOf
    else left['allOf'] = [...(Array.isArray(allOf) ? (allOf as readonly JsonValue[]) : []), { anyOf: oneOf }]
  }
  return left
}

/** Whether a schema, or any schema that it contains or refers to, allows more. */
function createLooseness(root: JsonObject, loose: ReadonlySet<JsonObject>): (value: JsonValue | undefined) => boolean {
  const holders = new Map<JsonObject, JsonObject[]>()
  const open: JsonObject[] = [root]
  const seen = new Set<JsonObject>(open)
  for (let next = open.pop(); next; next = open.pop()) {
    const target = findDefinition(root, next['$ref'])
    for (const one of [target, ...listInner(next).map((inner) => inner.value)]) {
      if (!isJsonObject(one)) continue
      const known = holders.get(one)
      if (known) known.push(next)
      else holders.set(one, [next])
      if (seen.has(one)) continue
      seen.add(one)
      open.push(one)
    }
  }
  const found = new Set<JsonObject>(loose)
  const left = [...loose]
  for (let next = left.pop(); next; next = left.pop())
    for (const holder of holders.get(next) ?? []) {
      if (found.has(holder)) continue
      found.add(holder)
      left.push(holder)
    }
  return (value) => isJsonObject(value) && found.has(value)
}

function findDefinition(root: JsonObject, reference: JsonValue | undefined): JsonValue | undefined {
  if (reference === '#') return root
  const [, group = '', name = ''] =
    /^#\/(\$defs|definitions)\/(.*)$/s.exec(typeof reference === 'string' ? reference : '') ?? []
  const definitions = root[group]
  return isJsonObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined
}

/** The schema with mapped inner schemas; the schema itself if nothing changed. */
function mapInner(schema: JsonObject, map: (value: JsonValue) => JsonValue): JsonObject {
  const changed: Record<string, JsonValue> = {}
  for (const { steps, value } of listInner(schema)) {
    const made = map(value)
    if (made === value) continue
    const [keyword = '', step] = steps
    if (step === undefined) {
      changed[keyword] = made
      continue
    }
    const holder = changed[keyword] ?? copyOf(schema[keyword])
    changed[keyword] = holder
    Object.defineProperty(holder, step, { value: made, enumerable: true, writable: true, configurable: true })
  }
  return Object.keys(changed).length === 0 ? schema : { ...schema, ...changed }
}

function copyOf(holder: JsonValue | undefined): JsonObject | readonly JsonValue[] {
  return Array.isArray(holder) ? [...(holder as readonly JsonValue[])] : { ...(holder as JsonObject) } // it contains schemas
}

/** Schemas that apply to the same value as their parent, like the variants. */
const IN_PLACE = ['not', 'if', 'then', 'else']

/**
 * Removes references that lead back to the value's own schema without descending into the value: no check would end.
 * @param tell receives each of them
 */
export function breakCircles(root: JsonObject, tell: (reference: string) => void): JsonObject {
  const circular = findCircular(root)
  if (circular.size === 0) return root
  for (const { $ref: reference } of circular) tell(typeof reference === 'string' ? reference : '')
  return mapAll(root, (schema) => {
    const { $ref: _, ...rest } = schema
    return circular.has(schema) ? rest : schema
  })
}

/** Schemas whose reference closes a cycle. */
function findCircular(root: JsonObject): ReadonlySet<JsonObject> {
  const circular = new Set<JsonObject>()
  const state = new Map<JsonObject, 'open' | 'done'>()
  const visit = (first: JsonObject): void => {
    const way: { readonly schema: JsonObject; readonly left: readonly InPlace[]; next: number }[] = []
    const enter = (schema: JsonObject): void => {
      state.set(schema, 'open')
      way.push({ schema, left: listInPlace(root, schema), next: 0 })
    }
    enter(first)
    for (let top = way.at(-1); top; top = way.at(-1)) {
      const edge = top.left[top.next]
      top.next += 1
      if (!edge) {
        state.set(top.schema, 'done')
        way.pop()
      } else if (state.get(edge.target) === 'open') {
        // The cycle runs from the target to here; one of its edges is a reference.
        const from = way.findLastIndex(({ schema }) => schema === edge.target)
        const closing = way.slice(from).findLast(({ left, next }) => left[next - 1]?.isReference)
        if (closing) circular.add(closing.schema)
      } else if (!state.has(edge.target)) enter(edge.target)
    }
  }
  for (const next of walkSchemas(root)) if (!state.has(next)) visit(next)
  return circular
}

interface InPlace {
  readonly target: JsonObject
  readonly isReference: boolean
}

function listInPlace(root: JsonObject, schema: JsonObject): readonly InPlace[] {
  const target = findDefinition(root, schema['$ref'])
  const lists = listVariants(schema, 'allOf', 'anyOf', 'oneOf')
  const { dependentSchemas } = schema
  const dependent = isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : []
  const inner = [...lists, ...dependent, ...IN_PLACE.map((keyword) => schema[keyword])].filter(isJsonObject)
  return [
    ...(isJsonObject(target) ? [{ target, isReference: true }] : []),
    ...inner.map((one) => ({ target: one, isReference: false })),
  ]
}
