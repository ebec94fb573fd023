// The contract of a shape, the types that shapes infer, and the words in which a check describes a fault.
import type { JsonValue } from '../json.ts'
import type { Read } from './value-reader.ts'

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
export type Elsewhere = Readonly<Record<string, string>>

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

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The end of a fault: ` must be text, not null`. */
export function mustBe(what: string, value: unknown): string {
  return ` must be ${what}, not ${show(value)}`
}

const SHOWN_CHARS = 40

/** A value in a few characters. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_CHARS))
  return isObject(value) ? 'an object' : Array.isArray(value) ? 'a list' : String(value)
}
