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
  const { content, structuredContent, isError, toolResult, _meta: _, resultType: __, ...rest } = given
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
    ...(readFlag(isError) && { isError: true }),
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
      return 'text' in part || Object.keys(part).length === 1 ? text(asText(part['text'] ?? '')) : text(asText(value))
    case 'image':
      return readMediaPart('image', part)
    case 'audio':
      return readMediaPart('audio', part)
    case 'resource': {
      const { resource } = part
      return isJsonObject(resource) ? { type: 'resource', resource: readResource(resource, part) } : text(asText(value))
    }
    case 'resource_link': {
      const { uri, name, description, mimeType } = part
      if (typeof uri !== 'string') return text(asText(value))
      return {
        type: 'resource_link',
        uri,
        name: typeof name === 'string' ? name : uri,
        ...(typeof description === 'string' && { description }),
        ...(typeof mimeType === 'string' && { mimeType }),
      }
    }
    default:
      return text(asText(value))
  }
}

/** The first bytes of an image decide its type. Data of unknown type is passed on as a file. */
function readMediaPart(kind: 'image' | 'audio', { data, mimeType }: JsonObject): JsonObject {
  const media = readBase64(data)
  if (!media) {
    const said = typeof data === 'string' ? data.slice(0, SAID_CHARS) : ''
    return text(`[The server sent ${kind} data that cannot be read${said === '' ? '' : `: ${said}`}]`)
  }
  const found = sniffImageType(media.data) ?? sniffSoundType(media.data)
  const type = found ?? readMediaType(mimeType) ?? readMediaType(media.mediaType) ?? 'application/octet-stream'
  const [family] = type.split('/')
  if (family === 'image' || family === 'audio') return { type: family, data: media.data, mimeType: type }
  return { type: 'resource', resource: { uri: kind, blob: media.data, mimeType: type } }
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
  const { uri = beside['uri'], mimeType, text: said, blob } = withoutNull(value)
  const named = readMediaType(mimeType)
  const base = { uri: typeof uri === 'string' ? uri : 'resource', ...(named !== undefined && { mimeType: named }) }
  if (said !== undefined || blob === undefined) return { ...base, text: asText(said ?? '') }
  const media = readBase64(blob)
  if (!media)
    return { ...base, text: `[The server sent data that cannot be read: ${asText(blob).slice(0, SAID_CHARS)}]` }
  const type = sniffImageType(media.data) ?? named ?? readMediaType(media.mediaType)
  return { ...base, blob: media.data, ...(type !== undefined && { mimeType: type }) }
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
