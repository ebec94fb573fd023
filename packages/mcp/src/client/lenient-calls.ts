// Converts a tool's result into the form that the SDK's strict schemas accept. The call has already run, so nothing
// from the server is dropped: a part unknown to MCP becomes text, and the others stay.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, readDataAddress, sniffImageType } from '@baton/core/internal'
import { asText, isNothing, withoutNull } from './json-fields.ts'

/** Maximum characters quoted from invalid data, which may be an address. */
const SAID_CHARS = 2_000

/** @param also message of an error sent together with the result */
export function readCall(value: JsonValue, also?: string): JsonObject {
  const given = isJsonObject(value) ? withoutNull(value) : { content: value }
  const { content, structuredContent, toolResult, _meta: _, resultType: __, isError, is_error: said, ...rest } = given
  const parts = readParts(content ?? null)
  // A structured value must be an object, but servers send arrays and strings as well.
  const isStructured = isJsonObject(structuredContent)
  const isTold = parts.length > 0 || !isNothing(structuredContent) || !isNothing(toolResult)
  const more = [
    ...(isStructured || isNothing(structuredContent) ? [] : [asText(structuredContent)]),
    // From servers of 2024-10-07.
    ...(isNothing(toolResult) ? [] : [asText(toolResult)]),
    // An unwrapped result, or a reason for a failure in a separate field.
    ...(isTold || Object.keys(rest).length === 0 ? [] : [asText(rest)]),
    ...(also === undefined ? [] : [`[The server also sent an error: ${also}]`]),
  ]
  const isSaid = (said: string): boolean => parts.some((part) => part['type'] === 'text' && part['text'] === said)
  return {
    content: [...parts, ...more.filter((said) => !isSaid(said)).map(text)],
    ...(isStructured && { structuredContent }),
    ...(readFlag(isError ?? said) && { isError: true }),
  }
}

function readFlag(value: JsonValue | undefined): boolean {
  return value === true || value === 1 || (typeof value === 'string' && /^\s*(?:true|1|yes)\s*$/i.test(value))
}

function readParts(content: JsonValue): readonly JsonObject[] {
  if (content === null) return []
  return (Array.isArray(content) ? (content as readonly JsonValue[]) : [content]).map(readPart)
}

function readPart(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) return text(asText(value))
  const part = withoutNull(value)
  switch (typeof part['type'] === 'string' ? part['type'].toLowerCase() : undefined) {
    case undefined:
      return typeof part['text'] === 'string' ? text(part['text']) : text(asText(value))
    case 'text':
      return isTextPart(part) ? text(asText(part['text'] ?? '')) : text(asText(value))
    case 'image':
      return readMediaPart('image', part)
    case 'audio':
      return readMediaPart('audio', part)
    case 'resource': {
      const { resource } = part
      return isJsonObject(resource) ? { type: 'resource', resource: readResource(resource, part) } : text(asText(value))
    }
    case 'resource_link': {
      const { uri, name, title, description, mimeType, size } = part
      if (typeof uri !== 'string') return text(asText(value))
      return {
        type: 'resource_link',
        uri,
        name: typeof name === 'string' ? name : uri,
        ...(typeof title === 'string' && { title }),
        ...(typeof description === 'string' && { description }),
        ...(typeof mimeType === 'string' && { mimeType }),
        ...(typeof size === 'number' && { size }),
      }
    }
    default:
      return text(asText(value))
  }
}

/** Whether nothing but the text, and hints about it, is in the part. */
function isTextPart(part: JsonObject): boolean {
  const { text: said } = part
  return (said !== undefined && said !== '') || Object.keys(part).every((name) => TEXT_FIELDS.includes(name))
}

const TEXT_FIELDS: readonly string[] = ['type', 'text', 'annotations', '_meta']

/**
 * The first bytes of an image decide its type. Data of unknown type is passed on as a file. A part whose data is
 * elsewhere, such as at an address, becomes JSON.
 */
function readMediaPart(kind: 'image' | 'audio', part: JsonObject): JsonObject {
  const { type: _, annotations: __, _meta: ___, ...fields } = part
  // The form of Claude's API has the data one level deeper.
  const { source } = fields
  const { data, blob, url, uri, mimeType, mime_type, mediaType, media_type } = {
    ...fields,
    ...(isJsonObject(source) && source),
  } as JsonObject
  const named = [mimeType, mime_type, mediaType, media_type].map(readMediaType).find((one) => one !== undefined)
  const media = [data, blob, readBytes(data), ...[url, uri].filter(isDataAddress)].map(readBase64).find(Boolean)
  if (!media) {
    if (typeof data === 'string' && data !== '')
      return text(`[The server sent ${kind} data that cannot be read: ${data.slice(0, SAID_CHARS)}]`)
    const isEmpty = Object.values(fields).every((one) => one === '' || one === mimeType)
    return text(isEmpty ? `[The server sent ${kind} data that cannot be read]` : asText(part).slice(0, SAID_CHARS))
  }
  const found = sniffImageType(media.data) ?? sniffSoundType(media.data)
  const type = found ?? named ?? readMediaType(media.mediaType) ?? 'application/octet-stream'
  const [family] = type.split('/')
  if (family === 'image' || family === 'audio') return { type: family, data: media.data, mimeType: type }
  return { type: 'resource', resource: { uri: kind, blob: media.data, mimeType: type } }
}

function isDataAddress(value: JsonValue | undefined): boolean {
  return typeof value === 'string' && /^\s*data:/i.test(value)
}

/** Base64 of bytes that were written as a list of numbers: Node's `Buffer` becomes `{ type: 'Buffer', data: […] }`. */
function readBytes(value: JsonValue | undefined): string | undefined {
  const list = isJsonObject(value) ? value['data'] : value
  if (!Array.isArray(list)) return undefined
  const bytes = list as readonly JsonValue[]
  const areBytes = bytes.every((one) => Number.isInteger(one) && Number(one) >= 0 && Number(one) < 256)
  return areBytes ? Buffer.from(bytes as readonly number[]).toString('base64') : undefined
}

/** First bytes of audio formats, in base64. */
const SOUNDS: readonly (readonly [start: RegExp, mediaType: string])[] = [
  [/^UklGR.{6}XQVZF/, 'audio/wav'], // RIFF, four bytes of length, WAVE
  [/^SUQz|^\/\/[uvP-S]/, 'audio/mpeg'],
  [/^T2dnUw/, 'audio/ogg'],
  [/^ZkxhQw/, 'audio/flac'],
]

function sniffSoundType(data: string): string | undefined {
  return SOUNDS.find(([start]) => start.test(data))?.[1]
}

/** Reads the contents of a resource: a list, one object, or a string. */
export function readContents(result: JsonValue, uri = 'resource'): readonly JsonObject[] {
  const given = isJsonObject(result) ? (result['contents'] ?? null) : result
  const all = Array.isArray(given) ? (given as readonly JsonValue[]) : given === null ? [] : [given]
  return all.map((one) => readResource(isJsonObject(one) ? one : { text: one }, { uri }))
}

function readResource(value: JsonObject, beside: JsonObject): JsonObject {
  const { uri = beside['uri'], mimeType, text: said, blob, ...more } = withoutNull(value)
  const named = readMediaType(mimeType)
  const base = { uri: typeof uri === 'string' ? uri : 'resource', ...(named !== undefined && { mimeType: named }) }
  if (said !== undefined) return { ...base, text: asText(said) }
  if (blob === undefined) return { ...base, text: tellUnknown(more) }
  const media = readBase64(blob)
  if (!media)
    return { ...base, text: `[The server sent data that cannot be read: ${asText(blob).slice(0, SAID_CHARS)}]` }
  const type = sniffImageType(media.data) ?? named ?? readMediaType(media.mediaType)
  return { ...base, blob: media.data, ...(type !== undefined && { mimeType: type }) }
}

/** Fields that describe a resource. */
const ABOUT: readonly string[] = ['name', 'title', 'description', 'annotations', 'size', 'icons', '_meta']

/** JSON of fields that MCP does not know, which may hold the content; an empty text if there are none. */
function tellUnknown(fields: JsonObject): string {
  const unknown = Object.entries(fields).filter(([name]) => !ABOUT.includes(name))
  return unknown.length === 0 ? '' : asText(Object.fromEntries(unknown))
}

/** Returns `undefined` if the value is not a media type. */
function readMediaType(value: JsonValue | undefined): string | undefined {
  if (typeof value !== 'string') return undefined
  const [first = ''] = value.split(/[;,]/, 1)
  const name = first.trim().toLowerCase()
  return /^[a-z0-9][\w.+-]{0,126}\/[a-z0-9][\w.+-]{0,126}$/.test(name) ? name : undefined
}

interface Media {
  readonly data: string
  readonly mediaType?: string
}

/**
 * Reads base64, also from a data URL, and normalizes it: one alphabet, padded, without line breaks. Returns `undefined`
 * if it is not base64.
 */
function readBase64(data: JsonValue | undefined): Media | undefined {
  if (typeof data !== 'string') return undefined
  const address = /^\s*data:/i.test(data) ? readDataAddress(data.trim()) : undefined
  const bare = (address?.data ?? data)
    .replaceAll(/\s/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/(?<!=)=+$/, '')
  if (bare === '' || bare.length % 4 === 1 || !/^[A-Za-z0-9+/]+$/.test(bare)) return undefined
  const padded = bare + '='.repeat((4 - (bare.length % 4)) % 4)
  const mediaType = address?.mediaType.trim()
  return { data: padded, ...(mediaType !== undefined && mediaType !== '' && { mediaType }) }
}

function text(value: string): JsonObject {
  return { type: 'text', text: value }
}
