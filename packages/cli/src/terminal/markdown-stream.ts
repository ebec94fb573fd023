// Markdown as it streams, for a terminal: unambiguous text is shown at once, possible marks are held until they are
// clear. Prose is laid out by the receiver; code and tables are written verbatim, so that they can be copied. Unclosed
// marks stay as text, and so do link addresses: nothing is dropped.
import { styleText } from 'node:util'
import type { InlineStream } from './markdown-inline.ts'
import { createInlineStream } from './markdown-inline.ts'

export interface MarkdownStream {
  /** A piece without terminal control characters. */
  push(piece: string): void
  /** Shows held text; the next piece begins a new text. */
  end(): void
}

export interface MarkdownOptions {
  /** Writes text that may be broken between words at the end of a line. */
  readonly prose: (text: string) => void
  /** Writes text as is. */
  readonly verbatim: (text: string) => void
  /** Leaves all text as written, but still distinguishes code from prose. Default: false. */
  readonly isPlain?: boolean
}

type LineKind = 'begun' | 'prose' | 'heading' | 'held' | 'verbatim'

/** Characters at the beginning of a line that can be held; a longer one is prose. */
const HELD_MAX = 400
/** Text that may still become a heading, a fence, a rule, a list item, a quote, a table or indented code. */
const OPEN_BEGINNING = /^\s*(?:#{1,6}|`{1,2}|~{1,2}|[-*+]|[-*_]{2,}|[-*_ ]{2,}|\d{1,9}[.)]?)?$/
const FENCE = /^\s*(`{3,}|~{3,})/
const INDENTED = /^(?: {4}|\t)/
const ITEM = /^(\s*)[-*+] $/
const RULE = /^\s{0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/

export function createMarkdownStream(init: MarkdownOptions): MarkdownStream {
  return new LineByLine(init)
}

class LineByLine implements MarkdownStream {
  readonly #init: MarkdownOptions
  readonly #inline: InlineStream
  #kind: LineKind = 'begun'
  #held = ''
  /** Fence of the open code block. */
  #fence: string | undefined

  constructor(init: MarkdownOptions) {
    this.#init = init
    this.#inline = init.isPlain ? { push: init.prose, end: () => {} } : createInlineStream(init.prose)
  }

  push(piece: string): void {
    for (const part of piece.split(/(\n)/)) {
      if (part === '\n') this.#endLine()
      else this.#pushWithin(part)
    }
  }

  end(): void {
    if (this.#kind === 'held' || (this.#kind === 'begun' && this.#held !== '')) this.#showHeldLine()
    this.#endStyles()
    this.#fence = undefined
  }

  /** Processes a part of one line. */
  #pushWithin(part: string): void {
    let rest = part
    for (const char of part) {
      if (this.#kind !== 'begun') break
      this.#beginLine(char)
      rest = rest.slice(char.length)
    }
    if (rest === '') return
    if (this.#kind === 'held') this.#held += rest
    else if (this.#kind === 'verbatim') this.#init.verbatim(rest)
    else this.#inline.push(rest)
  }

  #endLine(): void {
    if (this.#kind === 'held' || this.#kind === 'begun') this.#showHeldLine()
    const wasVerbatim = this.#kind === 'verbatim'
    this.#endStyles()
    if (wasVerbatim) this.#init.verbatim('\n')
    else this.#init.prose('\n')
  }

  #endStyles(): void {
    this.#inline.end()
    if (this.#kind === 'heading') this.#init.prose(STYLE_END)
    this.#kind = 'begun'
    this.#held = ''
  }

  /** Shows a line whose kind was only clear once it was complete. */
  #showHeldLine(): void {
    const mark = FENCE.exec(this.#held)?.[1]
    if (this.#fence === undefined && mark !== undefined) {
      this.#fence = mark
      this.#showVerbatim(this.#paint(this.#held))
    } else if (this.#fence !== undefined) {
      const trimmed = this.#held.trim()
      const isEnd = trimmed.startsWith(this.#fence) && /^(`+|~+)$/.test(trimmed)
      this.#showVerbatim(isEnd ? this.#paint(this.#held) : this.#held)
      if (isEnd) this.#fence = undefined
    } else if (RULE.test(this.#held) && !this.#init.isPlain) this.#showVerbatim(this.#paint('─'.repeat(RULE_CELLS)))
    else this.#inline.push(this.#held)
  }

  #beginLine(char: string): void {
    this.#held += char
    const mayStillBe = (pattern: RegExp): boolean => pattern.test(this.#held) && this.#held.length < HELD_MAX
    if (this.#fence !== undefined) {
      if (mayStillBe(/^\s*[`~]*\s*$/)) return
      this.#showVerbatim(this.#held)
    } else if (FENCE.test(this.#held)) {
      this.#kind = 'held'
      return
    } else if (mayStillBe(OPEN_BEGINNING) && !ITEM.test(this.#held)) return
    else this.#decideLine()
    this.#held = ''
  }

  #decideLine(): void {
    const item = this.#init.isPlain ? undefined : ITEM.exec(this.#held)
    const heading = this.#init.isPlain ? undefined : /^ {0,3}#{1,6} (.*)$/.exec(this.#held)
    if (!item && !heading && (INDENTED.test(this.#held) || /^\s*\|/.test(this.#held))) {
      this.#showVerbatim(this.#held)
      return
    }
    this.#kind = heading ? 'heading' : 'prose'
    if (item) this.#init.prose(`${item[1] ?? ''}• `)
    else if (heading) this.#init.prose(STYLE_BOLD)
    if (!item) this.#inline.push(heading ? (heading[1] ?? '') : this.#held)
  }

  #showVerbatim(text: string): void {
    this.#init.verbatim(text)
    this.#kind = 'verbatim'
  }

  #paint(text: string): string {
    return this.#init.isPlain ? text : styleText('dim', text, { validateStream: false })
  }
}

const STYLE_BOLD = '\u001b[1m'
const STYLE_END = '\u001b[22m'
const RULE_CELLS = 20
