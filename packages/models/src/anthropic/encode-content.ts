// Encodes user and tool content (text, images and files) as Anthropic blocks.
import type { ContentPart, FilePart, ImagePart, JsonObject, ResultPart } from '@baton/core/internal'
import { textOfFile } from '../file-text.ts'
import type { WireBlock } from './wire.ts'

/** Base64ImageSource of SDK 1.12; other types are rejected. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

export function encodeContent(parts: readonly ContentPart[]): readonly WireBlock[] {
  return parts.map(encodePart).filter((block) => block !== undefined)
}

export function encodeResult(result: ResultPart, id: string): WireBlock {
  const content = result.isError ? textOnly(result.content) : encodeContent(result.content)
  // 400 "content cannot be empty if `is_error` is true"; an empty success is valid.
  const said = content.length === 0 && result.isError ? [{ type: 'text', text: 'error' }] : content
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(said.length > 0 && { content: said }),
    ...(result.isError && { is_error: true }),
  }
}

/** 400 "all content must be type `text` if `is_error` is true" (vellum-ai/vellum-assistant#18387). */
function textOnly(parts: readonly ContentPart[]): readonly WireBlock[] {
  const blocks = parts.map((part) =>
    part.type === 'text' ? encodePart(part) : leftOut(`${part.type} in a failed call`),
  )
  return blocks.filter((block) => block !== undefined)
}

function encodePart(part: ContentPart): WireBlock | undefined {
  switch (part.type) {
    case 'text':
      // 400 "text content blocks must be non-empty"; blank ones are rejected the same way.
      return part.text.trim() === '' ? undefined : { type: 'text', text: part.text }
    case 'image':
      return encodeImage(part)
    case 'file':
      return encodeFile(part)
  }
}

function encodeImage(image: ImagePart): WireBlock {
  if (image.source.type === 'url') return { type: 'image', source: { type: 'url', url: image.source.url } }
  if (!IMAGE_TYPES.has(image.mediaType)) return leftOut(`image of type ${image.mediaType}`)
  return { type: 'image', source: { type: 'base64', media_type: image.mediaType, data: image.source.data } }
}

/** DocumentBlockParam: PDFs as bytes or URL, text files as text. */
function encodeFile(file: FilePart): WireBlock {
  const source = documentSource(file)
  if (!source) return leftOut(`file ${file.name ?? ''} of type ${file.mediaType}`)
  return { type: 'document', source, ...(file.name !== undefined && file.name !== '' && { title: file.name }) }
}

function documentSource(file: FilePart): JsonObject | undefined {
  const isPdf = file.mediaType === 'application/pdf'
  if (file.source.type === 'url') return isPdf ? { type: 'url', url: file.source.url } : undefined
  if (isPdf) return { type: 'base64', media_type: file.mediaType, data: file.source.data }
  const text = textOfFile(file.mediaType, file.source.data)
  return text === undefined || text.trim() === '' ? undefined : { type: 'text', media_type: 'text/plain', data: text }
}

/** Tells the model about content it does not receive, so that it can mention it. */
function leftOut(what: string): WireBlock {
  return { type: 'text', text: `[Not shown, because this model cannot read it: ${what}]` }
}
