// The body of an operation: the media type to send, the schema a model writes it with, and its bytes.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import { bareType, isJsonType, isTextType, plainType } from '../shared/media-types.ts'
import { entriesOf, entryOf, textOf, wrongDocument } from './document-parts.ts'
import { readFields, readMultipart, replaceFile } from './fields.ts'
import { FILE_SCHEMA } from './file-schema.ts'
import type { FindFile } from './find-file.ts'
import { writeMultipart } from './multipart.ts'
import type { Fields } from './serialize.ts'
import { writeForm, writeWord } from './serialize.ts'

export interface RequestBody {
  /** `lines` has one JSON text per list item. */
  readonly type: 'json' | 'form' | 'multipart' | 'lines' | 'text' | 'file'
  readonly mediaType: string
  readonly isRequired: boolean
  readonly description: string | undefined
  readonly schema: JsonValue
  readonly fields: Fields
}

type Follow = (value: JsonValue) => JsonValue
type Content = Pick<RequestBody, 'type' | 'mediaType' | 'schema' | 'fields'>

const FORM = 'application/x-www-form-urlencoded'
const LINES = /^application\/(x-)?(ndjson|jsonl|jsonlines|json-lines|json-seq)$/

/**
 * Prefers JSON, then forms; `multipart/form-data` is preferred over a plain form if it has files.
 * @throws BatonError `invalid_option` if none of its media types can be written
 */
export function readRequestBody(body: JsonObject, where: string, follow: Follow): RequestBody | undefined {
  const offered = entriesOf(body['content']).map(([type, media]) => readContent(type, follow(media), follow))
  const [best] = offered
    .filter((content) => content !== undefined)
    .toSorted((one, other) => rankOf(one) - rankOf(other))
  if (!best) {
    const types = Object.keys(isJsonObject(body['content']) ? body['content'] : {}).join(', ') || 'no media type'
    throw wrongDocument(
      `${where}: its body takes ${types.slice(0, 200)}; only JSON, forms, multipart/form-data, texts and files can be sent`,
    )
  }
  const isRequired = body['required'] === true
  if (best.type === 'form' && !isRequired && isAlwaysEmpty(follow(best.schema))) return undefined
  return { ...best, isRequired, description: textOf(body['description']) }
}

function rankOf({ type, mediaType, fields }: Content): number {
  if (type === 'json') return mediaType === 'application/json' ? 0 : 1
  const hasFile = [...fields.values()].some(({ isFile }) => isFile)
  return type === 'multipart' && hasFile ? 2 : 3 + ['form', 'multipart', 'lines', 'text', 'file'].indexOf(type)
}

function readContent(range: string, media: JsonValue, follow: Follow): Content | undefined {
  const type = bareType(range)
  const schema = entryOf(media, 'schema') ?? true
  const found = follow(schema)
  const encoding = entryOf(media, 'encoding')
  const fields = readFields(encoding)
  if (isJsonType(type)) return { type: 'json', mediaType: type, schema, fields }
  // A service that accepts anything accepts JSON, unless it expects bytes.
  const isFile = replaceFile(schema, [], follow) !== undefined
  if ((type === '*/*' || type === 'application/*') && !isFile)
    return { type: 'json', mediaType: 'application/json', schema, fields }
  if (type === FORM) return { type: 'form', mediaType: type, schema: toObject(schema), fields }
  if (type === 'multipart/form-data')
    return { type: 'multipart', mediaType: type, ...readMultipart(toObject(schema), encoding, follow) }
  if (LINES.test(type)) {
    const items = entryOf(media, 'itemSchema') ?? entryOf(found, 'items') ?? true
    return { type: 'lines', mediaType: type, schema: { type: 'array', items }, fields }
  }
  if (type.startsWith('multipart/') || !isSimple(found)) return undefined
  if (isTextType(type) && !isFile) {
    const text = isJsonObject(found) ? schema : { type: 'string', description: `Text of type ${type}` }
    return { type: 'text', mediaType: plainType(range, 'text/plain'), schema: text, fields }
  }
  return { type: 'file', mediaType: type, schema: replaceFile(schema, [], follow) ?? FILE_SCHEMA, fields }
}

function toObject(schema: JsonValue): JsonValue {
  return schema === true ? { type: 'object' } : schema
}

/** A text or bytes, without structure that a media type such as XML would have to define how to write. */
function isSimple(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return schema !== false
  const { type } = schema
  const types: readonly JsonValue[] = Array.isArray(type) ? type : type === undefined ? [] : [type]
  if (types.length > 0) return types.includes('string')
  return ['properties', 'items', 'allOf', 'anyOf', 'oneOf', 'additionalProperties'].every(
    (word) => schema[word] === undefined,
  )
}

/** Stripe's document declares such a body for every operation that has none. */
function isAlwaysEmpty(schema: JsonValue): boolean {
  if (!isJsonObject(schema) || schema['additionalProperties'] !== false) return false
  const parts = ['allOf', 'anyOf', 'oneOf', '$ref', 'patternProperties']
  return entriesOf(schema['properties']).length === 0 && parts.every((word) => schema[word] === undefined)
}

export interface WrittenBody {
  readonly contentType: string
  readonly data: string | Uint8Array<ArrayBuffer>
}

/** @throws BatonError `invalid_arguments`, and as `find` does */
export async function writeBody(body: RequestBody, value: JsonValue, find: FindFile): Promise<WrittenBody> {
  const { type, mediaType, fields } = body
  switch (type) {
    case 'json':
      return { contentType: mediaType, data: JSON.stringify(value) }
    case 'form':
      return { contentType: mediaType, data: writeForm(value, fields) }
    case 'multipart': {
      if (!isJsonObject(value)) throw wrongBody('an object with the fields of the form')
      const { contentType, data } = await writeMultipart(value, fields, find)
      return { contentType, data: new Uint8Array(data) }
    }
    case 'lines': {
      if (!Array.isArray(value)) throw wrongBody('a list')
      const [before, after] = mediaType.endsWith('json-seq') ? ['\x1e', '\n'] : ['', '\n']
      const lines = (value as readonly JsonValue[]).map((item) => `${before}${JSON.stringify(item)}${after}`)
      return { contentType: mediaType, data: lines.join('') }
    }
    case 'text':
      return { contentType: mediaType, data: writeWord(value) }
    case 'file': {
      const file = await find(value, 'body')
      return { contentType: plainType(mediaType, file.mediaType), data: new Uint8Array(file.data) }
    }
  }
}

function wrongBody(what: string): BatonError {
  return new BatonError({ code: 'invalid_arguments', message: `"body" cannot be sent: it must be ${what}` })
}
