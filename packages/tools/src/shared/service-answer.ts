// Reads a service's response within limits, and turns failures into errors that a model can act on.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import {
  BatonError,
  hasNeverConnected,
  isBatonError,
  isJsonObject,
  parseJson,
  readStatusCode,
} from '@baton/core/internal'
import { bareType, isJsonType, isTextType } from './media-types.ts'

export interface Reading {
  /** Prefix of messages: `shop.getOrder: GET https://api.example.com`. */
  readonly what: string
  /** Whether the request may change something, so that it matters whether it arrived. */
  readonly mayChange: boolean
  readonly maxBytes: number
  /** Strings that no error may show. */
  readonly secrets: readonly string[]
  /** Whether errors may quote the service's text; true by default. */
  readonly showsWords?: boolean
  readonly nowMs: () => number
}

/** Maximum characters of a service's text in an error. */
const WORDS = 1_000
/** Maximum bytes read of an error response for its message. */
const REFUSAL_BYTES = 64 * 1024

/** @throws BatonError `api_malformed` */
export function readJson(bytes: Buffer, reading: Reading): JsonValue {
  const parsed = parseJson(new TextDecoder().decode(bytes))
  if (parsed.ok) return parsed.value
  const early = parsed.cutOff ? ', but is cut off' : ''
  throw malformed(reading, `responded with something other than JSON${early}${quoteStart(bytes, reading)}`)
}

/**
 * Reads the body of a successful response.
 * @throws BatonError `api_unauthorized`, `api_refused`, `api_rate_limited`, `api_failed`, `api_malformed`,
 * `api_unavailable`
 */
export async function readBody(response: Response, reading: Reading): Promise<Buffer> {
  if (response.status < 200 || response.status >= 300) throw await readRefusal(response, reading)
  const { bytes, isWhole } = await readBytes(response, reading.maxBytes, reading)
  if (!isWhole) throw malformed(reading, `responded with more than ${reading.maxBytes} bytes`)
  return bytes
}

export function decode(bytes: Buffer, contentType: string): string {
  const charset = /;\s*charset="?([\w-]{1,40})/i.exec(contentType)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset).decode(bytes)
  } catch {
    return new TextDecoder().decode(bytes) // unknown charset
  }
}

async function readRefusal(response: Response, reading: Reading): Promise<BatonError> {
  const { status, headers } = response
  const { bytes } = await readBytes(response, REFUSAL_BYTES, reading)
  const words = readWords(bytes, headers.get('content-type') ?? '', reading)
  const waitMs = readRetryAfter(headers, reading.nowMs())
  const data: JsonObject = { status, ...(waitMs !== undefined && { retryAfterMs: waitMs }) }
  const wait = waitMs === undefined ? '' : `; try again in ${Math.ceil(waitMs / 1000)} s`
  const message = `${reading.what} answered ${status}${wait}${words === '' ? '' : `: ${words}`}`
  return new BatonError({ code: isLimited(response) ? 'api_rate_limited' : readStatusCode(status), message, data })
}

/**
 * GitHub reports its limits with a 403: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
function isLimited({ status, headers }: Response): boolean {
  return status === 403 && (headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0')
}

/** Milliseconds to wait, at most a day; `undefined` if no header says. */
function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const after = (headers.get('retry-after') ?? '').trim()
  // GitHub sends a time in seconds since 1970, Reddit the remaining seconds.
  const reset = Number((headers.get('x-ratelimit-reset') ?? '').trim() || Number.NaN)
  const isSpent = Number(headers.get('x-ratelimit-remaining') ?? Number.NaN) < 1
  const waitMs =
    after === ''
      ? isSpent
        ? reset * 1000 - (reset > 1_000_000_000 ? nowMs : 0)
        : Number.NaN
      : /^\d+$/.test(after)
        ? Number(after) * 1000
        : Date.parse(after) - nowMs
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, waitMs), 86_400_000)
}

/** Returns the body; if it is an object with a single field, only that field. HTML pages are ignored. */
function readWords(bytes: Buffer, contentType: string, { secrets, showsWords = true }: Reading): string {
  if (!showsWords) return ''
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

/** Quotes the start of the body, as the end of a message. */
export function quoteStart(bytes: Buffer, { secrets, showsWords = true }: Reading): string {
  if (!showsWords) return ''
  return ': ' + JSON.stringify(hide(new TextDecoder().decode(bytes.subarray(0, 4096)), secrets).slice(0, 80))
}

function hide(text: string, secrets: readonly string[]): string {
  return secrets.reduce((shown, secret) => shown.replaceAll(secret, '[redacted]'), text)
}

/** Reads the body up to `maxBytes` and no further. */
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

/** Creates the error for a failed fetch. Guard refusals and errors of an aborted call are kept as is. */
export function describeNetworkFailure({ what, mayChange }: Reading, thrown: unknown): unknown {
  if (thrown instanceof Error && thrown.name === 'AbortError') return thrown
  const isOwn = isBatonError(thrown)
  const mayBeDone =
    mayChange && !hasNeverConnected(thrown) && (!isOwn || /^api_(unavailable|malformed)$/.test(thrown.code))
  if (isOwn && !mayBeDone) return thrown
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  const why = cause instanceof Error ? cause.message : String(cause)
  const said = isOwn ? thrown.message : `${what} could not be reached: ${why.slice(0, 200)}`
  return new BatonError({
    code: isOwn ? thrown.code : 'api_unavailable',
    message: mayBeDone ? `${said}; the request may have taken effect` : said,
    cause: thrown,
  })
}

/** @param why continues the sentence after `what` */
export function malformed({ what, mayChange }: Reading, why: string): BatonError {
  const message = `${what} ${why}${mayChange ? '; the request may have taken effect' : ''}`
  return new BatonError({ code: 'api_malformed', message })
}
