// Converts texts, images and files that tools of other libraries return for the model to Baton content. Versions of the
// AI SDK and Effect AI use different names for the same things.
import type { ContentPart, ToolContent } from '@baton/core/internal'
import { BatonError, describeValue, readDataAddress } from '@baton/core/internal'

/** @throws BatonError `result_invalid` */
export function readContent(name: string, parts: readonly unknown[]): ToolContent {
  return { content: parts.map((part) => readPart(name, part)) }
}

/** The names of the same thing in different versions. */
interface AnyPart {
  readonly type?: unknown
  readonly text?: unknown
  readonly data?: unknown
  readonly url?: unknown
  readonly mediaType?: unknown
  readonly mimeType?: unknown
  readonly filename?: unknown
  readonly fileName?: unknown
}

function readPart(name: string, part: unknown): ContentPart {
  if (typeof part !== 'object' || part === null) throw invalidOutput(name, 'a part of its content is not an object')
  const { type, text, data, url, filename, ...rest }: AnyPart = part
  const told = rest.mediaType ?? rest.mimeType
  const mediaType = typeof told === 'string' ? told : undefined
  const named = filename ?? rest.fileName
  const fileName = typeof named === 'string' ? named : undefined
  switch (type) {
    case 'text':
      if (typeof text === 'string') return { type, text }
      throw invalidOutput(name, 'a text in its content is not a string')
    case 'image':
    case 'image-data':
    case 'media':
    case 'file-data':
      return toMedia(name, { source: { data }, mediaType: mediaType ?? IMAGE, fileName })
    case 'image-url':
      return toMedia(name, { source: { url }, mediaType: mediaType ?? IMAGE, fileName })
    case 'file-url':
      return toMedia(name, { source: { url }, mediaType: mediaType ?? 'application/octet-stream', fileName })
    case 'file':
      return readFile(name, data, { mediaType: mediaType ?? 'application/octet-stream', fileName })
    default:
      throw invalidOutput(name, `a part of its content is ${describeValue(type)}, which only one provider supports`)
  }
}

/** Media type of an image that does not declare one. */
const IMAGE = 'image/png'

interface Media {
  readonly source: { readonly data?: unknown; readonly url?: unknown }
  readonly mediaType: string
  readonly fileName: string | undefined
}

/** A version 7 file, whose data declares its type. */
function readFile(name: string, given: unknown, media: Omit<Media, 'source'>): ContentPart {
  const { type, data, url, text }: AnyPart = typeof given === 'object' && given !== null ? given : {}
  if (type === 'data') return toMedia(name, { ...media, source: { data } })
  if (type === 'url') return toMedia(name, { ...media, source: { url } })
  if (type === 'text' && typeof text === 'string') return { type: 'text', text }
  if (type === undefined)
    return toMedia(name, { ...media, source: given instanceof URL ? { url: given } : { data: given } })
  throw invalidOutput(name, `a file in its content is ${describeValue(type)}, which only one provider supports`)
}

function toMedia(name: string, { source, mediaType, fileName }: Media): ContentPart {
  const address = source.url instanceof URL ? source.url.href : source.url
  const data = toBase64(source.data)
  const isImage = /^image\//i.test(mediaType)
  const rest = { mediaType, ...(fileName !== undefined && !isImage && { name: fileName }) }
  const type = isImage ? 'image' : 'file'
  if (data !== undefined) return { type, ...rest, source: { type: 'base64', data } }
  if (typeof address === 'string') return { type, ...rest, source: { type: 'url', url: address } }
  throw invalidOutput(name, 'a part of its content has neither data nor a URL')
}

function toBase64(data: unknown): string | undefined {
  if (typeof data === 'string') return readDataAddress(data)?.data ?? data
  if (data instanceof Uint8Array) return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64')
  return data instanceof ArrayBuffer ? Buffer.from(data).toString('base64') : undefined
}

export function invalidOutput(name: string, why: string): BatonError {
  return new BatonError({
    code: 'result_invalid',
    message: `the model output of "${name}" is invalid: ${why}`,
    hint: 'Check its toModelOutput. For a tool of AI SDK 5, use fromAiSdk(tools, { version: 5 }).',
  })
}
