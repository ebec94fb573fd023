// Shapes of JSON values. One definition infers the TypeScript type, reads a caller's value, checks a stored one and
// describes itself in JSON Schema. Import it as a namespace: `s.fields({ callId: s.text, reason: s.optional(s.text) })`.
import type { JsonObject, JsonValue } from '../json.ts'
import { findMeant } from './known-fields.ts'
import { isLegalName, NAME_CHARS_MAX } from './legal-name.ts'
import type { Read, ValueReader } from './value-reader.ts'
import { describeValue, quote } from './value-reader.ts'

/**
 * Returns undefined if nothing is wrong, or else the fault, to follow the name of the place: ` must be text, not null`,
 * `.parts[2].text is missing`.
 */
export type Check = (value: unknown) => string | undefined

export interface Shape<T> {
  /** Copies any value of a caller, or refuses it with the name of the wrong field. Unknown fields are refused. */
  readonly read: Read<T>
  /**
   * Checks a value that was JSON. It ignores unknown fields and bounds, which differ between the versions that wrote
   * records.
   */
  readonly check: Check
  /** JSON Schema (draft 2020-12) of the value. */
  readonly describe: () => JsonValue
}

/** A field that may be absent. */
export interface OptionalShape<T> {
  readonly optional: Shape<T>
}

export type Fields = Readonly<Record<string, Shape<unknown> | OptionalShape<unknown>>>

/** The shape of an object with known fields. */
export interface ObjectShape<T extends object> extends Shape<T> {
  readonly fields: Fields
  /** The object in messages: `an image part`. */
  readonly what: string
  readonly elsewhere: Elsewhere
}

export interface FieldsShape<F extends Fields> extends ObjectShape<InferFields<F>> {
  readonly fields: F
}

/** Other libraries' names for fields, mapped to the name of a field or a sentence that says where it belongs. */
type Elsewhere = Readonly<Record<string, string>>

/** The type of a shape's values. */
export type Infer<S extends Shape<unknown>> = S extends Shape<infer T> ? T : never
export type InferFields<F extends Fields> = Flat<
  {
    readonly [Name in keyof F as F[Name] extends Shape<unknown> ? Name : never]: F[Name] extends Shape<infer T>
      ? T
      : never
  } & {
    readonly [Name in keyof F as F[Name] extends Shape<unknown> ? never : Name]?: F[Name] extends OptionalShape<infer T>
      ? T
      : never
  }
>
/** An intersection as one object, as editors show it. */
type Flat<T> = { readonly [Name in keyof T]: T[Name] } & {}
/** Each form of `T` with the tag `Tag` in its field `Key`. */
export type Tagged<Key extends string, Tag, T> = T extends unknown ? Flat<{ readonly [Name in Key]: Tag } & T> : never

export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { optional: shape }
}

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

/** Words that a value may have. */
export interface WordShape<T> extends Shape<T> {
  readonly words: readonly T[]
}

/** One of these words. A record may also hold `true`, `false` or a number as one. */
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

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// Combinations

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return {
    read: (reader, value) => (value === null ? null : shape.read(reader, value)),
    check: (value) => (value === null ? undefined : shape.check(value)),
    describe: () => {
      const schema = shape.describe()
      if (isObject(schema) && typeof schema['type'] === 'string') return { ...schema, type: [schema['type'], 'null'] }
      return { anyOf: [schema, { type: 'null' }] }
    },
  }
}

/** At most `most` items. `expected` names the list in messages: `an array of parts`. */
export function list<T>(item: Shape<T>, most = Infinity, expected = 'an array'): Shape<readonly T[]> {
  return {
    read: (reader, value) => {
      const items = reader.openList(value, expected)
      if (items.length > most) return reader.refuse(`has ${items.length} items; at most ${most} are allowed`)
      return items.map((one, index) => reader.at(index, one, item.read))
    },
    check: (value) => {
      if (!Array.isArray(value)) return mustBe('a list', value)
      for (const [index, one] of value.entries()) {
        const issue = item.check(one)
        if (issue !== undefined) return `[${index}]${issue}`
      }
      return undefined
    },
    describe: () => ({ type: 'array', items: item.describe() }),
  }
}

/** An object with these fields. `what` names it in messages to callers: `an image part`. */
export function fields<const F extends Fields>(of: F): FieldsShape<F>
export function fields<const F extends Fields>(what: string, of: F, elsewhere?: Elsewhere): FieldsShape<F>
export function fields<const F extends Fields>(first: string | F, second?: F, elsewhere: Elsewhere = {}): FieldsShape<F> {
  return typeof first === 'string' ? createFields(first, second as F, elsewhere) : createFields('an object', first, {})
}

function createFields<const F extends Fields>(what: string, of: F, elsewhere: Elsewhere): FieldsShape<F> {
  const listed = Object.entries(of).map(([key, shape]) =>
    'optional' in shape ? { key, ...shape.optional, isOptional: true } : { key, ...shape, isOptional: false },
  )
  return {
    fields: of,
    what,
    elsewhere,
    read: readFields(of, what, elsewhere),
    check: (value) => {
      if (!isObject(value)) return mustBe('an object', value)
      for (const { key, check, isOptional } of listed) {
        const field = Object.hasOwn(value, key) ? value[key] : undefined
        if (field === undefined) {
          if (!isOptional) return `.${key} is missing`
          continue
        }
        const issue = check(field)
        if (issue !== undefined) return `.${key}${issue}`
      }
      return undefined
    },
    describe: () => ({
      type: 'object',
      properties: Object.fromEntries(listed.map(({ key, describe }) => [key, describe()])),
      required: listed.flatMap(({ key, isOptional }) => (isOptional ? [] : [key])),
    }),
  }
}

function readFields<const F extends Fields>(of: F, what: string, elsewhere: Elsewhere): Read<InferFields<F>> {
  const plain = Object.entries(of).map(([key, shape]) =>
    'optional' in shape
      ? { name: key, read: shape.optional.read, isOptional: true }
      : { name: key, read: shape.read, isOptional: false },
  )
  const names = plain.map(({ name: key, isOptional }) => (isOptional ? `${key}?` : key)).join(', ')
  const knows = (key: string): boolean => Object.hasOwn(of, key)
  return (reader, value) => {
    // Fast path for nearly every value. The problem with any other value is found below, field by field.
    const right = reader.readPlain(value, plain, knows)
    if (right) return right as InferFields<F> // each field was read by its own shape
    const given = reader.openObject(value)
    for (const key of given.keys())
      if (!knows(key)) {
        const meant = findMeant(key, Object.keys(of), elsewhere)
        const more = meant === undefined ? '' : knows(meant) ? `it is called "${meant}" here` : meant
        const problem = `is not a field of ${what}${more ? `; ${more}` : `, which has ${names}`}`
        return reader.at(key, undefined, () => reader.refuseForm(problem))
      }
    const copy: Record<string, unknown> = {}
    for (const { name: key, read, isOptional } of plain) {
      const field = given.get(key)
      if (field !== undefined) copy[key] = reader.at(key, field, read)
      else if (!isOptional) return reader.at(key, undefined, () => reader.refuseForm(`is missing; ${what} has ${names}`))
    }
    return copy as InferFields<F> // each field was read by its own shape
  }
}

export type Variants = Readonly<Record<string, Shape<object> | ObjectShape<object>>>
export type InferVariants<Key extends string, V extends Variants> = {
  readonly [Tag in keyof V]: Tagged<Key, Tag, Infer<V[Tag]>>
}[keyof V]

/** An object of one of several forms, distinguished by the word in its field `key`, which is added to forms with fields. */
export function variant<const Key extends string, const V extends Variants>(
  key: Key,
  variants: V,
): Shape<InferVariants<Key, V>> {
  const forms: ReadonlyMap<unknown, Shape<unknown>> = new Map(
    Object.entries(variants).map(([tag, form]) => [
      tag,
      'fields' in form ? fields(form.what, { [key]: word(tag), ...form.fields }, form.elsewhere) : form,
    ]),
  )
  const tags = [...forms.keys()].map(String)
  const listed = tags.map(show).join(' or ')
  return {
    read: (reader, value) => {
      const tag = peek(reader, value, key)
      const form = forms.get(tag)
      if (!form)
        return reader.at(key, undefined, () =>
          reader.refuseForm(`must be ${listWords(tags)}, not ${describeValue(tag)}`),
        )
      return form.read(reader, value) as InferVariants<Key, V> // the form of this tag
    },
    check: (value) => {
      const tag = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
      const form = forms.get(tag)
      return form ? form.check(value) : `.${key}${mustBe(listed, tag)}`
    },
    describe: () => ({ anyOf: [...forms.values()].map((form) => form.describe()) }),
  }
}

/** An object of one of two forms: `present` if it has the field `key`, else `absent`. */
export function either<A, P>(key: string, absent: Shape<A>, present: Shape<P>): Shape<A | P> {
  return {
    read: (reader, value) => (peek(reader, value, key) === undefined ? absent : present).read(reader, value),
    check: (value) => (isObject(value) && value[key] !== undefined ? present : absent).check(value),
    describe: () => ({ anyOf: [absent.describe(), present.describe()] }),
  }
}

/** Text, or else a value of the other shape. */
export function textOr<T extends string, R>(words: Shape<T>, other: Shape<R>): Shape<T | R> {
  return {
    read: (reader, value) => (typeof value === 'string' ? words : other).read(reader, value),
    check: (value) => (typeof value === 'string' ? words : other).check(value),
    describe: () => ({ anyOf: [words.describe(), other.describe()] }),
  }
}

/** A shape whose type is declared elsewhere, for values that are checked in detail where they are used. */
export function typed<T>(shape: Shape<unknown>): Shape<T> {
  return shape as Shape<T>
}

/** A value of a program that is not JSON, such as a signal: it is neither stored nor sent. */
export function opaque<T>(read: Read<T>): Shape<T> {
  return { read, check: () => ' is not JSON', describe: () => true }
}

/** A shape whose values, once read, are checked or changed by `refine`, which may refuse them. */
export function refine<T, R extends T>(shape: Shape<T>, refine: (value: T, reader: ValueReader) => R): Shape<R> {
  return { ...(shape as Shape<R>), read: (reader, value) => refine(shape.read(reader, value), reader) }
}

/** Adds the right form to the refusal of a value of the wrong kind. */
export function explain<T>(shape: Shape<T>, form: string | ((value: unknown) => string)): Shape<T> {
  return {
    ...shape,
    read: (reader, value) => {
      try {
        return shape.read(reader, value)
      } catch (error) {
        reader.explain(typeof form === 'string' ? form : form(value))
        throw error
      }
    },
  }
}

/** Reads one field of an object before its form is known; undefined for a getter. */
export function peek(reader: ValueReader, value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return reader.refuseForm(`must be a plain object, not ${describeValue(value)}`)
  return Reflect.getOwnPropertyDescriptor(value, key)?.value
}

/** Described by a reference to `#/$defs/` with this name. */
export function named<T>(definition: string, shape: Shape<T>): Shape<T> {
  return { ...shape, describe: () => ({ $ref: `#/$defs/${definition}` }) }
}

function mustBe(what: string, value: unknown): string {
  return ` must be ${what}, not ${show(value)}`
}

const SHOWN_CHARS = 40

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_CHARS))
  return isObject(value) ? 'an object' : Array.isArray(value) ? 'a list' : String(value)
}
