// Sources of an answer, as providers report them: the pages and documents that its text cites.
import type { JsonValue, SourcePart } from '@baton/core'

export type FoundSource = Omit<SourcePart, 'type' | 'id'>

/** Sources of one answer; further ones are left out. */
const SOURCES_MAX = 200

/** As parts of an answer, each once: the same page with other words is another source. */
export function listSources(found: readonly FoundSource[]): readonly SourcePart[] {
  const distinct = new Map(found.filter(isTelling).map((one) => [JSON.stringify([one.url, one.title, one.quote]), one]))
  return [...distinct.values()]
    .slice(0, SOURCES_MAX)
    .map((one, index) => ({ type: 'source', id: `source-${index + 1}`, ...one }))
}

function isTelling({ url, title }: FoundSource): boolean {
  return url !== undefined || title !== undefined
}

/** From fields that a stranger filled in: those that are texts, and say something. */
export function readSource(fields: {
  readonly url?: JsonValue | undefined
  readonly title?: JsonValue | undefined
  readonly quote?: JsonValue | undefined
}): FoundSource {
  const entries = Object.entries(fields).filter(([, value]) => typeof value === 'string' && value !== '')
  return Object.fromEntries(entries) as FoundSource // of texts, as filtered
}
