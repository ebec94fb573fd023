// Maps Google's error statuses to codes. The same object arrives as an HTTP body and, after HTTP 200, as a stream
// element.
import type { ErrorCode, JsonObject } from '@baton/core'
import { BatonError } from '@baton/core'
import type { HttpFailure } from '../transport/http-errors.ts'
import { codeOfStatus, errorFromResponse, readErrorBody } from '../transport/http-errors.ts'
import { redact } from '../transport/redact.ts'
import { codeOfRefusal } from '../transport/refusals.ts'

/** google.rpc.Code, except codes that the HTTP status already covers. */
const CODE_OF_STATUS: Readonly<Record<string, ErrorCode>> = {
  INVALID_ARGUMENT: 'model_invalid_request',
  FAILED_PRECONDITION: 'model_invalid_request',
  OUT_OF_RANGE: 'model_invalid_request',
  UNAUTHENTICATED: 'model_auth_failed',
  PERMISSION_DENIED: 'model_auth_failed',
  NOT_FOUND: 'model_not_found',
  RESOURCE_EXHAUSTED: 'model_rate_limited',
  UNAVAILABLE: 'model_overloaded',
  DEADLINE_EXCEEDED: 'model_timeout',
  CANCELLED: 'model_provider_failed',
  INTERNAL: 'model_provider_failed',
  UNKNOWN: 'model_provider_failed',
}

/** 400 INVALID_ARGUMENT "API key not valid. Please pass a valid API key.", reason API_KEY_INVALID. */
const BAD_KEY = /API_KEY_INVALID|API key (not valid|not found|expired)/i

const MESSAGE_LENGTH_MAX = 600

export function errorFromHttp(failure: Omit<HttpFailure, 'provider' | 'codeOfType'>): BatonError {
  const isBadKey = BAD_KEY.test(failure.body)
  return errorFromResponse({
    ...failure,
    provider: 'Gemini',
    codeOfType: (status) => (isBadKey ? 'model_auth_failed' : findCode(status)),
  })
}

/**
 * `{error: {code, message, status, details}}` instead of a chunk: the HTTP status was 200, so only the contents matter.
 */
export function errorFromChunk(chunk: JsonObject, secrets: readonly string[]): BatonError {
  const body = JSON.stringify(chunk)
  const said = readErrorBody(body)
  const number = readNumber(chunk['error'])
  const byStatus = said.type === undefined ? undefined : findCode(said.type)
  const code = BAD_KEY.test(body) ? 'model_auth_failed' : (byStatus ?? codeOfNumber(number))
  const words = redact(said.message === '' ? 'no message' : said.message, secrets).slice(0, MESSAGE_LENGTH_MAX)
  return new BatonError({
    code: code === 'model_invalid_request' ? (codeOfRefusal(said) ?? code) : code,
    message: `Gemini ended the stream with ${redact(said.type ?? String(number ?? 'an error'), secrets)}: ${words}`,
    data: {
      ...(said.type !== undefined && { type: redact(said.type, secrets) }),
      ...(said.retryAfterMs !== undefined && { retryAfterMs: said.retryAfterMs }),
    },
  })
}

function findCode(status: string): ErrorCode | undefined {
  return Object.hasOwn(CODE_OF_STATUS, status) ? CODE_OF_STATUS[status] : undefined
}

function codeOfNumber(number: number | undefined): ErrorCode {
  return number === undefined || number < 400 ? 'model_provider_failed' : codeOfStatus(number)
}

function readNumber(error: unknown): number | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'number' ? code : undefined
}
