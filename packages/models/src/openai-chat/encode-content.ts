// Encodes user and tool content (text, images and files) as message parts. Unreadable content becomes a note, so that
// the model can mention it.
import type { ContentPart, FilePart, ImagePart } from '@baton/core/internal'
import type { OpenAiChatQuirks } from './quirks.ts'
import { textOfFile } from '../file-text.ts'
import type { WireContentPart } from './wire.ts'

type Reads = Pick<OpenAiChatQuirks, 'images' | 'files'>

/** OpenAI: "You uploaded an unsupported image. Please make sure your image has of one the following formats". */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

export function encodeContent(parts: readonly ContentPart[], reads: Reads): readonly WireContentPart[] {
  return parts.map((part) => encodePart(part, reads)).filter((part) => part !== undefined)
}

/** Returns a plain string if there is only text, which every server accepts. */
export function joinContent(parts: readonly WireContentPart[]): string | readonly WireContentPart[] {
  return parts.every((part) => part.type === 'text') ? parts.map(({ text }) => text).join('\n\n') : parts
}

function encodePart(part: ContentPart, reads: Reads): WireContentPart | undefined {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? undefined : { type: 'text', text: part.text }
    case 'image':
      return encodeImage(part, reads)
    case 'file':
      return encodeFile(part, reads)
  }
}

function encodeImage({ mediaType, source }: ImagePart, reads: Reads): WireContentPart {
  const isReadable = reads.images && (source.type === 'url' || IMAGE_TYPES.has(mediaType))
  if (!isReadable) return leftOut(`image of type ${mediaType}`)
  const url = source.type === 'url' ? source.url : `data:${mediaType};base64,${source.data}`
  return { type: 'image_url', image_url: { url } }
}

/** ChatCompletionContentPart.File: PDFs as bytes; text files as text, which all servers read. */
function encodeFile(file: FilePart, reads: Reads): WireContentPart {
  const { mediaType, source } = file
  const name = file.name ?? ''
  if (source.type === 'base64') {
    const text = textOfFile(mediaType, source.data)
    if (text !== undefined && text.trim() !== '')
      return { type: 'text', text: name === '' ? text : `${name}:\n${text}` }
    if (reads.files && mediaType === 'application/pdf') {
      const file_data = `data:${mediaType};base64,${source.data}`
      return { type: 'file', file: { filename: name === '' ? 'file.pdf' : name, file_data } }
    }
  }
  return leftOut(`file ${name} of type ${mediaType}`)
}

function leftOut(what: string): WireContentPart {
  return { type: 'text', text: `[Not shown, because this model cannot read it: ${what}]` }
}
