// Wraps streamed text to a terminal's width: words stay whole if they fit, and indents are kept.
import stringWidth from 'string-width'

export interface WordWrap {
  push(piece: string): void
  /** Writes the pending word. */
  flush(): void
  /** Cells used in the current line. */
  column(): number
}

export interface WordWrapOptions {
  readonly write: (text: string) => void
  /** Cells of a line; called again for each word, since windows change size. */
  readonly columns: () => number
  /** Prefix of each line but the first. */
  readonly indent?: string
}

/** A longer word is written as it arrives. */
const WORD_CHARS_MAX = 1000
const TAB = '    '

export function createWordWrap({ write, columns, indent = '' }: WordWrapOptions): WordWrap {
  let column = 0
  let gap = ''
  let word = ''

  const flush = (): void => {
    if (word === '') return
    const width = stringWidth(word)
    const most = columns()
    if (column > indent.length && column + gap.length + width > most) {
      write(`\n${indent}`)
      column = indent.length
    } else {
      write(gap)
      column += gap.length
    }
    write(word)
    column = column + width > most ? (column + width) % most : column + width
    gap = ''
    word = ''
  }

  const pushChar = (char: string): void => {
    if (char === '\n') {
      flush()
      write(`\n${indent}`)
      column = indent.length
      gap = ''
    } else if (char === ' ' || char === '\t') {
      flush()
      gap += char === '\t' ? TAB : char
    } else if (stringWidth(char) === 2) {
      // Scripts without spaces may be broken anywhere.
      flush()
      word = char
      flush()
    } else {
      word += char
      if (word.length > WORD_CHARS_MAX) flush()
    }
  }

  return {
    push: (piece) => {
      for (const char of piece) pushChar(char)
    },
    flush,
    column: () => column,
  }
}
