// Positions on a terminal of the characters of a text that is being typed: rows, columns, and what a reader of the text calls
// one character. It writes nothing.
import stringWidth from 'string-width'

export interface Laid {
  /** Rows as they are shown, the prompt in the first. */
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
}

export interface LayoutInit {
  readonly prompt: string
  /** Begins the further lines of a message. */
  readonly continued: string
  readonly text: string
  /** UTF-16 units before the cursor. */
  readonly cursor: number
  readonly columns: number
}

const TAB = '    '

export function layOut({ prompt, continued, text, cursor, columns }: LayoutInit): Laid {
  const rows = breakPrompt(prompt, columns)
  let column = stringWidth(rows.at(-1) ?? '')
  let place: Laid['cursor'] | undefined
  const breakRow = (begin: string): void => {
    rows.push(begin)
    column = stringWidth(begin)
  }
  let at = 0
  for (const char of splitGraphemes(text)) {
    const shown = char === '\t' ? TAB : char
    const width = char === '\n' ? 0 : stringWidth(shown)
    if (column + width > columns) breakRow('')
    if (at === cursor) place = { row: rows.length - 1, column }
    if (char === '\n') breakRow(continued)
    else {
      rows[rows.length - 1] += shown
      column += width
      // The cursor of a terminal has no place behind its last column.
      if (column >= columns) breakRow('')
    }
    at += char.length
  }
  return { rows, cursor: place ?? { row: rows.length - 1, column } }
}

/** A question may be longer than a row; one that is not stays as it is, with its style. */
function breakPrompt(prompt: string, columns: number): string[] {
  if (stringWidth(prompt) < columns) return [prompt]
  return [...layOut({ prompt: '', continued: '', text: prompt, cursor: 0, columns }).rows]
}

/** Characters as people count them: a flag, a family and a letter with its accents are one each. */
export function splitGraphemes(text: string): readonly string[] {
  return [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment)
}

/** Offset at which the character before `cursor` begins. */
export function findPrevious(text: string, cursor: number): number {
  return cursor - (splitGraphemes(text.slice(0, cursor)).at(-1)?.length ?? 0)
}

/** Offset at which the character at `cursor` ends. */
export function findNext(text: string, cursor: number): number {
  return cursor + (splitGraphemes(text.slice(cursor, cursor + GRAPHEME_CHARS_MAX))[0]?.length ?? 0)
}

const GRAPHEME_CHARS_MAX = 100
