// The part of Effect that these tools need, taken from the module that the program passes: it may use Effect 3, Effect
// 4 or both, which name some functions differently. Nothing is imported from Effect here.
import type { JsonObject, SchemaResult, StandardSchema } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'

/** An Effect, Layer, schema or tag, which only Effect itself inspects. */
export type Opaque = unknown

export interface ManagedRuntime {
  readonly runPromiseExit: (effect: Opaque, options?: { readonly signal: AbortSignal }) => Promise<Exit>
  readonly dispose: () => Promise<void>
}

export type Exit =
  { readonly _tag: 'Success'; readonly value: unknown } | { readonly _tag: 'Failure'; readonly cause: Opaque }

/** The parts common to both versions. */
export interface Library {
  readonly Effect: {
    readonly void: Opaque
    readonly isEffect: (value: unknown) => boolean
    readonly suspend: (make: () => Opaque) => Opaque
    readonly sync: (run: () => unknown) => Opaque
    readonly flatMap: (effect: Opaque, next: (value: unknown) => Opaque) => Opaque
    readonly mapError: (effect: Opaque, change: (error: unknown) => unknown) => Opaque
    readonly provideService: (effect: Opaque, tag: Opaque, service: unknown) => Opaque
  }
  readonly Layer: { readonly empty: Opaque }
  readonly Schema: { readonly isSchema: (value: unknown) => boolean }
  readonly ManagedRuntime: { readonly make: (layer: Opaque) => ManagedRuntime }
  readonly Cause: { readonly pretty: (cause: Opaque) => string }
  readonly Stream: { readonly runForEach: (stream: Opaque, each: (item: unknown) => Opaque) => Opaque }
}

/** The differences between the versions. */
export interface Schemas {
  /** JSON Schema (draft 2020-12) of the schema's input. @throws Effect's own error if there is none */
  readonly describe: (schema: Opaque) => JsonObject
  /** Decodes a JSON value. */
  readonly decode: (schema: Opaque, value: unknown) => SchemaResult<unknown> | Promise<SchemaResult<unknown>>
  /** An Effect that produces JSON. */
  readonly encode: (schema: Opaque, value: unknown) => Opaque
}

export interface EffectModule {
  readonly library: Library
  readonly schemas: Schemas
}

interface Schemas3 {
  readonly Schema: {
    readonly standardSchemaV1: (schema: Opaque) => StandardSchema
    readonly encodeUnknown: (schema: Opaque) => (value: unknown) => Opaque
  }
  readonly JSONSchema: { readonly fromAST: (ast: unknown, options: object) => object }
}

interface Schemas4 {
  readonly Schema: {
    readonly toCodecJson: (schema: Opaque) => Opaque
    readonly toStandardSchemaV1: (schema: Opaque) => StandardSchema
    readonly encodeUnknownEffect: (schema: Opaque) => (value: unknown) => Opaque
    readonly toJsonSchemaDocument: (schema: Opaque) => { readonly schema: object; readonly definitions: object }
  }
}

const NEEDED: Readonly<Record<string, readonly string[]>> = {
  Effect: ['isEffect', 'suspend', 'sync', 'flatMap', 'mapError', 'provideService'],
  ManagedRuntime: ['make'],
  Cause: ['pretty'],
  Stream: ['runForEach'],
  Schema: ['isSchema'],
}
const NEEDED_3: Readonly<Record<string, readonly string[]>> = {
  Schema: ['standardSchemaV1', 'encodeUnknown'],
  JSONSchema: ['fromAST'],
}
const NEEDED_4: Readonly<Record<string, readonly string[]>> = {
  Schema: ['toCodecJson', 'toStandardSchemaV1', 'encodeUnknownEffect', 'toJsonSchemaDocument'],
}

/** @throws BatonError `invalid_tool` if it is not the module of Effect 3 or 4 */
export function readEffectModule(module: unknown): EffectModule {
  const missing = findMissing(module, NEEDED)
  if (missing !== undefined) throw notEffect(missing)
  const library = module as Library // every function that is called was checked
  const missing4 = findMissing(module, NEEDED_4)
  if (missing4 === undefined) return { library, schemas: schemasOf4(module as Schemas4) } // checked as well
  const missing3 = findMissing(module, NEEDED_3)
  if (missing3 === undefined) return { library, schemas: schemasOf3(module as Schemas3) } // checked as well
  throw notEffect(missing3)
}

function findMissing(module: unknown, needed: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [part, names] of Object.entries(needed)) {
    const holder = read(module, part)
    for (const name of names) if (typeof read(holder, name) !== 'function') return `${part}.${name}`
  }
  return undefined
}

function read(holder: unknown, name: string): unknown {
  const isHolder = (typeof holder === 'object' && holder !== null) || typeof holder === 'function'
  return isHolder ? (Reflect.get(holder, name) as unknown) : undefined
}

function notEffect(missing: string): BatonError {
  return new BatonError({
    code: 'invalid_tool',
    message: `fromEffect takes the Effect module first, 3.22 or newer or 4; the given value has no ${missing}`,
    hint: "Write import * as effect from 'effect', and fromEffect(effect, { … }).",
  })
}

function schemasOf3({ Schema, JSONSchema }: Schemas3): Schemas {
  return {
    describe: (schema) => {
      const definitions: Record<string, unknown> = {}
      const options = { definitions, topLevelReferenceStrategy: 'skip', target: 'jsonSchema2020-12' }
      return toRoot(JSONSchema.fromAST(read(schema, 'ast'), options), definitions)
    },
    decode: (schema, value) => Schema.standardSchemaV1(schema)['~standard'].validate(value),
    encode: (schema, value) => Schema.encodeUnknown(schema)(value),
  }
}

/** Effect 4 needs its JSON codec: a plain schema decodes a Date only from a Date. */
function schemasOf4({ Schema }: Schemas4): Schemas {
  return {
    describe: (schema) => {
      const { schema: root, definitions } = Schema.toJsonSchemaDocument(schema)
      return toRoot(root, definitions)
    },
    decode: (schema, value) => Schema.toStandardSchemaV1(Schema.toCodecJson(schema))['~standard'].validate(value),
    encode: (schema, value) => Schema.encodeUnknownEffect(Schema.toCodecJson(schema))(value),
  }
}

/**
 * Replaces a root that only references a definition by that definition, and an empty struct, which accepts anything, by
 * an empty object.
 */
function toRoot(root: object, definitions: object): JsonObject {
  const named = /^#\/\$defs\/(.+)$/.exec(String(read(root, '$ref')))?.[1]
  const meant = named === undefined ? root : read(definitions, decodeURIComponent(named))
  const copy: unknown = JSON.parse(JSON.stringify(meant ?? root))
  const described = isJsonObject(copy) ? copy : {}
  if (Object.keys(definitions).length > 0)
    return { ...described, $defs: JSON.parse(JSON.stringify(definitions)) as JsonObject } // serialized above
  return takesAnyObject(described) ? { type: 'object', properties: {}, additionalProperties: false } : described
}

/** How Effect 3 and Effect 4 describe a struct without fields. */
const EMPTY_STRUCTS: readonly string[] = ['{"anyOf":[{"type":"object"},{"type":"array"}]}', '{"not":{"type":"null"}}']

function takesAnyObject(described: JsonObject): boolean {
  const said = Object.entries(described).filter(([key]) => !ABOUT.has(key))
  return EMPTY_STRUCTS.includes(JSON.stringify(Object.fromEntries(said)))
}

const ABOUT: ReadonlySet<string> = new Set(['$id', 'title', 'description'])
