// Checks the fields of definitions: unknown ones are refused, since ignoring a misspelt `approval` would let a tool run
// without asking.
import type { ErrorCode } from '../errors.ts'
import { BatonError } from '../errors.ts'
import { describeValue } from './value-reader.ts'

export interface KnownFields {
  /** Subject of the error message, such as `tool "pay"`. */
  readonly what: string
  readonly code: ErrorCode
  readonly fields: ReadonlySet<string>
  /** Other libraries' names for a field, mapped to the field's name or a sentence that says where it belongs. */
  readonly elsewhere?: Readonly<Record<string, string>>
}

/** The type of a field that has another name here. Its text is the compiler's error. */
export type FieldIsNamed<Name extends string> = `Baton names this field "${Name}"`

/** @throws BatonError with the code if the value is not an object, or for its first unknown field */
export function checkFields(value: unknown, { what, code, fields, elsewhere = {} }: KnownFields): void {
  if (typeof value !== 'object' || value === null) {
    // A text in this place is often a key or a token.
    const given = typeof value === 'string' ? 'text' : describeValue(value)
    const hint = fields.size === 0 ? 'It has no fields.' : `Pass an object; its fields are ${[...fields].join(', ')}.`
    throw new BatonError({ code, message: `${what} must be an object of options, not ${given}`, hint })
  }
  const unknown = Object.keys(value).find((name) => !fields.has(name))
  if (unknown === undefined) return
  const meant = findMeant(unknown, fields, elsewhere)
  const isField = meant !== undefined && fields.has(meant)
  const listed = fields.size === 0 ? 'It has no fields.' : `Its fields are ${[...fields].join(', ')}.`
  const told = meant === undefined ? listed : `${meant.charAt(0).toUpperCase()}${meant.slice(1)}.`
  throw new BatonError({
    code,
    message: `${what} has no field "${unknown.slice(0, 100)}"${isField ? `; it is called "${meant}" here` : ''}`,
    hint: isField ? `Write "${meant}" instead.` : told,
  })
}

/** Values that a field accepts: one of some words, a number of a unit, or a kind of value. */
export type FieldKind =
  | readonly string[]
  | {
      readonly unit: string
      readonly least: number
      /** Without it, `Infinity` is accepted too. */ readonly most?: number
    }
  | 'text'
  | 'text or an object'
  | 'true or false'
  | 'a function'
  | 'true, false or a function'
  | 'an array'
  | 'an array of secrets'
  | 'an object'
  | 'an object of secrets'

/**
 * @throws BatonError with the code for a field of the wrong kind: a misspelt `untrusted` would be trusted. Absent
 * fields pass, and fields without a kind.
 */
export function checkKinds(
  value: object,
  {
    what,
    code,
    kinds,
  }: Pick<KnownFields, 'what' | 'code'> & { readonly kinds: Readonly<Record<string, FieldKind | undefined>> },
): void {
  for (const [name, kind] of Object.entries(kinds)) {
    const given: unknown = Reflect.get(value, name)
    if (given === undefined || kind === undefined || isOfKind(given, kind)) continue
    throw new BatonError({
      code,
      message: `${what}: ${name} must be ${describeKind(kind)}, not ${describeGiven(kind, given)}`,
    })
  }
}

/** Names a text without quoting it where secrets belong. */
function describeGiven(kind: FieldKind, given: unknown): string {
  const isSecret = kind === 'an array of secrets' || kind === 'an object of secrets'
  return isSecret && typeof given === 'string' ? 'text' : describeValue(given)
}

function isOfKind(given: unknown, kind: FieldKind): boolean {
  switch (kind) {
    case 'text':
      return typeof given === 'string'
    case 'text or an object':
      return typeof given === 'string' || (typeof given === 'object' && given !== null)
    case 'true or false':
      return typeof given === 'boolean'
    case 'a function':
      return typeof given === 'function'
    case 'true, false or a function':
      return typeof given === 'boolean' || typeof given === 'function'
    case 'an array':
    case 'an array of secrets':
      return Array.isArray(given)
    case 'an object':
    case 'an object of secrets':
      return typeof given === 'object' && given !== null
    default:
      if ('unit' in kind) return typeof given === 'number' && given >= kind.least && given <= (kind.most ?? Infinity)
      return typeof given === 'string' && kind.includes(given)
  }
}

function describeKind(kind: FieldKind): string {
  if (typeof kind === 'string') return kind
  if (!('unit' in kind)) return kind.map((word) => `"${word}"`).join(', ')
  const { unit, least, most } = kind
  return `a number of ${unit} ${most === undefined ? `from ${least} on` : `from ${least} to ${most}`}`
}

/** The field that an unknown name means, or a sentence of `elsewhere`; undefined if unclear. */
export function findMeant(
  unknown: string,
  fields: Iterable<string>,
  elsewhere: Readonly<Record<string, string>>,
): string | undefined {
  return Object.hasOwn(elsewhere, unknown) ? elsewhere[unknown] : findNearName(fields, unknown)
}

/** The misspelt name as it was meant, or else the first name that begins with it; undefined if none is near. */
export function findNearName(names: Iterable<string>, unknown: string): string | undefined {
  if (unknown === '') return undefined
  const all = [...names]
  // A word of two letters is similar to every other.
  return findMisspelt(all, unknown, unknown.length < 4 ? 1 : 2) ?? all.find((name) => name.startsWith(unknown))
}

/**
 * The name with the fewest edits, at most `editsMax`; the first of several. An edit adds, drops or changes a letter, or
 * swaps two neighbours.
 */
export function findMisspelt(names: Iterable<string>, unknown: string, editsMax: number): string | undefined {
  let nearest: string | undefined
  let fewest = editsMax + 1
  for (const name of names) {
    if (Math.abs(name.length - unknown.length) >= fewest) continue
    const edits = countEdits(name, unknown)
    if (edits < fewest) [nearest, fewest] = [name, edits]
  }
  return nearest
}

/** Optimal string alignment distance, for short names. */
function countEdits(one: string, other: string): number {
  const first = Array.from({ length: other.length + 1 }, (_, column) => column)
  const rows = [first]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity
  for (let row = 1; row <= one.length; row++) {
    const next = [row]
    rows.push(next)
    for (let column = 1; column <= other.length; column++) {
      const isSame = one[row - 1] === other[column - 1]
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]
      next.push(
        Math.min(
          at(row, column - 1) + 1,
          at(row - 1, column) + 1,
          at(row - 1, column - 1) + (isSame ? 0 : 1),
          isSwap ? at(row - 2, column - 2) + 1 : Infinity,
        ),
      )
    }
  }
  return at(one.length, other.length)
}
