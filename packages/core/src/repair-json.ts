// Reads JSON text as models write it. Text that is nearly JSON is repaired if one reading is possible, otherwise refused;
// text that is still being written is read up to its current end.
import type { JsonValue, JsonObject } from './json.ts'
import { isJsonObject, parseJson } from './json.ts'

/** Names of repairs, for the log. */
export type JsonRepair =
  | 'fence'
  | 'trailing-comma'
  | 'python-literal'
  | 'python-escape'
  | 'single-quotes'
  | 'raw-control'
  | 'extra-bracket'
  | 'missing-bracket'

export interface RepairedJson {
  /** Strict JSON text. */
  readonly text: string
  readonly value: JsonValue
  /** Repairs without duplicates; empty if the text was strict JSON. */
  readonly repairs: readonly JsonRepair[]
}

/**
 * Accepts a code fence around the value, commas before a closing bracket, `True`, `False` and `None`, single quotes,
 * raw line breaks in strings, and one extra closing bracket. With `isEnclosed` also one missing closing bracket, for
 * text whose surrounding marks show that nothing was cut off. Undefined for anything else. Never throws; visits each
 * character once.
 */
export function repairJson(given: string, { isEnclosed = false } = {}): RepairedJson | undefined {
  const strict = parse(given)
  if (strict !== undefined) return { text: given, value: strict, repairs: [] }
  const repairs = new Set<JsonRepair>()
  const reader: Reader = { text: withoutFence(given, repairs), at: 0, out: [], open: [], last: '', repairs }
  while (reader.at < reader.text.length) if (!readToken(reader)) return undefined
  if (reader.open.length > (isEnclosed ? 1 : 0)) return undefined
  const [missing] = reader.open
  if (missing !== undefined) {
    repairs.add('missing-bracket')
    reader.out.push(missing)
  }
  const text = reader.out.join('')
  const value = parse(text)
  return value === undefined ? undefined : { text, value, repairs: [...repairs] }
}

interface Reader {
  readonly text: string
  at: number
  readonly out: string[]
  /** The closing brackets of the open ones, innermost last. */
  readonly open: string[]
  /** The last token other than white space. */
  last: string
  readonly repairs: Set<JsonRepair>
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue // JSON text has no other values
  } catch {
    return undefined
  }
}

function withoutFence(given: string, repairs: Set<JsonRepair>): string {
  const text = given.trim()
  if (!text.startsWith('```') || !text.endsWith('```') || text.length < 7) return text
  const begin = text.indexOf('\n')
  // A fence on a single line, or with more than a language after its first mark, does not count.
  if (begin === -1 || !/^\w*\s*$/.test(text.slice(3, Math.min(begin, 40)))) return text
  repairs.add('fence')
  return text.slice(begin, -3).trim()
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' }
const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

/** Returns false if the text cannot be read. */
function readToken(reader: Reader): boolean {
  const { text, at } = reader
  const char = text[at] ?? ''
  if (char === ' ' || char === '\n' || char === '\t' || char === '\r') {
    reader.at += 1
    reader.out.push(char)
    return true
  }
  // One extra closing bracket may follow the complete value.
  if (reader.last !== '' && reader.open.length === 0) {
    if ((char !== '}' && char !== ']') || reader.repairs.has('extra-bracket')) return false
    reader.repairs.add('extra-bracket')
    reader.at += 1
    return true
  }
  if (char === '"' || char === "'") return readText(reader, char)
  if (char === ',') return readComma(reader)
  if (/[A-Za-z]/.test(char)) return readWord(reader)
  if (CLOSING[char] !== undefined) reader.open.push(CLOSING[char])
  else if ((char === '}' || char === ']') && reader.open.pop() !== char) return false
  reader.at += 1
  reader.last = char
  reader.out.push(char)
  return true
}

/** A comma between a value and a closing bracket is ignored. */
function readComma(reader: Reader): boolean {
  const { text, last } = reader
  let next = reader.at + 1
  while (/\s/.test(text[next] ?? '')) next += 1
  if (last === '' || '{[:,'.includes(last)) return false
  if (text[next] === '}' || text[next] === ']') reader.repairs.add('trailing-comma')
  else {
    reader.out.push(',')
    reader.last = ','
  }
  reader.at = next
  return true
}

function readWord(reader: Reader): boolean {
  const pattern = /\w+/y
  pattern.lastIndex = reader.at
  const word = pattern.exec(reader.text)?.[0] ?? ''
  const meant = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined
  if (meant !== undefined) reader.repairs.add('python-literal')
  reader.at += word.length
  reader.last = word
  reader.out.push(meant ?? word)
  return word !== ''
}

/** Returns false for an unterminated string. */
function readText(reader: Reader, quote: string): boolean {
  const { text, out, repairs } = reader
  const end = findEnd(text, reader.at + 1, quote)
  if (end === -1) return false
  if (quote === "'") repairs.add('single-quotes')
  const inside = text.slice(reader.at + 1, end)
  const quoted = inside.replaceAll(/\\[^]|"/g, (found) => {
    // Python writes \' in strings; JSON has no such escape.
    if (found === "\\'" && quote === '"') repairs.add('python-escape')
    return found === "\\'" ? "'" : found === '"' ? '\\"' : found
  })
  const clean = quoted.replaceAll(CONTROLS, (control) => JSON.stringify(control).slice(1, -1))
  if (clean !== quoted) repairs.add('raw-control')
  out.push('"', clean, '"')
  reader.at = end + 1
  reader.last = '"'
  return true
}

// eslint-disable-next-line no-control-regex -- JSON forbids just these in a text
const CONTROLS = /[\u0000-\u001f]/g

/** Index of the quote that ends the string; negative for an unfinished one. */
function findEnd(text: string, from: number, quote: string): number {
  for (let index = from; index < text.length; index++) {
    if (text[index] === '\\') index += 1
    else if (text[index] === quote) return index
  }
  return -1
}

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
      const close = findEnd(text, at + 1, '"')
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

/** Closes a string without a partial escape or half of a character at its end. */
function closeText(text: string): string {
  const begun = /(?<!\\)(?:\\\\)*(\\(?:u[\da-fA-F]{0,3})?)$/.exec(text)?.[1] ?? ''
  return `${text.slice(0, text.length - begun.length).replace(/[\ud800-\udbff]$/, '')}"`
}
