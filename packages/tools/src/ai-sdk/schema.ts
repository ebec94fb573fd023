// Schemas of AI SDK tools as schemas of Baton: Zod 3 and 4, jsonSchema() of each version, lazy schemas, and Standard Schemas.
import type { JsonObject, Schema, SchemaIssue, SchemaResult, StandardSchema } from '@baton/core'
import { BatonError, describeValue, isJsonObject, isStandardSchema } from '@baton/core'
import { toJSONSchema } from 'zod'
import type { ZodType } from 'zod'
import { zodToJsonSchema } from 'zod-to-json-schema'

/** Marks what `jsonSchema()`, `zodSchema()` and `asSchema()` of every version return. */
const WRAPPED = Symbol.for('vercel.ai.schema')

const NOTHING: JsonObject = { type: 'object', properties: {}, additionalProperties: false }

/**
 * A missing schema counts as an object without fields.
 * @throws BatonError `invalid_schema`
 */
export function readAiSdkSchema(what: string, given: unknown): Schema {
  const isLazy = typeof given === 'function' && !('~standard' in given)
  const schema: unknown = isLazy ? (given as () => unknown)() : given // lazySchema() of version 6 and newer takes nothing
  if (schema === undefined || schema === null) return NOTHING
  if (!isHolder(schema)) throw noSchema(what)
  if (WRAPPED in schema) return readWrapped(what, schema as Wrapped) // by its mark
  if (isZod3(schema)) return readZod3(schema)
  if ('_zod' in schema) return readZod4(schema)
  if ('~standard' in schema) return schema as unknown as StandardSchema // core asks whether it can describe itself
  if (isJsonObject(schema)) return giveType(schema)
  throw noSchema(what)
}

/** Decodes a value with a schema of Baton. @throws BatonError `tool_failed` if the value does not fit */
export async function decodeBy(what: string, schema: Schema, value: unknown): Promise<unknown> {
  if (!isStandardSchema(schema)) return value
  const result = await schema['~standard'].validate(value)
  if (!result.issues) return result.value
  const issues = result.issues.map(({ message }) => message).join('; ')
  throw new BatonError({ code: 'tool_failed', message: `${what} does not fit its schema: ${issues}`.slice(0, 2000) })
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
      hint: 'Wait for it first: inputSchema: jsonSchema(await schema.jsonSchema, { validate: schema.validate }).',
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
  // As in the AI SDK, without references: some providers refuse them. The types want a class of the library's own copy of Zod 3.
  const describe = (): JsonObject =>
    zodToJsonSchema(schema as unknown as Parameters<typeof zodToJsonSchema>[0], { $refStrategy: 'none' }) as JsonObject
  return createStandard('zod', describe, async (value) => {
    const result = await schema.safeParseAsync(value)
    return result.success ? { value: result.data } : { issues: readIssues(result.error) }
  })
}

/** Zod describes itself from 4.2 on; the Zod of this kit reads schemas of 4.0 and 4.1. */
function readZod4(schema: object): Schema {
  const standard = schema as StandardSchema // every Zod 4 is one
  if (standard['~standard'].jsonSchema) return standard
  const describe = (): JsonObject => toJSONSchema(schema as ZodType, { io: 'input' }) as JsonObject // it looks only at `_zod`
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

/** Some schemas give only their properties. */
function giveType(schema: JsonObject): JsonObject {
  const says = ['type', '$ref', 'anyOf', 'oneOf', 'allOf'].some((keyword) => keyword in schema)
  return says ? schema : { type: 'object', ...schema }
}

/** Errors of Zod hold their issues; errors of the AI SDK hold them in their cause. */
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
    message: typeof message === 'string' ? message : 'it is wrong',
    ...(Array.isArray(path) && { path: path.map((step: unknown) => (typeof step === 'number' ? step : String(step))) }),
  }
}

function noSchema(what: string): BatonError {
  return new BatonError({
    code: 'invalid_schema',
    message: `${what}: this is not a schema that the AI SDK accepts`,
    hint: 'Give a schema of Zod 3 or 4, a Standard Schema that describes itself, or jsonSchema(…).',
  })
}

function isHolder(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}
