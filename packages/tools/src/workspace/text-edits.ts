// Exact replacements in a text, one after the other, all or none. It knows no files.
import { refused } from './refused.ts'

export interface TextEdit {
  /** As it stands in the text, with all its whitespace. */
  readonly oldText: string
  readonly newText: string
  /** Every place; otherwise there must be exactly one. */
  readonly all?: boolean | undefined
}

export interface EditedText {
  readonly text: string
  /** Places that changed. */
  readonly replaced: number
}

const SHOWN_LINES = 5

/**
 * Edits see what the ones before them made. In a text whose lines all end in CRLF, the line ends of edits count as CRLF.
 * @throws BatonError `tool_failed` for an edit whose text is not there, or is there more than once; the message says which edit
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): EditedText {
  const toLineEnds = hasOnlyCrLf(text) ? (part: string) => part.replaceAll(/\r?\n/g, '\r\n') : (part: string) => part
  let edited = text
  let replaced = 0
  for (const [index, edit] of edits.entries()) {
    const oldText = toLineEnds(edit.oldText)
    const newText = toLineEnds(edit.newText)
    const places = findPlaces(edited, oldText)
    const name = edits.length === 1 ? 'the text to replace' : `the text to replace of edit ${index + 1}`
    if (places.length === 0)
      throw refused('tool_failed', `${name} is not in the file; nothing was changed. ${hint(edited, oldText)}`)
    if (places.length > 1 && edit.all !== true)
      throw refused(
        'tool_failed',
        `${name} is in the file ${tellPlaces(edited, places)}; nothing was changed. Give more of the lines around it, or say all: true`,
      )
    if (oldText === newText)
      throw refused('invalid_arguments', `${name} and the new text are the same; nothing was changed`)
    edited = edited.split(oldText).join(newText)
    replaced += places.length
  }
  return { text: edited, replaced }
}

function hasOnlyCrLf(text: string): boolean {
  return text.includes('\r\n') && !/(^|[^\r])\n/.test(text)
}

/** Offsets of places that do not overlap. */
function findPlaces(text: string, part: string): readonly number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

function tellPlaces(text: string, places: readonly number[]): string {
  const lines = places.slice(0, SHOWN_LINES).map((at) => countLines(text, at))
  const more = places.length > SHOWN_LINES ? ` and ${places.length - SHOWN_LINES} more` : ''
  return `${places.length} times, in the lines ${lines.join(', ')}${more}`
}

function countLines(text: string, end: number): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

/** Names a model's most frequent mistakes: whitespace, and lines that it remembers from before another edit. */
function hint(text: string, part: string): string {
  const lines = part.split(/\r?\n/).map((line) => line.trim())
  const first = lines.find((line) => line !== '')
  if (first === undefined) return 'It is only blanks: give lines around them'
  const known = text.split(/\r?\n/).map((line) => line.trim())
  const start = known.findIndex((_, at) => lines.every((line, offset) => known[at + offset] === line))
  if (start !== -1) return `Line ${start + 1} has it with other blanks: copy them exactly`
  const at = known.indexOf(first)
  return at === -1
    ? 'Read the file again with content.get_span'
    : `Its first line is line ${at + 1}, and what follows there differs: read the file again`
}
