// Encodes user and tool content (text, images and files) as Gemini parts. Unreadable content becomes a note, so that
// the model can mention it.
import type { ContentPart, FilePart, ImagePart, JsonObject, ResultPart } from '@baton/core/internal'
import { textOfFile } from '../file-text.ts'
import type { WirePart } from './wire.ts'

/** ai.google.dev/gemini-api/docs/image-understanding; 400 "Unsupported MIME type: image/gif" for others. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'])
/** Media allowed in a Gemini 3 result (genai.d.ts FunctionResponsePart; docs, "Multimodal function responses"). */
const RESULT_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'application/pdf'])

export function encodeContent(parts: readonly ContentPart[]): readonly WirePart[] {
  return parts.map(encodePart).filter((part) => part !== undefined)
}

export interface EncodedResult {
  /** The functionResponse. */
  readonly response: WirePart
  /** Media that the result cannot hold, sent as further parts of the same content. */
  readonly beside: readonly WirePart[]
}

export interface ResultNaming {
  readonly name: string
  /** Set only if the model gave its call an id. */
  readonly id: string | undefined
  /** Whether results may hold images: from Gemini 3 on. */
  readonly holdsMedia: boolean
}

/** Models are trained to read the keys `output` and `error` (genai.d.ts FunctionResponse). */
export function encodeResult(result: ResultPart, { name, id, holdsMedia }: ResultNaming): EncodedResult {
  const said = encodeContent(result.content)
  const texts = said.flatMap((part) => (typeof part['text'] === 'string' ? [part['text']] : []))
  const media = said.filter((part) => part['text'] === undefined)
  const inside = holdsMedia ? media.filter(isResultMedia) : []
  const response: JsonObject = { [result.isError ? 'error' : 'output']: texts.join('\n\n') }
  return {
    response: {
      functionResponse: {
        ...(id !== undefined && { id }),
        name,
        response,
        ...(inside.length > 0 && { parts: inside }),
      },
    },
    beside: media.filter((part) => !inside.includes(part)),
  }
}

function isResultMedia(part: WirePart): boolean {
  const inline = part['inlineData']
  const type = typeof inline === 'object' && inline !== null && 'mimeType' in inline ? inline.mimeType : undefined
  return typeof type === 'string' && RESULT_TYPES.has(type)
}

function encodePart(part: ContentPart): WirePart | undefined {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? undefined : { text: part.text }
    case 'image':
      return encodeImage(part)
    case 'file':
      return encodeFile(part)
  }
}

function encodeImage(image: ImagePart): WirePart {
  return IMAGE_TYPES.has(image.mediaType) ? encodeMedia(image) : leftOut(`image of type ${image.mediaType}`)
}

/** PDF, audio and video as bytes or URL; text files as text. */
function encodeFile(file: FilePart): WirePart {
  const { mediaType, source } = file
  const name = file.name ?? ''
  if (mediaType === 'application/pdf' || /^(audio|video)\//.test(mediaType)) return encodeMedia(file)
  const text = source.type === 'base64' ? textOfFile(mediaType, source.data) : undefined
  if (text === undefined || text.trim() === '') return leftOut(`file ${name} of type ${mediaType}`)
  return { text: name === '' ? text : `${name}:\n${text}` }
}

function encodeMedia({ mediaType, source }: ImagePart | FilePart): WirePart {
  if (source.type === 'url') return { fileData: { mimeType: mediaType, fileUri: source.url } }
  return { inlineData: { mimeType: mediaType, data: source.data } }
}

function leftOut(what: string): WirePart {
  return { text: `[Not shown, because this model cannot read it: ${what}]` }
}
