// The screen of a conversation: streamed answers, and one-line notes between them. On a terminal both are laid out to
// its width; elsewhere the answer is written as is. Text from models and tools never moves a terminal's cursor.
import stringWidth from 'string-width'
import { styleText } from 'node:util'
import { escapeControls } from './escape-controls.ts'
import { createMarkdownStream } from './markdown-stream.ts'
import { createWordWrap } from './word-wrap.ts'

export type Tone = 'plain' | 'dim' | 'good' | 'bad' | 'bold'

export interface Screen {
  /** Writes a piece of the answer. */
  text(piece: string): void
  /** Ends the answer's current line, if one is started. */
  endText(): void
  /**
   * Writes a note on its own line, however long; `tone` colours it. Wrapped lines are indented by `hang` spaces
   * (default: 2).
   */
  note(line: string, tone?: Tone, hang?: number): void
  /** Writes a note that is cut to one line, after `mark`. */
  brief(mark: string, line: string, tone?: Tone): void
  /** Writes text of several lines as is, without wrapping, so that it can be copied. */
  copy(text: string): void
  readonly isTerminal: boolean
}

export interface ScreenOptions {
  readonly writeText: (text: string) => void
  readonly writeNote: (text: string) => void
  /** The width of a terminal in cells; absent if there is none. */
  readonly columns?: () => number
  /** Whether notes have colours and a terminal shows the Markdown of answers; otherwise it stays as written. */
  readonly color: boolean
}

/** Cells of a cut note if there is no terminal. */
const BRIEF_CELLS = 120
const COLUMNS_LEAST = 20

export function createScreen({ writeText, writeNote, columns, color }: ScreenOptions): Screen {
  const width = (): number => Math.max(COLUMNS_LEAST, columns?.() ?? BRIEF_CELLS)
  const wrap = columns && createWordWrap({ write: writeText, columns: width })
  const verbatim = (text: string): void => {
    wrap?.flush()
    writeText(text)
  }
  const markdown = wrap && createMarkdownStream({ prose: (text) => wrap.push(text), verbatim, isPlain: !color })
  let isLineOpen = false

  const endText = (): void => {
    markdown?.end()
    wrap?.flush()
    if (isLineOpen && wrap) wrap.push('\n')
    else if (isLineOpen) writeText('\n')
    isLineOpen = false
  }
  const paint = (text: string, tone: Tone): string => (color ? painted(text, tone) : text)
  return {
    text: (piece) => {
      if (piece === '') return
      if (markdown) markdown.push(escapeControls(piece))
      else writeText(piece)
      isLineOpen = !piece.endsWith('\n')
    },
    endText,
    note: (line, tone = 'plain', hang = 2) => {
      endText()
      const shown = escapeControls(line)
      writeNote(`${paint(columns ? wrapped(shown, width(), hang) : shown, tone)}\n`)
    },
    brief: (mark, line, tone = 'plain') => {
      endText()
      const shown = cut(escapeControls(line).replace(/\s+/g, ' '), width() - stringWidth(mark) - 1)
      writeNote(`${paint(`${mark} ${shown}`, tone)}\n`)
    },
    copy: (text) => {
      endText()
      writeNote(`${escapeControls(text)}\n`)
    },
    isTerminal: columns !== undefined,
  }
}

const FORMATS = { dim: 'dim', good: 'green', bad: 'red', bold: 'bold' } as const

function painted(text: string, tone: Tone): string {
  return tone === 'plain' ? text : styleText(FORMATS[tone], text, { validateStream: false })
}

/** Indents wrapped lines, so that a note is recognizable as one. */
function wrapped(text: string, columns: number, hang: number): string {
  let lines = ''
  const wrap = createWordWrap({
    write: (piece) => void (lines += piece),
    columns: () => columns,
    indent: ' '.repeat(hang),
  })
  wrap.push(text)
  wrap.flush()
  return lines
}

/** Cuts text to this many cells, with an ellipsis if something is missing. */
export function cut(text: string, cells: number): string {
  if (stringWidth(text) <= cells) return text
  let kept = ''
  let used = 0
  for (const char of text) {
    used += stringWidth(char)
    if (used > cells - 1) break
    kept += char
  }
  return `${kept}…`
}
