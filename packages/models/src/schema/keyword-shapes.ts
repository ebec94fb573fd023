// Keywords as draft 2020-12 has them. A value of another shape (older drafts live on, and tools of others are not checked)
// makes a provider refuse the request with all of its tools.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject } from '@baton/core'

export interface ReadableSchema {
  readonly schema: JsonObject
  /** Keywords that could not be read. */
  readonly dropped: readonly string[]
}

/** Draft 4's and 7's words become today's; what is none of any draft is dropped. */
export function readableSchema(given: JsonObject): ReadableSchema {
  const schema = modernised(given)
  const dropped = Object.keys(schema).filter((keyword) => !hasShape(keyword, schema[keyword] ?? null))
  if (dropped.length === 0) return { schema, dropped }
  return {
    schema: Object.fromEntries(Object.entries(schema).filter(([keyword]) => !dropped.includes(keyword))),
    dropped,
  }
}

function modernised(given: JsonObject): JsonObject {
  const { items, additionalItems, exclusiveMinimum, exclusiveMaximum } = given
  const isOld = Array.isArray(items) || typeof exclusiveMinimum === 'boolean' || typeof exclusiveMaximum === 'boolean'
  if (!isOld) return given
  let schema: JsonObject = given
  if (Array.isArray(items)) {
    const { items: _, additionalItems: __, ...rest } = schema
    schema = { ...rest, prefixItems: items, ...(additionalItems !== undefined && { items: additionalItems }) }
  }
  schema = withNumericLimit(schema, 'exclusiveMinimum', 'minimum')
  return withNumericLimit(schema, 'exclusiveMaximum', 'maximum')
}

/** In draft 4 it was a word about the limit beside it. */
function withNumericLimit(schema: JsonObject, exclusive: string, limit: string): JsonObject {
  const { [exclusive]: isExclusive, [limit]: value, ...rest } = schema
  if (typeof isExclusive !== 'boolean') return schema
  if (value === undefined) return rest
  return { ...rest, [isExclusive ? exclusive : limit]: value }
}

type Shape = (value: JsonValue) => boolean

const isNumber: Shape = (value) => typeof value === 'number'
const isCount: Shape = (value) => Number.isInteger(value) && Number(value) >= 0
const isText: Shape = (value) => typeof value === 'string'
const isFlag: Shape = (value) => typeof value === 'boolean'
const isSchema: Shape = (value) => isFlag(value) || isJsonObject(value)
const isList: Shape = (value) => Array.isArray(value) && value.length > 0
const isSchemas: Shape = (value) => isList(value) && (value as readonly JsonValue[]).every(isSchema)
const isMap: Shape = (value) => isJsonObject(value) && Object.values(value).every(isSchema)
const isNames: Shape = (value) => Array.isArray(value) && value.every(isText) && new Set(value).size === value.length

const SHAPES: Readonly<Record<string, Shape>> = {
  ...shapes('minimum maximum exclusiveMinimum exclusiveMaximum', isNumber),
  multipleOf: (value) => isNumber(value) && Number(value) > 0,
  ...shapes('minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains', isCount),
  ...shapes('title description format $ref $schema $id $anchor $comment', isText),
  ...shapes('uniqueItems deprecated readOnly writeOnly', isFlag),
  ...shapes('items additionalProperties not contains propertyNames if then else', isSchema),
  ...shapes('unevaluatedProperties unevaluatedItems', isSchema),
  ...shapes('anyOf oneOf allOf prefixItems', isSchemas),
  ...shapes('properties patternProperties $defs definitions dependentSchemas', isMap),
  ...shapes('enum', isList),
  type: (value) => isText(value) || isList(value),
  required: isNames,
  pattern: isPattern,
}

function shapes(keywords: string, shape: Shape): Readonly<Record<string, Shape>> {
  return Object.fromEntries(keywords.split(' ').map((keyword) => [keyword, shape]))
}

function hasShape(keyword: string, value: JsonValue): boolean {
  const shape = Object.hasOwn(SHAPES, keyword) ? SHAPES[keyword] : undefined
  return shape?.(value) ?? true
}

/** Of ECMA 262, as JSON Schema says; those of Python and Java are others. */
function isPattern(value: JsonValue): boolean {
  if (typeof value !== 'string') return false
  try {
    return new RegExp(value).source !== ''
  } catch {
    return false
  }
}
