// Warns about tools whose schema a model's provider cannot fully express. The request is unaffected: only that tool's
// schema is degraded, and results are checked against the original.
import type { JsonObject, Logger, Model } from '@baton/core'
import { compileSchema } from './compile-schema.ts'
import type { DialectName, SchemaLoss } from './dialects.ts'

/** Maximum losses listed in a warning. */
const SHOWN_MAX = 5

/**
 * Wraps a model so that it warns once for each tool whose schema it cannot fully express. Losses that only allow the
 * model more are not reported, because Baton's check catches invalid values.
 */
export function createSchemaWarnings(log: Logger): (model: Model) => Model {
  const known = new WeakMap<Model, Model>()
  return (model) => {
    const before = known.get(model)
    if (before) return before
    const warning = withWarnings(model, log)
    known.set(model, warning)
    return warning
  }
}

function withWarnings(model: Model, log: Logger): Model {
  const dialect = chooseDialect(model)
  const seen = new WeakSet<JsonObject>()
  return {
    ...model,
    run: (request, sink, signal) => {
      for (const { name, inputSchema } of request.tools) {
        if (seen.has(inputSchema)) continue
        seen.add(inputSchema)
        warn(log, { tool: name, model: model.id, losses: compileSchema(inputSchema, dialect).losses })
      }
      return model.run(request, sink, signal)
    },
  }
}

interface Compiled {
  readonly tool: string
  readonly model: string
  readonly losses: readonly SchemaLoss[]
}

function warn(log: Logger, { tool, model, losses }: Compiled): void {
  const severe = losses.filter(({ how }) => how === 'narrowed' || how === 'invalid' || how === 'degraded')
  if (severe.length === 0) return
  const lost = severe.slice(0, SHOWN_MAX).map(({ path, keyword, how }) => `${path || 'root'}: ${keyword} (${how})`)
  log.warn('the schema of a tool cannot be fully expressed to a model', { tool, model, lost, losses: severe.length })
}

function chooseDialect({ provider, id }: Model): DialectName {
  if (provider === 'bedrock') return id.includes('nova') ? 'nova' : id.includes('claude') ? 'anthropic' : 'bedrock'
  return provider === 'anthropic' || provider === 'gemini' || provider === 'gguf' ? provider : 'openai'
}
