// Responses API-specific parts: requests, allowed silence, and error messages. The provider contract covers the rest.
import type { HttpHead, ModelSettings } from '@baton/core/internal'
import { describe, expect, test } from 'vitest'
import { HELLO, JSON_TYPE, answerWith, takeError } from '../memory-transport.test-kit.ts'
import type { OpenAiResponsesModelOptions } from './index.ts'
import { createOpenAiResponsesModel } from './index.ts'

const KEY = 'sk-secret-0123456789'
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

function runWith(
  head: Partial<HttpHead>,
  body: string,
  more: Partial<OpenAiResponsesModelOptions> = {},
  settings: ModelSettings = {},
) {
  const provider = answerWith(head, body)
  const model = createOpenAiResponsesModel({
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
  expect([model.id, model.provider]).toEqual(['openai/gpt-4.1', 'openai'])
  expect(seen[0]?.url).toBe('https://gateway.example/v1/responses')
  expect(seen[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'x-team': 'voice' })
  expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ model: 'gpt-4.1', stream: true, store: false })
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

test.each([
  ['gpt-5-mini', 'native'],
  ['gpt-4o-mini', 'native'],
  ['gpt-4-turbo', 'none'],
])('whether %s keeps answers to a schema', (model, output) => {
  expect(runWith({}, sse(STREAM), { model }).model.capabilities.output).toBe(output)
})

describe('failures', () => {
  const said = (error: object) => JSON.stringify({ error })
  test.each<[string, Partial<HttpHead>, string, string, boolean]>([
    ['an error with status 200', JSON_TYPE, said({ message: 'x', code: 502 }), 'model_provider_failed', true],
    ['no credit', { status: 429 }, said({ message: 'x', type: 'insufficient_quota' }), 'model_auth_failed', false],
    [
      'thoughts of another organization',
      { status: 400 },
      said({ message: 'The encrypted content gAAA could not be verified.', code: 'invalid_encrypted_content' }),
      'model_invalid_request',
      false,
    ],
    ['an overload', { status: 503 }, '<html>busy</html>', 'model_overloaded', true],
  ])('%s', async (...[, head, body, code, retryable]) => {
    const failure = await takeError(runWith(head, body).answer)
    expect([failure.code, failure.retryable]).toEqual([code, retryable])
  })

  test('the key is not in the error of a status', async () => {
    const failure = await takeError(runWith(JSON_TYPE, JSON.stringify({ status: KEY })).answer)
    expect(`${failure.stack}${JSON.stringify(failure)}`).not.toContain(KEY)
  })
})

test.each(['model', 'apiKey'] as const)('without %s', (field) => {
  expect(() => runWith({}, '', { [field]: ' ' })).toThrow(`${field} is empty`)
})
