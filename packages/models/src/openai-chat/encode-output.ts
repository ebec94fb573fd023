// The schema of an answer as both of OpenAI's APIs take it: kept to by the provider where its strict dialect can say the
// schema, a hint to the model where it cannot. Baton checks the answer against the whole schema in any case.
import type { JsonObject, ModelRequest } from '@baton/core'
import type { CompileSchema } from '../schema/compile-schema.ts'
import { compileSchema } from '../schema/compile-schema.ts'
import { isSayable } from '../schema/sayable-output.ts'
import type { SchemaLimits } from '../traits/model-traits.ts'
import { encodeToolName } from '../tool-names.ts'

export interface OutputSchema {
  readonly name: string
  readonly schema: JsonObject
  readonly strict: boolean
}

/** Optional values are null in strict answers, which Baton reads as left out. */
export function encodeOutputSchema(
  { name, schema }: NonNullable<ModelRequest['output']>,
  compile: CompileSchema = compileSchema,
  limits?: SchemaLimits,
): OutputSchema {
  // 400 "Invalid 'text.format.name': … Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'", at most 64.
  const wireName = encodeToolName(name)
  if (isSayable(schema, 'openai-strict', compile, limits))
    return { name: wireName, schema: compile(schema, 'openai-strict').schema, strict: true }
  return { name: wireName, schema: compile(schema, 'openai').schema, strict: false }
}
