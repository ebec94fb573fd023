// Tool names on the wire. Authors may use any string; providers accept letters, digits, `_` and `-`, at most 64. The
// wire name depends on the name alone, never on the other tools, so a history and a provider's cache stay valid when
// tools change.
import type { ModelRequest } from '@baton/core'
import { BatonError } from '@baton/core'
import { sha256 } from '@noble/hashes/sha2.js'

/**
 * Names that all providers accept: OpenAI and Bedrock allow 64 characters (openai shared.d.ts; Bedrock
 * ToolSpecification), Gemini requires a letter or `_` first.
 */
export const WIRE_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const WIRE_LENGTH_MAX = 64

const CODE_WORDS: Readonly<Record<string, string>> = { '.': 'dot', '/': 'slash', ':': 'colon', ' ': 'space' }
const WORD_CHARS: Readonly<Record<string, string>> = { dot: '.', slash: '/', colon: ':', space: ' ' }

/** Names that need no encoding, which most do not. */
const PLAIN_NAME = /^(?:[A-Za-z]|_(?!-))(?:[A-Za-z0-9-]|_(?!-))*$/

// Grammar of a wire name: literal characters, or an escape `_-<code>-` (code: a word of CODE_WORDS or a hexadecimal
// code point). A `_` before a `-` is always escaped itself, so `_-` at the start of a token can only be an escape:
// parsing from left to right is unambiguous. `_--` marks a truncation, followed by a hash of the whole escaped name.
// Escapes have a non-empty code, so the two cannot be confused.
const ESCAPE = /_-(dot|slash|colon|space|[0-9a-f]{1,6})-/y
const EMPTY = '_--'
const CUT = '_--'
/** 24 letters of 5 bits: 120 bits of SHA-256, so the chance of a collision among a billion names is below 10^-18. */
const HASH_LENGTH = 24
const HASH_ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/**
 * The wire name of a tool: the same in every process, and different for different names.
 * @throws BatonError `invalid_option` if `maxLength` is below 32 or above 64
 */
export function encodeToolName(name: string, maxLength = WIRE_LENGTH_MAX): string {
  if (maxLength < 32 || maxLength > WIRE_LENGTH_MAX)
    throw new BatonError({
      code: 'invalid_option',
      message: `maxLength must be 32 to ${WIRE_LENGTH_MAX}, not ${maxLength}`,
    })
  if (name.length <= maxLength && PLAIN_NAME.test(name)) return name
  if (name === '') return EMPTY
  let escaped = ''
  for (let index = 0; index < name.length;) {
    const char = String.fromCodePoint(name.codePointAt(index) ?? 0)
    index += char.length
    escaped += isPlain(char, escaped === '', name[index]) ? char : `_-${CODE_WORDS[char] ?? encodeHex(char)}-`
  }
  if (escaped.length <= maxLength) return escaped
  const kept = escaped.slice(0, maxLength - CUT.length - HASH_LENGTH)
  return kept + CUT + computeHash(escaped)
}

/** Decodes the escapes of a wire name. Truncated names, and names invented by a model, are returned as is. */
export function decodeToolName(wire: string): string {
  if (wire === EMPTY) return ''
  if (wire.includes(CUT)) return wire
  let name = ''
  for (let index = 0; index < wire.length;) {
    ESCAPE.lastIndex = index
    const escape = ESCAPE.exec(wire)
    const char = escape?.[1] === undefined ? undefined : decodeChar(escape[1])
    name += char ?? wire[index]
    index += char === undefined ? 1 : (escape?.[0].length ?? 1)
  }
  return name
}

export interface ToolNames {
  encode(name: string): string
  /** Returns the tool name for a wire name, or the wire name itself if a model invented it. */
  decode(wire: string): string
}

/** Encoding for the names of one request; `names` are needed only to decode truncated ones. */
export function createToolNames(names: Iterable<string>, maxLength = WIRE_LENGTH_MAX): ToolNames {
  const wires = new Map<string, string>()
  const originals = new Map<string, string>()
  const encode = (name: string): string => {
    const known = wires.get(name)
    if (known !== undefined) return known
    const wire = encodeToolName(name, maxLength)
    wires.set(name, wire)
    originals.set(wire, name)
    return wire
  }
  for (const name of names) encode(name)
  return { encode, decode: (wire) => originals.get(wire) ?? decodeToolName(wire) }
}

/** Names of a request's tools and of the calls in its history: a model may repeat a removed tool. */
export function chooseToolNames(
  request: Pick<ModelRequest, 'tools' | 'messages'>,
  maxLength = WIRE_LENGTH_MAX,
): ToolNames {
  let table: ToolNames | undefined
  return {
    encode: (name) => encodeToolName(name, maxLength),
    // Only a truncated name requires a search of the history, which may be long.
    decode: (wire) =>
      wire.includes(CUT) ? (table ??= createToolNames(namesIn(request), maxLength)).decode(wire) : decodeToolName(wire),
  }
}

function namesIn({ tools, messages }: Pick<ModelRequest, 'tools' | 'messages'>): ReadonlySet<string> {
  const called = messages.flatMap((message) =>
    message.role === 'assistant' ? message.parts.flatMap((part) => (part.type === 'call' ? [part.name] : [])) : [],
  )
  return new Set([...tools.map(({ name }) => name), ...called])
}

function isPlain(char: string, isFirst: boolean, next: string | undefined): boolean {
  if (isFirst && !/[A-Za-z_]/.test(char)) return false
  return char === '_' ? next !== '-' : /^[A-Za-z0-9-]$/.test(char)
}

function encodeHex(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16)
}

function decodeChar(code: string): string | undefined {
  const word = WORD_CHARS[code]
  if (word !== undefined) return word
  const point = Number.parseInt(code, 16)
  return point <= 0x10ffff ? String.fromCodePoint(point) : undefined
}

/** Hashes the escaped name, which is ASCII: in UTF-8, all lone surrogates would be equal. */
function computeHash(escaped: string): string {
  const bytes = sha256(new TextEncoder().encode(escaped))
  let text = ''
  for (let bit = 0; text.length < HASH_LENGTH; bit += 5) {
    const pair = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0)
    text += HASH_ALPHABET[(pair >> (11 - (bit & 7))) & 31] ?? ''
  }
  return text
}
