// A typed answer whose schema a provider's strict dialect would forbid in part is asked for in words: the provider would keep
// the model from values that are legal. The answer is checked in any case.
import type { JsonObject, ModelRequest } from '@baton/core'
import type { SchemaLimits } from '../traits/model-traits.ts'
import type { CompileSchema } from './compile-schema.ts'
import { compileSchema } from './compile-schema.ts'
import type { DialectName } from './dialects.ts'
import { exceedsLimits } from './strict-limits.ts'

const IN_WORDS =
  'Your final answer must be one JSON value and nothing else, no code block. It must fit this JSON Schema:'

/** The request as it is where the dialect can say the answer's schema, else with the schema in its instructions. */
export function withSayableOutput(
  request: ModelRequest,
  dialect: DialectName,
  compile: CompileSchema = compileSchema,
  limits?: SchemaLimits,
): ModelRequest {
  const { output } = request
  return output && !isSayable(output.schema, dialect, compile, limits) ? withOutputInWords(request) : request
}

/** Whether the dialect can say the schema, and the provider takes it at its size. */
export function isSayable(
  schema: JsonObject,
  dialect: DialectName,
  compile: CompileSchema = compileSchema,
  limits?: SchemaLimits,
): boolean {
  return !isNarrowed(schema, dialect, compile) && !(limits && exceedsLimits(compile(schema, dialect).schema, limits))
}

/** The request with its answer's schema in its instructions, where it has one. */
export function withOutputInWords(request: ModelRequest): ModelRequest {
  const { output, ...rest } = request
  if (!output) return request
  const asked = `${IN_WORDS}\n${JSON.stringify(output.schema)}`
  return { ...rest, instructions: [rest.instructions, asked].filter((part) => part.trim() !== '').join('\n\n') }
}

/** Whether the dialect forbids values that the schema allows; a property that is told in words alone cannot be given, either. */
export function isNarrowed(
  schema: NonNullable<ModelRequest['output']>['schema'],
  dialect: DialectName,
  compile: CompileSchema = compileSchema,
): boolean {
  return compile(schema, dialect).losses.some(
    ({ keyword, how }) => how === 'narrowed' || how === 'degraded' || keyword.startsWith('properties.'),
  )
}
