// Shapes without parts: text, names, words, flags, numbers, JSON.
import { BatonError } from '../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { Shape } from './kind.ts'
import { isObject, mustBe, show } from './kind.ts'
import type { Read } from './value-reader.ts'
import { describeValue, quote } from './value-reader.ts'

// Text

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

export const text: Shape<string> = {
  read: (reader, value) => {
    if (typeof value !== 'string') return reader.refuseForm(`must be text, not ${describeValue(value)}`)
    reader.countChars(value.length)
    if (isLegalText(value)) return value
    return reader.refuse(`has half of a surrogate pair at ${value.search(LONE_SURROGATE)}; it is not valid Unicode`)
  },
  check: (value) => (typeof value === 'string' ? undefined : mustBe('text', value)),
  describe: () => ({ type: 'string' }),
}

/** Text that is one of a type's words; a record of another version may have other words. */
export function textOf<T extends string>(): Shape<T> {
  return text as Shape<string> as Shape<T>
}

/** Text of `least` to `most` UTF-16 units. */
export function textBetween(least: number, most: number): Shape<string> {
  return {
    ...text,
    read: (reader, value) => {
      const given = text.read(reader, value)
      if (given.length >= least && given.length <= most) return given
      return reader.refuse(`must have ${least} to ${most} characters, not ${given.length}`)
    },
    describe: () => ({ type: 'string', minLength: least, maxLength: most }),
  }
}

// Names: ids of sessions, people, inputs, calls, clients and connections, keys of blobs, and all that people read as a
// name

/** Maximum UTF-16 units of a name. */
export const NAME_CHARS_MAX = 256

/** C0 and C1 controls, line separators, halves of surrogate pairs, and bidirectional controls. */
const ILLEGAL = /[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\p{Bidi_Control}]/u

/**
 * Whether the value can be an id: text of 1 to 256 UTF-16 units without control characters, line separators,
 * bidirectional controls and halves of surrogate pairs.
 */
export function isLegalName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= NAME_CHARS_MAX && !ILLEGAL.test(value)
}

/** Why the value is not a legal name, worded to follow "must": `be text, not null`. Undefined if it is legal. */
export function findNameIssue(value: unknown): string | undefined {
  if (typeof value !== 'string') return `be text, not ${value === null ? 'null' : typeof value}`
  if (value === '' || value.length > NAME_CHARS_MAX)
    return `have 1 to ${NAME_CHARS_MAX} characters, not ${value.length}`
  const at = value.search(ILLEGAL)
  if (at < 0) return undefined
  const code = `U+${(value.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
  const kind = LONE_SURROGATE.test(value[at] ?? '') ? 'half of a surrogate pair' : 'a control character'
  return `have no control characters; position ${at} has ${code}, ${kind}`
}

/** Like `findNameIssue`, for session ids: they appear in addresses, where these two mean a folder. */
export function findSessionIdIssue(value: unknown): string | undefined {
  if (value === '.' || value === '..') return `not be "${value}", which an HTTP address cannot contain`
  return findNameIssue(value)
}

/** @throws BatonError `invalid_option` with the reason */
export function checkSessionId(value: unknown): asserts value is string {
  const issue = findSessionIdIssue(value)
  if (issue !== undefined) throw new BatonError({ code: 'invalid_option', message: `a session’s id must ${issue}` })
}

/**
 * Asserts a legal name. `what` names the value: `a blob’s name`.
 * @throws BatonError `invalid_option` with the reason
 */
export function checkName(what: string, value: unknown): asserts value is string {
  const issue = findNameIssue(value)
  if (issue !== undefined) throw new BatonError({ code: 'invalid_option', message: `${what} must ${issue}` })
}

/** A name of 1 to 256 UTF-16 units without control characters. */
export const name: Shape<string> = {
  ...text,
  read: (reader, value) => {
    if (isLegalName(value)) return value
    if (typeof value === 'string' && value.length > NAME_CHARS_MAX)
      return reader.refuse(`must have 1 to ${NAME_CHARS_MAX} characters, not ${value.length}`)
    return reader.refuse(
      `must be a name of 1 to ${NAME_CHARS_MAX} characters without control characters, not ${describeValue(value)}`,
    )
  },
  describe: () => ({ type: 'string', minLength: 1, maxLength: NAME_CHARS_MAX }),
}

// Words

/** Words that a value may have. */
export interface WordShape<T> extends Shape<T> {
  readonly words: readonly T[]
}

/** One of these words, which may also be `true`, `false` or numbers. */
export function word<const T extends string | number | boolean>(...words: readonly T[]): WordShape<T> {
  const listed = words.map(show).join(' or ')
  return {
    words,
    read: (reader, value) => {
      const found = words.find((one) => one === value)
      if (found !== undefined) return found
      if (words.length === 1 && words[0] === true) return reader.refuse('must be true, or absent')
      return reader.refuse(`must be ${listWords(words.map(String))}, not ${describeValue(value)}`)
    },
    check: (value) => (words.some((one) => one === value) ? undefined : mustBe(listed, value)),
    describe: () => (words.length === 1 && words[0] !== undefined ? { const: words[0] } : { enum: words }),
  }
}

/** `"a", "b" or "c"`. */
export function listWords(words: readonly string[]): string {
  const quoted = words.map((one) => `"${one}"`)
  return quoted.length < 2 ? quoted.join('') : `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
}

// Flags and numbers

export const flag: Shape<boolean> = {
  read: (reader, value) =>
    typeof value === 'boolean' ? value : reader.refuse(`must be true or false, not ${describeValue(value)}`),
  check: (value) => (typeof value === 'boolean' ? undefined : mustBe('true or false', value)),
  describe: () => ({ type: 'boolean' }),
}

/** A size or an amount of `least` or more, which may be an estimate. */
export function number(least: number): Shape<number> {
  return {
    read: (reader, value) =>
      typeof value === 'number' && value >= least && value <= Number.MAX_VALUE
        ? dropNegativeZero(value)
        : reader.refuse(`must be a number of ${least} or more, not ${describeValue(value)}`),
    check: (value) =>
      typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? undefined : mustBe('a number', value),
    describe: () => ({ type: 'number' }),
  }
}

/** A count, a position or the number of something: `least` or more, `most` or less. */
export function integer(least: number, most = Infinity): Shape<number> {
  const { read } = number(least)
  const whole = most === Infinity ? 'a whole number' : `a whole number from ${least} to ${most}`
  return {
    read: (reader, value) => {
      if (!Number.isSafeInteger(value)) return reader.refuse(`must be ${whole}, not ${describeValue(value)}`)
      const given = read(reader, value)
      return given <= most ? given : reader.refuse(`must be from ${least} to ${most}, not ${given}`)
    },
    check: (value) => (Number.isSafeInteger(value) ? undefined : mustBe('a safe whole number', value)),
    describe: () => ({ type: 'integer', minimum: least, ...(most !== Infinity && { maximum: most }) }),
  }
}

export const count: Shape<number> = integer(0)
export const amount: Shape<number> = number(0)

/** Milliseconds: a duration, or a future time. */
export const ms: Shape<number> = {
  ...amount,
  check: (value) => (Number.isFinite(value) ? undefined : mustBe('a number of milliseconds', value)),
}

/** Maximum milliseconds since 1970 of a date. */
export const DATE_MS_MAX = 8_640_000_000_000_000

export const date: Shape<number> = {
  ...amount,
  check: (value) =>
    typeof value === 'number' && Math.abs(value) <= DATE_MS_MAX ? undefined : mustBe('milliseconds of a date', value),
}

/** Normalises -0: JSON has one zero. */
function dropNegativeZero(value: number): number {
  return value === 0 ? 0 : value
}

// JSON

const readJson: Read<JsonValue> = (reader, value) => {
  switch (typeof value) {
    case 'string':
      return text.read(reader, value)
    case 'boolean':
      return value
    case 'number':
      if (Number.isFinite(value)) return dropNegativeZero(value)
      break
    case 'object':
      if (value === null) return null
      return Array.isArray(value)
        ? reader.openList(value, 'an array').map((item, index) => reader.at(index, item, readJson))
        : readJsonObject(reader, value)
    default:
  }
  return reader.refuse(`must be JSON, not ${describeValue(value)}`)
}

const readJsonObject: Read<JsonObject> = (reader, value) => {
  const copy: Record<string, JsonValue> = {}
  for (const [key, field] of reader.openObject(value)) {
    // Assigned to an object later, it would become its prototype.
    if (key === '__proto__') return reader.refuse('may not have a field "__proto__"')
    if (!isLegalText(key)) return reader.refuse(`has a field whose name is not valid Unicode: ${quote(key)}`)
    reader.countChars(key.length)
    copy[key] = reader.at(key, field, readJson)
  }
  return copy
}

export const json: Shape<JsonValue> = {
  read: readJson,
  check: (value) => (value === undefined ? ' is missing' : undefined),
  describe: () => true,
}

export const object: Shape<JsonObject> = {
  read: readJsonObject,
  check: (value) => (isObject(value) ? undefined : mustBe('an object', value)),
  describe: () => ({ type: 'object' }),
}
