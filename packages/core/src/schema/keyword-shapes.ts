// Keywords of draft 2020-12 and the shapes of their values. A value of another shape makes a provider refuse the
// request with all of its tools, and a validator the schema.
import type { JsonValue } from '../json.ts'
import { isJsonObject } from '../json.ts'

interface Shape {
  readonly fits: (value: JsonValue) => boolean
  /** Description of the shape: `a number`. */
  readonly words: string
}

const SHAPES: Readonly<Record<string, Shape>> = {
  ...shapes('minimum maximum exclusiveMinimum exclusiveMaximum', 'a number', isNumber),
  ...shapes('multipleOf', 'a number above 0', (value) => isNumber(value) && Number(value) > 0),
  ...shapes(
    'minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains',
    'a whole number of 0 or more',
    (value) => Number.isInteger(value) && Number(value) >= 0,
  ),
  ...shapes('title description format $ref $schema $comment pattern', 'text', isText),
  ...shapes('uniqueItems deprecated readOnly writeOnly', 'true or false', (value) => typeof value === 'boolean'),
  ...shapes('items additionalProperties not contains propertyNames if then else', 'a schema', () => false),
  ...shapes('unevaluatedProperties unevaluatedItems', 'a schema', () => false),
  ...shapes('anyOf oneOf allOf prefixItems', 'a list of schemas', () => false),
  ...shapes('properties patternProperties $defs definitions dependentSchemas', 'an object of schemas', () => false),
  ...shapes('enum', 'a list of at least one value', () => false),
  ...shapes('required', 'a list of names', isNames),
  ...shapes('dependentRequired', 'an object of lists of names', (value) =>
    isJsonObject(value) ? Object.values(value).every(isNames) : false,
  ),
}

function shapes(keywords: string, words: string, fits: Shape['fits']): Readonly<Record<string, Shape>> {
  return Object.fromEntries(keywords.split(' ').map((keyword) => [keyword, { fits, words }]))
}

function isNumber(value: JsonValue): boolean {
  return typeof value === 'number' && Number.isFinite(value)
}

function isText(value: JsonValue): boolean {
  return typeof value === 'string'
}

function isNames(value: JsonValue): boolean {
  return Array.isArray(value) && value.every((one: JsonValue) => typeof one === 'string')
}

/** Unknown keywords may have any value. Keywords that hold schemas are checked when those are read. */
export function hasShape(keyword: string, value: JsonValue): boolean {
  return !Object.hasOwn(SHAPES, keyword) || SHAPES[keyword]?.fits(value) === true
}

export function describeShape(keyword: string): string {
  return (Object.hasOwn(SHAPES, keyword) ? SHAPES[keyword]?.words : undefined) ?? 'a valid value'
}

const TYPES: ReadonlySet<string> = new Set('object array string number integer boolean null'.split(' '))

/** Names of the types in other languages and in common use. */
const MEANT: Readonly<Record<string, string>> = {
  ...words('number', 'float double decimal numeric real float32 float64'),
  ...words('integer', 'int long short int32 int64 uint uint32 uint64 bigint'),
  ...words('string', 'str text char varchar date datetime date-time time timestamp uuid url uri email enum bytes'),
  ...words('boolean', 'bool'),
  ...words('object', 'dict map record struct'),
  ...words('array', 'list tuple set'),
  ...words('null', 'none nil'),
}

function words(type: string, others: string): Readonly<Record<string, string>> {
  return Object.fromEntries(others.split(' ').map((other) => [other, type]))
}

export interface ReadTypes {
  /** Undefined for any type. */
  readonly types: JsonValue | undefined
  /** Unknown types, and their meaning if it is clear. */
  readonly unknown: readonly { readonly said: JsonValue; readonly meant: string | undefined }[]
}

/** Reads a type; Google writes `STRING`. Anything that is not a type allows any value. */
export function readTypes(value: JsonValue): ReadTypes {
  const said = Array.isArray(value) ? (value as readonly JsonValue[]) : [value]
  const read = said.map((one) => {
    const plain = typeof one === 'string' ? one.toLowerCase().trim() : ''
    if (TYPES.has(plain)) return { said: one, meant: plain, isKnown: true }
    return { said: one, meant: Object.hasOwn(MEANT, plain) ? MEANT[plain] : undefined, isKnown: false }
  })
  const unknown = read.filter(({ isKnown }) => !isKnown)
  if (said.length === 0) return { types: undefined, unknown: [{ said: value, meant: undefined }] }
  const meant = read.map((one) => one.meant)
  if (!meant.every((one) => one !== undefined)) return { types: undefined, unknown }
  const distinct = [...new Set(meant)]
  const [only] = distinct
  if (!Array.isArray(value)) return { types: only, unknown }
  const isSame = distinct.length === said.length && distinct.every((one, index) => one === said[index])
  return { types: isSame ? value : distinct, unknown }
}
