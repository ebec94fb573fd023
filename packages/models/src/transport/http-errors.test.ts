// Errors from a provider's rejection: code, retry advice, and no keys.
import type { HttpHead } from '@baton/core/internal'
import { describe, expect, test } from 'vitest'
import { errorFromResponse, readErrorBody } from './http-errors.ts'
import { redact, listSecrets } from './redact.ts'
import { saysContextOverflow } from './refusals.ts'

const NOW_MS = Date.UTC(2026, 10, 21, 12, 0, 0)

function describeError(
  status: number,
  body: unknown,
  headers: HttpHead['headers'] = {},
  secrets: readonly string[] = [],
) {
  return errorFromResponse({
    provider: 'Anthropic',
    head: { status, headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    nowMs: NOW_MS,
    secrets,
  })
}

describe('the code of a status', () => {
  test.each([
    [400, 'model_invalid_request', false],
    [401, 'model_auth_failed', false],
    [402, 'model_auth_failed', false],
    [403, 'model_auth_failed', false],
    [404, 'model_not_found', false],
    [408, 'model_timeout', true],
    [409, 'model_provider_failed', true],
    [413, 'model_request_too_large', false],
    [422, 'model_invalid_request', false],
    [429, 'model_rate_limited', true],
    [500, 'model_provider_failed', true],
    [502, 'model_provider_failed', true],
    [503, 'model_overloaded', true],
    [529, 'model_overloaded', true],
    [302, 'model_provider_failed', false],
  ])('%i is %s', (status, code, retryable) => {
    const error = describeError(status, '')
    expect([error.code, error.retryable, error.data]).toEqual([code, retryable, { status }])
  })
})

describe('a request that does not fit the window, in the words of', () => {
  test.each([
    [
      'Anthropic',
      { error: { type: 'invalid_request_error', message: 'prompt is too long: 3333404 tokens > 200000 maximum' } },
    ],
    [
      'OpenAI',
      { error: { code: 'context_length_exceeded', message: 'Your input exceeds the context window of this model.' } },
    ],
    [
      'Gemini',
      [
        {
          error: { code: 400, message: 'The input token count (1200000) exceeds the maximum number of tokens allowed' },
        },
      ],
    ],
    ['Bedrock', { message: 'Input is too long for requested model.' }],
    ['Ollama', { error: 'prompt too long; exceeded max context length by 12 tokens' }],
    ['Perplexity', { error: { message: 'The prompt has 200000 tokens', type: 'too_many_prompt_tokens', code: 400 } }],
    [
      'LiteLLM',
      { error: { message: 'litellm.BadRequestError: litellm.ContextWindowExceededError: …', type: null, code: '400' } },
    ],
  ])('%s', (_provider, body) => {
    expect(describeError(400, body).code).toBe('context_overflow')
  })
})

describe('what LiteLLM’s proxy quotes of the provider behind it, or says itself (1.106.2)', () => {
  test.each([
    [400, 'invalid_request_error', `b'{"error":{"message":"API key not valid. Please pass …"}}'`, 'model_auth_failed'],
    [400, 'invalid_request_error', '/responses: Invalid model name passed in model=nope. Call …', 'model_not_found'],
    [
      500,
      'internal_server_error',
      `b'{"error":{"type":"overloaded_error","message":"Overloaded"}}'`,
      'model_overloaded',
    ],
    [500, 'internal_server_error', 'litellm.APIConnectionError: …', 'model_provider_failed'],
  ])('%i %s: %s', (status, type, message, code) => {
    expect(describeError(status, { error: { message, type, param: null, code: String(status) } }).code).toBe(code)
  })
})

test('message, type and request id are taken from the body', () => {
  const error = describeError(400, {
    error: { type: 'invalid_request_error', message: 'max_tokens: 0' },
    request_id: 'req_7',
  })
  expect(error.message).toBe('Anthropic answered 400: max_tokens: 0')
  expect(error.data).toEqual({ status: 400, requestId: 'req_7', type: 'invalid_request_error' })
})

test('a page from a proxy becomes its words', () => {
  const error = describeError(502, '<html><h1>Bad\n Gateway</h1></html>')
  expect(error.message).toBe('Anthropic answered 502: Bad Gateway')
})

describe('how long to wait', () => {
  test.each([
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 1500],
    [{ 'retry-after': '55' }, 55_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': new Date(NOW_MS + 30_000).toUTCString() }, 30_000],
    [{ 'retry-after': new Date(NOW_MS - 30_000).toUTCString() }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-1' }, 0],
    [{ 'llm_provider-retry-after': '7' }, 7000],
    [{ 'retry-after': '2', 'llm_provider-retry-after': '7' }, 2000],
  ])('%o', (headers, expected) => {
    // "-1" parses as a date in 2001; either way, there is no wait.
    expect(describeError(429, '', headers).data['retryAfterMs']).toBe(expected)
  })

  test('in Gemini’s body', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }]
    const error = describeError(429, { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED', details } })
    expect(error.data['retryAfterMs']).toBe(34_400)
  })

  test('in Gemini’s body, as LiteLLM’s proxy quotes it', () => {
    const quoted = `b'{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"1.5s"}]}}'`
    const error = describeError(429, { error: { message: quoted, type: 'rate_limit_error', code: '429' } })
    expect(error.data['retryAfterMs']).toBe(1500)
  })
})

test('x-should-retry wins over the status', () => {
  expect(describeError(500, '', { 'x-should-retry': 'false' }).retryable).toBe(false)
  expect(describeError(400, '', { 'x-should-retry': 'true' }).retryable).toBe(true)
})

test('an account without credit is not retried', () => {
  expect(describeError(429, { error: { type: 'insufficient_quota', message: 'quota' } }).retryable).toBe(false)
})

test('a provider that quotes the key does not get it into the error', () => {
  const key = 'sk-ant-0123456789+/='
  const request = {
    url: `https://user:pass-word-1@example.com/v1?key=${encodeURIComponent(key)}`,
    headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
  }
  const body = { error: { type: key, message: `Incorrect key ${key} in ${request.url}` }, request_id: key }
  const error = describeError(401, body, {}, listSecrets(request))
  const everything = [error.message, error.stack, JSON.stringify(error), String(error.cause)].join('\n')
  expect(everything).not.toContain(key)
  expect(everything).not.toContain(encodeURIComponent(key))
  expect(everything).not.toContain('pass-word-1')
})

test('what is no secret is left alone', () => {
  const secrets = listSecrets({
    url: 'https://example.com/?alt=sse&key=true',
    headers: { accept: 'text/event-stream' },
  })
  expect(redact('alt=sse is true, text/event-stream', secrets)).toBe('alt=sse is true, text/event-stream')
})

test('a wrong key that is told as a bad request (xAI) is still a wrong key', () => {
  const error = 'Incorrect API key provided: xa***bc. You can obtain an API key from https://console.x.ai.'
  expect(describeError(400, { code: 'Client specified an invalid argument', error }).code).toBe('model_auth_failed')
})

// Each took minutes while the time was quadratic in the length.
test('long messages and pages are looked at in time with their length', () => {
  expect(saysContextOverflow({ message: 'input token count '.repeat(400_000) })).toBe(false)
  expect(readErrorBody('<'.repeat(2_000_000)).message.length).toBe(8192)
  expect(readErrorBody(`<${'a'.repeat(2_000_000)}`).message.length).toBe(8192)
})

test('a key at the end of a long page is removed before the page is cut', () => {
  const key = 'sk-secret-0123456789'
  for (let more = 0; more < 30; more++)
    expect(readErrorBody(`${'x'.repeat(8192 - more)}${key}`, [key]).message).not.toContain('sk-')
})

test('advice to wait longer than a day is advice to wait a day', () => {
  const waits = (headers: HttpHead['headers']) => describeError(429, {}, headers).data
  expect(waits({ 'retry-after': '1e306' })).toMatchObject({ retryAfterMs: 86_400_000 })
  expect(waits({ 'retry-after-ms': '1e300' })).toMatchObject({ retryAfterMs: 86_400_000 })
})

test('advice of a header counts before that of the body, and a date is a day away at most', () => {
  const body = { error: { message: 'wait', details: [{ retryDelay: '34s' }] } }
  expect(describeError(429, body, { 'retry-after': '2' }).data).toMatchObject({ retryAfterMs: 2000 })
  expect(describeError(429, body).data).toMatchObject({ retryAfterMs: 34_000 })
  const inAWeek = new Date(NOW_MS + 7 * 86_400_000).toUTCString()
  expect(describeError(503, '', { 'retry-after': inAWeek }).data).toMatchObject({ retryAfterMs: 86_400_000 })
})

test('an account without credit is not retried, by its code alone too', () => {
  expect(describeError(429, { error: { message: 'no credit', code: 'insufficient_quota' } }).retryable).toBe(false)
})

test('a key is removed whole where another one begins like it, without its scheme, and as part of an address', () => {
  expect(redact('sk-abcdefgh', ['sk-abc', 'sk-abcdefgh'])).toBe('[redacted]')
  expect(redact('of a%2Fb%2Bc%3D', ['a/b+c='])).toBe('of [redacted]')
  const secrets = listSecrets({ url: 'https://host', headers: { authorization: 'Bearer abcdefgh' } })
  expect(redact('wrong key abcdefgh', secrets)).toBe('wrong key [redacted]')
})
