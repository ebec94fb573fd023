// Anthropic-specific parts: requests and error messages. The provider contract covers the rest.
import type { HttpHead } from '@baton/core/internal'
import { openRecordings } from '@baton/testing/recordings'
import { expect, test } from 'vitest'
import { HELLO, answerWith, takeError } from '../memory-transport.test-kit.ts'
import type { AnthropicModelOptions } from './index.ts'
import { createAnthropicModel, messagesUrl } from './index.ts'

const KEY = 'sk-ant-secret-0123456789'
const STREAM = [
  { type: 'message_start', message: { model: 'm', content: [], usage: { input_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const sse = (events: readonly object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

function runWith(head: Partial<HttpHead>, body: string, more: Partial<AnthropicModelOptions> = {}) {
  const provider = answerWith(head, body)
  const model = createAnthropicModel({
    ...provider,
    model: 'claude-haiku-4-5',
    apiKey: KEY,
    baseUrl: 'https://gateway.example/',
    headers: { 'anthropic-beta': 'x' },
    ...more,
  })
  const texts: string[] = []
  const sink = (event: { readonly type: string; readonly text?: string }) => {
    if (event.type === 'text-delta') texts.push(event.text ?? '')
  }
  return { seen: provider.sent, texts, answer: model.run(HELLO, sink, new AbortController().signal) }
}

test('a call: what is sent, what streams, what is answered', async () => {
  const { seen, texts, answer } = runWith({}, sse(STREAM))
  expect(await answer).toEqual({
    parts: [{ type: 'text', text: 'hello' }],
    finish: 'end',
    usage: { inputTokens: 1, outputTokens: 2 },
    model: 'm',
    requestId: 'req_1',
  })
  expect(texts).toEqual(['hello'])
  expect(seen[0]?.url).toBe('https://gateway.example/v1/messages')
  expect(seen[0]?.headers).toMatchObject({
    'x-api-key': KEY,
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'x',
  })
  expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
    model: 'claude-haiku-4-5',
    stream: true,
    max_tokens: 512,
  })
})

test('thinking whose conversation has changed is left out when asked', async () => {
  const { seen, answer } = runWith({}, sse(STREAM), { thinkingMismatch: 'drop' })
  await answer
  expect(seen[0]?.headers['anthropic-beta']).toBe('x,thinking-binding-controls-2026-08-01')
})

test('an overload under another status', async () => {
  const body = '{"error":{"type":"overloaded_error","message":"x"}}'
  expect((await takeError(runWith({ status: 500 }, body).answer)).code).toBe('model_overloaded')
})

const recordings = openRecordings('the recorded refusal of Anthropic', (message) => console.warn(message))
test.skipIf(!recordings)('the recorded refusal of a history that is too long', async () => {
  const refused = recordings?.exchangesOf('anthropic').find((exchange) => exchange.status === 400)
  const { answer } = runWith({ status: 400, headers: refused?.headers ?? {} }, new TextDecoder().decode(refused?.body))
  const failure = await takeError(answer)
  expect([failure.code, failure.retryable]).toEqual(['context_overflow', false])
  expect(failure.message).toContain('prompt is too long')
})

test('addresses', () => {
  const places = [undefined, 'https://a.example', 'https://a.example/', 'https://a.example/v1/', 'https://a.example/x']
  expect(places.map((place) => messagesUrl(place))).toEqual([
    'https://api.anthropic.com/v1/messages',
    'https://a.example/v1/messages',
    'https://a.example/v1/messages',
    'https://a.example/v1/messages',
    'https://a.example/x/v1/messages',
  ])
})

test('without a key', () => {
  const transport = { post: () => Promise.reject(new Error('not called')) }
  const create = () => createAnthropicModel({ model: 'm', apiKey: ' ', transport, clock: { nowMs: () => 0 } })
  expect(create).toThrow('apiKey is empty')
})
