// Sources of an answer, as reported by providers: the pages and documents that its text cites.
import type { JsonValue, SourcePart } from '@baton/core/internal'

export type FoundSource = Omit<SourcePart, 'type' | 'id'>

/** Maximum sources per answer; the rest are dropped. */
const SOURCES_MAX = 200

/** Returns distinct sources as answer parts. The same page with another title or quote is a separate source. */
export function listSources(found: readonly FoundSource[]): readonly SourcePart[] {
  const distinct = new Map(found.filter(isTelling).map((one) => [JSON.stringify([one.url, one.title, one.quote]), one]))
  return [...distinct.values()]
    .slice(0, SOURCES_MAX)
    .map((one, index) => ({ type: 'source', id: `source-${index + 1}`, ...one }))
}

function isTelling({ url, title }: FoundSource): boolean {
  return url !== undefined || title !== undefined
}

/** Builds a source from untrusted fields, keeping only non-empty strings. */
export function readSource(fields: {
  readonly url?: JsonValue | undefined
  readonly title?: JsonValue | undefined
  readonly quote?: JsonValue | undefined
}): FoundSource {
  const entries = Object.entries(fields).filter(([, value]) => typeof value === 'string' && value !== '')
  return Object.fromEntries(entries) as FoundSource // only strings, as filtered
}
