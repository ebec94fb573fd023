// Positions on a terminal of the characters in a text being typed: rows, columns, and grapheme boundaries. It writes
// nothing.
import stringWidth from 'string-width'

export interface Laid {
  /** Rows as shown, starting with the prompt. */
  readonly rows: readonly string[]
  readonly cursor: { readonly row: number; readonly column: number }
}

export interface LayoutOptions {
  readonly prompt: string
  /** Prefix of a message's further lines. */
  readonly continued: string
  readonly text: string
  /** UTF-16 units before the cursor. */
  readonly cursor: number
  readonly columns: number
}

const TAB = '    '

export function layOut({ prompt, continued, text, cursor, columns }: LayoutOptions): Laid {
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
      // A terminal's cursor cannot be placed after its last column.
      if (column >= columns) breakRow('')
    }
    at += char.length
  }
  return { rows, cursor: place ?? { row: rows.length - 1, column } }
}

/** A question may be longer than a row; a shorter one is kept as is, with its style. */
function breakPrompt(prompt: string, columns: number): string[] {
  if (stringWidth(prompt) < columns) return [prompt]
  return [...layOut({ prompt: '', continued: '', text: prompt, cursor: 0, columns }).rows]
}

/** Characters as people count them: a flag, a family emoji and an accented letter are one each. */
export function splitGraphemes(text: string): readonly string[] {
  return [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)].map(({ segment }) => segment)
}

/** Offset where the character before `cursor` begins. */
export function findPrevious(text: string, cursor: number): number {
  return cursor - (splitGraphemes(text.slice(0, cursor)).at(-1)?.length ?? 0)
}

/** Offset where the character at `cursor` ends. */
export function findNext(text: string, cursor: number): number {
  return cursor + (splitGraphemes(text.slice(cursor, cursor + GRAPHEME_CHARS_MAX))[0]?.length ?? 0)
}

const GRAPHEME_CHARS_MAX = 100
