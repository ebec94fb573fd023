// Extracts JSON values from text that arrives in pieces: a program's output, a body, or an event. It finds the end of
// each value by its brackets, so line breaks do not matter. It does not interpret the values.
import type { JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'

export interface MessageText {
  readonly onValue: (value: JsonValue) => void
  /** A line, or a value that cannot be repaired into JSON. */
  readonly onNoise: (text: string) => void
}

/** Maximum places in a line of other text at which to look for a message. */
const EMBEDDED_MAX = 8
/** Maximum lines dropped, one by one, to find a message behind an unfinished value. */
const RETRIES_MAX = 20
/** Maximum total characters read by those tries: each reads everything that is left. */
const RETRIED_CHARS_MAX = 1_000_000
/** An unfinished value ends where a line starts a message. */
const NEXT_MESSAGE = /[\t ]*\{\s*"(?:jsonrpc|id|method|result|error)"/y

/** A progress bar redrawn with carriage returns ends at its first one. */
const LINE_END = /[\r\n]/g

const QUOTE = 34
const BACKSLASH = 92
const LINE_FEED = 10

export class MessageReader {
  readonly #text: MessageText
  readonly #charsMax: number
  /** The current value or line. */
  #pieces: string[] = []
  #chars = 0
  #state: 'between' | 'value' | 'line' = 'between'
  #depth = 0
  #isString = false
  #isEscaped = false
  #isList = false
  #isLineStart = false
  /** Only the bracket of the value has been read. */
  #isFirst = true
  #retries = 0
  #retriedChars = 0

  constructor(text: MessageText, charsMax = Infinity) {
    this.#text = text
    this.#charsMax = charsMax
  }

  /** @throws RangeError if a value or a line is longer than the limit; the part read so far is dropped */
  push(text: string): void {
    for (let at = 0; at < text.length;) at = this.#read(text, at)
    if (this.#chars <= this.#charsMax) return
    this.#pieces = []
    this.#chars = 0
    this.#state = 'between'
    throw new RangeError(`a message has more than ${this.#charsMax} characters`)
  }

  /** Whether the text so far ends at a line break inside a value. */
  get isCut(): boolean {
    return this.#state === 'value' && this.#isLineStart
  }

  /** The text has ended: an unfinished value or line is complete. */
  end(): void {
    while (this.#state !== 'between') {
      const state = this.#state
      const rest = this.#take('')
      if (state === 'value') this.#readValue(rest)
      else this.#readLine(rest)
    }
  }

  /** Reads to the end of a value, a line or the text, and returns that position. */
  #read(text: string, at: number): number {
    if (this.#state === 'value') return this.#scan(text, at)
    if (this.#state === 'line') {
      LINE_END.lastIndex = at
      const end = LINE_END.exec(text)?.index
      if (end === undefined) return this.#keep(text, at)
      this.#readLine(this.#take(text.slice(at, end)))
      return end + 1
    }
    const start = skipBlanks(text, at)
    if (start === text.length) return start
    const first = text[start]
    this.#state = first === '{' || first === '[' ? 'value' : 'line'
    this.#depth = 0
    this.#isFirst = true
    this.#isString = false
    this.#isEscaped = false
    this.#isList = first === '['
    this.#isLineStart = false
    return start
  }

  #scan(text: string, from: number): number {
    let isLineStart = this.#isLineStart
    for (let at = from; at < text.length; at += 1) {
      if (isLineStart && this.#isCutBy(text, at)) {
        this.#text.onNoise(this.#take(text.slice(from, at)))
        return at
      }
      const char = text.charCodeAt(at)
      isLineStart = char === LINE_FEED
      if (this.#isFirst && this.#depth === 1 && !isBlank(char)) {
        this.#isFirst = false
        if (!this.#mayFollow(char)) {
          this.#state = 'line'
          return this.#keep(text.slice(0, at), from)
        }
      }
      if (this.#isString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (char === BACKSLASH) this.#isEscaped = true
        else if (char === QUOTE) this.#isString = false
      } else if (char === QUOTE) this.#isString = true
      else if (char === 123 || char === 91)
        this.#depth += 1 // { [
      else if ((char === 125 || char === 93) && (this.#depth -= 1) === 0) {
        this.#readValue(this.#take(text.slice(from, at + 1)))
        return at + 1
      }
    }
    this.#isLineStart = isLineStart
    return this.#keep(text, from)
  }

  /**
   * Whether the character may follow the bracket of an object, or of a list of objects. In a log line, other text
   * follows.
   */
  #mayFollow(char: number): boolean {
    const next = String.fromCharCode(char)
    return (this.#isList ? '[{]' : '"}').includes(next)
  }

  /** Each message of a batch may be on a separate line. */
  #isCutBy(text: string, at: number): boolean {
    if (this.#isList && this.#depth === 1 && !this.#isString) return false
    NEXT_MESSAGE.lastIndex = at
    if (!NEXT_MESSAGE.test(text)) return false
    const end = text.indexOf('\n', at)
    // The rest of the line has not arrived.
    if (end === -1) return /^\s*\{\s*"jsonrpc"/.test(text.slice(at, at + 100))
    const said = text.slice(at, end).trimEnd()
    // Parsing invalid JSON is slow.
    if (!said.endsWith('}')) return false
    const line = parseLoosely(said)?.value
    return isJsonObject(line) && ('jsonrpc' in line || ('id' in line && ('result' in line || 'error' in line)))
  }

  #keep(text: string, from: number): number {
    this.#pieces.push(text.slice(from))
    this.#chars += text.length - from
    return text.length
  }

  #take(last: string): string {
    const whole = this.#pieces.length === 0 ? last : this.#pieces.join('') + last
    this.#pieces = []
    this.#chars = 0
    this.#state = 'between'
    return whole
  }

  #readValue(text: string): void {
    const read = parseLoosely(text)
    const end = text.indexOf('\n')
    const isSpent = this.#retries >= RETRIES_MAX || this.#retriedChars + text.length > RETRIED_CHARS_MAX
    if (read) {
      this.#endRetries()
      this.#text.onValue(read.value)
    } else if (end === -1 || isSpent) {
      this.#endRetries()
      this.#text.onNoise(text)
    } else {
      this.#retries += 1
      this.#retriedChars += text.length
      this.#text.onNoise(text.slice(0, end))
      const rest = text.slice(end + 1)
      for (let at = 0; at < rest.length;) at = this.#read(rest, at)
    }
  }

  #endRetries(): void {
    this.#retries = 0
    this.#retriedChars = 0
  }

  /** A program may print something before and after its message on the same line, such as colours. */
  #readLine(line: string): void {
    let start = -1
    const end = line.lastIndexOf('}') + 1
    for (let tries = 0; tries < EMBEDDED_MAX; tries += 1) {
      start = line.indexOf('{', start + 1)
      if (start === -1) break
      const read = parseLoosely(line.slice(start, end))
      if (!read || !isJsonObject(read.value) || !('jsonrpc' in read.value)) continue
      this.#text.onNoise(line.slice(0, start))
      this.#text.onValue(read.value)
      if (line.slice(end).trim() !== '') this.#text.onNoise(line.slice(end))
      return
    }
    if (line.trim() !== '') this.#text.onNoise(line)
  }
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && isBlank(text.charCodeAt(at))) at += 1
  return at
}

/** Includes the byte order mark, which some programs write before each line. */
function isBlank(char: number): boolean {
  return char <= 32 || char === 0xfe_ff
}

/**
 * Returns `undefined` if the text is not JSON, even with common mistakes of programs without a JSON library repaired.
 */
function parseLoosely(text: string): { readonly value: JsonValue } | undefined {
  for (const read of [(given: string) => given, repair])
    try {
      return { value: JSON.parse(read(text)) as JsonValue } // parsed from JSON
    } catch {
      // Needs the repair, or is not JSON.
    }
  return undefined
}

/**
 * Repairs raw line breaks and tabs in strings, Python's `NaN` and `Infinity`, and trailing commas. An unclosed string
 * is read to the end of the text; otherwise every quote in it would start another search.
 */
function repair(text: string): string {
  return text.replaceAll(/"[^"\\]*(?:\\[^][^"\\]*)*"?|-?\b(?:NaN|Infinity)\b|,(?=\s*[\]}])/g, (token) => {
    if (token === ',') return ''
    if (!token.startsWith('"')) return 'null'
    // oxlint-disable-next-line no-control-regex -- JSON forbids them inside strings
    return token.replaceAll(/[\0-\u001f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
  })
}
