// The adapter as a whole over a transport that answers from memory: addresses, keys, framings, errors.
import type { HttpHead, HttpRequest, ModelRequest } from '@baton/core'
import { isBatonError } from '@baton/core'
import { expect, test } from 'vitest'
import type { GeminiAccess, GeminiModelOptions } from './index.ts'
import { createGeminiModel } from './index.ts'

const KEY = 'AIza-secret-0123456789'
const request: ModelRequest = {
  instructions: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
}
const api: GeminiAccess = { type: 'gemini-api', apiKey: KEY }
const CHUNK = { candidates: [{ content: { parts: [{ text: 'hello' }] }, finishReason: 'STOP' }], responseId: 'r' }

function runWith(
  head: Partial<HttpHead>,
  body: string,
  more: Partial<GeminiModelOptions> = {},
  signal = new AbortController().signal,
) {
  const seen: { request?: HttpRequest } = {}
  const answered = { status: 200, headers: { 'content-type': 'text/event-stream' }, ...head }
  const model = createGeminiModel({
    model: 'gemini-2.5-flash',
    access: api,
    transport: {
      post(http, _signal, onBytes) {
        seen.request = http
        return new Promise((resolve) => {
          onBytes(new TextEncoder().encode(body), answered)
          resolve(answered)
        })
      },
    },
    clock: { nowMs: () => 0 },
    ...more,
  })
  return { seen, answer: model.run(request, () => undefined, signal) }
}
const thrownBy = async (answer: Promise<unknown>) => {
  const error: unknown = await answer.then(
    () => 'no error',
    (cause: unknown) => cause,
  )
  return isBatonError(error) ? { code: error.code, message: error.message, data: error.data } : error
}
const event = (chunk: unknown) => `data: ${JSON.stringify(chunk)}\r\n\r\n`

type Asking = [string, GeminiAccess, Partial<GeminiModelOptions>, string, Readonly<Record<string, string>>]
test.each<Asking>([
  [
    'the API',
    api,
    {},
    'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    { 'x-goog-api-key': KEY },
  ],
  [
    'a gateway, and a tuned model',
    api,
    { baseUrl: 'https://gateway.example/v1beta/', model: 'tunedModels/../x?y', headers: { 'x-mine': '1' } },
    'https://gateway.example/v1beta/tunedModels/x%3Fy:streamGenerateContent?alt=sse',
    { 'x-goog-api-key': KEY, 'x-mine': '1' },
  ],
  [
    'Vertex AI',
    { type: 'vertex', project: 'p-1', accessToken: 'ya29.token' },
    {},
    'https://aiplatform.googleapis.com/v1/projects/p-1/locations/global/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    { authorization: 'Bearer ya29.token' },
  ],
  [
    'Vertex AI in a region, with a token of its own for every request',
    { type: 'vertex', project: 'p-1', location: 'europe-west4', accessToken: () => Promise.resolve('ya29.fresh') },
    {},
    'https://europe-west4-aiplatform.googleapis.com/v1/projects/p-1/locations/europe-west4/publishers/google/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    { authorization: 'Bearer ya29.fresh' },
  ],
])('%s', async (...[, access, more, url, headers]) => {
  const { seen, answer } = runWith({}, event(CHUNK), { access, ...more })
  expect(await answer).toMatchObject({ parts: [{ type: 'text', text: 'hello' }], finish: 'end', requestId: 'r' })
  expect(seen.request).toMatchObject({ url, headers })
})

test('a token that never comes does not hold a call that is aborted', async () => {
  const accessToken = () => new Promise<string>(() => {})
  const stop = new AbortController()
  const { seen, answer } = runWith({}, '', { access: { type: 'vertex', project: 'p', accessToken } }, stop.signal)
  stop.abort()
  expect(await thrownBy(answer)).toMatchObject({ code: 'cancelled' })
  expect(seen.request).toBeUndefined()
})

test('a token that cannot be had is an error of the model', async () => {
  const accessToken = () => Promise.reject(new Error('no credentials'))
  const { answer } = runWith({}, '', { access: { type: 'vertex', project: 'p', accessToken } })
  expect(await thrownBy(answer)).toMatchObject({
    code: 'model_auth_failed',
    message: 'Google Cloud gave no token: no credentials',
  })
})

test.each([
  ['model', { model: ' ' }],
  ['apiKey', { access: { type: 'gemini-api', apiKey: '' } }],
  ['project', { access: { type: 'vertex', project: '', accessToken: 't' } }],
  ['accessToken', { access: { type: 'vertex', project: 'p', accessToken: '' } }],
] as const)('an empty %s is refused', (field, more) => {
  expect(() => runWith({}, '', more)).toThrow(`createGeminiModel: ${field} is empty`)
})

const JSON_HEAD = { headers: { 'content-type': 'application/json; charset=UTF-8' } }
test.each([
  ['an array', JSON.stringify([CHUNK], null, 2)],
  ['a whole answer', JSON.stringify(CHUNK)],
])('%s in place of events', async (_framing, body) => {
  expect(await runWith(JSON_HEAD, body).answer).toMatchObject({ parts: [{ type: 'text', text: 'hello' }] })
})

const error = { error: { code: 503, status: 'UNAVAILABLE', message: `Busy, ${KEY}` } }
const HALF = { candidates: [{ content: { parts: [{ text: 'Half' }] } }] }
test.each<[string, Partial<HttpHead>, string, string]>([
  ['an error among the events', {}, event(HALF) + event(error), 'model_overloaded'],
  ['a bare error behind the events', {}, event(HALF) + JSON.stringify(error, null, 2), 'model_overloaded'],
  ['an error among the elements', JSON_HEAD, JSON.stringify([HALF, error]), 'model_overloaded'],
  ['events that end early', {}, event(HALF), 'model_cut_off'],
  ['an array that ends early', JSON_HEAD, JSON.stringify([HALF]), 'model_cut_off'],
  ['an event cut in its middle', {}, event(CHUNK).slice(0, -4), 'model_cut_off'],
  ['a page', JSON_HEAD, '<html>', 'model_malformed_answer'],
  ['nothing', {}, '', 'model_cut_off'],
])('%s', async (_situation, head, body, code) => {
  const thrown = await thrownBy(runWith(head, body).answer)
  expect(thrown).toMatchObject({ code })
  expect(JSON.stringify(thrown)).not.toContain(KEY)
})

test.each([
  [
    400,
    { status: 'INVALID_ARGUMENT', message: 'API key not valid. Please pass a valid API key.' },
    'model_auth_failed',
  ],
  [400, { status: 'INVALID_ARGUMENT', message: 'contents is not specified' }, 'model_invalid_request'],
  [
    400,
    { status: 'INVALID_ARGUMENT', message: 'The input token count exceeds the maximum number of tokens allowed 8' },
    'context_overflow',
  ],
  [403, { status: 'PERMISSION_DENIED', message: 'no' }, 'model_auth_failed'],
  [404, { status: 'NOT_FOUND', message: 'models/x is not found' }, 'model_not_found'],
  [503, { status: 'UNAVAILABLE', message: 'The model is overloaded.' }, 'model_overloaded'],
])('HTTP %i %j', async (status, said, code) => {
  const body = JSON.stringify({ error: { code: status, ...said } })
  expect(await thrownBy(runWith({ ...JSON_HEAD, status }, body).answer)).toMatchObject({ code, data: { status } })
})

test('a rate limit says how long to wait', async () => {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }]
  const body = JSON.stringify({ error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota', details } })
  expect(await thrownBy(runWith({ ...JSON_HEAD, status: 429 }, body).answer)).toMatchObject({
    code: 'model_rate_limited',
    data: { status: 429, retryAfterMs: 34_400 },
  })
})

test('after an error nothing more is read: the connection can be closed', async () => {
  let sent = 0
  const transport: GeminiModelOptions['transport'] = {
    post: (_http, _signal, onBytes) =>
      new Promise((resolve) => {
        const head = { status: 200, headers: { 'content-type': 'text/event-stream' } }
        for (; sent < 5; sent++) onBytes(new TextEncoder().encode(event(sent === 1 ? error : HALF)), head)
        resolve(head)
      }),
  }
  expect(await thrownBy(runWith({}, '', { transport }).answer)).toMatchObject({ code: 'model_overloaded' })
  expect(sent).toBe(1)
})
