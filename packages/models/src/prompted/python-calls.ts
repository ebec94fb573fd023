// Calls in the manner of Python, `[look(at="sky", deep=True)]`: literals only, nothing is evaluated.
import type { JsonValue } from '@baton/core'
import type { WrittenCall } from './formats.ts'

/** Undefined when the text is not calls: lists of them, or single ones. */
export function readPythonCalls(text: string): readonly WrittenCall[] | undefined {
  const reader: Reader = { text: text.trim(), at: 0 }
  try {
    const calls: WrittenCall[] = []
    while (skipped(reader).at < reader.text.length) {
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
  while (/\s/.test(reader.text[reader.at] ?? '')) reader.at += 1
  return reader
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
  if (!takes(reader, token)) throw new Error(`${token} is missing at ${reader.at}`)
}

/** The longest match of a sticky pattern. */
function match(reader: Reader, pattern: RegExp): string | undefined {
  const sticky = new RegExp(pattern, 'y')
  sticky.lastIndex = skipped(reader).at
  const found = sticky.exec(reader.text)?.[0]
  if (found !== undefined) reader.at += found.length
  return found
}

/** More than Python's own: tools are named `server/tool`, arguments `per-page`. */
const NAME = /[^\s()[\]{}"'`,=]+/

function readCall(reader: Reader): WrittenCall {
  const name = match(reader, NAME)
  if (name === undefined) throw new Error('a name is missing')
  expect(reader, '(')
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
  const number = match(reader, /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)
  if (number !== undefined) return Number(number)
  const word = match(reader, /[A-Za-z]+/)
  if (word === undefined) return readText(reader)
  if (!Object.hasOwn(WORDS, word)) throw new Error(`${word} is no value`)
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
  const quoted = match(reader, /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'/)
  if (quoted === undefined) throw new Error(`a value is missing at ${reader.at}`)
  return quoted.slice(1, -1).replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (_, code?: string, char?: string) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    return ESCAPES[char ?? ''] ?? char ?? ''
  })
}
