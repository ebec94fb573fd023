// Maps Anthropic's error types to codes. The same types appear in HTTP bodies and, after HTTP 200, in an `error` event.
import type { ErrorCode, JsonObject } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import { errorFromStream, errorIn } from '../openai-chat/errors.ts'
import type { HttpFailure } from '../transport/http-errors.ts'
import { errorFromResponse } from '../transport/http-errors.ts'
import { redact } from '../transport/redact.ts'
import { codeOfRefusal } from '../transport/refusals.ts'

/** Source: docs.claude.com/en/api/errors, and ErrorType of SDK 1.12. */
const CODE_OF_TYPE: Readonly<Record<string, ErrorCode>> = {
  invalid_request_error: 'model_invalid_request',
  request_too_large: 'model_request_too_large',
  authentication_error: 'model_auth_failed',
  permission_error: 'model_auth_failed',
  billing_error: 'model_auth_failed',
  not_found_error: 'model_not_found',
  rate_limit_error: 'model_rate_limited',
  overloaded_error: 'model_overloaded',
  timeout_error: 'model_timeout',
  api_error: 'model_provider_failed',
}

export function codeOfType(type: string): ErrorCode | undefined {
  return Object.hasOwn(CODE_OF_TYPE, type) ? CODE_OF_TYPE[type] : undefined
}

export function errorFromHttp(failure: Omit<HttpFailure, 'provider' | 'codeOfType'>): BatonError {
  return errorFromResponse({ ...failure, provider: 'Anthropic', codeOfType })
}

/**
 * `event: error {type:"error",error:{type,message},request_id}`: the HTTP status was 200, so only the type matters
 * (anthropic-sdk-python#1258: using the status broke fallback there). Gateways send the errors of other providers.
 */
export function errorFromEvent(
  event: JsonObject,
  requestId: string | undefined,
  secrets: readonly string[],
): BatonError {
  const { error } = event
  const said = isJsonObject(error) ? error : (errorIn(event) ?? {})
  const type = typeof said['type'] === 'string' ? said['type'] : 'unknown'
  const message = typeof said['message'] === 'string' ? said['message'] : 'no message'
  if (codeOfType(type) === undefined && said['message'] !== undefined)
    return errorFromStream(said === event ? { message } : said, { label: 'Anthropic', requestId, secrets })
  return new BatonError({
    code: codeOfEvent(type, message),
    message: redact(`Anthropic ended the stream with ${type}: ${message}`, secrets),
    data: { type: redact(type, secrets), ...(requestId !== undefined && { requestId: redact(requestId, secrets) }) },
  })
}

function codeOfEvent(type: string, message: string): ErrorCode {
  const code = codeOfType(type) ?? 'model_provider_failed'
  return type === 'invalid_request_error' ? (codeOfRefusal({ message }) ?? code) : code
}
