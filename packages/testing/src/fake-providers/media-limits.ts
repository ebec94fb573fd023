// Providers' rejections for the size of a request: bytes, numbers of images and documents, pixels, and a media type
// that does not match the bytes. Verbatim messages, independent of the adapters' limits.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import type { FakeAsked, FakeError } from './fake-server.ts'

export type LimitedProvider = 'anthropic' | 'openai' | 'gemini' | 'bedrock'

const MIB = 1024 * 1024
/** Used by Anthropic and by gateways in front of it. */
export const TOO_LARGE: FakeError = {
  status: 413,
  type: 'request_too_large',
  message: 'Request exceeds the maximum size',
}

export function findTooLarge(provider: LimitedProvider, { bytes, body = {} }: FakeAsked): FakeError | undefined {
  switch (provider) {
    case 'anthropic':
      return bytes > 32 * MIB ? TOO_LARGE : findClaudeRefusal(body)
    case 'openai':
      return findOpenAiRefusal(bytes, body)
    // gemini-cli and others; a 400 rather than a 413.
    case 'gemini':
      return bytes > 20 * MIB ? refuse('Request payload size exceeds the limit: 20971520 bytes.') : undefined
    case 'bedrock':
      return findBedrockRefusal(bytes, body)
    default:
      return provider satisfies never
  }
}

/** platform.claude.com/docs/en/api/overview#request-size-limits and …/build-with-claude/vision, November 2026. */
function findClaudeRefusal(body: JsonObject): FakeError | undefined {
  const media = listMedia(body['messages'], 'messages')
  const images = media.filter(({ kind }) => kind === 'image')
  const documents = media.length - images.length
  // anthropics/claude-code#23392
  if (media.length > 100) return refuse(`too many images and documents: ${images.length} + ${documents} > 100`)
  for (const { path, data, mediaType } of images) {
    const place = `${path}.source.base64`
    const size = Math.floor((data.length * 3) / 4)
    // anthropics/claude-code#10612
    if (data.length > 5 * MIB) return refuse(`${place}: image exceeds 5 MB maximum: ${size} bytes > ${5 * MIB} bytes`)
    const seen = findType(data)
    if (seen !== undefined && seen !== mediaType)
      return refuse(
        `${place}: The image was specified using the ${mediaType} media type, but the image appears to be a ${seen} image`,
      )
    const side = findLongerSide(data)
    const exceeds = `${place}.data: At least one of the image dimensions exceed max allowed size`
    if (side > 8000) return refuse(`${exceeds}: 8000 pixels`)
    // anthropics/claude-code#9375
    if (images.length > 20 && side > 2000) return refuse(`${exceeds} for many-image requests: 2000 pixels`)
  }
  return undefined
}

/** "Up to 50 MB total payload size per request" and 500 images (platform.openai.com/docs/guides/images-vision). */
function findOpenAiRefusal(bytes: number, body: JsonObject): FakeError | undefined {
  const images = listMedia(body['messages'] ?? body['input'], 'input').filter(({ kind }) => /image/.test(kind))
  if (images.length > 500)
    return refuse(
      `Too many images in request: ${images.length} images provided, but the model supports a maximum of 500.`,
    )
  if (bytes <= 50 * MIB) return undefined
  // open-webui/open-webui#26967
  return refuse(`Total image size is ${(bytes / MIB).toFixed(1)}MB, which exceeds the allowed limit of 50.0MB.`)
}

/** vLLM's message (vllm-project/vllm#17092). */
export function findTooManyImages(body: JsonObject, imagesMax: number): FakeError | undefined {
  if (listMedia(body['messages'], 'messages').length <= imagesMax) return undefined
  return { ...refuse(`At most ${imagesMax} image(s) may be provided in one request.`), type: 'BadRequestError' }
}

/**
 * Claude on Converse: boto/boto3#4632; "You can't include more than 5 documents in a request."
 * (generative-ai-use-cases#1685)
 */
function findBedrockRefusal(bytes: number, body: JsonObject): FakeError | undefined {
  const media = listMedia(body['messages'], 'messages')
  const images = media.filter(({ kind }) => kind === 'image').length
  const documents = media.length - images
  if (documents > 5) return refuse("You can't include more than 5 documents in a request.")
  if (images > 20) return refuse('The model returned the following errors: messages: too many images: image_count > 20')
  // Its message for 27.7 MB (accelerated-intelligent-document-processing-on-aws#994).
  return bytes > 25_000_000 ? refuse('Input is too long for requested model.') : undefined
}

function refuse(message: string): FakeError {
  return { status: 400, message }
}

interface Medium {
  readonly kind: string
  readonly path: string
  /** Base64; empty for an address. */
  readonly data: string
  readonly mediaType: string
}

const MEDIA = ['image', 'document', 'image_url', 'input_image']

/** Includes results, whose content is nested. */
function listMedia(value: JsonValue | undefined, path: string): readonly Medium[] {
  if (Array.isArray(value))
    return (value as readonly JsonValue[]).flatMap((item, at) => listMedia(item, `${path}.${at}`))
  if (!isJsonObject(value)) return []
  const type = value['type']
  const kind = typeof type === 'string' ? type : MEDIA.find((name) => isJsonObject(value[name]))
  if (kind !== undefined && MEDIA.includes(kind)) {
    const source = isJsonObject(value['source']) ? value['source'] : {}
    return [{ kind, path, data: text(source['data']), mediaType: text(source['media_type']) }]
  }
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'content' || key === 'output' || key === 'toolResult' ? listMedia(inner, `${path}.${key}`) : [],
  )
}

/** The type by the first bytes, or `undefined` if they are not an image's. */
function findType(data: string): string | undefined {
  const bytes = Buffer.from(data.slice(0, 32), 'base64')
  if (bytes.subarray(0, 4).toString('latin1') === '\u0089PNG') return 'image/png'
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return 'image/jpeg'
  if (bytes.subarray(0, 3).toString('latin1') === 'GIF') return 'image/gif'
  return bytes.subarray(8, 12).toString('latin1') === 'WEBP' ? 'image/webp' : undefined
}

/** Longer side of a PNG in pixels; 0 for anything else. */
function findLongerSide(data: string): number {
  const bytes = Buffer.from(data.slice(0, 48), 'base64')
  if (findType(data) !== 'image/png' || bytes.length < 24) return 0
  return Math.max(bytes.readUInt32BE(16), bytes.readUInt32BE(20))
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}
