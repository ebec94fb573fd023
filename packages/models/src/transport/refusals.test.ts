// Rejections for the content or size of a request: by status and in a stream, with messages as seen.
import { describe, expect, test } from 'vitest'
import { describeError as aiSdkError } from '../ai-sdk/errors.ts'
import { errorFromEvent, errorFromHttp as anthropicError } from '../anthropic/errors.ts'
import { errorFromException, errorFromHttp as bedrockError } from '../bedrock/errors.ts'
import { errorFromChunk, errorFromHttp as geminiError } from '../gemini/errors.ts'
import { errorFromHttp as openAiError, errorFromStream as chatStreamError } from '../openai-chat/errors.ts'
import { errorFromStream as responsesStreamError } from '../openai-responses/errors.ts'

const general = { nowMs: 0, secrets: [], head: { status: 400, headers: {} } }
const anthropic = (message: string) =>
  anthropicError({
    ...general,
    body: JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }),
  })
const gemini = (message: string) =>
  geminiError({ ...general, body: JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }) })
const bedrock = (message: string) => bedrockError({ ...general, body: JSON.stringify({ message }) })
const openAi = (error: object) => openAiError({ ...general, provider: 'OpenAI', body: JSON.stringify({ error }) })
const invalid = { type: 'invalid_request_error', param: null }
const azure = 'The response was filtered due to the prompt triggering Azure OpenAI’s content management policy.'

describe('an HTTP answer', () => {
  test.each([
    [anthropic('messages.0.content.2.image.source.base64: image exceeds 5 MB maximum: 15908784 bytes > 5242880 bytes')],
    [anthropic('messages.7.content.2: At least one of the image dimensions exceed max allowed size: 8000 pixels')],
    [anthropic('Could not process image')],
    [anthropic('Could not process PDF')],
    [anthropic('messages.11.content.8.image.source.base64.data: Image format image/png not supported')],
    [anthropic('A maximum of 100 PDF pages may be provided.')],
    [gemini('Unable to process input image. Please retry or report')],
    [gemini('Provided image is not valid')],
    [gemini('The document has no pages.')],
    [bedrock('The model returned the following errors: messages.0.content.2: image exceeds 5 MB maximum: 2 bytes')],
    [openAi({ ...invalid, message: 'You uploaded an unsupported image.', code: 'invalid_image_format' })],
    [openAi({ ...invalid, message: 'The image data you provided does not represent a valid image.', code: 'other' })],
    [openAi({ ...invalid, message: 'no', code: 'image_parse_error' })],
    [openAi({ message: azure, type: null, param: 'prompt', code: 'content_filter', status: 400 })],
    [aiSdkError('xai', { statusCode: 400, responseBody: '{"error":{"message":"Could not process image"}}' })],
  ])('%s', (error) => {
    expect([error.code, error.retryable]).toEqual(['model_content_refused', false])
  })
})

describe('a stream', () => {
  const message = 'Could not process image'
  const failure = { label: 'OpenAI', requestId: undefined, secrets: [] }
  test.each([
    [errorFromEvent({ type: 'invalid_request_error', message }, undefined, [])],
    [errorFromChunk({ error: { code: 400, status: 'INVALID_ARGUMENT', message } }, [])],
    [errorFromException({ type: 'validationException', payload: { message }, requestId: undefined, secrets: [] })],
    [chatStreamError({ ...invalid, message: 'no', code: 'image_parse_error' }, failure)],
    [chatStreamError({ message }, failure)],
    [responsesStreamError({ code: 'image_content_policy_violation', message: 'no' }, failure)],
  ])('%s', (error) => {
    expect(error.code).toBe('model_content_refused')
  })
})

test.each([
  [anthropic('messages.0: all messages must have non-empty content'), 'model_invalid_request'],
  [anthropic('prompt is too long: 3333404 tokens > 200000 maximum'), 'context_overflow'],
  // The answer was blocked, not the request: a retry may produce another answer.
  [anthropic('Output blocked by content filtering policy'), 'model_invalid_request'],
  [openAi({ ...invalid, message: 'no', code: 'invalid_value' }), 'model_invalid_request'],
  [
    anthropicError({ ...general, head: { status: 500, headers: {} }, body: 'Could not process image' }),
    'model_provider_failed',
  ],
  [errorFromEvent({ type: 'api_error', message: 'Could not process image' }, undefined, []), 'model_provider_failed'],
])('%s is none: %s', (error, code) => {
  expect(error.code).toBe(code)
})

describe('a request that is too large', () => {
  const status = (code: number, body: unknown) =>
    openAiError({ ...general, head: { status: code, headers: {} }, provider: 'OpenAI', body: JSON.stringify(body) })
  const failure = { label: 'OpenAI', requestId: undefined, secrets: [] }
  const tpm = 'Request too large for model `llama-3.1-8b` on tokens per minute (TPM): Limit 6000, Requested 12345'
  const page = '<html><head><title>413 Request Entity Too Large</title></head><body>nginx</body></html>'
  test.each([
    [
      anthropicError({
        ...general,
        head: { status: 413, headers: {} },
        body: '{"error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
      }),
    ],
    [anthropic('too many images and documents: 104 + 1 > 100')],
    [anthropic('Too much media: 0 document pages + 103 images > 100')],
    [
      anthropic(
        'messages.19.content.27.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
      ),
    ],
    [gemini('Request payload size exceeds the limit: 20971520 bytes.')],
    [bedrock('The model returned the following errors: messages: too many images: image_count > 20')],
    [bedrock("You can't include more than 5 documents in a request.")],
    [openAi({ ...invalid, message: 'Too many images in request. Max is 10.' })],
    [openAi({ ...invalid, message: 'Total image size is 50.6MB, which exceeds the allowed limit of 50.0MB.' })],
    [openAi({ ...invalid, message: 'request contains 52 images, exceeding the maximum of 50 allowed per request' })],
    [status(400, { object: 'error', message: 'At most 5 image(s) may be provided in one request.', code: 400 })],
    [status(413, { error: { message: 'Maximum request body size 1048576 exceeded', code: 413 } })],
    [status(413, { error: { message: tpm, type: 'tokens', code: 'rate_limit_exceeded' } })],
    [status(429, { error: { message: tpm, type: 'tokens', code: 'rate_limit_exceeded' } })],
    [status(413, page)],
    [aiSdkError('xai', { statusCode: 413, responseBody: page })],
    [errorFromEvent({ type: 'request_too_large', message: 'Request exceeds the maximum size' }, undefined, [])],
    [
      errorFromChunk(
        { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Request payload size exceeds the limit: 1' } },
        [],
      ),
    ],
    [chatStreamError({ message: 'At most 1 image(s) may be provided in one request.', code: 400 }, failure)],
  ])('%s', (error) => {
    expect([error.code, error.retryable]).toEqual(['model_request_too_large', false])
  })

  test.each([
    ['prompt is too long: 3333404 tokens > 200000 maximum', 413],
    ["This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", 413],
  ])('is not one that does not fit the window: %s', (message, code) => {
    expect(status(code, { error: { message } }).code).toBe('context_overflow')
  })
})
