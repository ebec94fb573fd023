// Codes for errors of the Responses API. They come as HTTP bodies, as an `error` event, and in a response that failed.
import type { ErrorCode, JsonObject, JsonValue } from '@baton/core'
import { BatonError } from '@baton/core'
import type { StreamFailure } from '../openai-chat/errors.ts'
import { errorFromStream as errorOfWords } from '../openai-chat/errors.ts'
import { redact } from '../transport/redact.ts'

export { errorFromHttp, errorIn } from '../openai-chat/errors.ts'

/**
 * ResponseError of openai 7.57: what is wrong with the request itself. Images and texts that are refused, and all others, are
 * known by Chat Completions' words.
 */
const OF_THE_REQUEST: ReadonlySet<string> = new Set([
  'invalid_request_error',
  'invalid_prompt',
  'data_residency_mismatch',
  'invalid_image_mode',
  // Thoughts of another organization, or of a key that has changed: 400 as well.
  'invalid_encrypted_content',
])

/** An error inside of an answer with status 200. */
export function errorFromStream(error: JsonObject, failure: StreamFailure): BatonError {
  const general = errorOfWords(error, failure)
  const word = wordIn(error['code']) ?? wordIn(error['type'])
  if (general.code !== 'model_provider_failed' || word === undefined || !OF_THE_REQUEST.has(word)) return general
  return withCode(general, 'model_invalid_request')
}

/** Somebody ended the response, or its end is of a kind that this version does not know. */
export function endedAs(status: string, { label, secrets }: StreamFailure): BatonError {
  return new BatonError({
    code: 'model_provider_failed',
    message: `${label} ended the answer as ${JSON.stringify(redact(status, secrets).slice(0, 40))}`,
  })
}

function withCode(error: BatonError, code: ErrorCode): BatonError {
  return new BatonError({ code, message: error.message, ...(error.data !== undefined && { data: error.data }) })
}

function wordIn(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
