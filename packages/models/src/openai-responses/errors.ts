// Maps Responses API errors to codes. They arrive as HTTP bodies, as an `error` event, and in a failed response.
import type { ErrorCode, JsonObject, JsonValue } from '@baton/core'
import { BatonError } from '@baton/core'
import type { StreamFailure } from '../openai-chat/errors.ts'
import { errorFromStream as errorOfWords } from '../openai-chat/errors.ts'
import { redact } from '../transport/redact.ts'

export { errorFromHttp, errorIn } from '../openai-chat/errors.ts'

/**
 * ResponseError of openai 7.57: codes for problems with the request itself. Rejected images and texts, and all other
 * errors, use the Chat Completions mapping.
 */
const OF_THE_REQUEST: ReadonlySet<string> = new Set([
  'invalid_request_error',
  'invalid_prompt',
  'data_residency_mismatch',
  'invalid_image_mode',
  // Encrypted reasoning from another organization, or under a key that changed; also a 400.
  'invalid_encrypted_content',
])

/** Maps an error inside an answer with status 200. */
export function errorFromStream(error: JsonObject, failure: StreamFailure): BatonError {
  const general = errorOfWords(error, failure)
  const word = wordIn(error['code']) ?? wordIn(error['type'])
  if (general.code !== 'model_provider_failed' || word === undefined || !OF_THE_REQUEST.has(word)) return general
  return withCode(general, 'model_invalid_request')
}

/** The response was cancelled, or ended with an unknown status. */
export function endedAs(status: string, { label, secrets }: StreamFailure): BatonError {
  return new BatonError({
    code: 'model_provider_failed',
    message: `${label} ended the answer with status ${JSON.stringify(redact(status, secrets).slice(0, 40))}`,
  })
}

function withCode(error: BatonError, code: ErrorCode): BatonError {
  return new BatonError({ code, message: error.message, ...(error.data !== undefined && { data: error.data }) })
}

function wordIn(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
