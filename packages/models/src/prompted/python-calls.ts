// Parses Python-like calls, `[look(at="sky", deep=True)]`: literals only, nothing is evaluated.
import type { JsonValue } from '@baton/core'
import type { WrittenCall } from './format.ts'

/** Returns `undefined` if the text is not a list of calls or a single call. */
export function readPythonCalls(text: string): readonly WrittenCall[] | undefined {
  const reader: Reader = { text: text.trim(), at: 0 }
  try {
    const calls: WrittenCall[] = []
    while (skipped(reader).at < reader.text.length) {
      // Lists and calls are separated by a line break or a semicolon.
      if (takes(reader, ';')) continue
      if (takes(reader, '[')) calls.push(...readItems(reader, ']', () => readCall(reader)))
      else calls.push(readCall(reader))
    }
    return calls.length > 0 ? calls : undefined
  } catch {
    return undefined
  }
}

interface Reader {
  readonly text: string
  at: number
}

const DEPTH_MAX = 32

function skipped(reader: Reader): Reader {
  for (;;) {
    while (/\s/.test(reader.text[reader.at] ?? '')) reader.at += 1
    if (reader.text[reader.at] !== '#') return reader
    const end = reader.text.indexOf('\n', reader.at)
    reader.at = end === -1 ? reader.text.length : end
  }
}

function sees(reader: Reader, token: string): boolean {
  return reader.text.startsWith(token, skipped(reader).at)
}

function takes(reader: Reader, token: string): boolean {
  if (!sees(reader, token)) return false
  reader.at += token.length
  return true
}

function expect(reader: Reader, token: string): void {
  if (!takes(reader, token)) throw new Error(`${token} is missing at position ${reader.at}`)
}

/** Applies a sticky pattern after skipping white space. */
function match(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = skipped(reader).at
  const found = pattern.exec(reader.text)?.[0]
  pattern.lastIndex = 0
  if (found !== undefined) reader.at += found.length
  return found
}

/** Wider than Python's grammar: tools may be named `server/tool`, arguments `per-page`. */
const NAME = /[^\s()[\]{}"'`,=]{1,256}/y

function readCall(reader: Reader): WrittenCall {
  const name = match(reader, NAME)
  if (name === undefined) throw new Error('a name is missing')
  expect(reader, '(')
  // Gemma prints the results of its calls.
  if (name === 'print' && !isNamed(reader)) {
    const call = readCall(reader)
    expect(reader, ')')
    return call
  }
  const given: [string, JsonValue][] = []
  while (!takes(reader, ')')) {
    const argument = match(reader, NAME)
    if (argument === undefined) throw new Error('the name of an argument is missing')
    expect(reader, '=')
    given.push([argument, readValue(reader, 0)])
    if (!sees(reader, ')')) expect(reader, ',')
  }
  return { name, arguments: JSON.stringify(Object.fromEntries(given)) }
}

function isNamed({ text, at }: Reader): boolean {
  return /^\s{0,64}(?:\)|[\w-]{1,256}\s{0,64}=)/.test(text.slice(at, at + 512))
}

const WORDS: Readonly<Record<string, JsonValue>> = {
  True: true,
  False: false,
  None: null,
  true: true,
  false: false,
  null: null,
}

function readValue(reader: Reader, depth: number): JsonValue {
  if (depth > DEPTH_MAX) throw new Error('too deep')
  if (takes(reader, '[')) return readItems(reader, ']', () => readValue(reader, depth + 1))
  if (takes(reader, '{')) return Object.fromEntries(readItems(reader, '}', () => readPair(reader, depth)))
  const number = match(reader, /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y)
  if (number !== undefined) return Number(number)
  const word = match(reader, /[A-Za-z]{1,32}/y)
  if (word === undefined) return readText(reader)
  if (!Object.hasOwn(WORDS, word)) throw new Error(`${word} is not a value`)
  return WORDS[word] ?? null
}

function readPair(reader: Reader, depth: number): [string, JsonValue] {
  const key = readText(reader)
  expect(reader, ':')
  return [key, readValue(reader, depth + 1)]
}

function readItems<Item>(reader: Reader, close: string, read: () => Item): Item[] {
  const items: Item[] = []
  while (!takes(reader, close)) {
    items.push(read())
    if (!sees(reader, close)) expect(reader, ',')
  }
  return items
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' }

function readText(reader: Reader): string {
  const { text, at } = skipped(reader)
  const quote = text[at] ?? ''
  if (quote !== '"' && quote !== "'") throw new Error(`a value is missing at position ${at}`)
  const mark = text.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote
  const from = at + mark.length
  let end = from
  while (end < text.length && !text.startsWith(mark, end)) end += text[end] === '\\' ? 2 : 1
  if (end >= text.length) throw new Error(`a string does not end at position ${at}`)
  reader.at = end + mark.length
  return text.slice(from, end).replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (_, code?: string, char?: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    return ESCAPES[char ?? ''] ?? char ?? ''
  })
}
