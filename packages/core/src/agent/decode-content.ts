// Decodes text, images and files from people, programs and tools. Parts in another library's format are refused with
// Baton's format in the message.
import type { ContentPart, ImagePart, InlineSource } from '../messages.ts'
import { TextPart, ProviderState } from '../messages.ts'
import * as s from '../shape/shape.ts'
import type { Decoded, Read, ValueReader } from '../shape/value-reader.ts'
import { decodeWith, describeValue, VALUE_LIMITS } from '../shape/value-reader.ts'
import { nameImageType, readDataAddress, sniffImageType } from './media-type.ts'

/** Maximum parts of one input or result. */
export const PARTS_MAX = 1000
/** Maximum UTF-16 units of an address. */
const URL_CHARS_MAX = 16_384

const FORMS = {
  text: "a text part is { type: 'text', text: '…' }",
  image:
    "an image part is { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: '…' } }, or with the source { type: 'url', url: 'https://…' }",
  file: "a file part is { type: 'file', mediaType: 'application/pdf', source: { type: 'base64', data: '…' } }, or with the source { type: 'url', url: 'https://…' }",
} as const

/**
 * Decodes the argument of `send`: text, or an array of text, image and file parts. Text becomes one part. Refuses
 * anything else with `invalid_event`, and a value over `VALUE_LIMITS` with `input_too_large`; it never throws.
 */
export function decodeUserInput(value: unknown): Decoded<readonly ContentPart[]> {
  // Fast path for nearly every input. Text with surrogates takes the slow path, which checks each pair.
  if (typeof value === 'string' && value.length <= VALUE_LIMITS.chars && !s.SURROGATE.test(value))
    return { ok: true, value: [{ type: 'text', text: value }] }
  return decodeWith('the input', value, readUserInput)
}

const readUserInput: Read<readonly ContentPart[]> = (reader, value) => {
  if (typeof value === 'string') return [{ type: 'text', text: s.text.read(reader, value) }]
  if (Array.isArray(value)) return reader.at('parts', value, Content.read)
  const given = reader.openObject(value, 'text or an array of parts')
  if (given.has('role')) return reader.refuse(`is a message; ${INSTEAD_OF_MESSAGE}`)
  if (given.has('type')) return reader.refuse('must be an array of parts, not one part; send [part]')
  return reader.refuse(`must be text or an array of parts, not an object; ${FORMS.text}`)
}

const INSTEAD_OF_MESSAGE =
  "send its text, or an array of parts such as { type: 'text', text: '…' }, and not { role, content }"

/** Parameters of a media type (`; charset=utf-8`) are kept as is. */
const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:;[\x20-\x7e]{0,255})?$/

const MediaType = s.refine(s.text, (mediaType, reader) =>
  MEDIA_TYPE.test(mediaType)
    ? mediaType
    : reader.refuse(`must be a media type such as "image/png", not ${describeValue(mediaType)}`),
)

const ImageType: s.Shape<string> = {
  ...MediaType,
  read: (reader, value) => {
    // File pickers and the AI SDK use it; the bytes tell the actual type.
    if (value === ANY_IMAGE) return ANY_IMAGE
    const mediaType = MediaType.read(reader, value)
    if (/^image\//i.test(mediaType)) return mediaType
    return reader.refuse(
      `must begin with "image/", not be ${describeValue(mediaType)}; other types go into a file part`,
    )
  },
}

const ANY_IMAGE = 'image/*'

const NOT_BASE64 = /[^A-Za-z0-9+/]/

const Base64: s.Shape<string> = {
  ...s.text,
  read: (reader, value) => {
    if (typeof value !== 'string') return reader.refuseForm(`must be base64 text, not ${describeValue(value)}`)
    reader.countMediaChars(value.length)
    const issue = findBase64Issue(value)
    return issue === undefined ? value : reader.refuse(issue)
  },
}

/** Why a text is not base64, worded to follow its name; undefined if it is. */
function findBase64Issue(value: string): string | undefined {
  if (value.startsWith('data:')) return 'must be base64 alone, without "data:…;base64," before it'
  const padding = value.endsWith('==') ? 2 : value.endsWith('=') ? 1 : 0
  const wrongAt = value.search(NOT_BASE64)
  if (wrongAt !== -1 && wrongAt < value.length - padding)
    return `is not base64: ${describeValue(value[wrongAt])} at position ${wrongAt}`
  if (value === '' || value.length % 4 !== 0)
    return `is not base64: its length ${value.length} is not a positive multiple of 4`
  return undefined
}

const Url = s.refine(s.textBetween(1, URL_CHARS_MAX), (url, reader) => {
  if (/^data:/i.test(url)) return reader.refuse("is a data: address; send its bytes as { type: 'base64', data: '…' }")
  if (/^(?:file|blob):/i.test(url)) return reader.refuse('is an address that no provider can fetch')
  return /^[a-z][a-z0-9+.-]{0,31}:[^\p{Cc}\s]+$/iu.test(url)
    ? url
    : reader.refuse(`must be a whole address such as "https://…", not ${describeValue(url)}`)
})

const KnownSource: s.Shape<InlineSource> = s.variant('type', {
  base64: s.fields('a base64 source', { data: Base64 }),
  url: s.fields('an address', { url: Url }),
})

/** Bytes of a `data:` address are accepted like any others. */
const Source: s.Shape<InlineSource> = {
  ...KnownSource,
  read: (reader, value) => {
    const url = typeof value === 'object' && value !== null ? Reflect.getOwnPropertyDescriptor(value, 'url')?.value : ''
    const address = typeof url === 'string' ? readDataAddress(url) : undefined
    return KnownSource.read(reader, address ? { type: 'base64', data: address.data } : value)
  },
}

const STATE = { state: s.optional(ProviderState) }
const KnownPart: s.Shape<ContentPart> = s.variant('type', {
  text: TextPart,
  image: s.fields('an image part', { mediaType: ImageType, source: Source, ...STATE }),
  file: s.fields('a file part', { mediaType: MediaType, name: s.optional(s.text), source: Source, ...STATE }),
})

const Part: s.Shape<ContentPart> = {
  ...KnownPart,
  read: (reader, value) => {
    try {
      const part = KnownPart.read(reader, value)
      return part.type === 'image' ? withTrueType(reader, part) : part
    } catch (error) {
      reader.explain(guessForm(value))
      throw error
    }
  },
}

/** A provider refuses a JPEG labelled as PNG, so the first bytes of an image win over its declared type. */
function withTrueType(reader: ValueReader, image: ImagePart): ImagePart {
  const { source } = image
  const told = nameImageType(image.mediaType)
  const found = source.type === 'base64' ? sniffImageType(source.data) : undefined
  const mediaType = found ?? told
  if (mediaType === ANY_IMAGE)
    return reader.refuse(
      `has the media type "${ANY_IMAGE}", and its bytes do not tell the actual type; name it, such as "image/png"`,
    )
  return mediaType === image.mediaType ? image : { ...image, mediaType }
}

/** The form that the caller most likely means, judged by other libraries' names. */
function guessForm(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return FORMS.text
  const own = (key: string): unknown => Reflect.getOwnPropertyDescriptor(value, key)?.value
  if (own('role') !== undefined) return INSTEAD_OF_MESSAGE
  const type = own('type')
  if (typeof type !== 'string') return `${FORMS.text}; ${FORMS.image}`
  if (type.includes('image')) return FORMS.image
  if (/file|document|pdf|audio|video/.test(type)) return FORMS.file
  return type.includes('text') ? FORMS.text : `${FORMS.text}; ${FORMS.image}`
}

/** Parts that people, programs and tools may send. */
export const Content = s.list(Part, PARTS_MAX, 'an array of parts')
