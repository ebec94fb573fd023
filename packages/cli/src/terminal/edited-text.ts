// A text with a cursor, and how keys edit it. It knows no terminal.
import { findNext, findPrevious } from './line-layout.ts'

export interface Key {
  readonly name?: string | undefined
  readonly ctrl?: boolean
  readonly meta?: boolean
}

export interface EditedText {
  readonly text: string
  /** UTF-16 units before the cursor. */
  readonly cursor: number
}

export const EMPTY: EditedText = { text: '', cursor: 0 }

export function insert({ text, cursor }: EditedText, piece: string): EditedText {
  return { text: text.slice(0, cursor) + piece + text.slice(cursor), cursor: cursor + piece.length }
}

/** Returns `undefined` for a key that does not edit. */
export function applyKey(edited: EditedText, key: Key): EditedText | undefined {
  const { text, cursor } = edited
  const remove = (from: number, to: number): EditedText => ({
    text: text.slice(0, from) + text.slice(to),
    cursor: from,
  })
  const moveTo = (place: number): EditedText => ({ text, cursor: place })
  switch (nameKey(key)) {
    case 'left':
    case 'ctrl+b':
      return moveTo(findPrevious(text, cursor))
    case 'right':
    case 'ctrl+f':
      return moveTo(findNext(text, cursor))
    case 'home':
    case 'ctrl+a':
      return moveTo(findLineStart(text, cursor))
    case 'end':
    case 'ctrl+e':
      return moveTo(findLineEnd(text, cursor))
    case 'ctrl+left':
    case 'meta+left':
    case 'meta+b':
      return moveTo(findWordStart(text, cursor))
    case 'ctrl+right':
    case 'meta+right':
    case 'meta+f':
      return moveTo(findWordEnd(text, cursor))
    case 'backspace':
    case 'ctrl+h':
      return remove(findPrevious(text, cursor), cursor)
    case 'delete':
    case 'ctrl+d':
      return remove(cursor, findNext(text, cursor))
    case 'ctrl+w':
    case 'meta+backspace':
      return remove(findWordStart(text, cursor), cursor)
    case 'meta+d':
      return remove(cursor, findWordEnd(text, cursor))
    case 'ctrl+u':
      return remove(findLineStart(text, cursor), cursor)
    case 'ctrl+k':
      return remove(cursor, findLineEnd(text, cursor))
    default:
      return undefined
  }
}

export function nameKey({ name = '', ctrl = false, meta = false }: Key): string {
  return `${ctrl ? 'ctrl+' : ''}${meta ? 'meta+' : ''}${name}`
}

/** Returns the same position in the line above (-1) or below (1); `undefined` if there is none. */
export function moveLine({ text, cursor }: EditedText, by: -1 | 1): EditedText | undefined {
  const start = findLineStart(text, cursor)
  const other = by < 0 ? start - 1 : findLineEnd(text, cursor) + 1
  if (other < 0 || other > text.length) return undefined
  const from = findLineStart(text, other)
  return { text, cursor: Math.min(from + cursor - start, findLineEnd(text, from)) }
}

function findLineStart(text: string, cursor: number): number {
  return text.slice(0, cursor).lastIndexOf('\n') + 1
}

function findLineEnd(text: string, cursor: number): number {
  const end = text.indexOf('\n', cursor)
  return end < 0 ? text.length : end
}

function findWordStart(text: string, cursor: number): number {
  return text.slice(0, cursor).replace(/\S+\s*$/, '').length
}

function findWordEnd(text: string, cursor: number): number {
  return cursor + (/^\s*\S+/.exec(text.slice(cursor))?.[0].length ?? 0)
}
