// Calls with one tag per argument: Qwen3-Coder, MiniMax, DeepSeek, GLM. A value is text or JSON, depending on the
// tool's schema.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { findProperty, isJsonObject, listParts, listTypes } from '@baton/core/internal'
import type { ReadCall, Reading } from './format.ts'
import { readJson } from './json-calls.ts'

/** All patterns are sticky. The first group of `call` and `argument` is the name. */
export interface TagSyntax {
  readonly call: RegExp
  /** If empty, the call ends with its container. */
  readonly callEnd: string
  readonly argument: RegExp
  /** How an argument starts. A value that contains this and a closing tag is ambiguous. */
  readonly argumentStart: string
  readonly argumentEnd: string
  /** A line break after the opening tag and one before the closing tag are not part of the value. */
  readonly hasLines?: true
}

/** Returns `undefined` if the text does not start with a call. */
export function readTaggedCalls(inside: string, syntax: TagSyntax, reading: Reading): readonly ReadCall[] {
  const reader: Reader = { text: inside, at: 0, syntax, reading }
  const calls: ReadCall[] = []
  while (skipBlanks(reader) < inside.length) {
    const call = readCall(reader)
    calls.push(call)
    if (call.problem !== undefined) break
  }
  return calls.length > 0 ? calls : [{ name: '', arguments: '{}', problem: 'it is empty' }]
}

interface Reader {
  readonly text: string
  at: number
  readonly syntax: TagSyntax
  readonly reading: Reading
}

function readCall(reader: Reader): ReadCall {
  const { syntax, reading } = reader
  const name = match(reader, syntax.call)?.[1]?.trim() ?? ''
  const wrong = (problem: string): ReadCall => ({ name, arguments: '{}', problem })
  if (name === '') return wrong('it does not start with the tag that names the tool')
  const repairs = new Set<string>()
  const given: [string, JsonValue][] = []
  for (;;) {
    skipBlanks(reader)
    if (syntax.callEnd !== '' && reader.text.startsWith(syntax.callEnd, reader.at)) {
      reader.at += syntax.callEnd.length
      break
    }
    if (reader.at >= reader.text.length) {
      // All arguments and everything around the call are closed.
      if (syntax.callEnd === '' ? !reading.isClosed : !reading.isClosed || !reading.mayRepair)
        return wrong('its closing tag is missing')
      if (syntax.callEnd !== '') repairs.add('closing-mark')
      break
    }
    const found = match(reader, syntax.argument)
    const key = found?.[1]?.trim() ?? ''
    if (!found || key === '') return wrong(`argument ${given.length} is followed by something that is not an argument`)
    const end = findArgumentEnd(reader)
    if (end === undefined) return wrong(`it is unclear where the argument "${key}" ends`)
    if (end === -1) return wrong(`the argument "${key}" has no closing tag`)
    const raw = reader.text.slice(reader.at, end)
    reader.at = end + syntax.argumentEnd.length
    const isText = found.groups?.['text']
    given.push([key, readValue({ raw, key, name, isText }, reader, repairs)])
  }
  return {
    name,
    arguments: JSON.stringify(Object.fromEntries(given)),
    ...(repairs.size > 0 && { repairs: [...repairs] }),
  }
}

/**
 * Finds the closing tag that is followed by the next argument or the end of the call, since a value may contain one.
 */
function findArgumentEnd(reader: Reader): number | undefined {
  const { text, syntax } = reader
  let end = text.indexOf(syntax.argumentEnd, reader.at)
  const first = end
  while (end !== -1) {
    const next: Reader = { ...reader, at: end + syntax.argumentEnd.length }
    skipBlanks(next)
    const isEnd = next.at >= text.length || (syntax.callEnd !== '' && text.startsWith(syntax.callEnd, next.at))
    if (isEnd || match(next, syntax.argument))
      return text.slice(first, end).includes(syntax.argumentStart) ? undefined : end
    end = text.indexOf(syntax.argumentEnd, end + 1)
  }
  return first
}

interface RawValue {
  readonly raw: string
  readonly key: string
  /** The tool's name. */
  readonly name: string
  /** Attribute that marks a value as text. */
  readonly isText: string | undefined
}

function readValue({ raw, key, name, isText }: RawValue, { syntax, reading }: Reader, repairs: Set<string>): JsonValue {
  const text = syntax.hasLines ? raw.replace(/^\r?\n/, '').replace(/\r?\n$/, '') : raw
  if (isText === 'true') return text
  const trimmed = text.trim()
  const types = listValueTypes(reading.tools.schemaOf(name), key)
  if (types?.includes('string') && isText !== 'false') return types.includes('null') && trimmed === 'null' ? null : text
  // A value of any type that does not look like JSON is text.
  const read = types ? readJson(trimmed, reading, false) : readJson(trimmed, { mayRepair: false }, false)
  if (!read) return text
  for (const repair of read.repairs) repairs.add(repair)
  return read.value
}

/** Returns `undefined` if the schema does not say. */
function listValueTypes(schema: JsonObject | undefined, key: string): readonly JsonValue[] | undefined {
  if (!schema) return undefined
  const place = { root: schema, depth: 0 }
  const property = listParts(place, schema)
    .map((part) => findProperty(part, key))
    .find((found) => found !== undefined)
  const parts = listParts(place, property)
  const types = parts.flatMap((part) => {
    const { enum: values } = part
    const texts = Array.isArray(values) && values.some((value) => typeof value === 'string') ? ['string'] : []
    return [...listTypes(part), ...texts, ...(typeof part['const'] === 'string' ? ['string'] : [])]
  })
  if (types.length > 0) return types
  return parts.some((part) => isJsonObject(part['properties'])) ? ['object'] : undefined
}

function match(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)
  pattern.lastIndex = 0
  if (found) reader.at += found[0].length
  return found
}

function skipBlanks(reader: Reader): number {
  while (/\s/.test(reader.text[reader.at] ?? '')) reader.at += 1
  return reader.at
}

/** Writes a value as models are trained to: strings as is, everything else as JSON. */
export function writeValue(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
