// Finds the format mark that is, or may become, the end of the held-back text.
import type { Head, Mark, PromptedFormat } from './format.ts'
import { readThoughtTag } from './thought-tags.ts'

export type Found =
  | { readonly type: 'none' }
  | { readonly type: 'maybe' }
  /** Meaningless text. */
  | { readonly type: 'stray' }
  | { readonly type: 'thought-end' }
  | { readonly type: 'mark'; readonly mark: Mark }
  | { readonly type: 'head'; readonly head: Head }
  /** A thought within the text. */
  | { readonly type: 'thought'; readonly kind: string }

export interface MarkPlace {
  readonly isLineStart: boolean
  readonly isAfterCall: boolean
}

export interface MarkFinder {
  find(tail: string, place: MarkPlace): Found
  /** Whether any mark begins with this character. */
  mayBegin(char: string): boolean
}

interface Candidate {
  readonly open: string
  readonly found: Found
  readonly isThere?: (place: MarkPlace) => boolean
}

export function createMarkFinder({ marks, head, strays = [] }: PromptedFormat): MarkFinder {
  const candidates: readonly Candidate[] = [
    ...marks.map((mark): Candidate => {
      const found: Found = { type: 'mark', mark }
      return { open: mark.open, found, ...(mark.isFence && { isThere: ({ isLineStart }: MarkPlace) => isLineStart }) }
    }),
    ...(head?.open ?? []).map((open): Candidate => ({ open, found: { type: 'head', head: head as Head } })), // it is non-empty
    ...(head?.close ?? []).map((open): Candidate => ({ open, found: { type: 'stray' } })),
    ...strays.map((open): Candidate => ({ open, found: { type: 'stray' }, isThere: ({ isAfterCall }) => isAfterCall })),
  ]
  const firsts = new Set(['<', '[', ...candidates.map(({ open }) => open[0])])
  return {
    mayBegin: (char) => firsts.has(char),
    find: (tail, place) => {
      const tag = readThoughtTag(tail)
      if (typeof tag === 'object') return tag.isClosing ? { type: 'thought-end' } : { type: 'thought', kind: tag.kind }
      let found: Found = { type: tag ?? 'none' }
      for (const { open, found: known, isThere } of candidates) {
        if (!open.startsWith(tail) || isThere?.(place) === false) continue
        if (open.length === tail.length) return known
        found = { type: 'maybe' }
      }
      return found
    },
  }
}
