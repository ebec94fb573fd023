// A tool's schema: a Standard Schema that can also describe itself as JSON Schema (Zod 4.2+, ArkType, Valibot with its
// adapter), or a plain JSON Schema object. The types are copied from standardschema.dev 1.1, which asks for that.
import type { JsonObject, JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'
import { BatonError } from '../errors.ts'
import { readTypes } from '../schema/keyword-shapes.ts'
import type { ReadSchema, SchemaFault } from '../schema/read-schema.ts'
import { readSchema } from '../schema/read-schema.ts'

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type SchemaResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly SchemaIssue[] }

/** The part of standardschema.dev's interface that Baton uses. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>
      readonly output: (options: { readonly target: string }) => Record<string, unknown>
    }
  }
}

/** A schema of Zod 4, Valibot, ArkType or another library with Standard Schema, or a JSON Schema. */
export type Schema<Output = unknown> = StandardSchema<unknown, Output> | JsonObject

/** The type that a schema validates to. A literal JSON Schema determines it; any other is a `JsonObject`. */
export type OutputOf<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Output }
    ? Output
    : unknown
  : FromLiteral<S>

/** The type that a schema accepts, before defaults and transforms. */
export type InputOf<S> = S extends { readonly '~standard': { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly input: infer Input }
    ? Input
    : unknown
  : FromLiteral<S>

/** Undefined without a schema. */
type FromLiteral<S> = S extends JsonObject ? (string extends keyof S ? JsonObject : FromJsonSchema<S>) : S

export function isStandardSchema(schema: Schema): schema is StandardSchema {
  const isObject = typeof schema === 'function' || (typeof schema === 'object' && schema !== null)
  return isObject && '~standard' in schema
}

/** Advice by vendor for libraries whose schemas cannot describe themselves. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  [
    'zod',
    ', which Zod has since 4.2; update it, or use the tool as an AI SDK tool, which may have Zod 3 (docs/ai-sdk-tools.md)',
  ],
  ['valibot', '; wrap it in toStandardJsonSchema of @valibot/to-json-schema'],
])

/**
 * The JSON Schema (draft 2020-12) of a tool's input.
 * @throws Error if a Standard Schema cannot describe itself; `defineTool` turns it into `invalid_schema`.
 */
export function toJsonSchema(schema: Schema): JsonObject {
  if (!isStandardSchema(schema)) return schema
  const { jsonSchema: describe, vendor } = schema['~standard']
  if (!describe)
    throw new Error(`the ${vendor} schema does not implement ~standard.jsonSchema${ADVICE.get(vendor) ?? ''}`)
  const described: unknown = describe.input({ target: 'draft-2020-12' })
  if (!isJsonObject(described)) throw new Error('~standard.jsonSchema.input() did not return an object')
  return described
}

/**
 * The JSON Schema of a schema that must describe an object in full. `what` begins the message.
 * @throws BatonError `invalid_schema`
 */
export function toObjectSchema(what: string, schema: Schema): JsonObject {
  const { schema: read, faults } = readObjectSchema(what, schema)
  if (faults.length === 0) return read
  const message = `${what}: ${listWarnings(faults).join('; ')}`
  throw new BatonError({ code: 'invalid_schema', message, hint: 'Express it differently, or leave it out.' })
}

/**
 * The JSON Schema with its unsupported parts. A plain JSON Schema is read in its own dialect. @throws BatonError
 * `invalid_schema`
 */
export function readObjectSchema(what: string, schema: Schema): ReadSchema {
  const foreign = describeForeignSchema(schema)
  if (foreign !== undefined)
    throw new BatonError({ code: 'invalid_schema', message: `${what}: ${foreign}`, hint: GIVE_ITSELF })
  let described: JsonObject
  try {
    described = toJsonSchema(schema)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const canDescribe = isStandardSchema(schema) && schema['~standard'].jsonSchema !== undefined
    throw new BatonError({
      code: 'invalid_schema',
      message: `${what}: ${why}`,
      cause,
      ...(canDescribe && { hint: INEXPRESSIBLE }),
    })
  }
  if (canBeObject(described)) return readForeign(what, schema, described)
  const fields = listBareFields(schema)
  if (fields !== undefined)
    throw new BatonError({
      code: 'invalid_schema',
      message: `${what}: the schema has no type, and the fields ${fields.map((name) => `"${name}"`).join(', ')}`,
      hint: GIVE_ROOT,
    })
  throw new BatonError({
    code: 'invalid_schema',
    message: `${what}: the schema’s root must have type "object"; put a list into one, such as { items: […] }`,
    hint: 'Make the root an object, and put the list or the value into a field of it.',
  })
}

/**
 * Reads a described schema. A library validates its own schemas, so those have no unchecked parts. @throws BatonError
 * `invalid_schema`
 */
function readForeign(what: string, schema: Schema, described: JsonObject): ReadSchema {
  try {
    const read = readSchema(described, { isObject: true })
    return isStandardSchema(schema) ? { ...read, faults: [] } : read
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BatonError({ code: 'invalid_schema', message: `${what}: ${why}`, cause })
  }
}

/** Keywords about objects, or about any value. */
const OBJECT_WORDS =
  'properties required additionalProperties patternProperties propertyNames minProperties maxProperties dependencies dependentRequired dependentSchemas unevaluatedProperties $ref $dynamicRef $recursiveRef if not'.split(
    ' ',
  )
const VARIANT_DEPTH = 8

/** Whether an object may fit a schema: by its type or, without one, by its keywords and variants. */
function canBeObject(schema: JsonValue, depth = 0): boolean {
  if (!isJsonObject(schema)) return depth > 0 && schema === true
  const { type, allOf, anyOf, oneOf } = schema
  if (type !== undefined) {
    const { types } = readTypes(type)
    return types === undefined ? depth > 0 : types === 'object' || (Array.isArray(types) && types.includes('object'))
  }
  if (depth > VARIANT_DEPTH || OBJECT_WORDS.some((word) => Object.hasOwn(schema, word))) return true
  const [all, any, one] = [allOf, anyOf, oneOf].map((list) =>
    Array.isArray(list) ? (list as readonly JsonValue[]).map((variant) => canBeObject(variant, depth + 1)) : undefined,
  )
  if (all ?? any ?? one)
    return [all?.every(Boolean), any?.some(Boolean), one?.some(Boolean)].every((can) => can ?? true)
  return Object.keys(schema).length === 0
}

/** Names of a schema's fields if nothing marks them as an object's, such as `{ city: z.string() }`. */
function listBareFields(schema: Schema): readonly string[] | undefined {
  if (isStandardSchema(schema)) return undefined
  const names = Object.keys(schema)
  const isSchema = names.length === 0 || names.some((name) => KEYWORDS.has(name) || name.startsWith('$'))
  return isSchema ? undefined : names.slice(0, 10).map((name) => name.slice(0, 50))
}

/** Keywords that identify a JSON Schema without an object's `type`. */
const KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'properties',
  'anyOf',
  'oneOf',
  'allOf',
  'not',
  'enum',
  'const',
  'items',
])

/** Names the AI SDK wrapper around a schema; undefined for everything else. Reads no getter. */
export function describeForeignSchema(schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || '~standard' in schema) return undefined
  if ('parseCompleteOutput' in schema) return 'this is an Output of the AI SDK, not a schema; pass the schema itself'
  if ('jsonSchema' in schema) return 'this is a jsonSchema() of the AI SDK; pass the JSON Schema itself'
  return undefined
}

const GIVE_ITSELF = 'Write z.object({ … }) with Zod, or { type: "object", properties: { … } }, without a wrapper.'
const GIVE_ROOT = 'Wrap the fields in z.object({ … }) of Zod, or { type: "object", properties: { … } }.'
const INEXPRESSIBLE = 'Use types that JSON has, such as text for a date.'

/** Maximum faults to report per schema. */
const TOLD_MAX = 10

export function listWarnings(faults: readonly SchemaFault[]): readonly string[] {
  const told = faults.map(({ path, message }) => (path === '' ? message : `${shorten(path)}: ${message}`))
  const distinct = [...new Set(told)]
  if (distinct.length <= TOLD_MAX) return distinct
  return [...distinct.slice(0, TOLD_MAX - 1), `and ${distinct.length - TOLD_MAX + 1} more`]
}

/** Maximum characters of a path. */
const PATH_CHARS = 120

function shorten(path: string): string {
  return path.length <= PATH_CHARS ? path : `…${path.slice(-PATH_CHARS)}`
}

/**
 * Emits a process warning if the platform has them, because a definition has no log. Node writes it to standard error.
 */
export function warnOfSchema(what: string, warnings: readonly string[] = []): void {
  if (warnings.length === 0) return
  const { process } = globalThis as { readonly process?: { emitWarning?: (text: string, options: object) => void } }
  process?.emitWarning?.(`${what}: its schema is checked only in part: ${warnings.join('; ')}`, {
    type: 'BatonWarning',
    code: 'invalid_schema',
  })
}

/** `{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }` is `{ city: string }`. */
export type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : S extends { readonly anyOf: readonly (infer Part)[] }
      ? FromJsonSchema<Part>
      : S extends { readonly oneOf: readonly (infer Part)[] }
        ? FromJsonSchema<Part>
        : S extends { readonly type: infer Type }
          ? FromType<Type extends readonly (infer One)[] ? One : Type, S>
          : JsonValue

type FromType<Type, S> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? FromArray<S>
          : Type extends 'object'
            ? FromObject<S>
            : JsonValue

type FromArray<S> = S extends { readonly items: infer Item } ? FromJsonSchema<Item>[] : JsonValue[]

type FromObject<S> = S extends { readonly properties: infer Properties }
  ? FromProperties<Properties, S extends { readonly required: readonly (infer Name)[] } ? Name : never>
  : S extends { readonly additionalProperties: infer Value extends JsonObject }
    ? { [name: string]: FromJsonSchema<Value> }
    : JsonObject

type FromProperties<Properties, Required> = Flat<
  { -readonly [Name in keyof Properties as Name extends Required ? Name : never]: FromJsonSchema<Properties[Name]> } & {
    -readonly [Name in keyof Properties as Name extends Required ? never : Name]?: FromJsonSchema<Properties[Name]>
  }
>

/** Flattens a type for readable editor hints. */
type Flat<T> = { [Name in keyof T]: T[Name] }
