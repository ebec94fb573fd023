// Turns the answer of a service into a tool's result, or into an error that a model can act on.
import type { JsonObject, JsonValue, ToolContent } from '@baton/core'
import { BatonError, hasNeverConnected, isBatonError, isJsonObject, parseJson, readStatusCode } from '@baton/core'
import { bareType, isJsonType } from './document.ts'

export interface Reading {
  /** Begins messages: `shop.getOrder: GET https://api.example.com`. */
  readonly what: string
  /** The request may change something, so it matters whether it arrived. */
  readonly mayChange: boolean
  readonly maxBytes: number
  /** Media types of successful answers, as the document says; empty if it says nothing. */
  readonly types: readonly string[]
  /** Texts that no error may show. */
  readonly secrets: readonly string[]
  readonly nowMs: () => number
}

/** Characters of a service's words in an error. */
const WORDS = 1_000
/** Bytes to read of a refusal for its words. */
const REFUSAL_BYTES = 64 * 1024

/**
 * JSON as a value, text as text, an image or a file as a part for the model; null for an answer without a body.
 * @throws BatonError `api_unauthorized`, `api_refused`, `api_rate_limited`, `api_failed`, `api_malformed`, `api_unavailable`
 */
export async function readAnswer(response: Response, reading: Reading): Promise<JsonValue | ToolContent> {
  const { what, maxBytes, types } = reading
  if (response.status < 200 || response.status >= 300) throw await readRefusal(response, reading)
  const { bytes, isWhole } = await readBytes(response, maxBytes, reading)
  if (!isWhole) throw malformed(`${what} answered with more than ${maxBytes} bytes`)
  if (bytes.length === 0) return null
  const said = response.headers.get('content-type') ?? ''
  const type = bareType(said)
  const isPromised = types.length > 0 && types.every(isJsonType)
  if (isJsonType(type) || (type === '' && isPromised)) return readJson(bytes, reading)
  if (isPromised)
    throw malformed(`${what} answered with ${type.slice(0, 100)} in place of JSON: ${start(bytes, reading)}`)
  if (type === '' || isTextType(type)) return decode(bytes, said)
  const source = { type: 'base64', data: bytes.toString('base64') } as const
  if (/^image\/(png|jpeg|gif|webp)$/.test(type)) return { content: [{ type: 'image', mediaType: type, source }] }
  const name = readFileName(response.headers.get('content-disposition') ?? '')
  return { content: [{ type: 'file', mediaType: type, source, ...(name !== undefined && { name }) }] }
}

function readJson(bytes: Buffer, reading: Reading): JsonValue | ToolContent {
  const text = new TextDecoder().decode(bytes)
  const parsed = parseJson(text)
  // A service's JSON is data, even if it looks like a tool's images and files.
  if (parsed.ok && isJsonObject(parsed.value) && Array.isArray(parsed.value['content']))
    return { content: [{ type: 'text', text: JSON.stringify(parsed.value) }] }
  if (parsed.ok) return parsed.value
  throw malformed(
    `${reading.what} answered with what is not JSON${parsed.cutOff ? ', but ends early' : ''}: ${start(bytes, reading)}`,
  )
}

function isTextType(type: string): boolean {
  return /^text\/|[/+](xml|yaml)$|^application\/(x-)?(yaml|javascript|sql|graphql|x-ndjson|jsonl|x-www-form-urlencoded)$/.test(
    type,
  )
}

function decode(bytes: Buffer, contentType: string): string {
  const charset = /;\s*charset="?([\w-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes) // an unknown charset
  }
}

function readFileName(disposition: string): string | undefined {
  const name = /;\s*filename="?([^";]{1,200})/i.exec(disposition)?.[1]?.trim().split(/[\\/]/).at(-1)
  return name === undefined || name === '' ? undefined : name
}

async function readRefusal(response: Response, reading: Reading): Promise<BatonError> {
  const { status, headers } = response
  const { bytes } = await readBytes(response, REFUSAL_BYTES, reading)
  const words = readWords(bytes, headers.get('content-type') ?? '', reading)
  const waitMs = readRetryAfter(headers.get('retry-after'), reading.nowMs())
  const data: JsonObject = { status, ...(waitMs !== undefined && { retryAfterMs: waitMs }) }
  const wait = waitMs === undefined ? '' : `; try again in ${Math.ceil(waitMs / 1000)} s`
  const message = `${reading.what} answered ${status}${wait}${words === '' ? '' : `: ${words}`}`
  return new BatonError({ code: readStatusCode(status), message, data })
}

/** Milliseconds, a day at most; undefined for a header that cannot be read. */
function readRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null || header.trim() === '') return undefined
  const waitMs = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, waitMs), 86_400_000)
}

/** The body; if it is an object with one field, that field alone. An HTML page does not count. */
function readWords(bytes: Buffer, contentType: string, { secrets }: Reading): string {
  const type = bareType(contentType)
  if (type === 'text/html' || (type !== '' && !isJsonType(type) && !isTextType(type))) return ''
  const text = decode(bytes, contentType)
  const parsed = parseJson(text)
  const words = (parsed.ok && typeof parsed.value === 'object' ? JSON.stringify(parsed.value) : text).trim()
  const sentence =
    parsed.ok && isJsonObject(parsed.value) && Object.keys(parsed.value).length === 1 ? onlyText(parsed.value) : words
  return hide(sentence, secrets).slice(0, WORDS)
}

function onlyText(value: JsonObject): string {
  const [only] = Object.values(value)
  return typeof only === 'string' ? only : JSON.stringify(value)
}

function start(bytes: Buffer, { secrets }: Reading): string {
  return JSON.stringify(hide(new TextDecoder().decode(bytes.subarray(0, 4096)), secrets).slice(0, 80))
}

function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), text)
}

/** Reads the body up to `maxBytes`, and nothing beyond. */
async function readBytes(
  response: Response,
  maxBytes: number,
  reading: Reading,
): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const pieces: Uint8Array[] = []
  let length = 0
  const reader = response.body?.getReader()
  try {
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader?.read()) {
      pieces.push(piece.value)
      length += piece.value.length
      if (length <= maxBytes) continue
      await reader?.cancel()
      return { bytes: Buffer.concat(pieces).subarray(0, maxBytes), isWhole: false }
    }
  } catch (thrown) {
    throw describeNetworkFailure(reading, thrown)
  }
  return { bytes: Buffer.concat(pieces), isWhole: true }
}

/** The error for what a fetch threw. Refusals of the guard and errors of an aborted call stay as they are. */
export function describeNetworkFailure({ what, mayChange }: Reading, thrown: unknown): unknown {
  if (thrown instanceof Error && thrown.name === 'AbortError') return thrown
  const isOwn = isBatonError(thrown)
  const mayBeDone = mayChange && !hasNeverConnected(thrown) && (!isOwn || thrown.code === 'api_unavailable')
  if (isOwn && !mayBeDone) return thrown
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  const why = cause instanceof Error ? cause.message : String(cause)
  const said = isOwn ? thrown.message : `${what} cannot be reached: ${why.slice(0, 200)}`
  return new BatonError({
    code: 'api_unavailable',
    message: mayBeDone ? `${said}; the request may have had its effect` : said,
    cause: thrown,
  })
}

function malformed(message: string): BatonError {
  return new BatonError({ code: 'api_malformed', message })
}
