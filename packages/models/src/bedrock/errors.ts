// Maps Bedrock exceptions to codes. The same exceptions arrive as HTTP errors, named in a header, and as stream frames.
import type { ErrorCode, JsonValue } from '@baton/core/internal'
import { BatonError, isJsonObject, parseJson } from '@baton/core/internal'
import type { HttpFailure } from '../transport/http-errors.ts'
import { errorFromResponse } from '../transport/http-errors.ts'
import { redact } from '../transport/redact.ts'
import { codeOfRefusal } from '../transport/refusals.ts'

/**
 * Keys are lowercase and lack the `Exception` suffix: streams send `throttlingException`, headers
 * `ThrottlingException`.
 */
const CODE_OF_TYPE: Readonly<Record<string, ErrorCode>> = {
  throttling: 'model_rate_limited',
  servicequotaexceeded: 'model_rate_limited',
  serviceunavailable: 'model_overloaded',
  modelnotready: 'model_overloaded',
  internalserver: 'model_provider_failed',
  modelstreamerror: 'model_provider_failed',
  modelerror: 'model_provider_failed',
  modeltimeout: 'model_timeout',
  validation: 'model_invalid_request',
  resourcenotfound: 'model_not_found',
  accessdenied: 'model_auth_failed',
  unrecognizedclient: 'model_auth_failed',
  invalidsignature: 'model_auth_failed',
  incompletesignature: 'model_auth_failed',
  missingauthenticationtoken: 'model_auth_failed',
  expiredtoken: 'model_auth_failed',
}

/** Bedrock's own messages, verbatim as seen. The transport knows those of the models behind it. */
const OVERFLOW = /input tokens exceeded|number of input tokens exceeds maximum length/i
/** ValidationException "The provided model identifier is invalid." (recorded). */
const NO_MODEL = /provided model identifier is invalid/i

/** Returns `undefined` for an unknown type. `message` distinguishes the kinds of ValidationException. */
function codeOfException(type: string, message: string): ErrorCode | undefined {
  const name = type.toLowerCase().replace(/exception$/, '')
  const code = Object.hasOwn(CODE_OF_TYPE, name) ? CODE_OF_TYPE[name] : undefined
  if (code !== 'model_invalid_request' && code !== 'model_provider_failed') return code
  const refused = codeOfRefusal({ message })
  if (OVERFLOW.test(message) || refused === 'context_overflow') return 'context_overflow'
  if (NO_MODEL.test(message)) return 'model_not_found'
  return code === 'model_invalid_request' ? (refused ?? code) : code
}

/** `x-amzn-errortype: ValidationException:http://internal.amazon.com/…`; the body is only `{"message": …}`. */
export function errorFromHttp(failure: Omit<HttpFailure, 'provider' | 'codeOfType'>): BatonError {
  const header = failure.head.headers['x-amzn-errortype']
  const message = readMessage(parsedBody(failure.body))
  const named = header?.split(':')[0] ?? (failure.head.status === 400 ? 'ValidationException' : undefined)
  if (named === undefined) return errorFromResponse({ ...failure, provider: 'Bedrock' })
  return errorFromResponse({
    ...failure,
    provider: 'Bedrock',
    body: message === undefined ? failure.body : JSON.stringify({ message, type: named }),
    codeOfType: (type) => codeOfException(type, message ?? ''),
  })
}

export interface StreamFailure {
  readonly type: string
  readonly payload: JsonValue
  readonly requestId: string | undefined
  readonly secrets: readonly string[]
}

/** Maps an exception in the middle of a stream. The HTTP status was 200, so only the exception's name matters. */
export function errorFromException({ type, payload, requestId, secrets }: StreamFailure): BatonError {
  const message = readMessage(payload) ?? 'no message'
  return new BatonError({
    code: codeOfException(type, message) ?? 'model_provider_failed',
    message: redact(`Bedrock ended the stream with ${type || 'an unnamed exception'}: ${message}`, secrets),
    data: { type: redact(type, secrets), ...(requestId !== undefined && { requestId: redact(requestId, secrets) }) },
  })
}

/** modelStreamErrorException has the model's own message in `originalMessage`. */
function readMessage(payload: JsonValue | undefined): string | undefined {
  if (!isJsonObject(payload)) return undefined
  for (const key of ['message', 'Message', 'originalMessage']) {
    const text = payload[key]
    if (typeof text === 'string' && text !== '') return text
  }
  return undefined
}

function parsedBody(body: string): JsonValue | undefined {
  const parsed = parseJson(body)
  return parsed.ok ? parsed.value : undefined
}
