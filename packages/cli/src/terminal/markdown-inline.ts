// Code, bold and italic within a line of streamed Markdown: a mark is held back until its closing mark arrives, or
// until it is clear that there is none.
import { styleText } from 'node:util'

export interface InlineStream {
  push(text: string): void
  /** Ends the line: a held mark is plain text. */
  end(): void
}

/** Maximum characters to hold; bold texts are short. */
const HELD_MAX = 300
const MARK = /^(`+|\*{1,3})/
/**
 * An opening mark, content that neither begins nor ends with a space, and the same mark. A single star contains no
 * others: `*args, **more`.
 */
const CLOSED = /^(`+)([^`]|[^`][^]*[^`])\1$|^(\*{2,3})([^\s*]|[^\s*][^]*[^\s*])\3$|^(\*)([^\s*]|[^\s*][^*]*[^\s*])\5$/

const FORMATS = { '*': 'italic', '**': 'bold', '***': ['bold', 'italic'] } as const

export function createInlineStream(write: (text: string) => void): InlineStream {
  let held = ''
  /** Whether the next character follows a space, punctuation, or nothing. */
  let isAfterGap = true
  const show = (text: string): void => {
    if (text === '') return
    write(text)
    isAfterGap = !/[\p{L}\p{N}]$/u.test(text)
  }
  /** Turns an open mark into text, and rereads the text after it. */
  const release = (): void => {
    const mark = MARK.exec(held)?.[0] ?? ''
    const rest = held.slice(mark.length)
    held = ''
    show(mark)
    for (const char of rest) take(char)
  }
  const take = (char: string): void => {
    if (held === '') {
      if (char === '`' || (char === '*' && isAfterGap)) held = char
      else show(char)
      return
    }
    held += char
    if (isOnlyMark(held)) {
      if (held.length > LONGEST_MARK) release()
      return
    }
    const styled = paintClosed(held)
    if (styled !== undefined) {
      held = ''
      write(styled)
      isAfterGap = false
    } else if (/^\*+\s/.test(held) || held.length > HELD_MAX) release()
  }
  return {
    push: (text) => {
      for (const char of text) take(char)
    },
    end: () => {
      while (held !== '') release()
      isAfterGap = true
    },
  }
}

/** Longer runs are lines, not marks. */
const LONGEST_MARK = 3

function isOnlyMark(text: string): boolean {
  return /^(`+|\*+)$/.test(text)
}

function paintClosed(text: string): string | undefined {
  const [, code, inCode = '', more, inMore, star, inStar] = CLOSED.exec(text) ?? []
  const stars = more ?? star
  const inStars = inMore ?? inStar ?? ''
  if (code !== undefined) return styleText('cyan', inCode, { validateStream: false })
  if (stars === undefined) return undefined
  const format = FORMATS[stars as keyof typeof FORMATS] // one to three stars, by the pattern
  return styleText(typeof format === 'string' ? format : [...format], inStars, { validateStream: false })
}
