// Fields of what a program defines: one that does not exist is refused. Ignored in silence, a misspelt `approval` would let a
// tool run unasked.
import type { ErrorCode } from '../errors.ts'
import { BatonError } from '../errors.ts'

export interface KnownFields {
  /** Of the error: `tool "pay"`. */
  readonly what: string
  readonly code: ErrorCode
  readonly fields: ReadonlySet<string>
  /** Names that other libraries have for a field. */
  readonly elsewhere?: Readonly<Record<string, string>>
}

/** A name that is so near, in letters added, dropped or changed, is meant. */
const NEAR = 2

/** @throws BatonError with the code, for a value that is no object, and for the first field that does not exist */
export function checkFields(value: unknown, { what, code, fields, elsewhere = {} }: KnownFields): void {
  if (typeof value !== 'object' || value === null)
    throw new BatonError({ code, message: `${what} must be an object of options, not ${String(value).slice(0, 100)}` })
  const unknown = Object.keys(value).find((name) => !fields.has(name))
  if (unknown === undefined) return
  const meant = Object.hasOwn(elsewhere, unknown) ? elsewhere[unknown] : findNearName(fields, unknown)
  throw new BatonError({
    code,
    message: `${what} has no field "${unknown.slice(0, 100)}"${meant === undefined ? '' : `; it is called "${meant}" here`}`,
    hint: meant === undefined ? `Its fields are ${[...fields].join(', ')}.` : `Write "${meant}" in its place.`,
  })
}

/** The name that is most likely meant by one that does not exist; undefined where none is near. */
export function findNearName(names: Iterable<string>, unknown: string): string | undefined {
  return [...names].find((name) => countEdits(name, unknown) <= NEAR || name.startsWith(unknown))
}

/** The distance of Levenshtein, for names of a few letters. */
function countEdits(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > NEAR) return Infinity
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [index, letter] of one.split('').entries()) {
    const next = [index + 1]
    for (const [column, wanted] of other.split('').entries())
      next.push(
        Math.min((next[column] ?? 0) + 1, (row[column + 1] ?? 0) + 1, (row[column] ?? 0) + (letter === wanted ? 0 : 1)),
      )
    row = next
  }
  return row.at(-1) ?? Infinity
}
