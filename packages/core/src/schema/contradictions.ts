// Keywords of one schema that no value fits together: mistakes of authors, with which a tool could never be called.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'

interface Contradiction {
  readonly keyword: string
  /** Words that follow the keyword. */
  readonly message: string
  /** Keywords that are not checked. */
  readonly dropped: readonly string[]
  /** Names that need not be given. */
  readonly freed?: readonly string[]
}

export interface ContradictionOptions {
  /** Finds the schema that a reference leads to. */
  readonly find: (reference: string) => JsonValue | undefined
  readonly tell: (keyword: string, message: string) => void
}

/** The schema without what contradicts; the schema itself if nothing does. */
export function withoutContradictions(schema: JsonObject, { find, tell }: ContradictionOptions): JsonObject {
  const found = [...findOtherType(schema), ...findBounds(schema), ...findClosed(schema, find)]
  if (found.length === 0) return schema
  for (const { keyword, message } of found) tell(keyword, message)
  const dropped = new Set(found.flatMap((one) => one.dropped))
  const freed = new Set<JsonValue>(found.flatMap((one) => one.freed ?? []))
  const entries = Object.entries(schema).filter(([keyword]) => !dropped.has(keyword))
  return Object.fromEntries(
    entries.map(([keyword, value]) =>
      keyword === 'required' && Array.isArray(value)
        ? [keyword, (value as readonly JsonValue[]).filter((name) => !freed.has(name))]
        : [keyword, value],
    ),
  )
}

/** A type that no listed value has, such as texts under `integer`. The values say more than the type. */
function findOtherType({ type, enum: values, const: only }: JsonObject): readonly Contradiction[] {
  if (type === undefined) return []
  const types = Array.isArray(type) ? (type as readonly JsonValue[]) : [type]
  const hasType = (value: JsonValue): boolean => types.some((one) => isOfType(value, one))
  const said = JSON.stringify(type)
  if (Array.isArray(values) && values.length > 0 && !(values as readonly JsonValue[]).some(hasType))
    return [{ keyword: 'type', message: `${said} has no value of enum, so it is not checked`, dropped: ['type'] }]
  if (only !== undefined && !hasType(only))
    return [{ keyword: 'type', message: `${said} does not have the const, so it is not checked`, dropped: ['type'] }]
  return []
}

function isOfType(value: JsonValue, type: JsonValue): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isJsonObject(value)
  return type === 'integer' ? Number.isInteger(value) : typeof value === type
}

const BOUNDS = [
  ['minimum', 'maximum'],
  ['minLength', 'maxLength'],
  ['minItems', 'maxItems'],
  ['minProperties', 'maxProperties'],
] as const

function findBounds(schema: JsonObject): readonly Contradiction[] {
  return BOUNDS.flatMap(([least, most]): readonly Contradiction[] => {
    const [from, to] = [schema[least], schema[most]]
    if (typeof from !== 'number' || typeof to !== 'number' || from <= to) return []
    const message = `${from} is above the ${most} of ${to}, so neither is checked`
    return [{ keyword: least, message, dropped: [least, most] }]
  })
}

/** A closed object that requires a property which it does not have. */
function findClosed(schema: JsonObject, find: ContradictionOptions['find']): readonly Contradiction[] {
  const { properties, patternProperties, additionalProperties } = schema
  if (additionalProperties !== false || patternProperties !== undefined) return []
  const own = listRequired(schema)
  const demands = listParts(schema, find).flatMap(listRequired)
  const isForbidden = (name: string): boolean => !isJsonObject(properties) || !Object.hasOwn(properties, name)
  const forbidden = [...own, ...demands].filter(isForbidden)
  const [first] = forbidden
  if (first === undefined) return []
  const name = JSON.stringify(first.slice(0, 50))
  const rest = own.some(isForbidden) ? 'neither is' : 'it is not'
  const message = `forbids the required property ${name}, so ${rest} checked`
  return [
    { keyword: 'additionalProperties', message, dropped: ['additionalProperties'], freed: own.filter(isForbidden) },
  ]
}

function listRequired({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
}

/** The parts of `allOf` and what they refer to, each once. */
function listParts({ allOf }: JsonObject, find: ContradictionOptions['find']): readonly JsonObject[] {
  const parts = Array.isArray(allOf) ? (allOf as readonly JsonValue[]).filter(isJsonObject) : []
  const targets = parts.map(({ $ref: reference }) => (typeof reference === 'string' ? find(reference) : undefined))
  return [...new Set([...parts, ...targets].filter(isJsonObject))]
}
