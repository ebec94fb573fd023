// Sequential replacements in a text, all or none. Works on strings only.
import type { NearPlace } from './near-text.ts'
import { findNear, indentLike } from './near-text.ts'
import { refused } from './refused.ts'
import { readLineEnds, withLineEnds } from './text-bytes.ts'

export interface TextEdit {
  /** Exact text to replace, including whitespace. */
  readonly oldText: string
  readonly newText: string
  /** Replace every occurrence; otherwise there must be exactly one. */
  readonly all?: boolean | undefined
}

export interface EditOptions {
  /** Whether an error may show lines of the text. */
  readonly shows: boolean
}

export interface EditedText {
  readonly text: string
  /** Number of places changed. */
  readonly replaced: number
  /**
   * Edits whose text the file has with different quotes, dashes, spaces or tabs, counted from 1, with the line of the
   * place.
   */
  readonly near: readonly NearEdit[]
}

export interface NearEdit {
  readonly edit: number
  readonly line: number
}

const SHOWN_LINES = 5
/** Maximum characters of a line in an error. */
const SHOWN_CHARS = 200

/**
 * Applies edits in order, each to the result of the previous one. If all lines of the text end in CRLF, or all in CR,
 * line ends of edits are converted to match. Text without an exact match is replaced if it has one match that differs
 * only in quotes, dashes, spaces or tabs.
 * @throws BatonError `tool_failed` if the text of an edit does not occur, or occurs more than once; the message names
 * the edit
 */
export function applyEdits(text: string, edits: readonly TextEdit[], { shows }: EditOptions): EditedText {
  const ends = readLineEnds(text)
  let edited = text
  let replaced = 0
  const near: NearEdit[] = []
  for (const [index, edit] of edits.entries()) {
    const oldText = withLineEnds(edit.oldText, ends)
    const newText = withLineEnds(edit.newText, ends)
    const places = findPlaces(edited, oldText)
    const name = edits.length === 1 ? 'the text to replace' : `the text to replace in edit ${index + 1}`
    if (oldText === newText)
      throw refused('invalid_arguments', `${name} and the new text are the same; nothing was changed`)
    if (places.length > 1 && edit.all !== true)
      throw refused(
        'tool_failed',
        `${name} occurs ${describePlaces(edited, places)}; nothing was changed. Include more of the surrounding lines, or set all: true`,
      )
    if (places.length > 0) edited = edited.split(oldText).join(newText)
    else {
      const place = findOne(edited, oldText, { name, shows })
      near.push({ edit: index + 1, line: countLines(edited, place.start) })
      edited = replaceNear(edited, place, { oldText, newText })
    }
    replaced += Math.max(1, places.length)
  }
  return { text: edited, replaced, near }
}

/** @throws BatonError `tool_failed`, with the nearest lines */
function findOne(text: string, part: string, { name, shows }: EditOptions & { readonly name: string }): NearPlace {
  const places = findNear(text, part)
  const [place] = places
  if (place && places.length === 1) return place
  if (!place)
    throw refused('tool_failed', `${name} does not occur in the file; nothing was changed. ${hint(text, part, shows)}`)
  const starts = places.map(({ start }) => start)
  throw refused(
    'tool_failed',
    `${name} does not occur exactly in the file; with other quotes or spaces it occurs ${describePlaces(text, starts)}. ` +
      `Nothing was changed. ${nameLines(text, countLines(text, place.start), { part, shows })}`,
  )
}

function replaceNear(text: string, { start, end }: NearPlace, { oldText, newText }: TextEdit): string {
  const found = text.slice(start, end)
  const indented = indentLike(newText, oldText, found)
  const ends = readLineEnds(found.includes('\n') ? found : text)
  return text.slice(0, start) + withLineEnds(indented, ends) + text.slice(end)
}

/** Offsets of non-overlapping occurrences. */
function findPlaces(text: string, part: string): readonly number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

function describePlaces(text: string, places: readonly number[]): string {
  const lines = places.slice(0, SHOWN_LINES).map((at) => countLines(text, at))
  const more = places.length > SHOWN_LINES ? ` and ${places.length - SHOWN_LINES} more` : ''
  return `${places.length} times, in lines ${lines.join(', ')}${more}`
}

function countLines(text: string, end: number): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

/** Shows the nearest lines, which start like the text, for example from before another edit. */
function hint(text: string, part: string, shows: boolean): string {
  const lines = part.split(/\r?\n/).map((line) => line.trim())
  const known = text.split(/\r?\n/).map((line) => line.trim())
  if (lines.every((line) => line === '')) return 'It is only whitespace: include lines around it'
  const wanted = lines.filter((line) => line !== '')
  const at =
    wanted.map((line) => known.indexOf(line)).find((line) => line !== -1) ?? findSimilar(known, wanted[0] ?? '')
  if (at === undefined) return 'Read the file again with content.get_span'
  return `${nameLines(text, at + 1, { part, shows })}; read the file again`
}

/** The line that shares the most words with this one, at least half of them. */
function findSimilar(known: readonly string[], wanted: string): number | undefined {
  const words = new Set(wanted.match(/[\p{L}\p{N}_]+/gu))
  if (words.size < 2) return undefined
  let best: number | undefined
  let most = words.size / 2 - 1
  for (const [at, line] of known.entries()) {
    const shared = [...new Set(line.match(/[\p{L}\p{N}_]+/gu))].filter((word) => words.has(word)).length
    if (shared <= most) continue
    most = shared
    best = at
  }
  return best !== undefined && most >= words.size / 2 ? best : undefined
}

/** Shows the same number of lines as the text, starting from this one. */
function nameLines(text: string, line: number, { part, shows }: EditOptions & { readonly part: string }): string {
  const where = `The nearest lines start at line ${line}`
  if (!shows) return where
  const shown = text
    .split(/\r?\n/)
    .slice(line - 1, line - 1 + Math.min(SHOWN_LINES, part.split('\n').length))
    .map((one) => (one.length > SHOWN_CHARS ? `${one.slice(0, SHOWN_CHARS)}…` : one))
  return `${where}: ${JSON.stringify(shown.join('\n'))}`
}
