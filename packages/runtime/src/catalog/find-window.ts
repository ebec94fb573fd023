// The window of an agent: the smallest of its models', since a fallback must be able to go on.
import type { Logger, Model } from '@baton/core'

/** Models that are warned of; a program that makes up names is not warned for ever. */
const ASSUMED_MAX = 1000

/** The smallest of the candidates' windows: a fallback must be able to go on. Says once of which models little is known. */
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
        log.warn('a model is in no table; it is asked as the newest known of its family is', {
          model: id,
          as: assumedTraits,
          ...(meantId !== undefined && { meant: meantId }),
        })
      }
      return contextTokens
    } catch {
      return [] // a fallback that is not configured fails when it is asked, not before
    }
  })
  return sizes.length === 0 ? undefined : Math.min(...sizes)
}
