// Finds text that a file contains with different quotes, spaces, tabs, dashes or Unicode forms, since models tend to
// write their usual forms rather than those in the file.
import { compose } from './text-bytes.ts'

export interface NearPlace {
  /** Offsets in the text. */
  readonly start: number
  readonly end: number
}

/** Whitespace, line ends, invisible characters, and letters with their marks: each has one plain form or none. */
const PIECES = /[^\S\r\n]+|\r?\n|\r|[\u200B\u2060\uFEFF]+|\P{M}\p{M}*|\p{M}+/gu
const BLANKS = /^[^\S\r\n]+$/
const UNSEEN = /^[\u200B\u2060\uFEFF]+$/

const SAME: readonly (readonly [plain: string, kinds: RegExp])[] = [
  ["'", /^[‘’‚‛′＇]$/],
  ['"', /^[“”„‟″＂]$/],
  ['-', /^[‐‑‒–—―−]$/],
  ['...', /^…$/],
]

interface PlainText {
  readonly text: string
  /** For each character of `text`, its start in the original; at the end, the original's length. */
  readonly starts: readonly number[]
  readonly ends: readonly number[]
}

/** The places where `part` occurs in `text` when both are in plain form. */
export function findNear(text: string, part: string): readonly NearPlace[] {
  const plain = makePlain(text)
  const wanted = makePlain(part).text
  return findPlain(plain, wanted) ?? findPlain(plain, wanted.trimEnd()) ?? []
}

function findPlain({ text, starts, ends }: PlainText, wanted: string): readonly NearPlace[] | undefined {
  if (wanted.trim() === '') return undefined
  const places: NearPlace[] = []
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length))
    places.push({ start: starts[at] ?? 0, end: ends[at + wanted.length - 1] ?? 0 })
  return places.length > 0 ? places : undefined
}

/** Collapses runs of spaces, and removes those at the end of a line. */
function makePlain(original: string): PlainText {
  let text = ''
  const starts: number[] = []
  const ends: number[] = []
  const pieces = [...original.matchAll(PIECES)]
  for (const [index, { 0: piece, index: start }] of pieces.entries()) {
    const plain = plainOf(piece, pieces[index + 1]?.[0])
    for (let at = 0; at < plain.length; at += 1) {
      starts.push(start)
      ends.push(start + piece.length)
    }
    text += plain
  }
  return { text, starts, ends }
}

function plainOf(piece: string, next: string | undefined): string {
  // fast path for most characters
  if (piece.length === 1 && piece > ' ' && piece <= '~') return piece
  if (UNSEEN.test(piece)) return ''
  if (BLANKS.test(piece)) return next === '\n' || next === '\r\n' ? '' : ' '
  if (piece === '\r\n') return '\n'
  return SAME.find(([, kinds]) => kinds.test(piece))?.[0] ?? compose(piece)
}

/**
 * Adapts the new text's indentation to the place it replaces: where a line of the old text was indented differently in
 * the file, the new lines with the old text's indentation get the file's.
 */
export function indentLike(newText: string, oldText: string, found: string): string {
  const indents = new Map<string, string>()
  const lines = found.split(/\r?\n/)
  for (const [index, line] of oldText.split(/\r?\n/).entries()) {
    const there = lines[index]
    if (there === undefined || line.trim() === '') continue
    const [said, real] = [readIndent(line), readIndent(there)]
    if (!indents.has(said)) indents.set(said, real)
  }
  return newText
    .split('\n')
    .map((line) => {
      const said = readIndent(line)
      const real = indents.get(said)
      return real === undefined || line.trim() === '' ? line : real + line.slice(said.length)
    })
    .join('\n')
}

function readIndent(line: string): string {
  return /^[^\S\r\n]*/.exec(line)?.[0] ?? ''
}
