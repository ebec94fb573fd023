// Shapes of JSON values. One definition infers the TypeScript type, reads a caller's value, checks a stored one and
// describes itself in JSON Schema. Import it as a namespace: `s.fields({ callId: s.text, reason: s.optional(s.text) })`.
import type {
  Elsewhere,
  Fields,
  FieldsShape,
  Infer,
  InferFields,
  ObjectShape,
  OptionalShape,
  Shape,
  Tagged,
} from './kind.ts'
import { isObject, mustBe, show } from './kind.ts'
import { findMeant } from './known-fields.ts'
import { listWords, word } from './plain.ts'
import type { Read, ValueReader } from './value-reader.ts'
import { describeValue } from './value-reader.ts'

export type * from './kind.ts'
export { isObject } from './kind.ts'
export * from './plain.ts'

export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { optional: shape }
}

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

/** A list of at most `most` items. `expected` names it in messages: `an array of parts`. */
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
export function fields<const F extends Fields>(
  first: string | F,
  second?: F,
  elsewhere: Elsewhere = {},
): FieldsShape<F> {
  return typeof first === 'string' ? createFields(first, second as F, elsewhere) : createFields('an object', first, {})
}

function createFields<const F extends Fields>(what: string, of: F, elsewhere: Elsewhere): FieldsShape<F> {
  const listed = Object.entries(of).map(([key, shape]) => {
    const isOptional = 'optional' in shape
    const { check, describe } = isOptional ? shape.optional : shape
    return { key, check, describe, isOptional }
  })
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
      else if (!isOptional)
        return reader.at(key, undefined, () => reader.refuseForm(`is missing; ${what} has ${names}`))
    }
    return copy as InferFields<F> // each field was read by its own shape
  }
}

export type Variants = Readonly<Record<string, Shape<object> | ObjectShape<object>>>
/** An object of one of several forms, distinguished by the word in its field `key`, which is added to forms with fields. */
export function variant<const Key extends string, const V extends Variants>(
  key: Key,
  variants: V,
): Shape<{ readonly [Tag in keyof V]: Tagged<Key, Tag, Infer<V[Tag]>> }[keyof V]> {
  const forms: ReadonlyMap<unknown, Shape<unknown>> = new Map(
    Object.entries(variants).map(([tag, form]) => [
      tag,
      'fields' in form ? fields(form.what, { [key]: word(tag), ...form.fields }, form.elsewhere) : form,
    ]),
  )
  // The tag has been checked when its form is found.
  const checks = new Map(Object.entries(variants).map(([tag, form]) => [tag, withoutField(form, key).check]))
  const tags = Object.keys(variants)
  const listed = tags.map(show).join(' or ')
  return {
    read: (reader, value) => {
      const tag = peek(reader, value, key)
      const form = forms.get(tag)
      if (!form)
        return reader.at(key, undefined, () =>
          reader.refuseForm(`must be ${listWords(tags)}, not ${describeValue(tag)}`),
        )
      return form.read(reader, value) as never // the form of this tag
    },
    check: (value) => {
      const tag = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
      const check = typeof tag === 'string' ? checks.get(tag) : undefined
      return check ? check(value) : `.${key}${mustBe(listed, tag)}`
    },
    describe: () => ({ anyOf: [...forms.values()].map((form) => form.describe()) }),
  }
}

function withoutField(form: Shape<object> | ObjectShape<object>, key: string): Shape<object> {
  if (!('fields' in form) || !Object.hasOwn(form.fields, key)) return form
  return fields(Object.fromEntries(Object.entries(form.fields).filter(([field]) => field !== key)))
}

/** An object of one of two forms: `present` if it has the field `key`, else `absent`. */
export function either<A, P>(key: string, absent: Shape<A>, present: Shape<P>): Shape<A | P> {
  return {
    read: (reader, value) => (peek(reader, value, key) === undefined ? absent : present).read(reader, value),
    check: (value) => (isObject(value) && Object.hasOwn(value, key) ? present : absent).check(value),
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
export function explain<T>(shape: Shape<T>, form: string): Shape<T> {
  return {
    ...shape,
    read: (reader, value) => {
      try {
        return shape.read(reader, value)
      } catch (error) {
        reader.explain(form)
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

/** A shape that is described by a reference to `#/$defs/` with this name. */
export function named<T>(definition: string, shape: Shape<T>): Shape<T> {
  return { ...shape, describe: () => ({ $ref: `#/$defs/${definition}` }) }
}
