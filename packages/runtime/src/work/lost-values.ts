// Values that JSON writes without their content: a Map becomes `{}`, and so does a Response. A model that reads `{}`
// takes it for the whole result.
import { JSON_DEPTH_MAX } from '@baton/core/internal'

export interface LostValue {
  /** Path in the result, such as `rows[2].tags`; empty for the result itself. */
  readonly place: string
  /** Name of its class with its article: `a Map`. */
  readonly name: string
  /** Value to return instead. */
  readonly instead: string
}

const INSTEAD: Readonly<Record<string, string>> = {
  Response: 'await response.json() or await response.text()',
  Request: 'the fields that matter',
  Headers: 'Object.fromEntries(headers)',
  Map: 'Object.fromEntries(map)',
  Set: '[...set]',
  WeakMap: 'the entries that matter',
  WeakSet: 'the entries that matter',
  Promise: 'await the promise',
  RegExp: 'its source',
  ArrayBuffer: 'a file part, or text',
  Blob: 'a file part, or await blob.text()',
  ReadableStream: 'what was read of it',
  generator: 'the last value, and report the others with progress(note)',
}

/**
 * The first value of a result that JSON cannot write. A value with a `toJSON` decides for itself, but a Buffer has one
 * that lists its bytes.
 */
export function findLostValue(value: unknown, levels = JSON_DEPTH_MAX): LostValue | undefined {
  if (typeof value !== 'object' || value === null || levels === 0) return undefined
  const isList = Array.isArray(value)
  if (!isList && !ArrayBuffer.isView(value) && describesItself(value)) return undefined
  if (!isList && !isPlainObject(value) && isLost(value)) {
    const name = readClass(value)
    return { place: '', name: `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name}`, instead: findInstead(value, name) }
  }
  const fields = value as Readonly<Record<string, unknown>>
  for (const key of Object.keys(fields)) {
    const lost = findLostValue(fields[key], levels - 1)
    if (lost) return { ...lost, place: joinPlace(isList ? `[${key}]` : key, lost.place) }
  }
  return undefined
}

function describesItself(value: object): boolean {
  return typeof (value as { readonly toJSON?: unknown }).toJSON === 'function'
}

function joinPlace(outer: string, inner: string): string {
  return inner === '' || inner.startsWith('[') ? outer + inner : `${outer}.${inner}`
}

/** An object may lack a constructor; a generator's is an object. */
function readClass(value: object): string {
  if (isGenerator(value)) return 'generator'
  const made: unknown = (value as { readonly constructor?: unknown }).constructor
  return (typeof made === 'function' && made.name) || 'object without a name'
}

/** Written with `yield`, for results that arrive in pieces. */
function isGenerator(value: object): boolean {
  return (Symbol.asyncIterator in value || Symbol.iterator in value) && 'next' in value
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // An object from another realm has a different prototype, which itself has none.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** JSON writes an instance's own fields, a byte array's numbers, and nothing useful of an error. */
function isLost(value: object): boolean {
  return ArrayBuffer.isView(value) || value instanceof Error || Object.keys(value).length === 0
}

function findInstead(value: object, name: string): string {
  if (value instanceof Error) return 'its message, or throw it'
  if (ArrayBuffer.isView(value)) return 'a file part, or Array.from(bytes)'
  return INSTEAD[name] ?? 'a plain object, or give it a toJSON method'
}
