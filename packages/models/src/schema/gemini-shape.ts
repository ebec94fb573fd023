// Puts a compiled schema into the form that Gemini's validator requires: every schema has a type, only its type's
// keywords, and unions have no siblings. A single violation makes Gemini reject the request with all its tools.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { SchemaLoss } from './dialects.ts'
import { mergeSchemas } from './merge-schemas.ts'

/** Maximum schemas to shape, since siblings of a union are copied into each variant. The rest become strings. */
const SCHEMAS_MAX = 5000

/** The root may lack properties. @param losses collects what is lost */
export function shapeForGemini(root: JsonObject, losses: SchemaLoss[]): JsonObject {
  return shape({ losses, left: SCHEMAS_MAX }, root, '')
}

interface Work {
  readonly losses: SchemaLoss[]
  left: number
}

function shape(work: Work, schema: JsonObject, path: string): JsonObject {
  work.left -= 1
  const { anyOf, ...beside } = schema
  const variants = Array.isArray(anyOf) ? (anyOf as readonly JsonValue[]).filter(isJsonObject) : []
  if (work.left < 0) return shapeOfType(work, {}, path)
  if (variants.length === 0) return shapeOfType(work, beside, path)
  // "any_of[0].required: only allowed for OBJECT type": combinations of required properties cannot be expressed.
  if (!variants.some((variant) => Object.keys(variant).every((keyword) => keyword === 'required')))
    return shapeOfChoice(
      work,
      variants.map((variant) => withWords(beside, variant)),
      path,
    )
  lose(work, path, 'anyOf', 'widened')
  return shapeOfType(work, beside, path)
}

/** 400 "schema specified other fields alongside any_of. When using any_of, it must be the only field set." (Vertex AI). */
function shapeOfChoice(work: Work, variants: readonly JsonObject[], path: string): JsonObject {
  const shaped = variants.flatMap((variant, index): readonly JsonObject[] => {
    const { anyOf, ...one } = shape(work, variant, inside(path, `anyOf.${index}`))
    return Array.isArray(anyOf) ? (anyOf as readonly JsonObject[]) : [one] // created here
  })
  const distinct = [...new Map(shaped.map((one) => [JSON.stringify(one), one])).values()]
  const [only] = distinct
  return only && distinct.length === 1 ? only : { anyOf: distinct }
}

/** Merges a variant with the union's siblings. */
function withWords(beside: JsonObject, variant: JsonObject): JsonObject {
  const words = [beside['description'], variant['description']].filter((text) => typeof text === 'string')
  return { ...mergeSchemas([beside, variant]), ...(words.length > 0 && { description: words.join(' ') }) }
}

function lose({ losses }: Work, path: string, keyword: string, how: SchemaLoss['how']): void {
  losses.push({ path, keyword, how })
}

/** "properties: only allowed for OBJECT type", "required: only allowed for OBJECT type", "enum: only allowed for STRING type". */
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  object: ['properties', 'required', 'propertyOrdering', 'minProperties', 'maxProperties'],
  array: ['items', 'minItems', 'maxItems'],
  string: ['enum', 'format', 'pattern', 'minLength', 'maxLength'],
  number: ['minimum', 'maximum', 'format'],
  integer: ['minimum', 'maximum', 'format'],
  boolean: [],
}
/** 400 "only 'enum' and 'date-time' are supported for STRING type", and the like for numbers. */
const FORMATS: Readonly<Record<string, readonly string[]>> = {
  string: ['enum', 'date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64'],
}
const OF_ANY_TYPE = ['title', 'description', 'nullable', 'default', 'example']

function shapeOfType(work: Work, schema: JsonObject, path: string): JsonObject {
  const type = readType(schema) ?? anyType(work, path)
  const mayStand = new Set([...OF_ANY_TYPE, ...(KEYWORDS[type] ?? [])])
  const formats: readonly unknown[] = FORMATS[type] ?? []
  const kept = Object.fromEntries(
    Object.entries(schema).filter(
      ([keyword, value]) => mayStand.has(keyword) && (keyword !== 'format' || formats.includes(value)),
    ),
  )
  if (type === 'object') {
    const { required: _, ...rest } = kept
    return { ...rest, type, ...listProperties(work, schema, path) }
  }
  return { ...kept, type, ...(type === 'array' && { items: listItems(work, schema, path) }) }
}

/** The schema's type, or the one its keywords imply. */
function readType(schema: JsonObject): string | undefined {
  const { type } = schema
  if (typeof type === 'string' && Object.hasOwn(KEYWORDS, type)) return type
  const has = (...keywords: readonly string[]): boolean => keywords.some((keyword) => schema[keyword] !== undefined)
  if (has('properties', 'required', 'minProperties', 'maxProperties')) return 'object'
  if (has('items', 'minItems', 'maxItems')) return 'array'
  return has('minimum', 'maximum') ? 'number' : undefined
}

/**
 * 400 "schema didn't specify the schema type field": a value of any type cannot be expressed, and a string comes
 * closest.
 */
function anyType(work: Work, path: string): string {
  lose(work, path, 'type', 'narrowed')
  return 'string'
}

/** "items: missing field." */
function listItems(work: Work, { items }: JsonObject, path: string): JsonObject {
  return shape(work, isJsonObject(items) ? items : {}, inside(path, 'items'))
}

function listProperties(work: Work, schema: JsonObject, path: string): JsonObject {
  const { properties: declared, required, additionalProperties: others } = schema
  const known = isJsonObject(declared) ? declared : {}
  const isEmpty = Object.keys(known).length === 0
  // Arbitrary keys cannot be expressed, so the model cannot send them.
  if (others === true || isJsonObject(others)) lose(work, path, 'additionalProperties', 'narrowed')
  else if (isEmpty && others === undefined && path !== '') lose(work, path, 'properties', 'narrowed')
  const shaped = Object.entries(isEmpty && path !== '' ? anyKey(others) : known).map(([name, one]) => [
    name,
    shape(work, isJsonObject(one) ? one : {}, inside(path, `properties.${name}`)),
  ])
  // "required[0]: property is not defined".
  const names = Array.isArray(required) ? required.filter((name) => typeof name === 'string') : []
  const must = names.filter((name) => Object.hasOwn(known, name))
  const properties = Object.fromEntries(shaped) as JsonObject // of schemas
  return { properties, ...(must.length > 0 ? { required: must } : {}) }
}

/** 400 "properties: should be non-empty for OBJECT type": an object with arbitrary keys declares one example key. */
function anyKey(values: JsonValue | undefined): JsonObject {
  const one = isJsonObject(values) && Object.keys(values).length > 0 ? values : { type: 'string' }
  return { any_key: withWords({ description: 'Stands for keys with any name, if there are any.' }, one) }
}

function inside(path: string, step: string): string {
  return path === '' ? step : `${path}.${step}`
}
