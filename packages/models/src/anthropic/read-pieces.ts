// Reads pieces of text, thinking and arguments directly from Anthropic's stream, in the exact form its API writes them.
// Anything in another form is left to the event parser and JSON.parse.
import type { JsonObject } from '@baton/core'
import type { WireEvent } from './wire.ts'

const HEAD =
  /event: content_block_delta\ndata: \{"type":"content_block_delta","index":(0|[1-9]\d{0,8}),"delta":\{"type":"(text_delta|thinking_delta|input_json_delta)","(text|thinking|partial_json)":"/y

const FIELDS: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACE = 0x7d
const SPACE = 0x20
const TAB = 0x09
const NEWLINE = 0x0a

interface Head {
  readonly text: string
  readonly index: number
  readonly type: string
}

/** Reads the text pieces of one stream in order. */
export class PieceReader {
  readonly #isTaken: (index: number, type: string) => boolean
  #text = ''
  /** Head of the previous piece: a single piece mostly has the same index. */
  #head: Head | undefined
  /** Offset after the last event that was read. */
  end = 0

  /** `isTaken`: whether pieces of this type are text of the block with this index. */
  constructor(isTaken: (index: number, type: string) => boolean) {
    this.#isTaken = isTaken
  }

  /** Starts reading `text` at an offset between two events. */
  begin(text: string, at: number): void {
    this.#text = text
    this.end = at
  }

  /**
   * Returns the next piece, merging consecutive pieces of one block; `undefined` at the first event that is not a
   * piece.
   */
  next(): WireEvent | undefined {
    const text = this.#text
    const head = this.#readHead()
    if (!head || !this.#isTaken(head.index, head.type)) return undefined
    const { text: begin, index, type } = head
    const from = this.end
    let raw = ''
    // Not `startsWith`, which compares character by character and is several times slower.
    while (text.slice(this.end, this.end + begin.length) === begin) {
      const start = this.end + begin.length
      const quote = this.#findQuote(start)
      const end = quote < 0 ? -1 : this.#findEnd(quote + 1)
      if (end < 0) break
      raw += text.slice(start, quote)
      this.end = end
      // Gateways that repeat all arguments in each piece are recognised piece by piece.
      if (type === 'input_json_delta') break
    }
    if (this.end === from) return undefined
    const said = raw.includes('\\') ? unescape(raw) : raw
    if (said !== undefined) return { type: 'content_block_delta', index, delta: buildDelta(type, said) }
    this.end = from // an invalid JSON escape
    return undefined
  }

  #readHead(): Head | undefined {
    const known = this.#head
    if (known && this.#text.slice(this.end, this.end + known.text.length) === known.text) return known
    HEAD.lastIndex = this.end
    const [text, index, type = '', field = ''] = HEAD.exec(this.#text) ?? []
    if (text === undefined || FIELDS[type] !== field) return undefined
    this.#head = { text, index: Number(index), type }
    return this.#head
  }

  /** Index of the closing quote; -1 at a control character, which JSON forbids, or if the string does not end. */
  #findQuote(from: number): number {
    const text = this.#text
    let at = from
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(++at))
      if (code === BACKSLASH) at += 1
      else if (!(code >= SPACE)) return -1 // also true for NaN, past the end
    return at
  }

  /** Index of the end of the event if it ends as expected (JSON allows spaces between its braces), otherwise -1. */
  #findEnd(from: number): number {
    const text = this.#text
    if (text.charCodeAt(from) !== BRACE) return -1
    const brace = this.#skipBlanks(from + 1)
    if (text.charCodeAt(brace) !== BRACE) return -1
    const end = this.#skipBlanks(brace + 1)
    return text.charCodeAt(end) === NEWLINE && text.charCodeAt(end + 1) === NEWLINE ? end + 2 : -1
  }

  #skipBlanks(from: number): number {
    let at = from
    for (let code = this.#text.charCodeAt(at); code === SPACE || code === TAB;) code = this.#text.charCodeAt(++at)
    return at
  }
}

/** Spelled out because a computed property name would cost more than the reading. */
function buildDelta(type: string, said: string): JsonObject {
  if (type === 'text_delta') return { type, text: said }
  return type === 'thinking_delta' ? { type, thinking: said } : { type, partial_json: said }
}

function unescape(raw: string): string | undefined {
  try {
    return String(JSON.parse(`"${raw}"`))
  } catch {
    return undefined
  }
}
