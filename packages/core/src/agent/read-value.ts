// Readers of the values that a caller passes in. Each returns a fresh plain copy, or refuses the value through the
// ValueReader; the decoders combine them into commands and reports.
import type { AbortSignalLike } from './environment.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import { findMeant } from './known-fields.ts'
import { isLegalName, NAME_CHARS_MAX } from './legal-name.ts'
import type { Read, ValueReader } from './value-reader.ts'
import { describeValue, quote } from './value-reader.ts'

/** Any surrogate, paired or not. */
export const SURROGATE = /[\ud800-\udfff]/
const LONE_SURROGATE = /\p{Surrogate}/u

/**
 * Whether the text is valid Unicode. Providers refuse a request with half of a surrogate pair, and every later one. The
 * first check is cheap and nearly always enough.
 */
function isLegalText(text: string): boolean {
  return !SURROGATE.test(text) || !LONE_SURROGATE.test(text)
}

export const readText: Read<string> = (reader, value) => {
  if (typeof value !== 'string') return reader.refuseForm(`must be text, not ${describeValue(value)}`)
  reader.countChars(value.length)
  if (isLegalText(value)) return value
  return reader.refuse(`has half of a surrogate pair at ${value.search(LONE_SURROGATE)}; it is not valid Unicode`)
}

/** Text of `least` to `most` UTF-16 units. */
export function readTextBetween(least: number, most: number): Read<string> {
  return (reader, value) => {
    const text = readText(reader, value)
    if (text.length >= least && text.length <= most) return text
    return reader.refuse(`must have ${least} to ${most} characters, not ${text.length}`)
  }
}

/** Maximum UTF-16 units of an event's label. */
const LABEL_CHARS_MAX = 64

export const readName: Read<string> = (reader, value) => {
  if (isLegalName(value)) return value
  if (typeof value === 'string' && value.length > NAME_CHARS_MAX)
    return reader.refuse(`must have 1 to ${NAME_CHARS_MAX} characters, not ${value.length}`)
  return reader.refuse(
    `must be a name of 1 to ${NAME_CHARS_MAX} characters without control characters, not ${describeValue(value)}`,
  )
}

/** Reads the label in brackets before an event's name. */
export const readLabel: Read<string> = (reader, value) => {
  if (isLegalName(value) && value.length <= LABEL_CHARS_MAX && !/[[\]]/.test(value)) return value
  return reader.refuse(`must have 1 to ${LABEL_CHARS_MAX} characters without brackets, not ${describeValue(value)}`)
}

export const readBoolean: Read<boolean> = (reader, value) =>
  typeof value === 'boolean' ? value : reader.refuse(`must be true or false, not ${describeValue(value)}`)

/** A finite number of `least` or more. */
export function readNumber(least: number): Read<number> {
  return (reader, value) =>
    typeof value === 'number' && value >= least && value <= Number.MAX_VALUE
      ? dropNegativeZero(value)
      : reader.refuse(`must be a number of ${least} or more, not ${describeValue(value)}`)
}

/** An integer of `least` or more. */
export function readInteger(least: number): Read<number> {
  return (reader, value) =>
    Number.isSafeInteger(value)
      ? readNumber(least)(reader, value)
      : reader.refuse(`must be a whole number, not ${describeValue(value)}`)
}

/** Normalises -0: JSON has one zero. */
function dropNegativeZero(value: number): number {
  return value === 0 ? 0 : value
}

export function readOneOf<const T extends string>(...allowed: readonly T[]): Read<T> {
  return (reader, value) =>
    allowed.find((one) => one === value) ?? reader.refuse(`must be ${listWords(allowed)}, not ${describeValue(value)}`)
}

/** `"a", "b" or "c"`. */
export function listWords(words: readonly string[]): string {
  const quoted = words.map((word) => `"${word}"`)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

export const readJson: Read<JsonValue> = (reader, value) => {
  switch (typeof value) {
    case 'string':
      return readText(reader, value)
    case 'boolean':
      return value
    case 'number':
      if (Number.isFinite(value)) return dropNegativeZero(value)
      break
    case 'object':
      if (value === null) return null
      return Array.isArray(value) ? readJsonList(reader, value) : readJsonObject(reader, value)
    default:
  }
  return reader.refuse(`must be JSON, not ${describeValue(value)}`)
}

const readJsonList: Read<readonly JsonValue[]> = (reader, value) =>
  reader.openList(value, 'an array').map((item, index) => reader.at(index, item, readJson))

export const readJsonObject: Read<JsonObject> = (reader, value) => {
  const copy: Record<string, JsonValue> = {}
  for (const [name, field] of reader.openObject(value)) {
    // Assigned to an object later, it would become its prototype.
    if (name === '__proto__') return reader.refuse('may not have a field "__proto__"')
    if (!isLegalText(name)) return reader.refuse(`has a field whose name is not valid Unicode: ${quote(name)}`)
    reader.countChars(name.length)
    copy[name] = reader.at(name, field, readJson)
  }
  return copy
}

export function readList<T>(readItem: Read<T>, most: number, expected = 'an array'): Read<readonly T[]> {
  return (reader, value) => {
    const items = reader.openList(value, expected)
    if (items.length > most) return reader.refuse(`has ${items.length} items; at most ${most} are allowed`)
    return items.map((item, index) => reader.at(index, item, readItem))
  }
}

type Fields = Readonly<Record<string, Read<unknown> | { readonly optional: Read<unknown> }>>
type FieldsOf<F extends Fields> = Flat<FieldsApart<F>>
type Flat<T> = { readonly [Name in keyof T]: T[Name] }
type FieldsApart<F extends Fields> = {
  readonly [Name in keyof F as F[Name] extends Read<unknown> ? Name : never]: F[Name] extends Read<infer T> ? T : never
} & {
  readonly [Name in keyof F as F[Name] extends Read<unknown> ? never : Name]?: F[Name] extends {
    readonly optional: Read<infer T>
  }
    ? T
    : never
}

/**
 * A plain object with these fields and no others. `what` names it in messages: `an image part`. `elsewhere` has other
 * libraries' names for its fields.
 */
export function readFields<const F extends Fields>(
  what: string,
  fields: F,
  elsewhere: Readonly<Record<string, string>> = {},
): Read<FieldsOf<F>> {
  const readers = Object.entries(fields)
  const names = readers.map(([name, read]) => ('optional' in read ? `${name}?` : name)).join(', ')
  const plain = readers.map(([name, read]) =>
    'optional' in read ? { name, read: read.optional, isOptional: true } : { name, read, isOptional: false },
  )
  const knows = (name: string): boolean => Object.hasOwn(fields, name)
  return (reader, value) => {
    // Fast path for nearly every value. The problem with any other value is found below, field by field.
    const right = reader.readPlain(value, plain, knows)
    if (right) return right as FieldsOf<F> // each field was read by its own reader
    const given = reader.openObject(value)
    for (const name of given.keys())
      if (!Object.hasOwn(fields, name)) {
        const meant = findMeant(name, Object.keys(fields), elsewhere)
        const more = meant === undefined ? '' : Object.hasOwn(fields, meant) ? `it is called "${meant}" here` : meant
        const problem = `is not a field of ${what}${more ? `; ${more}` : `, which has ${names}`}`
        return reader.at(name, undefined, () => reader.refuseForm(problem))
      }
    const copy: Record<string, unknown> = {}
    for (const [name, read] of readers) {
      const field = given.get(name)
      if (field !== undefined) copy[name] = reader.at(name, field, 'optional' in read ? read.optional : read)
      else if (!('optional' in read))
        return reader.at(name, undefined, () => reader.refuseForm(`is missing; ${what} has ${names}`))
    }
    // Each field was read by its own reader; missing fields are optional.
    return copy as FieldsOf<F>
  }
}

/** An object of one of several forms, distinguished by the text in its field `key`. */
export function readVariant<const V extends Readonly<Record<string, Read<unknown>>>>(
  key: string,
  variants: V,
): Read<ReturnType<V[keyof V]>> {
  const words = listWords(Object.keys(variants))
  return (reader, value) => {
    const tag = peek(reader, value, key)
    if (typeof tag !== 'string' || !Object.hasOwn(variants, tag))
      return reader.at(key, undefined, () => reader.refuseForm(`must be ${words}, not ${describeValue(tag)}`))
    // The tag is one of the variants' names.
    return variants[tag]?.(reader, value) as ReturnType<V[keyof V]>
  }
}

/** Reads one field of an object before its form is known; undefined for a getter. */
export function peek(reader: ValueReader, value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return reader.refuseForm(`must be a plain object, not ${describeValue(value)}`)
  return Reflect.getOwnPropertyDescriptor(value, key)?.value
}

/** Returns the signal itself, not a copy. */
export function readSignal(...[reader, value]: Parameters<Read<unknown>>): AbortSignalLike {
  const isSignal = typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value
  return isSignal ? (value as AbortSignalLike) : reader.refuse('must be an AbortSignal') // it has what Baton uses
}
