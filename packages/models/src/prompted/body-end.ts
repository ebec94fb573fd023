// Finds the end of a call one character at a time: a closing mark, or the matching bracket, outside of strings in its
// arguments.
import type { Body, TextKind } from './format.ts'

export interface BodyEnd {
  /**
   * Returns the mark that ends the call at this character, '' for its bracket, or `undefined` if the call continues.
   */
  push(char: string): string | undefined
  /** Characters up to the first closing mark inside a string. The call ends there if no other end arrives. */
  hidden(): { readonly length: number; readonly mark: string } | undefined
}

/** @param seesTexts if false, the first closing mark counts, even inside a string */
export function createBodyEnd(body: Body, close: readonly string[], seesTexts: boolean): BodyEnd {
  const lasts = new Set(close.map((mark) => mark.at(-1)))
  const longest = Math.max(0, ...close.map((mark) => mark.length))
  const texts = seesTexts ? createTexts(body.texts) : undefined
  const bracket = close.length === 0 ? body.bracket : undefined
  const closing = bracket === '{' ? '}' : ']'
  let tail = ''
  let depth = 0
  let length = 0
  let hidden: ReturnType<BodyEnd['hidden']>
  return {
    push: (char) => {
      length += 1
      const inText = texts?.push(char) ?? false
      if (bracket !== undefined && !inText) {
        if (char === bracket) depth += 1
        else if (char === closing && depth > 0) depth -= 1
        else return undefined
        return depth === 0 ? '' : undefined
      }
      if (longest === 0) return undefined
      tail = (tail + char).slice(-longest)
      if (!lasts.has(char)) return undefined
      const mark = close.find((one) => tail.endsWith(one))
      if (mark === undefined || !inText) return mark
      hidden ??= { length, mark }
      return undefined
    },
    hidden: () => hidden,
  }
}

interface Texts {
  /** Whether the character is part of a string. */
  push(char: string): boolean
}

function createTexts(kind: TextKind): Texts {
  return typeof kind === 'string' ? createQuotes(kind === 'python') : createTagged(kind)
}

/** Single quotes count in Python, and in JSON if its first quote is one, which makes it a Python dict. */
function createQuotes(isPython: boolean): Texts {
  let quotes = isPython ? `"'` : ''
  /** The quotes that end the string: one or three. */
  let open = ''
  /**
   * Consecutive quotes: at the end of a string, or 2 for an empty one, which a third turns into the start of a long
   * one.
   */
  let count = 0
  let last = ''
  let isEmpty = false
  let isEscaped = false
  const begin = (char: string): boolean => {
    if (quotes === '' && (char === '"' || char === "'")) quotes = char === '"' ? '"' : `"'`
    const isLong = isPython && count === 2 && char === last
    count = 0
    if (!isLong && (quotes === '' || !quotes.includes(char))) return false
    open = isLong ? char.repeat(3) : char
    last = char
    isEmpty = true
    return true
  }
  return {
    push: (char) => {
      if (open === '') return begin(char)
      if (isEscaped || char === '\\') {
        isEscaped = !isEscaped
        count = 0
      } else if (char === last) {
        count += 1
        if (count === open.length) {
          count = isEmpty && open.length === 1 ? 2 : 0
          open = ''
        }
      } else count = 0
      isEmpty = false
      return true
    },
  }
}

/** A closing tag ends a value only if another tag follows, since a value may contain one. */
function createTagged({ open, close }: { readonly open: string; readonly close: string }): Texts {
  let place: 'outside' | 'inside' | 'behind' = 'outside'
  let tail = ''
  return {
    push: (char) => {
      if (place === 'behind') {
        if (/\s/.test(char)) return false
        place = char === '<' ? 'outside' : 'inside'
      }
      const mark = place === 'inside' ? close : open
      tail = (tail + char).slice(-mark.length)
      if (tail !== mark) return place === 'inside'
      place = place === 'inside' ? 'behind' : 'inside'
      tail = ''
      return true
    },
  }
}

/** Strips a partial closing mark from the end of an answer. */
export function withoutPart(raw: string, close: readonly string[]): string {
  for (const mark of close)
    for (let length = mark.length - 1; length > 1; length--)
      if (raw.endsWith(mark.slice(0, length))) return raw.slice(0, -length)
  return raw
}
