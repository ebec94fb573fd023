// The default log of a host: silent except for sources without tools, whose reason a program would have to search for.
import type { Logger } from '@baton/core/internal'

/** Maximum sources to report: a program may make one for each session. */
const SOURCES_MAX = 20

/**
 * Emits one process warning for each source that lists no tools, if the platform has them. Node writes it to standard
 * error.
 */
export function createDefaultLog(): Logger {
  const told = new Set<string>()
  return {
    info: () => {},
    warn: (message, { source, cause } = {}) => {
      if (message !== 'a tool source lists no tools' || typeof source !== 'string' || typeof cause !== 'string') return
      if (told.has(source) || told.size >= SOURCES_MAX) return
      told.add(source)
      const { process } = globalThis as { readonly process?: { emitWarning?: (text: string, options: object) => void } }
      process?.emitWarning?.(`the source "${source}" lists no tools: ${cause}`, {
        type: 'BatonWarning',
        code: 'source_without_tools',
        detail: 'Give the host a log to read of every failure.',
      })
    },
  }
}
