// The value of JSON text that is still being written: closes what is open, and omits what is not certain.
import type { JsonObject } from './json.ts'
import { isJsonObject, parseJson } from './json.ts'

/**
 * The object in the text so far, from its first brace on. An unfinished string is included up to its current end,
 * numbers and words once they are complete, and a property once its value has begun. Undefined before the first brace,
 * and for text that is not JSON. Visits each character once.
 */
export function readPartialJson(text: string): JsonObject | undefined {
  const start = text.indexOf('{')
  if (start < 0) return undefined
  /** The brackets that close the open ones, innermost first. */
  let closers = ''
  let last = ''
  let whole = ''
  let end = start
  let endClosers = ''
  for (let at = start; at < text.length; at++) {
    const letter = text.charAt(at)
    if (/\s/.test(letter)) continue
    if (letter === '"') {
      const isKey = closers.startsWith('}') && (last === '{' || last === ',')
      const close = findClose(text, at)
      if (close < 0) {
        if (!isKey) whole = `${text.slice(start, at)}${closeText(text.slice(at))}${closers}`
        break
      }
      at = close
      if (!isKey) [end, endClosers] = [close + 1, closers]
    } else if (letter === '{' || letter === '[') {
      closers = (letter === '{' ? '}' : ']') + closers
      ;[end, endClosers] = [at + 1, closers]
    } else if (letter === '}' || letter === ']') {
      closers = closers.slice(1)
      ;[end, endClosers] = [at + 1, closers]
      if (closers === '') break
    } else if (letter === ',') [end, endClosers] = [at, closers]
    last = letter
  }
  const parsed = parseJson(whole === '' ? `${text.slice(start, end)}${endClosers}` : whole)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined
}

/** Index of the end of the string that begins here; negative while it is being written. */
function findClose(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1
    else if (text[at] === '"') return at
  }
  return -1
}

/** Closes a string without a partial escape or half of a character at its end. */
function closeText(text: string): string {
  const begun = /(?<!\\)(?:\\\\)*(\\(?:u[\da-fA-F]{0,3})?)$/.exec(text)?.[1] ?? ''
  return `${text.slice(0, text.length - begun.length).replace(/[\ud800-\udbff]$/, '')}"`
}
