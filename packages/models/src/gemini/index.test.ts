// Gemini-specific parts: addresses, keys and tokens, two framings, and errors within them. The provider contract covers
// the rest.
import type { HttpHead } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { HELLO, JSON_TYPE, answerWith } from '../memory-transport.test-kit.ts'
import type { GeminiAccess, GeminiModelOptions } from './index.ts'
import { createGeminiModel } from './index.ts'

const KEY = 'AIza-secret-0123456789'
const api: GeminiAccess = { type: 'gemini-api', apiKey: KEY }
const CHUNK = { candidates: [{ content: { parts: [{ text: 'hello' }] }, finishReason: 'STOP' }], responseId: 'r' }

function runWith(
  head: Partial<HttpHead>,
  body: string,
  more: Partial<GeminiModelOptions> = {},
  signal = new AbortController().signal,
) {
  const provider = answerWith(head, body)
  const model = createGeminiModel({ ...provider, model: 'gemini-2.5-flash', access: api, ...more })
  return { seen: provider.sent, answer: model.run(HELLO, () => undefined, signal) }
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
  expect(seen[0]).toMatchObject({ url, headers })
})

test('a token that never comes does not hold a call that is aborted', async () => {
  const accessToken = () => new Promise<string>(() => {})
  const stop = new AbortController()
  const { seen, answer } = runWith({}, '', { access: { type: 'vertex', project: 'p', accessToken } }, stop.signal)
  stop.abort()
  expect(await thrownBy(answer)).toMatchObject({ code: 'cancelled' })
  expect(seen).toEqual([])
})

test('a token that cannot be had is an error of the model', async () => {
  const accessToken = () => Promise.reject(new Error('no credentials'))
  const { answer } = runWith({}, '', { access: { type: 'vertex', project: 'p', accessToken } })
  expect(await thrownBy(answer)).toMatchObject({
    code: 'model_auth_failed',
    message: 'could not get a token from Google Cloud: no credentials',
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

test.each([
  ['an array', JSON.stringify([CHUNK], null, 2)],
  ['a whole answer', JSON.stringify(CHUNK)],
])('%s in place of events', async (_framing, body) => {
  expect(await runWith(JSON_TYPE, body).answer).toMatchObject({ parts: [{ type: 'text', text: 'hello' }] })
})

const error = { error: { code: 503, status: 'UNAVAILABLE', message: `Busy, ${KEY}` } }
const HALF = { candidates: [{ content: { parts: [{ text: 'Half' }] } }] }
test.each<[string, Partial<HttpHead>, string, string]>([
  ['an error among the events', {}, event(HALF) + event(error), 'model_overloaded'],
  ['a bare error behind the events', {}, event(HALF) + JSON.stringify(error, null, 2), 'model_overloaded'],
  ['an error among the elements', JSON_TYPE, JSON.stringify([HALF, error]), 'model_overloaded'],
  ['an array that ends early', JSON_TYPE, JSON.stringify([HALF]), 'model_cut_off'],
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
])('HTTP %i %j', async (status, said, code) => {
  const body = JSON.stringify({ error: { code: status, ...said } })
  expect(await thrownBy(runWith({ ...JSON_TYPE, status }, body).answer)).toMatchObject({ code, data: { status } })
})
