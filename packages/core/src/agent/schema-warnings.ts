// Tells a program once what of a schema is left out or not checked. Such a schema is used all the same: it may come from elsewhere.
import type { SchemaFault } from '../schema/read-schema.ts'

/** Faults of one schema that are told. */
const TOLD_MAX = 10

export function listWarnings(faults: readonly SchemaFault[]): readonly string[] {
  const told = faults.map(({ path, message }) => (path === '' ? message : `${shorten(path)}: ${message}`))
  const distinct = [...new Set(told)]
  if (distinct.length <= TOLD_MAX) return distinct
  return [...distinct.slice(0, TOLD_MAX - 1), `and ${distinct.length - TOLD_MAX + 1} more`]
}

/** Characters of a place. */
const PATH_CHARS = 120

function shorten(path: string): string {
  return path.length <= PATH_CHARS ? path : `…${path.slice(-PATH_CHARS)}`
}

/** A warning of the process, where there is one: a definition has no log. Node writes it to standard error. */
export function warnOfSchema(what: string, warnings: readonly string[] = []): void {
  if (warnings.length === 0) return
  const { process } = globalThis as { readonly process?: { emitWarning?: (text: string, options: object) => void } }
  process?.emitWarning?.(`${what}: its schema is not checked whole: ${warnings.join('; ')}`, {
    type: 'BatonWarning',
    code: 'invalid_schema',
  })
}
