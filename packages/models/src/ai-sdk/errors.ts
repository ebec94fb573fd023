// Maps AI SDK errors to Baton errors by their contents rather than their class, because several SDK versions may be
// loaded.
import type { ErrorCode, JsonObject } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import { parseJson } from '@baton/core/internal'
import { findWords } from '../transport/error-words.ts'
import type { SaidError } from '../transport/http-errors.ts'
import { codeOfStatus, readErrorBody, readRetryAfterMs } from '../transport/http-errors.ts'
import { codeOfRefusal } from '../transport/refusals.ts'

interface ApiCallError {
  readonly message?: unknown
  readonly name?: unknown
  readonly statusCode?: unknown
  readonly responseBody?: unknown
  readonly responseHeaders?: unknown
  readonly isRetryable?: unknown
}

const MESSAGE_CHARS = 600

export function describeError(provider: string, cause: unknown): BatonError {
  if (isBatonError(cause)) return cause
  const error: ApiCallError = typeof cause === 'object' && cause !== null ? cause : { message: cause }
  const status = typeof error.statusCode === 'number' ? error.statusCode : undefined
  const said = readErrorBody(typeof error.responseBody === 'string' ? error.responseBody : '')
  const words = said.message || findMessage(error) || 'it did not say why it failed'
  const retryAfterMs = retryAfterIn(readHeaders(error.responseHeaders)) ?? said.retryAfterMs
  return new BatonError({
    code: findCode(error, status, { ...said, message: words }),
    message: `${provider}${status === undefined ? '' : ` answered ${status}`}: ${words.slice(0, MESSAGE_CHARS)}`,
    ...(typeof error.isRetryable === 'boolean' && status !== undefined && { retryable: error.isRetryable }),
    data: buildData(status, retryAfterMs),
    cause,
  })
}

/** The message of an error, or of the error inside a provider's object. */
function findMessage(error: ApiCallError): string {
  if (typeof error.message === 'string') return error.message
  const parsed = error instanceof Error ? undefined : parseJson(JSON.stringify(error))
  return parsed?.ok === true ? findWords(parsed.value) : ''
}

function buildData(status: number | undefined, retryAfterMs: number | undefined): JsonObject {
  return { ...(status !== undefined && { status }), ...(retryAfterMs !== undefined && { retryAfterMs }) }
}

function findCode(error: ApiCallError, status: number | undefined, said: SaidError): ErrorCode {
  if (error.name === 'AbortError') return 'cancelled'
  if (error.name === 'AI_LoadAPIKeyError') return 'model_not_configured'
  if (error.name === 'AI_NoSuchModelError') return 'model_not_found'
  const refused = status === 400 || status === 413 || status === 422 ? codeOfRefusal(said) : undefined
  if (refused !== undefined) return refused
  if (status !== undefined) return codeOfStatus(status)
  return error.name === 'TypeError' || error.name === 'AI_RetryError' ? 'model_network_failed' : 'model_provider_failed'
}

/**
 * A date in `retry-after` is measured against the server's `date` header and ignored without one: this code has no
 * clock.
 */
function retryAfterIn(headers: Readonly<Record<string, string>>): number | undefined {
  const nowMs = Date.parse(headers['date'] ?? '')
  const afterMs = readRetryAfterMs(headers, nowMs)
  return Number.isNaN(afterMs) ? undefined : afterMs
}

function readHeaders(headers: unknown): Readonly<Record<string, string>> {
  return typeof headers === 'object' && headers !== null ? (headers as Readonly<Record<string, string>>) : {} // checked
}
