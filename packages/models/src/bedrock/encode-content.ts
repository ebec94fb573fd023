// Encodes user and tool content (text, images and files) as Converse blocks.
import type { ContentPart, FilePart, ImagePart, JsonObject, Message } from '@baton/core/internal'
import type { WireBlock } from './wire.ts'

/** ImageFormat and DocumentFormat of client-bedrock-runtime 3.1163, by media type. */
const IMAGE_FORMATS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpeg',
  'image/gif': 'gif',
  'image/webp': 'webp',
}
const DOCUMENT_FORMATS: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'text/html': 'html',
  'text/markdown': 'md',
  'text/plain': 'txt',
  'application/json': 'txt',
}

/** ValidationException "You can't include more than 5 documents in a request." (aws-samples/generative-ai-use-cases#1685). */
const DOCUMENTS_MAX = 5

/** Tracks the documents of one request: only the latest are kept, and names are unique. */
export interface Documents {
  /** Returns `undefined` for a document over the limit. */
  takeName(file: FilePart): string | undefined
}

export function createDocuments(leftOut: number): Documents {
  let seen = 0
  return {
    takeName({ name }) {
      seen++
      if (seen <= leftOut) return undefined
      // "Messages can't contain duplicate document names."; only letters, digits, single spaces and _-()[] are allowed.
      const legal = (name ?? '')
        .replace(/[^\w\s\-()[\]]/g, ' ')
        .replace(/\s+/g, ' ')
        .trim()
        .slice(0, 150)
        .trim()
      return `${legal === '' ? 'document' : legal} (${seen})`
    },
  }
}

/**
 * Number of leading documents in a history that exceed the request's limit.
 * @param isFlat whether results are sent as text with their media next to it; otherwise failed calls send only their
 * text
 */
export function documentsLeftOut(messages: readonly Message[], isFlat: boolean): number {
  let documents = 0
  for (const message of messages)
    if (message.role === 'user') documents += countDocuments(message.parts)
    else if (message.role === 'tool')
      for (const { isError, content } of message.parts) documents += isError && !isFlat ? 0 : countDocuments(content)
  return Math.max(documents - DOCUMENTS_MAX, 0)
}

function countDocuments(parts: readonly ContentPart[]): number {
  return parts.filter(
    (part) =>
      part.type === 'file' && part.source.type === 'base64' && formatIn(DOCUMENT_FORMATS, part.mediaType) !== undefined,
  ).length
}

export function encodeContent(parts: readonly ContentPart[], documents: Documents): readonly WireBlock[] {
  return parts.map((part) => encodePart(part, documents)).filter((block) => block !== undefined)
}

/** Anthropic models on Bedrock: 400 "all content must be type `text` if `is_error` is true". */
export function encodeText(parts: readonly ContentPart[]): readonly WireBlock[] {
  const blocks = parts.map((part) => (part.type === 'text' ? textBlock(part.text) : leftOut(part.type)))
  return blocks.filter((block) => block !== undefined)
}

/** "The text field in the ContentBlock object … is blank. Add text to the text field, and try again." */
export function textBlock(text: string): WireBlock | undefined {
  return text.trim() === '' ? undefined : { text }
}

function encodePart(part: ContentPart, documents: Documents): WireBlock | undefined {
  switch (part.type) {
    case 'text':
      return textBlock(part.text)
    case 'image':
      return encodeImage(part)
    case 'file':
      return encodeFile(part, documents)
  }
}

function encodeImage({ mediaType, source }: ImagePart): WireBlock {
  const format = formatIn(IMAGE_FORMATS, mediaType)
  if (format === undefined) return leftOut(`image of type ${mediaType}`)
  const place = source.type === 'base64' ? toBytes(source.data) : placeIn(source.url)
  return place ? { image: { format, source: place } } : leftOut('image at an address')
}

function encodeFile(file: FilePart, documents: Documents): WireBlock {
  const format = formatIn(DOCUMENT_FORMATS, file.mediaType)
  const what = `file ${file.name ?? ''} of type ${file.mediaType}`
  const source = file.source.type === 'base64' ? toBytes(file.source.data) : undefined
  if (format === undefined || !source) return leftOut(what)
  const name = documents.takeName(file)
  return name === undefined ? leftOut(`${what}, over the limit of documents`) : { document: { format, name, source } }
}

function toBytes(data: string): JsonObject | undefined {
  return data === '' ? undefined : { bytes: data }
}

/** Converse fetches only from S3, not from the web. */
function placeIn(url: string): JsonObject | undefined {
  return url.startsWith('s3://') ? { s3Location: { uri: url } } : undefined
}

function formatIn(formats: Readonly<Record<string, string>>, mediaType: string): string | undefined {
  return Object.hasOwn(formats, mediaType) ? formats[mediaType] : undefined
}

/** Tells the model about content it does not receive, so that it can mention it. */
function leftOut(what: string): WireBlock {
  return { text: `[Not shown, because this model cannot read it: ${what}]` }
}
