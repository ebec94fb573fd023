// Shapes schemas for grammars: objects list every property and allow no others.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { Dialect } from './dialects.ts'

/** 400 "schema must have a 'type' key": strict dialects cannot express a value of any type. */
const SAYS_TYPE = ['type', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref']

/** Annotations, which stay in place. */
const NOTES: ReadonlySet<string> = new Set([
  'description',
  'title',
  'default',
  'examples',
  '$schema',
  '$id',
  '$anchor',
  '$comment',
  '$defs',
  'definitions',
])

/** Moves the siblings of a union into each variant: two closed objects that apply together would allow nothing. */
export function spreadChoice(schema: JsonObject): JsonObject {
  const keyword = Array.isArray(schema['anyOf']) ? 'anyOf' : 'oneOf'
  const { [keyword]: variants, ...others } = schema
  const beside = Object.entries(others).filter(([name]) => !NOTES.has(name))
  if (!Array.isArray(variants) || beside.length === 0) return schema
  const notes = Object.entries(others).filter(([name]) => NOTES.has(name))
  const base = Object.fromEntries(beside)
  return { ...Object.fromEntries(notes), anyOf: (variants as readonly JsonValue[]).map((one) => spreadInto(base, one)) }
}

function spreadInto(base: JsonObject, variant: JsonValue): JsonValue {
  if (variant === true) return base
  return isJsonObject(variant) ? { allOf: [base, variant] } : variant
}

export interface CloseOptions {
  readonly dialect: Dialect
  /** The schema before unsupported keywords were dropped. */
  readonly schema: JsonObject
  readonly kept: Readonly<Record<string, JsonValue>>
  /** Called for each keyword whose values the closed schema forbids. */
  readonly narrow: (keyword: string) => void
}

export function closeSchema({ dialect, schema, kept, narrow }: CloseOptions): JsonObject {
  const isObject = kept['type'] === 'object' || isJsonObject(kept['properties'])
  if (!isObject) {
    if (!SAYS_TYPE.some((keyword) => kept[keyword] !== undefined)) narrow('type')
    // A list of types may include object, whose properties are not declared.
    const types = kept['type']
    if (Array.isArray(types) && (types as readonly JsonValue[]).includes('object')) narrow('additionalProperties')
    return kept
  }
  if (isMap(schema) || namesMore(schema)) narrow('additionalProperties')
  return closeObject(dialect, kept)
}

/** Whether the schema requires, or conditionally allows, a property that it does not declare. */
export function namesMore(schema: JsonObject): boolean {
  const { properties, required, then: met, else: unmet, dependentSchemas } = schema
  const known = isJsonObject(properties) ? properties : {}
  const parts = [met, unmet, ...(isJsonObject(dependentSchemas) ? Object.values(dependentSchemas) : [])].filter(
    isJsonObject,
  )
  const offered = parts.flatMap((part) => [
    ...(isJsonObject(part['properties']) ? Object.keys(part['properties']) : []),
    ...listNames(part['required']),
  ])
  return [...listNames(required), ...offered].some((name) => !Object.hasOwn(known, name))
}

function listNames(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : []
}

/** Whether the schema allows undeclared keys, explicitly or by declaring none. */
function isMap({ additionalProperties, properties, patternProperties }: JsonObject): boolean {
  if (isJsonObject(patternProperties) && Object.keys(patternProperties).length > 0) return true
  if (additionalProperties !== undefined) return additionalProperties !== false
  return properties === undefined
}

/** Maps with arbitrary keys cannot be expressed. */
function closeObject(dialect: Dialect, schema: Readonly<Record<string, JsonValue>>): JsonObject {
  const { properties, required } = schema
  const known = isJsonObject(properties) ? properties : {}
  if (dialect.optionalsAsNull !== true) {
    const named = listNames(required).filter((name) => Object.hasOwn(known, name))
    return {
      ...schema,
      type: schema['type'] ?? 'object',
      properties: known,
      required: named,
      additionalProperties: false,
    }
  }
  const union = dialect.keywords?.has('anyOf') === false ? 'oneOf' : 'anyOf'
  const must = new Set(Array.isArray(required) ? (required as readonly JsonValue[]) : [])
  const entries = Object.entries(known).map(([name, one]) => [
    name,
    must.has(name) ? splitNull(one, union) : orNull(one, union),
  ])
  return {
    ...schema,
    type: schema['type'] ?? 'object',
    properties: Object.fromEntries(entries) as JsonObject, // of schemas, as before
    required: Object.keys(known),
    additionalProperties: false,
  }
}

function orNull(schema: JsonValue, union: 'anyOf' | 'oneOf'): JsonValue {
  if (!isJsonObject(schema)) return schema
  const { type, enum: values, [union]: listed } = schema
  if (Array.isArray(listed)) {
    const variants = listed as readonly JsonValue[]
    return variants.some(isNullSchema) ? schema : { ...schema, [union]: [...variants, { type: 'null' }] }
  }
  if (type === undefined || schema['$ref'] !== undefined || schema['const'] !== undefined)
    return { [union]: [schema, { type: 'null' }] }
  const types = Array.isArray(type) ? (type as readonly JsonValue[]) : [type]
  if (types.includes('null')) return splitNull(schema, union)
  if (union === 'oneOf' && types.some(isWide)) return { oneOf: [schema, { type: 'null' }] }
  return {
    ...schema,
    type: [...types, 'null'],
    ...(Array.isArray(values) && { enum: [...(values as readonly JsonValue[]), null] }),
  }
}

/**
 * node-llama-cpp 3 supports lists of types only for scalars: with `["array", "null"]` it writes an answer and then
 * fails with `Unknown immutable type "array"` (validateObjectAgainstGbnfSchema.js).
 */
function splitNull(schema: JsonValue, union: 'anyOf' | 'oneOf'): JsonValue {
  if (union !== 'oneOf' || !isJsonObject(schema) || !Array.isArray(schema['type'])) return schema
  const types = schema['type'] as readonly JsonValue[]
  const [type, ...more] = types.filter((one) => one !== 'null')
  if (type === undefined || more.length > 0 || !isWide(type) || !types.includes('null')) return schema
  return { oneOf: [{ ...schema, type }, { type: 'null' }] }
}

function isWide(type: JsonValue): boolean {
  return type === 'array' || type === 'object'
}

export function isNullSchema(schema: JsonValue): boolean {
  return isJsonObject(schema) && schema['type'] === 'null'
}

/** Zod, Valibot and Effect write `{ not: {} }` for a value that nothing fits. */
export function isNever(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return schema === false
  const { not } = schema
  return not === true || (isJsonObject(not) && Object.keys(not).length === 0)
}
