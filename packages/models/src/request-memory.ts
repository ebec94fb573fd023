// Caches shared parts of a model's requests, so that a step costs only what is new: the history, its text, the tools.
import type { JsonObject } from '@baton/core'
import type { Histories } from './histories.ts'
import { createHistories } from './histories.ts'
import type { WriteRequest } from './request-text.ts'
import { createWriteRequest } from './request-text.ts'
import type { CompileSchema, CompiledSchema } from './schema/compile-schema.ts'
import { compileSchema } from './schema/compile-schema.ts'
import type { DialectName } from './schema/dialects.ts'
import type { FoundTraits } from './traits/find-traits.ts'

export interface RequestMemory<Wire> {
  readonly histories: Histories<Wire>
  readonly write: WriteRequest
  /** Compiles each schema once; it must not be modified afterwards. */
  readonly compile: CompileSchema
  /** The model's row in the traits table, looked up for the first request. */
  readonly traits: (look: () => FoundTraits) => FoundTraits
}

export function createRequestMemory<Wire>(): RequestMemory<Wire> {
  const compiled = new WeakMap<JsonObject, Map<DialectName, CompiledSchema>>()
  let found: FoundTraits | undefined
  return {
    histories: createHistories(),
    write: createWriteRequest(),
    compile(schema, dialect) {
      const dialects = compiled.get(schema) ?? new Map<DialectName, CompiledSchema>()
      const known = dialects.get(dialect) ?? compileSchema(schema, dialect)
      compiled.set(schema, dialects.set(dialect, known))
      return known
    },
    traits: (look) => (found ??= look()),
  }
}
