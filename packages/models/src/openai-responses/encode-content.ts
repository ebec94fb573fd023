// Encodes user and tool content (text, images and files) as the API's input parts. Unreadable content becomes a note,
// so that the model can mention it.
import type { ContentPart, FilePart, ImagePart, ResultPart } from '@baton/core/internal'
import { encodeContent as encodeChatContent } from '../openai-chat/encode-content.ts'
import type { WireContentPart } from './wire.ts'

/** OpenAI: "You uploaded an unsupported image. Please make sure your image has of one the following formats". */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

export function encodeContent(parts: readonly ContentPart[]): readonly WireContentPart[] {
  return parts.flatMap(encodePart)
}

/** Returns a plain string if there is only text. */
export function joinContent(parts: readonly WireContentPart[]): string | readonly WireContentPart[] {
  return parts.every((part) => part.type === 'input_text') ? parts.map(({ text }) => text).join('\n\n') : parts
}

/** The API has no field for a failure, so the text says it. */
export function encodeResult({ content, isError }: ResultPart): string | readonly WireContentPart[] {
  const parts = encodeContent(content)
  if (parts.length === 0) return isError ? 'Error' : '(no output)'
  const said = joinContent(parts)
  if (!isError) return said
  if (typeof said === 'string') return /^error\b/i.test(said) ? said : `Error: ${said}`
  return [{ type: 'input_text', text: 'Error:' }, ...said]
}

function encodePart(part: ContentPart): readonly WireContentPart[] {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'input_text', text: part.text }]
    case 'image':
      return encodeImage(part)
    case 'file':
      return encodeFile(part)
  }
}

function encodeImage(image: ImagePart): readonly WireContentPart[] {
  const { mediaType, source } = image
  if (source.type === 'url') return [{ type: 'input_image', image_url: source.url, detail: 'auto' }]
  if (!IMAGE_TYPES.has(mediaType)) return inWords(image)
  return [{ type: 'input_image', image_url: `data:${mediaType};base64,${source.data}`, detail: 'auto' }]
}

/** PDFs as bytes or URL; text files as text. */
function encodeFile(file: FilePart): readonly WireContentPart[] {
  const { mediaType, name = '', source } = file
  if (mediaType !== 'application/pdf') return inWords(file)
  if (source.type === 'url') return [{ type: 'input_file', file_url: source.url }]
  const file_data = `data:${mediaType};base64,${source.data}`
  return [{ type: 'input_file', filename: name === '' ? 'file.pdf' : name, file_data }]
}

/**
 * Falls back to the Chat Completions encoding for text-only servers: the file's text, or a note about what is not
 * shown.
 */
function inWords(part: ContentPart): readonly WireContentPart[] {
  const words = encodeChatContent([part], { images: false, files: false })
  return words.flatMap((said) => (said.type === 'text' ? [{ type: 'input_text', text: said.text } as const] : []))
}
