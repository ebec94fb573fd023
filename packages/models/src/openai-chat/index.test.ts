// The adapter as a whole over a transport that answers from memory: what is sent, and what becomes of each failure.
import type { HttpHead, HttpRequest, ModelRequest, Transport } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { apiUrl } from './address.ts'
import type { OpenAiChatModelOptions } from './index.ts'
import { createOpenAiChatModel } from './index.ts'

const KEY = 'sk-secret-0123456789'
const request: ModelRequest = {
  instructions: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
}
const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c1',
  model: 'm-1',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const STREAM = [
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'hello' }),
  chunk({}, 'stop'),
  { choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } },
]
const sse = (chunks: readonly object[]) => chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')
const JSON_TYPE = { headers: { 'content-type': 'application/json' } }

interface Run {
  readonly times?: number
  readonly settings?: ModelRequest['settings']
}

function runWith(
  head: Partial<HttpHead>,
  body: string,
  more: Partial<OpenAiChatModelOptions> = {},
  { times = 1, settings = {} }: Run = {},
) {
  const seen: { request?: HttpRequest; texts: string[] } = { texts: [] }
  const answered: HttpHead = {
    status: 200,
    headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' },
    ...head,
  }
  const transport: Transport = {
    post(http, _signal, onBytes) {
      seen.request = http
      return new Promise((resolve) => {
        for (let sent = 0; sent < times; sent++) onBytes(new TextEncoder().encode(body), answered)
        resolve(answered)
      })
    },
  }
  const model = createOpenAiChatModel({
    model: 'gpt-4.1',
    apiKey: KEY,
    baseUrl: 'https://gateway.example/v1/',
    transport,
    clock: { nowMs: () => 0 },
    headers: { 'x-team': 'voice' },
    ...more,
  })
  const sink = (event: { readonly type: string; readonly text?: string }) => {
    if (event.type === 'text-delta') seen.texts.push(event.text ?? '')
  }
  return { seen, model, answer: model.run({ ...request, settings }, sink, new AbortController().signal) }
}

async function describeFailure(answer: Promise<unknown>) {
  const thrown = await answer.catch((error: unknown) => error)
  if (!isBatonError(thrown)) throw new Error('no BatonError')
  return thrown
}

test('a call: what is sent, what streams, what is answered', async () => {
  const { seen, model, answer } = runWith({}, sse(STREAM))
  expect(await answer).toEqual({
    parts: [{ type: 'text', text: 'hello' }],
    finish: 'end',
    usage: { inputTokens: 1, outputTokens: 2 },
    model: 'm-1',
    requestId: 'req_1',
  })
  expect(seen.texts).toEqual(['hello'])
  expect([model.id, model.provider]).toEqual(['openai-chat/gpt-4.1', 'openai-chat'])
  expect(seen.request?.url).toBe('https://gateway.example/v1/chat/completions')
  expect(seen.request?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-team': 'voice' })
  expect(JSON.parse(seen.request?.body ?? '')).toMatchObject({ model: 'gpt-4.1', stream: true })
})

test.each([
  ['gpt-4.1', 0, 30_000],
  ['gpt-5-mini', 0, 30_000],
  ['gpt-5-mini', 2000, 300_000],
  ['o3', 0, 300_000],
])('how long %s with %d tokens to think may say nothing', async (model, reasoningTokens, timeoutMs) => {
  const { seen, answer } = runWith({}, sse(STREAM), { model }, { settings: { reasoningTokens } })
  await answer
  expect([seen.request?.firstByteTimeoutMs, seen.request?.betweenBytesTimeoutMs]).toEqual([timeoutMs, timeoutMs])
})

test('a server that asks for no key gets none', async () => {
  const { seen, answer } = runWith({}, sse(STREAM), { apiKey: '' })
  await answer
  expect(Object.keys(seen.request?.headers ?? {})).not.toContain('authorization')
})

test('a server that does not stream', async () => {
  const message = { role: 'assistant', content: 'whole', tool_calls: null }
  const body = JSON.stringify({ model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] })
  const { seen, answer } = runWith(JSON_TYPE, body)
  expect((await answer).parts).toEqual([{ type: 'text', text: 'whole' }])
  expect(seen.texts).toEqual(['whole'])
})

describe('failures', () => {
  const said = (error: object) => JSON.stringify({ error })
  test.each<[string, Partial<HttpHead>, string, string, boolean]>([
    ['a stream that ends early', {}, sse(STREAM.slice(0, 2)), 'model_cut_off', true],
    ['no stream at all', {}, '', 'model_cut_off', true],
    ['an event that is no JSON', {}, 'data: <\n\n', 'model_malformed_answer', true],
    ['a page with status 200', JSON_TYPE, '<html>', 'model_malformed_answer', true],
    ['an error with status 200', JSON_TYPE, said({ message: 'x', code: 502 }), 'model_provider_failed', true],
    ['a wrong key', { status: 401 }, said({ message: 'x', code: 'invalid_api_key' }), 'model_auth_failed', false],
    ['no credit', { status: 429 }, said({ message: 'x', type: 'insufficient_quota' }), 'model_auth_failed', false],
    ['no credit at OpenRouter', { status: 402 }, said({ message: 'x', code: 402 }), 'model_auth_failed', false],
    [
      'too many requests',
      { status: 429 },
      said({ message: 'x', type: 'requests', code: 'rate_limit_exceeded' }),
      'model_rate_limited',
      true,
    ],
    [
      'a model that is not there',
      { status: 404 },
      said({ message: 'model "x" not found, try pulling it first' }),
      'model_not_found',
      false,
    ],
    [
      'a model that is not there, as 400',
      { status: 400 },
      said({ message: 'x', type: 'invalid_request_error', code: 'model_not_found' }),
      'model_not_found',
      false,
    ],
    [
      'too long a history',
      { status: 400 },
      said({ message: "This model's maximum context length is 8192 tokens" }),
      'context_overflow',
      false,
    ],
    [
      'a call that Groq refused',
      { status: 400 },
      said({ message: 'x', type: 'invalid_request_error', code: 'tool_use_failed' }),
      'model_malformed_answer',
      true,
    ],
    ['an overload', { status: 503 }, '<html>busy</html>', 'model_overloaded', true],
  ])('%s', async (...[, head, body, code, retryable]) => {
    const failure = await describeFailure(runWith(head, body).answer)
    expect([failure.code, failure.retryable]).toEqual([code, retryable])
  })

  test.each<[string, string, string]>([
    [
      'Mistral',
      JSON.stringify({ object: 'error', message: "Unexpected role 'user' after role 'tool'", code: '3230' }),
      "Groq answered 422: Unexpected role 'user' after role 'tool'",
    ],
    [
      'a list of what is wrong',
      JSON.stringify({
        object: 'error',
        message: { detail: [{ loc: ['body', 'max_completion_tokens'], msg: 'Extra inputs are not permitted' }] },
      }),
      'Groq answered 422: body.max_completion_tokens: Extra inputs are not permitted',
    ],
    [
      'FastAPI',
      JSON.stringify({ detail: [{ loc: ['body'], msg: 'field required' }] }),
      'Groq answered 422: body: field required',
    ],
    [
      'OpenRouter, with the words of the provider',
      JSON.stringify({ error: { message: 'Provider returned error', metadata: { raw: 'busy' } } }),
      'Groq answered 422: Provider returned error: busy',
    ],
    ['a text', '{"error":"no such model"}', 'Groq answered 422: no such model'],
    ['no JSON', '<html><p>Bad</p></html>', 'Groq answered 422: Bad'],
  ])('the words of a refusal: %s', async (_shape, body, message) => {
    expect((await describeFailure(runWith({ status: 422 }, body, { label: 'Groq' }).answer)).message).toBe(message)
  })

  const AUTO = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
  test.each<[string, number, object]>([
    ['Ollama', 400, { message: 'registry.ollama.ai/library/gemma3:4b does not support tools', type: 'api_error' }],
    ['vLLM', 400, { message: AUTO, type: 'BadRequestError', code: 400 }],
    ['llama.cpp', 500, { message: 'tools param requires --jinja flag', type: 'server_error', code: 500 }],
    ['llama.cpp of 2024', 500, { message: 'Unsupported param: tools', type: 'server_error', code: 500 }],
    ['OpenRouter', 404, { message: 'No endpoints found that support tool use. To learn more …', code: 404 }],
  ])('%s says that it takes no tools', async (_server, status, error) => {
    const asBody = await describeFailure(runWith({ status }, said(error)).answer)
    const inStream = await describeFailure(runWith({}, sse([{ error }])).answer)
    expect([asBody, inStream]).toMatchObject([
      { code: 'model_without_tools', retryable: false, data: { status } },
      { code: 'model_without_tools', retryable: false },
    ])
  })

  test.each(['this model does not support tool choice "required"', 'the tool x does not support arguments'])(
    '"%s" says nothing about tools as such',
    async (message) => {
      expect((await describeFailure(runWith({ status: 400 }, said({ message })).answer)).code).toBe(
        'model_invalid_request',
      )
    },
  )

  test('how long to wait', async () => {
    const head = { status: 429, headers: { 'retry-after': '7', 'x-request-id': 'req_9' } }
    const { data } = await describeFailure(runWith(head, said({ message: 'x' })).answer)
    expect(data).toMatchObject({ retryAfterMs: 7000, requestId: 'req_9', status: 429 })
  })

  test.each<[string, Partial<HttpHead>, string]>([
    ['in a body', { status: 401 }, said({ message: `bad ${KEY}`, type: KEY })],
    ['in an error of a stream', {}, sse([{ error: { message: `bad ${KEY}`, type: KEY } }])],
    ['in a page', JSON_TYPE, `<${KEY}`],
    ['in an event that is no JSON', {}, `data: ${KEY}\n\n`],
  ])('the key is not in the error: %s', async (_name, head, body) => {
    const failure = await describeFailure(runWith(head, body).answer)
    const all = [failure.message, failure.stack, JSON.stringify(failure), String(failure.cause)]
    expect(all.join('\n')).not.toContain(KEY)
  })

  test.each<[string, Partial<HttpHead>, string, Partial<OpenAiChatModelOptions>]>([
    ['a stream', {}, sse([chunk({ content: 'x'.repeat(50) })]), { answerLengthMax: 20 }],
    ['a body that is not a stream', JSON_TYPE, ' '.repeat(16 * 1024 * 1024), {}],
  ])('%s above its bound is no answer, and is not asked for again', async (_name, head, body, more) => {
    const error = await describeFailure(runWith(head, body, more, { times: 2 }).answer)
    expect([error.code, error.retryable]).toEqual(['model_malformed_answer', false])
  })
})

test('addresses', () => {
  const places = [
    'https://a.example',
    'https://a.example/',
    'https://a.example/v1/',
    'https://a.example/openai/v1',
    'https://a.example/v1/chat/completions',
    'https://a.example/v1?api-version=1',
  ]
  expect(places.map((place) => apiUrl(place, 'chat/completions'))).toEqual([
    'https://a.example/v1/chat/completions',
    'https://a.example/v1/chat/completions',
    'https://a.example/v1/chat/completions',
    'https://a.example/openai/v1/chat/completions',
    'https://a.example/v1/chat/completions',
    'https://a.example/v1/chat/completions?api-version=1',
  ])
})

test('without a model', () => {
  expect(() => runWith({}, '', { model: ' ' })).toThrow('model is empty')
})
