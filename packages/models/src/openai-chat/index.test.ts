// Chat Completions-specific parts: requests, allowed silence, and the error messages of many servers. The provider
// contract covers the rest.
import type { HttpHead, ModelSettings } from '@baton/core/internal'
import { describe, expect, test } from 'vitest'
import { HELLO, JSON_TYPE, answerWith, takeError } from '../memory-transport.test-kit.ts'
import { apiUrl } from './address.ts'
import type { OpenAiChatModelOptions } from './index.ts'
import { createOpenAiChatModel } from './index.ts'

const KEY = 'sk-secret-0123456789'
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

function runWith(
  head: Partial<HttpHead>,
  body: string,
  more: Partial<OpenAiChatModelOptions> = {},
  settings: ModelSettings = {},
) {
  const provider = answerWith(head, body)
  const model = createOpenAiChatModel({
    ...provider,
    model: 'gpt-4.1',
    apiKey: KEY,
    baseUrl: 'https://gateway.example/v1/',
    headers: { 'x-team': 'voice' },
    ...more,
  })
  const texts: string[] = []
  const sink = (event: { readonly type: string; readonly text?: string }) => {
    if (event.type === 'text-delta') texts.push(event.text ?? '')
  }
  const answer = model.run({ ...HELLO, settings }, sink, new AbortController().signal)
  return { seen: provider.sent, texts, model, answer }
}

test('a call: what is sent, what streams, what is answered', async () => {
  const { seen, texts, model, answer } = runWith({}, sse(STREAM))
  expect(await answer).toEqual({
    parts: [{ type: 'text', text: 'hello' }],
    finish: 'end',
    usage: { inputTokens: 1, outputTokens: 2 },
    model: 'm-1',
    requestId: 'req_1',
  })
  expect(texts).toEqual(['hello'])
  expect([model.id, model.provider]).toEqual(['openai-chat/gpt-4.1', 'openai-chat'])
  expect(seen[0]?.url).toBe('https://gateway.example/v1/chat/completions')
  expect(seen[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-team': 'voice' })
  expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ model: 'gpt-4.1', stream: true })
})

test.each([
  ['gpt-4.1', 0, 30_000],
  ['gpt-5-mini', 0, 30_000],
  ['gpt-5-mini', 2000, 300_000],
  ['o3', 0, 300_000],
])('how long %s with %d tokens to think may say nothing', async (model, reasoningTokens, timeoutMs) => {
  const { seen, answer } = runWith({}, sse(STREAM), { model }, { reasoningTokens })
  await answer
  expect([seen[0]?.firstByteTimeoutMs, seen[0]?.betweenBytesTimeoutMs]).toEqual([timeoutMs, timeoutMs])
})

test('a server that asks for no key gets none', async () => {
  const { seen, answer } = runWith({}, sse(STREAM), { apiKey: '' })
  await answer
  expect(Object.keys(seen[0]?.headers ?? {})).not.toContain('authorization')
})

describe('failures', () => {
  const said = (error: object) => JSON.stringify({ error })
  test.each<[string, Partial<HttpHead>, string, string, boolean]>([
    ['an error with status 200', JSON_TYPE, said({ message: 'x', code: 502 }), 'model_provider_failed', true],
    ['no credit', { status: 429 }, said({ message: 'x', type: 'insufficient_quota' }), 'model_auth_failed', false],
    ['no credit at OpenRouter', { status: 402 }, said({ message: 'x', code: 402 }), 'model_auth_failed', false],
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
      'a call that Groq refused',
      { status: 400 },
      said({ message: 'x', type: 'invalid_request_error', code: 'tool_use_failed' }),
      'model_malformed_answer',
      true,
    ],
    ['an overload', { status: 503 }, '<html>busy</html>', 'model_overloaded', true],
  ])('%s', async (...[, head, body, code, retryable]) => {
    const failure = await takeError(runWith(head, body).answer)
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
    expect((await takeError(runWith({ status: 422 }, body, { label: 'Groq' }).answer)).message).toBe(message)
  })

  const AUTO = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'
  test.each<[string, number, object]>([
    ['Ollama', 400, { message: 'registry.ollama.ai/library/gemma3:4b does not support tools', type: 'api_error' }],
    ['vLLM', 400, { message: AUTO, type: 'BadRequestError', code: 400 }],
    ['llama.cpp', 500, { message: 'tools param requires --jinja flag', type: 'server_error', code: 500 }],
    ['llama.cpp of 2024', 500, { message: 'Unsupported param: tools', type: 'server_error', code: 500 }],
    ['OpenRouter', 404, { message: 'No endpoints found that support tool use. To learn more …', code: 404 }],
  ])('%s says that it takes no tools', async (_server, status, error) => {
    const asBody = await takeError(runWith({ status }, said(error)).answer)
    const inStream = await takeError(runWith({}, sse([{ error }])).answer)
    expect([asBody, inStream]).toMatchObject([
      { code: 'model_without_tools', retryable: false, data: { status } },
      { code: 'model_without_tools', retryable: false },
    ])
  })

  test.each(['this model does not support tool choice "required"', 'the tool x does not support arguments'])(
    '"%s" says nothing about tools as such',
    async (message) => {
      expect((await takeError(runWith({ status: 400 }, said({ message })).answer)).code).toBe('model_invalid_request')
    },
  )
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

test.each([
  ['http://gpu-1:8080/v1', 'gpu-1:8080', 'reasoning'],
  ['https://llm.example/v1', 'llm.example', 'reasoning'],
  ['https://api.openai.com/v1', 'OpenAI', 'text'],
  ['https://shop.openai.azure.com/openai/v1', 'OpenAI', 'text'],
])('without quirks, %s is called %s, and a tag is %s there', async (baseUrl, label, kind) => {
  const said = { choices: [{ message: { content: '<think>hm</think>Yes.' }, finish_reason: 'stop' }] }
  const ask = (body: string) => runWith(JSON_TYPE, body, { baseUrl }).answer
  expect((await ask(JSON.stringify(said))).parts[0]).toMatchObject({ type: kind })
  await expect(ask('[')).rejects.toThrow(`${label}’s answer is not JSON`)
})
