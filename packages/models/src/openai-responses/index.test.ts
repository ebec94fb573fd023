// The adapter as a whole over a transport that answers from memory: what is sent, and what becomes of each failure.
import type { HttpHead, HttpRequest, ModelRequest, Transport } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import type { OpenAiResponsesModelOptions } from './index.ts'
import { createOpenAiResponsesModel } from './index.ts'

const KEY = 'sk-secret-0123456789'
const request: ModelRequest = {
  instructions: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
}
const item = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hello' }] }
const completed = {
  status: 'completed',
  id: 'resp_1',
  model: 'm-1',
  output: [item],
  usage: { input_tokens: 1, output_tokens: 2 },
}
const STREAM = [
  { type: 'response.created', response: { ...completed, status: 'in_progress', output: [], usage: null } },
  { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
  { type: 'response.output_text.delta', output_index: 0, delta: 'hello' },
  { type: 'response.output_item.done', output_index: 0, item },
  { type: 'response.completed', response: completed },
]
const sse = (events: readonly { readonly type: string }[]) =>
  events.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join('')
const JSON_TYPE = { headers: { 'content-type': 'application/json' } }

interface Run {
  readonly times?: number
  readonly settings?: ModelRequest['settings']
}

function runWith(
  head: Partial<HttpHead>,
  body: string,
  more: Partial<OpenAiResponsesModelOptions> = {},
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
  const model = createOpenAiResponsesModel({
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
  expect([model.id, model.provider]).toEqual(['openai/gpt-4.1', 'openai'])
  expect(seen.request?.url).toBe('https://gateway.example/v1/responses')
  expect(seen.request?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-team': 'voice' })
  expect(JSON.parse(seen.request?.body ?? '')).toMatchObject({ model: 'gpt-4.1', stream: true, store: false })
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

test.each([
  ['gpt-5-mini', 'native'],
  ['gpt-4o-mini', 'native'],
  ['gpt-4-turbo', 'none'],
])('whether %s keeps answers to a schema', (model, output) => {
  expect(runWith({}, sse(STREAM), { model }).model.capabilities.output).toBe(output)
})

test('a server that does not stream', async () => {
  const { seen, answer } = runWith(JSON_TYPE, JSON.stringify(completed))
  expect((await answer).parts).toEqual([{ type: 'text', text: 'hello' }])
  expect(seen.texts).toEqual(['hello'])
})

describe('failures', () => {
  const said = (error: object) => JSON.stringify({ error })
  test.each<[string, Partial<HttpHead>, string, string, boolean]>([
    ['a stream that ends early', {}, sse(STREAM.slice(0, 4)), 'model_cut_off', true],
    ['no stream at all', {}, '', 'model_cut_off', true],
    ['an event that is no JSON', {}, 'data: <\n\n', 'model_malformed_answer', true],
    ['a page with status 200', JSON_TYPE, '<html>', 'model_malformed_answer', true],
    ['half a body', JSON_TYPE, '{"status":"comp', 'model_cut_off', true],
    ['an error with status 200', JSON_TYPE, said({ message: 'x', code: 502 }), 'model_provider_failed', true],
    ['a wrong key', { status: 401 }, said({ message: 'x', code: 'invalid_api_key' }), 'model_auth_failed', false],
    ['no credit', { status: 429 }, said({ message: 'x', type: 'insufficient_quota' }), 'model_auth_failed', false],
    ['too many requests', { status: 429 }, said({ message: 'x', type: 'requests' }), 'model_rate_limited', true],
    [
      'too long a history',
      { status: 400 },
      said({ message: 'Your input exceeds the context window of this model.', code: 'context_length_exceeded' }),
      'context_overflow',
      false,
    ],
    [
      'thoughts of another organization',
      { status: 400 },
      said({ message: 'The encrypted content gAAA could not be verified.', code: 'invalid_encrypted_content' }),
      'model_invalid_request',
      false,
    ],
    ['an overload', { status: 503 }, '<html>busy</html>', 'model_overloaded', true],
  ])('%s', async (...[, head, body, code, retryable]) => {
    const failure = await describeFailure(runWith(head, body).answer)
    expect([failure.code, failure.retryable]).toEqual([code, retryable])
  })

  test('how long to wait', async () => {
    const head = { status: 429, headers: { 'retry-after': '7', 'x-request-id': 'req_9' } }
    const { data } = await describeFailure(runWith(head, said({ message: 'x' })).answer)
    expect(data).toMatchObject({ retryAfterMs: 7000, requestId: 'req_9', status: 429 })
  })

  test.each<[string, Partial<HttpHead>, string]>([
    ['in a body', { status: 401 }, said({ message: `bad ${KEY}`, type: KEY })],
    ['in an error event', {}, `data: ${JSON.stringify({ type: 'error', message: `bad ${KEY}`, code: KEY })}\n\n`],
    ['in a page', JSON_TYPE, `<${KEY}`],
    ['in a status', JSON_TYPE, JSON.stringify({ status: KEY })],
    ['in an event that is no JSON', {}, `data: ${KEY}\n\n`],
  ])('the key is not in the error: %s', async (_name, head, body) => {
    const failure = await describeFailure(runWith(head, body).answer)
    const all = [failure.message, failure.stack, JSON.stringify(failure), String(failure.cause)]
    expect(all.join('\n')).not.toContain(KEY)
  })

  test.each<[string, Partial<HttpHead>, string, Partial<OpenAiResponsesModelOptions>]>([
    ['a stream', {}, sse(STREAM), { answerLengthMax: 20 }],
    ['a body that is not a stream', JSON_TYPE, ' '.repeat(16 * 1024 * 1024), {}],
  ])('%s above its bound is no answer, and is not asked for again', async (_name, head, body, more) => {
    const error = await describeFailure(runWith(head, body, more, { times: 2 }).answer)
    expect([error.code, error.retryable]).toEqual(['model_malformed_answer', false])
  })
})

test.each(['model', 'apiKey'] as const)('without %s', (field) => {
  expect(() => runWith({}, '', { [field]: ' ' })).toThrow(`${field} is empty`)
})
