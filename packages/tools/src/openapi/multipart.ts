// Writes `multipart/form-data` (RFC 7578). The platform's FormData gives a file name to every part with a media type,
// which makes servers treat JSON as a file.
import { createHash } from 'node:crypto'
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonType } from '../shared/media-types.ts'
import type { FindFile, FoundFile } from './find-file.ts'
import type { Field, Fields } from './serialize.ts'
import { listPairs, writeWord } from './serialize.ts'

export interface Part {
  readonly name: string
  readonly data: Uint8Array
  readonly fileName?: string
  readonly mediaType?: string
}

export interface Multipart {
  readonly contentType: string
  readonly data: Uint8Array
}

/** @throws BatonError as `find` does */
export async function writeMultipart(value: JsonObject, fields: Fields, find: FindFile): Promise<Multipart> {
  const parts: Part[] = []
  for (const [name, item] of Object.entries(value)) {
    const field = fields.get(name) ?? { mediaTypes: [], isFile: false }
    if (field.writing && !field.isFile)
      for (const pair of listPairs(name, item, field.writing))
        parts.push(textPart(pair.name, pair.words.join(pair.separator)))
    // Sequentially, so that the first missing file ends it.
    else for (const each of listItems(item)) parts.push(await writePart(name, each, field, find))
  }
  return joinParts(parts)
}

function listItems(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value]
}

async function writePart(name: string, value: JsonValue, field: Field, find: FindFile): Promise<Part> {
  if (field.isFile && value !== null && typeof value !== 'number' && typeof value !== 'boolean') {
    const file = await find(value, name)
    return { name, data: file.data, fileName: file.name, mediaType: chooseType(field.mediaTypes, file) }
  }
  const json = field.mediaTypes.find(isJsonType)
  if (json !== undefined || (typeof value === 'object' && value !== null))
    return textPart(name, JSON.stringify(value), json ?? 'application/json')
  return textPart(
    name,
    writeWord(value),
    field.mediaTypes.find((type) => !type.includes('*')),
  )
}

function textPart(name: string, text: string, mediaType?: string): Part {
  return { name, data: Buffer.from(text), ...(mediaType !== undefined && { mediaType }) }
}

/** Uses the file's own media type, unless the document or the file only says that it is bytes. */
function chooseType(mediaTypes: readonly string[], { mediaType }: FoundFile): string {
  const plain = mediaTypes.filter((type) => !type.includes('*'))
  const [first] = plain
  const isOpen = first === undefined || plain.includes(mediaType) || plain.length < mediaTypes.length
  return !isOpen && (mediaType === BYTES || first === BYTES) ? first : mediaType
}

const BYTES = 'application/octet-stream'

/**
 * Derives the boundary from a digest of the content: the same parts yield the same bytes, and no part can contain it.
 */
function joinParts(parts: readonly Part[]): Multipart {
  const digest = createHash('sha256')
  const heads = parts.map(writeHead)
  for (const [at, { data }] of parts.entries()) digest.update(heads[at] ?? '').update(data)
  const boundary = `baton-${digest.digest('hex').slice(0, 48)}`
  const pieces = parts.flatMap(({ data }, at) => [
    Buffer.from(`--${boundary}\r\n${heads[at]}\r\n\r\n`),
    data,
    Buffer.from('\r\n'),
  ])
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    data: Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]),
  }
}

function writeHead({ name, fileName, mediaType }: Part): string {
  const file = fileName === undefined ? '' : `; filename="${escapeName(fileName)}"`
  const type = mediaType === undefined ? '' : `\r\ncontent-type: ${mediaType}`
  return `content-disposition: form-data; name="${escapeName(name)}"${file}${type}`
}

/** Escapes as browsers do: https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#escaping-a-string */
function escapeName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
