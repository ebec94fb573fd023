// Warns a program once about what is dropped or unchecked in a schema. The schema is still used: it may come from
// elsewhere.
import type { SchemaFault } from '../schema/read-schema.ts'

/** Maximum faults to report per schema. */
const TOLD_MAX = 10

export function listWarnings(faults: readonly SchemaFault[]): readonly string[] {
  const told = faults.map(({ path, message }) => (path === '' ? message : `${shorten(path)}: ${message}`))
  const distinct = [...new Set(told)]
  if (distinct.length <= TOLD_MAX) return distinct
  return [...distinct.slice(0, TOLD_MAX - 1), `and ${distinct.length - TOLD_MAX + 1} more`]
}

/** Maximum characters of a path. */
const PATH_CHARS = 120

function shorten(path: string): string {
  return path.length <= PATH_CHARS ? path : `…${path.slice(-PATH_CHARS)}`
}

/**
 * Emits a process warning if the platform has them, because a definition has no log. Node writes it to standard error.
 */
export function warnOfSchema(what: string, warnings: readonly string[] = []): void {
  if (warnings.length === 0) return
  const { process } = globalThis as { readonly process?: { emitWarning?: (text: string, options: object) => void } }
  process?.emitWarning?.(`${what}: its schema is checked only in part: ${warnings.join('; ')}`, {
    type: 'BatonWarning',
    code: 'invalid_schema',
  })
}
