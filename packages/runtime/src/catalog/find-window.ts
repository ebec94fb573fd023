// The context window of an agent whose candidates have different ones.
import type { Logger, Model } from '@baton/core/internal'

/** Models to warn about, so a program that makes up names is not warned forever. */
const ASSUMED_MAX = 1000

/**
 * The smallest of the candidates' windows, so that a fallback can continue the conversation. Warns once per unknown
 * model.
 */
export function findWindow(
  models: readonly string[],
  modelOf: (id: string) => Model,
  { log, told }: { readonly log: Logger; readonly told: Set<string> },
): number | undefined {
  const sizes = models.flatMap((id) => {
    try {
      const { contextTokens = [], assumedTraits, meantId } = modelOf(id).capabilities
      if (assumedTraits !== undefined && !told.has(id) && told.size < ASSUMED_MAX) {
        told.add(id)
        log.warn('the model is not in any table; it is treated like the newest known model of its family', {
          model: id,
          as: assumedTraits,
          ...(meantId !== undefined && { meant: meantId }),
        })
      }
      return contextTokens
    } catch {
      return [] // an unconfigured fallback fails when it is called, not before
    }
  })
  return sizes.length === 0 ? undefined : Math.min(...sizes)
}
