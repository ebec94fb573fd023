// Puts the output schema into the instructions if a provider's strict dialect would forbid some of the values it
// allows. The answer is checked either way.
import type { JsonObject, ModelRequest } from '@baton/core'
import type { SchemaLimits } from '../traits/model-traits.ts'
import type { CompileSchema } from './compile-schema.ts'
import { compileSchema } from './compile-schema.ts'
import type { DialectName } from './dialects.ts'
import { exceedsLimits } from './strict-limits.ts'

const IN_WORDS =
  'Your final answer must be one JSON value and nothing else, not in a code block. It must match this JSON Schema:'

/**
 * Returns the request as is if the dialect can express the output schema, otherwise with the schema in its
 * instructions.
 */
export function withSayableOutput(
  request: ModelRequest,
  dialect: DialectName,
  compile: CompileSchema = compileSchema,
  limits?: SchemaLimits,
): ModelRequest {
  const { output } = request
  return output && !isSayable(output.schema, dialect, compile, limits) ? withOutputInWords(request) : request
}

/** Whether the dialect can express the schema and the provider accepts its size. */
export function isSayable(
  schema: JsonObject,
  dialect: DialectName,
  compile: CompileSchema = compileSchema,
  limits?: SchemaLimits,
): boolean {
  return !isNarrowed(schema, dialect, compile) && !(limits && exceedsLimits(compile(schema, dialect).schema, limits))
}

/** Moves the request's output schema, if any, into its instructions. */
export function withOutputInWords(request: ModelRequest): ModelRequest {
  const { output, ...rest } = request
  if (!output) return request
  const asked = `${IN_WORDS}\n${JSON.stringify(output.schema)}`
  return { ...rest, instructions: [rest.instructions, asked].filter((part) => part.trim() !== '').join('\n\n') }
}

/** Whether the dialect forbids values that the schema allows, including properties that are only described in words. */
export function isNarrowed(
  schema: NonNullable<ModelRequest['output']>['schema'],
  dialect: DialectName,
  compile: CompileSchema = compileSchema,
): boolean {
  return compile(schema, dialect).losses.some(
    ({ keyword, how }) => how === 'narrowed' || how === 'degraded' || keyword.startsWith('properties.'),
  )
}
