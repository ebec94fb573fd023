// Reads how form properties are encoded: their `encoding`, and which of them are files according to their schemas.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { bareType, isJsonType, isTextType } from '../shared/media-types.ts'
import { entriesOf, entryOf } from './document-parts.ts'
import { FILE_SCHEMA } from './file-schema.ts'
import type { Field, Fields, Style, Writing } from './serialize.ts'

const STYLES = ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']

/** A property with `style`, `explode` or `allowReserved` is written as in a query, any other by its media type. */
export function readFields(encoding: JsonValue | undefined): Fields {
  return new Map(entriesOf(encoding).map(([name, entry]) => [name, readField(entry)]))
}

function readField(entry: JsonValue): Field {
  const [style, explode, allowReserved, told] = ['style', 'explode', 'allowReserved', 'contentType'].map((word) =>
    entryOf(entry, word),
  )
  const mediaTypes =
    typeof told === 'string'
      ? told
          .split(',')
          .map(bareType)
          .filter((type) => type !== '')
      : []
  if (style === undefined && explode === undefined && allowReserved === undefined) return { mediaTypes, isFile: false }
  const known = typeof style === 'string' && STYLES.includes(style) ? (style as Style) : 'form' // one of STYLES
  const writing: Writing = {
    style: known,
    explode: typeof explode === 'boolean' ? explode : known === 'form',
    allowReserved: allowReserved === true,
  }
  return { writing, mediaTypes, isFile: false }
}

export interface MultipartForm {
  readonly schema: JsonValue
  readonly fields: Fields
}

/** Resolves a reference. */
type Follow = (value: JsonValue) => JsonValue

/** The schema of `multipart/form-data` with files in the form a model can give, and its fields. */
export function readMultipart(schema: JsonValue, encoding: JsonValue | undefined, follow: Follow): MultipartForm {
  const fields = new Map(readFields(encoding))
  const shown = replaceFiles(schema, { fields, follow, known: new Map() })
  return { schema: shown, fields }
}

interface Replacing {
  readonly fields: Map<string, Field>
  readonly follow: Follow
  /** Results for schemas already visited: a document may reference one from many places, and in cycles. */
  readonly known: Map<JsonObject, JsonValue>
}

function replaceFiles(schema: JsonValue, replacing: Replacing): JsonValue {
  const { fields, follow, known } = replacing
  const found = follow(schema)
  if (!isJsonObject(found)) return schema
  const before = known.get(found)
  if (before !== undefined) return before
  known.set(found, schema)
  const properties = entriesOf(found['properties']).map(([name, property]): [string, JsonValue] => {
    const field = fields.get(name) ?? { mediaTypes: [], isFile: false }
    const replaced = replaceFile(property, field.mediaTypes, follow)
    if (replaced !== undefined) fields.set(name, { ...field, isFile: true })
    return [name, replaced ?? property]
  })
  const branches = ['allOf', 'anyOf', 'oneOf'].flatMap((word): [string, JsonValue][] => {
    const list = found[word]
    if (!Array.isArray(list)) return []
    return [[word, (list as readonly JsonValue[]).map((item) => replaceFiles(item, replacing))]]
  })
  const replaced = {
    ...found,
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...Object.fromEntries(branches),
  }
  known.set(found, replaced)
  return replaced
}

/** Returns the schema with files in the form a model gives them; `undefined` if it contains none. */
export function replaceFile(
  schema: JsonValue,
  mediaTypes: readonly string[],
  follow: Follow,
  known = new Map<JsonObject, JsonValue | undefined>(),
): JsonValue | undefined {
  const found = follow(schema)
  if (found === true) return mediaTypes.some(isBinaryType) ? FILE_SCHEMA : undefined
  if (!isJsonObject(found)) return undefined
  if (known.has(found)) return known.get(found)
  known.set(found, undefined)
  const replaced = replaceParts(found, mediaTypes, (item) => replaceFile(item, mediaTypes, follow, known))
  known.set(found, replaced)
  return replaced
}

function replaceParts(
  found: JsonObject,
  mediaTypes: readonly string[],
  replace: (item: JsonValue) => JsonValue | undefined,
): JsonValue | undefined {
  if (isBinary(found, mediaTypes)) return describeFile(found)
  const items = found['items'] === undefined ? undefined : replace(found['items'])
  if (items !== undefined) return { ...found, items }
  for (const word of ['anyOf', 'oneOf', 'allOf']) {
    const list = found[word]
    if (!Array.isArray(list)) continue
    const replaced = (list as readonly JsonValue[]).map(replace)
    if (replaced.some((item) => item !== undefined))
      return { ...found, [word]: (list as readonly JsonValue[]).map((item, at) => replaced[at] ?? item) }
  }
  return undefined
}

function describeFile(schema: JsonObject): JsonValue {
  const words = [schema['description'], FILE_SCHEMA['description']].filter((text) => typeof text === 'string')
  return { ...FILE_SCHEMA, description: words.join('\n\n') }
}

/** Raw bytes: `format: binary` in 3.0; since 3.1, a media type without an encoding, or no type at all. */
function isBinary(schema: JsonObject, mediaTypes: readonly string[]): boolean {
  const { type, format, contentEncoding, contentMediaType } = schema
  const types: readonly JsonValue[] = Array.isArray(type) ? type : type === undefined ? [] : [type]
  const isText = types.includes('string')
  if (contentEncoding !== undefined || (types.length > 0 && !isText)) return false
  if (format === 'binary') return true
  if (typeof contentMediaType === 'string') return isBinaryType(bareType(contentMediaType))
  const isOpen = ['properties', 'items', 'anyOf', 'oneOf', 'allOf', 'enum', 'const', '$ref'].every(
    (word) => schema[word] === undefined,
  )
  return (isText || types.length === 0) && isOpen && mediaTypes.length > 0 && mediaTypes.every(isBinaryType)
}

function isBinaryType(type: string): boolean {
  return !isJsonType(type) && !isTextType(type)
}
