// The adapter as a whole over a transport that answers from memory.
import type { HttpHead, HttpRequest, ModelRequest, Transport } from '@baton/core'
import { isBatonError } from '@baton/core'
import { openRecordings } from '@baton/testing/recordings'
import { describe, expect, test } from 'vitest'
import type { AnthropicModelOptions } from './index.ts'
import { createAnthropicModel, messagesUrl } from './index.ts'

const KEY = 'sk-ant-secret-0123456789'
const request: ModelRequest = {
  instructions: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
}
const STREAM = [
  { type: 'message_start', message: { model: 'm', content: [], usage: { input_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const sse = (events: readonly object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

function runWith(head: Partial<HttpHead>, body: string, more: Partial<AnthropicModelOptions> = {}, times = 1) {
  const seen: { request?: HttpRequest; texts: string[] } = { texts: [] }
  const answered: HttpHead = {
    status: 200,
    headers: { 'content-type': 'text/event-stream', 'request-id': 'req_1' },
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
  const model = createAnthropicModel({
    model: 'claude-haiku-4-5',
    apiKey: KEY,
    baseUrl: 'https://gateway.example/',
    transport,
    clock: { nowMs: () => 0 },
    headers: { 'anthropic-beta': 'x' },
    ...more,
  })
  const answer = model.run(
    request,
    (event) => event.type === 'text-delta' && seen.texts.push(event.text),
    new AbortController().signal,
  )
  return { seen, answer }
}

async function describeFailure(answer: Promise<unknown>) {
  const thrown = await answer.catch((error: unknown) => error)
  if (!isBatonError(thrown)) throw new Error('no BatonError')
  return thrown
}

test('a call: what is sent, what streams, what is answered', async () => {
  const { seen, answer } = runWith({}, sse(STREAM))
  expect(await answer).toEqual({
    parts: [{ type: 'text', text: 'hello' }],
    finish: 'end',
    usage: { inputTokens: 1, outputTokens: 2 },
    model: 'm',
    requestId: 'req_1',
  })
  expect(seen.texts).toEqual(['hello'])
  expect(seen.request?.url).toBe('https://gateway.example/v1/messages')
  expect(seen.request?.headers).toMatchObject({
    'x-api-key': KEY,
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'x',
  })
  expect(JSON.parse(seen.request?.body ?? '')).toMatchObject({
    model: 'claude-haiku-4-5',
    stream: true,
    max_tokens: 512,
  })
})

test('a gateway that does not stream', async () => {
  const message = {
    type: 'message',
    model: 'm',
    content: [{ type: 'text', text: 'whole' }],
    stop_reason: 'end_turn',
    usage: {},
  }
  const { seen, answer } = runWith({ headers: { 'content-type': 'application/json' } }, JSON.stringify(message))
  expect((await answer).parts).toEqual([{ type: 'text', text: 'whole' }])
  expect(seen.texts).toEqual(['whole'])
})

test('thinking whose conversation has changed is left out when asked', async () => {
  const { seen, answer } = runWith({}, sse(STREAM), { thinkingMismatch: 'drop' })
  await answer
  expect(seen.request?.headers['anthropic-beta']).toBe('x,thinking-binding-controls-2026-08-01')
})

describe('failures', () => {
  test.each<[string, Partial<HttpHead>, string, Partial<AnthropicModelOptions>]>([
    ['a stream', {}, sse(STREAM), { answerLengthMax: 20 }],
    [
      'a body that is not a stream',
      { headers: { 'content-type': 'application/json' } },
      ' '.repeat(16 * 1024 * 1024),
      {},
    ],
  ])('%s above its bound is no answer, and is not asked for again', async (_name, head, body, more) => {
    const error = await describeFailure(runWith(head, body, more, 2).answer)
    expect([error.code, error.retryable]).toEqual(['model_malformed_answer', false])
  })

  test.each([
    ['a stream that ends early', {}, sse(STREAM.slice(0, 5)), 'model_cut_off'],
    ['no stream at all', {}, '', 'model_cut_off'],
    [
      'an error event',
      {},
      sse([{ type: 'error', error: { type: 'overloaded_error', message: 'x' } }]),
      'model_overloaded',
    ],
    ['an event that is no JSON', {}, 'data: <\n\n', 'model_malformed_answer'],
    ['a page with status 200', { headers: { 'content-type': 'application/json' } }, '<html>', 'model_malformed_answer'],
    [
      'an overloaded provider',
      { status: 529 },
      '{"error":{"type":"overloaded_error","message":"x"}}',
      'model_overloaded',
    ],
    [
      'an overload under another status',
      { status: 500 },
      '{"error":{"type":"overloaded_error","message":"x"}}',
      'model_overloaded',
    ],
  ])('%s', async (_name, head, body, code) => {
    expect((await describeFailure(runWith(head, body).answer)).code).toBe(code)
  })

  test.each([
    ['in a body', { status: 401 }, JSON.stringify({ error: { type: 'authentication_error', message: `bad ${KEY}` } })],
    ['in an event', {}, sse([{ type: 'error', error: { type: KEY, message: `bad ${KEY}` }, request_id: KEY }])],
    ['in a page', { headers: { 'content-type': 'application/json' } }, `<${KEY}`],
    ['in an event that is no JSON', {}, `data: ${KEY}\n\n`],
  ])('the key is not in the error: %s', async (_name, head, body) => {
    const failure = await describeFailure(runWith(head, body).answer)
    expect([failure.message, failure.stack, JSON.stringify(failure), String(failure.cause)].join('\n')).not.toContain(
      KEY,
    )
  })
})

const recordings = openRecordings('the recorded refusal of Anthropic', (message) => console.warn(message))
test.skipIf(!recordings)('the recorded refusal of a history that is too long', async () => {
  const refused = recordings?.exchangesOf('anthropic').find((exchange) => exchange.status === 400)
  const { answer } = runWith({ status: 400, headers: refused?.headers ?? {} }, new TextDecoder().decode(refused?.body))
  const failure = await describeFailure(answer)
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
