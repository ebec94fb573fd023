// Caches shared parts of a model's requests, so that a step costs only what is new: the history, its text, the tools.
import type { JsonObject } from '@baton/core'
import type { Histories } from './histories.ts'
import { createHistories } from './histories.ts'
import type { CompileSchema, CompiledSchema } from './schema/compile-schema.ts'
import { compileSchema } from './schema/compile-schema.ts'
import type { DialectName } from './schema/dialects.ts'
import type { FoundTraits } from './traits/find-traits.ts'
import { createPrefixCache } from './prefix-cache.ts'

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

/** Like JSON.stringify, but with the list of messages at the end. */
type WriteRequest = <List extends string, Body extends { readonly [key in List]: readonly object[] }>(
  body: Body,
  list: List,
) => string

/**
 * Trailing messages that are never cached: the last one may continue, and both ends of the last step may carry a prompt
 * cache mark.
 */
const UNSETTLED = 3

function createWriteRequest(): WriteRequest {
  /** JSON of message lists, with a comma after each message. */
  const texts = createPrefixCache<object, string>()
  const readText = (messages: readonly object[]): string => {
    const settled = messages.slice(0, -UNSETTLED)
    const known = texts.take(settled)
    let text = known?.value ?? ''
    for (const message of settled.slice(known?.items.length ?? 0)) text += `${JSON.stringify(message)},`
    texts.keep({ items: settled, value: text })
    return (
      text +
      messages
        .slice(settled.length)
        .map((message) => JSON.stringify(message))
        .join(',')
    )
  }
  return (body, list) => {
    // JSON omits `undefined` values.
    const head = JSON.stringify({ ...body, [list]: undefined }).slice(0, -1)
    return `${head}${head === '{' ? '' : ','}${JSON.stringify(list)}:[${readText(body[list])}]}`
  }
}
