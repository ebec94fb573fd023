// Maps a provider's error response (status, headers, body) to one typed error. The mapping is by status, but a message
// about the model's window takes precedence, because every provider reports that as an ordinary bad request.
import type { ErrorCode, HttpHead, JsonObject, JsonValue } from '@baton/core/internal'
import { BatonError, isJsonObject, parseJson } from '@baton/core/internal'
import { findWords } from './error-words.ts'
import { redact } from './redact.ts'
import { codeOfRefusal, readContextTokens, saysTooLarge } from './refusals.ts'
import { readString } from '../json-fields.ts'

export interface HttpFailure {
  /** Display name: `Anthropic`. */
  readonly provider: string
  readonly head: HttpHead
  /** The raw body; may be HTML from a proxy, or empty. */
  readonly body: string
  /** For a `retry-after` given as a date. */
  readonly nowMs: number
  readonly secrets: readonly string[]
  /** Code for the provider's own error type, if that is more specific than the status. */
  readonly codeOfType?: (type: string) => ErrorCode | undefined
}

/** Maximum characters kept of a provider's message; proxies respond with whole pages. */
const MESSAGE_LENGTH_MAX = 600
/** Maximum characters of a message that are searched for known phrases. */
const CLASSIFIED_LENGTH_MAX = 8 * 1024
/** Maximum `retry-after`; longer values are ignored. */
const RETRY_AFTER_MAX_MS = 24 * 60 * 60 * 1000

export function errorFromResponse(failure: HttpFailure): BatonError {
  const { provider, head, nowMs, secrets } = failure
  const said = readErrorBody(failure.body, secrets)
  const code = findCode(failure, said)
  const requestId = readRequestId(head.headers) ?? said.requestId
  const retryAfterMs = readRetryAfterMs(head.headers, nowMs) ?? said.retryAfterMs
  const retryable = isRetryable(head, said)
  const words = redact(said.message, secrets).slice(0, MESSAGE_LENGTH_MAX)
  const contextTokens = code === 'context_overflow' ? readContextTokens(said.message) : undefined
  return new BatonError({
    code,
    message: `${provider} answered ${head.status}${words === '' ? '' : `: ${words}`}`,
    ...(retryable !== undefined && { retryable }),
    data: {
      status: head.status,
      ...(requestId !== undefined && { requestId: redact(requestId, secrets) }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(said.type !== undefined && { type: redact(said.type, secrets) }),
      ...(contextTokens !== undefined && { contextTokens }),
    },
  })
}

export interface SaidError {
  readonly message: string
  readonly type?: string
  readonly code?: string
  readonly requestId?: string
  readonly retryAfterMs?: number
}

/**
 * Reads the formats of error bodies: `{error:{message,type|status,code}}` (Anthropic, OpenAI, Gemini), the same inside
 * an array (Gemini without SSE), `{message}` (Bedrock), `{error:"text"}` (Ollama), those of gateways (error-words.ts),
 * or something other than JSON (proxies). JSON without a message becomes the message itself.
 */
export function readErrorBody(body: string, secrets: readonly string[] = []): SaidError {
  const parsed = parseJson(body)
  if (!parsed.ok) return { message: textOfPage(redact(body, secrets)) }
  const root: JsonValue | undefined = Array.isArray(parsed.value) ? parsed.value[0] : parsed.value
  if (!isJsonObject(root)) return { message: textOfPage(redact(body, secrets)) }
  const { error } = root
  if (typeof error === 'string') return { message: redact(findWords(root), secrets).slice(0, CLASSIFIED_LENGTH_MAX) }
  const holder: JsonObject = isJsonObject(error) ? error : root
  const type = readString(holder, 'type') ?? readString(holder, 'status')
  const code = readString(holder, 'code')
  const requestId = readString(root, 'request_id')
  const whole = findWords(holder) || findWords(root) || (Object.keys(root).length > 0 ? JSON.stringify(root) : '')
  // Redact before truncating: half a key is still too much.
  const message = redact(whole, secrets).slice(0, CLASSIFIED_LENGTH_MAX)
  const retryAfterMs = readRetryInfo(holder['details']) ?? readQuotedRetryInfo(message)
  return {
    message,
    ...(type !== undefined && { type }),
    ...(code !== undefined && { code }),
    ...(requestId !== undefined && { requestId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  }
}

/** Code for a status alone. 402: the account cannot pay, which its owner must resolve, as with an invalid key. */
export function codeOfStatus(status: number): ErrorCode {
  if (status === 401 || status === 402 || status === 403) return 'model_auth_failed'
  if (status === 404) return 'model_not_found'
  if (status === 408) return 'model_timeout'
  if (status === 413) return 'model_request_too_large'
  if (status === 429) return 'model_rate_limited'
  if (status === 503 || status === 529) return 'model_overloaded'
  if (status >= 400 && status < 500 && status !== 409) return 'model_invalid_request'
  return 'model_provider_failed'
}

/** With a 400: xAI's "Incorrect API key provided: xa***. You can …", and LiteLLM's proxy when it quotes Gemini. */
const BAD_KEY = /^(?:incorrect|invalid) api key\b|\bAPI key not valid\b/i
/** LiteLLM's proxy, with a 400: "/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view …" */
const UNKNOWN_MODEL = /\bInvalid model name passed in model=/
/** LiteLLM's proxy turns Anthropic's 529 into a 500 that quotes Anthropic's type. */
const OVERLOADED = /"type":\s?"overloaded_error"/

function findCode(failure: HttpFailure, said: SaidError): ErrorCode {
  const { status } = failure.head
  const isRefusal = status === 400 || status === 413 || status === 422
  const refused = isRefusal ? codeOfRefusal(said) : undefined
  if (refused !== undefined) return refused
  // With a 429 for a per-minute limit, this means that waiting does not help.
  if (status === 413 || (status === 429 && saysTooLarge(said))) return 'model_request_too_large'
  if (status === 400 && BAD_KEY.test(said.message)) return 'model_auth_failed'
  if (status === 400 && UNKNOWN_MODEL.test(said.message)) return 'model_not_found'
  if (status === 500 && OVERLOADED.test(said.message)) return 'model_overloaded'
  const byType = said.type === undefined ? undefined : failure.codeOfType?.(said.type)
  // The type is less specific than the status, as when proxies send it with a 429.
  return byType === undefined || byType === 'model_provider_failed' ? codeOfStatus(status) : byType
}

/** Returns `undefined` to use the code's default. Anthropic's and OpenAI's SDKs also check `x-should-retry` first. */
function isRetryable(head: HttpHead, said: SaidError): boolean | undefined {
  const told = head.headers['x-should-retry']
  if (told === 'true') return true
  if (told === 'false') return false
  // OpenAI also sends 429 for an account without credit, where waiting does not help (recorded type).
  if (said.type === 'insufficient_quota' || said.code === 'insufficient_quota') return false
  // A redirect means that the base address is wrong, so retrying does not help.
  return head.status >= 300 && head.status < 400 ? false : undefined
}

function readRequestId(headers: HttpHead['headers']): string | undefined {
  return headers['request-id'] ?? headers['x-request-id'] ?? headers['x-amzn-requestid']
}

/**
 * Milliseconds to wait, from `retry-after-ms`, or from `retry-after` in seconds or as a date (RFC 9110, 10.2.3).
 * LiteLLM's proxy forwards the upstream provider's header under its own name.
 */
export function readRetryAfterMs(headers: HttpHead['headers'], nowMs: number): number | undefined {
  const milliseconds = numberIn(headers['retry-after-ms'])
  if (milliseconds !== undefined) return Math.min(RETRY_AFTER_MAX_MS, milliseconds)
  const after = headers['retry-after'] ?? headers['llm_provider-retry-after']
  if (after === undefined) return undefined
  const seconds = numberIn(after)
  if (seconds !== undefined) return Math.min(RETRY_AFTER_MAX_MS, Math.round(seconds * 1000))
  const atMs = Date.parse(after)
  return Number.isNaN(atMs) ? undefined : Math.min(RETRY_AFTER_MAX_MS, Math.max(0, atMs - nowMs))
}

/** Gemini: details[] has a RetryInfo with `retryDelay: "34.4s"` (recorded). */
function readRetryInfo(details: JsonValue | undefined): number | undefined {
  if (!Array.isArray(details)) return undefined
  for (const detail of details as readonly JsonValue[]) {
    const delay = isJsonObject(detail) ? readString(detail, 'retryDelay') : undefined
    if (delay === undefined || !delay.endsWith('s')) continue
    const seconds = numberIn(delay.slice(0, -1))
    if (seconds !== undefined) return Math.round(seconds * 1000)
  }
  return undefined
}

/** Retry delay in milliseconds. LiteLLM's proxy quotes Gemini's whole error in its message. */
export function readQuotedRetryInfo(message: string): number | undefined {
  const seconds = numberIn(/"retryDelay":\s?"(\d+(?:\.\d+)?)s"/.exec(message.slice(0, CLASSIFIED_LENGTH_MAX))?.[1])
  return seconds === undefined ? undefined : Math.round(seconds * 1000)
}

function numberIn(text: string | undefined): number | undefined {
  if (text === undefined || text.trim() === '') return undefined
  const value = Number(text)
  return Number.isFinite(value) && value >= 0 ? value : undefined
}

/** Extracts the text of an HTML page or plain text, without markup. */
function textOfPage(body: string): string {
  // Each tag ends at the next one at the latest, so no text is scanned twice.
  return body
    .replace(/<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, CLASSIFIED_LENGTH_MAX)
}
