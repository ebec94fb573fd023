// Converts schemas of AI SDK tools to Baton schemas: Zod 3 and 4, jsonSchema() of each version, lazy schemas, and
// Standard Schemas.
import type { JsonObject, Schema, SchemaIssue, SchemaResult, StandardSchema } from '@baton/core/internal'
import { BatonError, describeValue, isJsonObject, isStandardSchema } from '@baton/core/internal'
import { toJSONSchema } from 'zod'
import type { ZodType } from 'zod'
import { zodToJsonSchema } from 'zod-to-json-schema'

/** Marks the return values of `jsonSchema()`, `zodSchema()` and `asSchema()` in every version. */
const WRAPPED = Symbol.for('vercel.ai.schema')

const NOTHING: JsonObject = { type: 'object', properties: {}, additionalProperties: false }

/**
 * A missing schema counts as an object without fields.
 * @throws BatonError `invalid_schema`
 */
export function readAiSdkSchema(what: string, given: unknown): Schema {
  const isLazy = typeof given === 'function' && !('~standard' in given)
  const schema: unknown = isLazy ? (given as () => unknown)() : given // takes no arguments in version 6 and later
  if (schema === undefined || schema === null) return NOTHING
  if (!isHolder(schema)) throw noSchema(what)
  if (WRAPPED in schema) return readWrapped(what, schema as Wrapped) // marked as wrapped
  if (isZod3(schema)) return readZod3(schema)
  if ('_zod' in schema) return readZod4(schema)
  if ('~standard' in schema) return schema as unknown as StandardSchema // core checks whether it can describe itself
  if (isJsonObject(schema)) return giveType(schema)
  throw noSchema(what)
}

/** Decodes a value with a Baton schema. @throws BatonError `tool_failed` if the value does not match */
export async function decodeBy(what: string, schema: Schema, value: unknown): Promise<unknown> {
  if (!isStandardSchema(schema)) return value
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return result.value
  const issues = result.issues.map(({ message }) => message).join('; ')
  throw new BatonError({ code: 'tool_failed', message: `${what} does not match its schema: ${issues}`.slice(0, 2000) })
}

interface Wrapped {
  readonly jsonSchema?: unknown
  readonly validate?: (value: unknown) => WrappedResult | PromiseLike<WrappedResult>
}

type WrappedResult =
  { readonly success: true; readonly value: unknown } | { readonly success: false; readonly error: unknown }

function readWrapped(what: string, wrapped: Wrapped): Schema {
  const described = wrapped.jsonSchema
  if (isHolder(described) && 'then' in described) {
    void Promise.resolve(described).catch(() => undefined) // the error below reports it
    throw new BatonError({
      code: 'invalid_schema',
      message: `${what}: its JSON Schema is a promise`,
      hint: 'Await it first: inputSchema: jsonSchema(await schema.jsonSchema, { validate: schema.validate }).',
    })
  }
  if (!isJsonObject(described)) throw noSchema(what)
  const root = giveType(described)
  const { validate } = wrapped
  if (!validate) return root
  return createStandard(
    'ai-sdk',
    () => root,
    async (value) => {
      const result = await validate(value)
      return result.success ? { value: result.value } : { issues: readIssues(result.error) }
    },
  )
}

interface Zod3 {
  readonly _def: { readonly typeName: string }
  readonly safeParseAsync: (
    value: unknown,
  ) => Promise<
    { readonly success: true; readonly data: unknown } | { readonly success: false; readonly error: unknown }
  >
}

function isZod3(schema: object): schema is Zod3 {
  const definition: unknown = Reflect.get(schema, '_def')
  return isHolder(definition) && typeof Reflect.get(definition, 'typeName') === 'string' && 'safeParseAsync' in schema
}

function readZod3(schema: Zod3): Schema {
  // Without references, as in the AI SDK, since some providers reject them. The cast bridges to the library's own copy
  // of Zod 3.
  const describe = (): JsonObject =>
    zodToJsonSchema(schema as unknown as Parameters<typeof zodToJsonSchema>[0], { $refStrategy: 'none' }) as JsonObject
  return createStandard('zod', describe, async (value) => {
    const result = await schema.safeParseAsync(value)
    return result.success ? { value: result.data } : { issues: readIssues(result.error) }
  })
}

/** Zod describes itself since 4.2; this package's Zod reads schemas of 4.0 and 4.1. */
function readZod4(schema: object): Schema {
  const standard = schema as StandardSchema // every Zod 4 schema is one
  if (standard['~standard'].jsonSchema) return standard
  const describe = (): JsonObject => toJSONSchema(schema as ZodType, { io: 'input' }) as JsonObject // reads only `_zod`
  return createStandard('zod', describe, (value) => standard['~standard'].validate(value))
}

function createStandard(
  vendor: string,
  describe: () => JsonObject,
  validate: (value: unknown) => SchemaResult<unknown> | Promise<SchemaResult<unknown>>,
): StandardSchema {
  const describeCopy = (): Record<string, unknown> => ({ ...describe() })
  return { '~standard': { version: 1, vendor, validate, jsonSchema: { input: describeCopy, output: describeCopy } } }
}

/** Adds the type to schemas that only have properties. */
function giveType(schema: JsonObject): JsonObject {
  const says = ['type', '$ref', 'anyOf', 'oneOf', 'allOf'].some((keyword) => keyword in schema)
  return says ? schema : { type: 'object', ...schema }
}

/** Zod errors hold their issues directly; AI SDK errors hold them in their cause. */
function readIssues(error: unknown): readonly SchemaIssue[] {
  for (const holder of [error, isHolder(error) ? Reflect.get(error, 'cause') : undefined]) {
    const issues: unknown = isHolder(holder) ? Reflect.get(holder, 'issues') : undefined
    if (Array.isArray(issues) && issues.length > 0) return issues.map(readIssue)
  }
  return [{ message: error instanceof Error ? error.message : describeValue(error) }]
}

function readIssue(issue: unknown): SchemaIssue {
  if (!isHolder(issue)) return { message: String(issue) }
  const message: unknown = Reflect.get(issue, 'message')
  const path: unknown = Reflect.get(issue, 'path')
  return {
    message: typeof message === 'string' ? message : 'it is invalid',
    ...(Array.isArray(path) && { path: path.map((step: unknown) => (typeof step === 'number' ? step : String(step))) }),
  }
}

function noSchema(what: string): BatonError {
  return new BatonError({
    code: 'invalid_schema',
    message: `${what}: this is not a schema that the AI SDK accepts`,
    hint: 'Use a schema of Zod 3 or 4, a Standard Schema that describes itself, or jsonSchema(…).',
  })
}

function isHolder(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
