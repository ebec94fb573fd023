// Opens values that a caller hands in, whatever JavaScript may hold. It never reads a property: own data properties come
// from their descriptors, so that no getter runs. It knows where in the value it is and how much was read, and not what
// the value should be: the readers in `read-value.ts` say that.
import type { ErrorCode } from '../errors.ts'
import { JSON_DEPTH_MAX } from '../json.ts'
import type { Refusal } from '../machine/refusal.ts'

/** The outcome of a decoder. The refusal's message names the field: `parts[2].text must be text, not null`. */
export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }

/** Gives the value's copy, or refuses it through the reader. */
export type Read<T> = (reader: ValueReader, value: unknown) => T

/** Bounds of one value that is handed in, however it is made: arrays may hold one thing many times. */
export const VALUE_LIMITS = {
  /** Objects and arrays in one another. */
  depth: JSON_DEPTH_MAX,
  /** Fields and items, all levels together. */
  values: 100_000,
  /** UTF-16 units of all texts together. */
  chars: 67_108_864,
  /** Characters of base64 of all images and files together. */
  mediaChars: 134_217_728,
} as const

/** Never throws. `subject` names the whole value in messages: `the options`. */
export function decodeWith<T>(subject: string, value: unknown, read: Read<T>): Decoded<T> {
  const reader = new ValueReader(subject)
  try {
    return { ok: true, value: read(reader, value) }
  } catch {
    // The thrown value is not inspected: a proxy's trap may have thrown another proxy.
    return { ok: false, refusal: reader.refusal() }
  }
}

/** One field of an object, and its reader. */
export interface PlainField {
  readonly name: string
  readonly read: Read<unknown>
  readonly isOptional: boolean
}

interface Failure {
  readonly code: ErrorCode
  readonly message: string
  /** The value is of another kind than it should be, so that the right form is worth showing. */
  readonly isForm: boolean
}

/** One decoding: where it is, how much it has read, and why it refuses. */
export class ValueReader {
  readonly #subject: string
  readonly #path: (string | number)[] = []
  /** The level from which depth is counted. */
  #measured: { readonly from: number; readonly code: ErrorCode } = { from: 0, code: 'invalid_event' }
  #values = 0
  #chars = 0
  #mediaChars = 0
  #failure: Failure | undefined

  constructor(subject: string) {
    this.#subject = subject
  }

  /** Reads a part of the value. The place is left when it was read; after a refusal it stays, and names the field. */
  at<T>(key: string | number, value: unknown, read: Read<T>): T {
    this.#path.push(key)
    const { from, code } = this.#measured
    if (this.#path.length - from >= VALUE_LIMITS.depth && typeof value === 'object' && value !== null)
      this.refuseAll(code, `${this.#where()} is deeper than ${VALUE_LIMITS.depth} levels, or the value holds itself`)
    const result = read(this, value)
    this.#path.pop()
    return result
  }

  /** Reads a value whose levels count from here, whatever it stands in; too many are refused with this code. */
  measure<T>(code: ErrorCode, value: unknown, read: Read<T>): T {
    const before = this.#measured
    this.#measured = { from: this.#path.length, code }
    const result = read(this, value)
    this.#measured = before
    return result
  }

  /** `problem` goes on after the field's name: `must be text, not null`. */
  refuse(problem: string): never {
    return this.#fail({ code: 'invalid_event', message: `${this.#where()} ${problem}`, isForm: false })
  }

  /** Refuses a value of another kind, so that `explain` may add the right one. */
  refuseForm(problem: string): never {
    return this.#fail({ code: 'invalid_event', message: `${this.#where()} ${problem}`, isForm: true })
  }

  /** A refusal that speaks of the whole value. */
  refuseAll(code: ErrorCode, message: string): never {
    return this.#fail({ code, message, isForm: false })
  }

  /** Adds what is expected to a refusal of the form. */
  explain(expected: string): void {
    if (this.#failure?.isForm)
      this.#failure = { ...this.#failure, message: `${this.#failure.message}; ${expected}`, isForm: false }
  }

  refusal(): Refusal {
    if (!this.#failure)
      return { code: 'invalid_event', message: `${this.#where()} cannot be read: it is, or holds, a proxy that fails` }
    const { code, message } = this.#failure
    return { code, message }
  }

  countChars(chars: number): void {
    this.#chars += chars
    if (this.#chars > VALUE_LIMITS.chars)
      this.refuseAll('input_too_large', `${this.#subject} has more than ${VALUE_LIMITS.chars} characters`)
  }

  /** Base64 is not copied, so that it may be longer than other text. */
  countMediaChars(chars: number): void {
    this.#mediaChars += chars
    const { mediaChars } = VALUE_LIMITS
    if (this.#mediaChars > mediaChars)
      this.refuseAll('input_too_large', `${this.#subject} has more than ${mediaChars} characters of base64`)
  }

  /**
   * A copy of a plain object that has the fields it should have and no others; undefined for any other value, of which
   * nothing was read or counted then.
   */
  readPlain(
    value: unknown,
    fields: readonly PlainField[],
    knows: (name: string) => boolean,
  ): Record<string, unknown> | undefined {
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
      return undefined
    const keys = Reflect.ownKeys(value)
    for (const key of keys) if (typeof key === 'symbol' || !knows(key)) return undefined
    // All of them before the first is read: what is wrong with one comes before what is wrong in another.
    const given: unknown[] = []
    for (const { name, isOptional } of fields) {
      const property = Reflect.getOwnPropertyDescriptor(value, name)
      const field: unknown = property?.enumerable ? property.value : undefined
      if (field === undefined && (property || !isOptional)) return undefined
      given.push(field)
    }
    this.#countValues(keys.length)
    const copy: Record<string, unknown> = {}
    let index = 0
    for (const { name, read } of fields) {
      const field = given[index++]
      if (field !== undefined) copy[name] = this.at(name, field, read)
    }
    return copy
  }

  /** The fields of a plain object by their names; one that is undefined is absent. */
  openObject(value: unknown, expected = 'a plain object'): ReadonlyMap<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return this.refuseForm(`must be ${expected}, not ${describeValue(value)}`)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype !== Object.prototype && prototype !== null)
      return this.refuseForm(`must be ${expected}, not ${ArrayBuffer.isView(value) ? 'bytes' : 'an object of a class'}`)
    const keys = Reflect.ownKeys(value)
    this.#countValues(keys.length)
    const fields = new Map<string, unknown>()
    for (const key of keys) {
      if (typeof key === 'symbol') return this.refuse('has a field whose name is a symbol')
      const field = this.#readOwn(value, key)
      if (field !== undefined) fields.set(key, field)
    }
    return fields
  }

  /** The items of a plain array without holes. */
  openList(value: unknown, expected: string): readonly unknown[] {
    if (!Array.isArray(value)) return this.refuseForm(`must be ${expected}, not ${describeValue(value)}`)
    if (Object.getPrototypeOf(value) !== Array.prototype)
      return this.refuse(`must be ${expected}, not an array of a class`)
    const length = Number(Reflect.getOwnPropertyDescriptor(value, 'length')?.value)
    // Before its keys are listed: a long one has as many.
    this.#countValues(length)
    if (Reflect.ownKeys(value).length > length + 1) return this.refuse('has fields beside its items')
    const items: unknown[] = []
    for (let index = 0; index < length; index++) {
      const item = this.#readOwn(value, index)
      if (item === undefined) return this.at(index, item, () => this.refuse('is missing or undefined'))
      items.push(item)
    }
    return items
  }

  #readOwn(value: object, key: string | number): unknown {
    const property = Reflect.getOwnPropertyDescriptor(value, key)
    if (property === undefined) return undefined
    const problem = !Object.hasOwn(property, 'value')
      ? 'is a getter or a setter; only values are taken'
      : property.enumerable
        ? undefined
        : 'is hidden (not enumerable); only plain fields are taken'
    return problem === undefined ? property.value : this.at(key, undefined, () => this.refuse(problem))
  }

  #countValues(count: number): void {
    this.#values += count
    if (!(this.#values <= VALUE_LIMITS.values))
      this.refuseAll('input_too_large', `${this.#subject} has more than ${VALUE_LIMITS.values} fields and items`)
  }

  #fail(failure: Failure): never {
    this.#failure = failure
    throw new Error(failure.message)
  }

  #where(): string {
    return this.#path.length === 0 ? this.#subject : describePath(this.#path)
  }
}

/** Levels of a field's name in a message. */
const SHOWN_LEVELS = 16

function describePath(path: readonly (string | number)[]): string {
  let text = ''
  for (const key of path.slice(0, SHOWN_LEVELS)) {
    if (typeof key === 'number') text += `[${key}]`
    else if (!/^[A-Za-z_$][\w$]{0,63}$/.test(key)) text += `[${quote(key)}]`
    else text += text === '' ? key : `.${key}`
  }
  return path.length > SHOWN_LEVELS ? `${text}…` : text
}

/** In a few words, without running anything of the value's own. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return quote(value)
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value)
    case 'bigint':
      return 'a BigInt'
    case 'symbol':
      return 'a symbol'
    case 'function':
      return 'a function'
    default:
      if (value === null) return 'null'
      return ArrayBuffer.isView(value) ? 'bytes' : Array.isArray(value) ? 'an array' : 'an object'
  }
}

const QUOTED_CHARS = 40

/** Its beginning, so that no control character or direction of writing gets into a message. */
export function quote(text: string): string {
  const quoted = JSON.stringify(text.slice(0, QUOTED_CHARS)).replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length > QUOTED_CHARS ? `${quoted.slice(0, -1)}…"` : quoted
}
