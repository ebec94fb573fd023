// Encodes an output schema for both of OpenAI's APIs: enforced by the provider if its strict dialect can express the
// schema, otherwise a hint to the model. Baton checks the answer against the full schema either way.
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

/** Optional values are null in strict answers, which Baton reads as omitted. */
export function encodeOutputSchema(
  { name, schema }: NonNullable<ModelRequest['output']>,
  compile: CompileSchema = compileSchema,
  limits?: SchemaLimits,
): OutputSchema {
  // 400 "Invalid 'text.format.name': … Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'", at most 64
  // characters.
  const wireName = encodeToolName(name)
  if (isSayable(schema, 'openai-strict', compile, limits))
    return { name: wireName, schema: compile(schema, 'openai-strict').schema, strict: true }
  return { name: wireName, schema: compile(schema, 'openai').schema, strict: false }
}
