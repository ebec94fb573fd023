// Opens values that a caller passes in, whatever JavaScript may hold. It never reads a property: own data properties
// come from their descriptors, so that no getter runs. It tracks the position and the amount read; the shapes
// know what they expect.
import type { ErrorCode } from '../errors.ts'
import { JSON_DEPTH_MAX } from '../json.ts'
import type { Refusal } from '../errors.ts'

/** The outcome of a decoder. The refusal's message names the field: `parts[2].text must be text, not null`. */
export type Decoded<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }

/** Returns the value's copy, or refuses it through the reader. */
export type Read<T> = (reader: ValueReader, value: unknown) => T

/** Bounds of one value, however it is built: arrays may hold one object many times. */
export const VALUE_LIMITS = {
  /** Nesting of objects and arrays. */
  depth: JSON_DEPTH_MAX,
  /** Total number of fields and items. */
  values: 100_000,
  /** Total UTF-16 units of all texts. */
  chars: 67_108_864,
  /** Total base64 characters of all images and files. */
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

/** Returns a decoder of one kind of value. It never throws. `subject` names the whole value in messages. */
export function decoder<T>(subject: string, { read }: { readonly read: Read<T> }): (value: unknown) => Decoded<T> {
  return (value) => decodeWith(subject, value, read)
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
  /** The value is of the wrong kind, so the message should show the right form. */
  readonly isForm: boolean
}

/** One decoding: its position, the amount read, and why it refuses. */
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

  /** Reads a part of the value. The position is reset afterwards; after a refusal it stays and names the field. */
  at<T>(key: string | number, value: unknown, read: Read<T>): T {
    this.#path.push(key)
    const { from, code } = this.#measured
    if (this.#path.length - from >= VALUE_LIMITS.depth && typeof value === 'object' && value !== null)
      this.refuseAll(code, `${this.#where()} is deeper than ${VALUE_LIMITS.depth} levels, or the value contains itself`)
    const result = read(this, value)
    this.#path.pop()
    return result
  }

  /** Reads a value with its own depth count; too many levels are refused with this code. */
  measure<T>(code: ErrorCode, value: unknown, read: Read<T>): T {
    const before = this.#measured
    this.#measured = { from: this.#path.length, code }
    const result = read(this, value)
    this.#measured = before
    return result
  }

  /** `problem` follows the field's name: `must be text, not null`. */
  refuse(problem: string): never {
    return this.#fail({ code: 'invalid_event', message: `${this.#where()} ${problem}`, isForm: false })
  }

  /** Refuses a value of the wrong kind, so that `explain` may add the right form. */
  refuseForm(problem: string): never {
    return this.#fail({ code: 'invalid_event', message: `${this.#where()} ${problem}`, isForm: true })
  }

  /** Refuses the value as a whole. */
  refuseAll(code: ErrorCode, message: string): never {
    return this.#fail({ code, message, isForm: false })
  }

  /** Adds the expected form to a refusal of the wrong kind. */
  explain(expected: string): void {
    if (this.#failure?.isForm)
      this.#failure = { ...this.#failure, message: `${this.#failure.message}; ${expected}`, isForm: false }
  }

  refusal(): Refusal {
    if (!this.#failure)
      return {
        code: 'invalid_event',
        message: `${this.#where()} cannot be read: it is or contains a proxy that throws`,
      }
    const { code, message } = this.#failure
    return { code, message }
  }

  countChars(chars: number): void {
    this.#chars += chars
    if (this.#chars > VALUE_LIMITS.chars)
      this.refuseAll('input_too_large', `${this.#subject} has more than ${VALUE_LIMITS.chars} characters`)
  }

  /** Base64 is not copied, so it may be longer than other text. */
  countMediaChars(chars: number): void {
    this.#mediaChars += chars
    const { mediaChars } = VALUE_LIMITS
    if (this.#mediaChars > mediaChars)
      this.refuseAll('input_too_large', `${this.#subject} has more than ${mediaChars} characters of base64`)
  }

  /**
   * Copies a plain object with exactly the expected fields; undefined for any other value, without having read or
   * counted any of it.
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
    // Check all fields before reading the first, so that missing fields are reported before errors inside fields.
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

  /** The fields of a plain object by name; an undefined field counts as absent. */
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
    // Before its keys are listed: a long array has one key per item.
    this.#countValues(length)
    if (Reflect.ownKeys(value).length > length + 1) return this.refuse('has fields other than its items')
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
      ? 'is a getter or a setter; only plain values are accepted'
      : property.enumerable
        ? undefined
        : 'is hidden (not enumerable); only plain fields are accepted'
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
    const [first] = this.#path
    if (first === undefined) return this.#subject
    // An item of a list has no name.
    return `${typeof first === 'number' ? this.#subject : ''}${describePath(this.#path)}`
  }
}

/** Maximum levels of a field's path in a message. */
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

/** Describes a value in a few words, without running any of its code. */
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

/** The start of a text, escaped so that no control or bidirectional character gets into a message. */
export function quote(text: string): string {
  const quoted = JSON.stringify(text.slice(0, QUOTED_CHARS)).replace(
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  return text.length > QUOTED_CHARS ? `${quoted.slice(0, -1)}…"` : quoted
}
