// The fake providers are strict: whatever the real one rejects is rejected with the same message, and never reaches the
// script.
import { afterEach, expect, test } from 'vitest'
import { startFakeAnthropic } from './fake-anthropic.ts'
import { FAKE_BEDROCK_KEYS, startFakeBedrock } from './fake-bedrock.ts'
import { startFakeGemini } from './fake-gemini.ts'
import { startFakeOpenAiChat } from './fake-openai-chat.ts'
import { startFakeOpenAiResponses } from './fake-openai-responses.ts'
import type { FakeScript, FakeServer } from './fake-server.ts'

let server: FakeServer | undefined
afterEach(() => server?.close())

const script: FakeScript = () => ({ text: 'never said' })

interface Post {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: object
}

async function post(starting: Promise<FakeServer>, { path, headers = {}, body }: Post) {
  server = await starting
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
  const response = await fetch(server.url + path, init)
  const told = { status: response.status, body: await response.json(), headers: Object.fromEntries(response.headers) }
  expect([server.requests.length, server.refusals.length]).toEqual([0, 1])
  return told
}

const BEARER = { authorization: 'Bearer k' }
const user = { role: 'user', content: 'hi' }

test('Anthropic: a role that there is not', async () => {
  const body = { model: 'm', max_tokens: 1, stream: true, messages: [{ role: 'robot', content: '' }] }
  const headers = { 'anthropic-version': '2023-06-01', 'x-api-key': 'k' }
  const told = await post(startFakeAnthropic(script), { path: '/v1/messages', headers, body })
  expect(told).toMatchObject({ status: 400, body: { type: 'error', error: { type: 'invalid_request_error' } } })
})

const call = (id: string, name = 'a') => ({ id, type: 'function', function: { name, arguments: '{}' } })
const calls = (...all: object[]) => ({ role: 'assistant', content: null, tool_calls: all })
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' })

test.each<[string, 'openai' | 'mistral', object]>([
  ['a result without its call', 'openai', { messages: [user, result('a')] }],
  ['a call without its result', 'openai', { messages: [user, calls(call('a'))] }],
  ['an id twice', 'openai', { messages: [user, calls(call('a'), call('a')), result('a')] }],
  ['a name with a dot', 'openai', { messages: [user, calls(call('a', 'a.b')), result('a')] }],
  ['a field that is not known', 'openai', { messages: [user], thinking: { type: 'enabled' } }],
  ['max_tokens for a reasoning model', 'openai', { messages: [user], model: 'gpt-5-mini', max_tokens: 5 }],
  ['an id of another form', 'mistral', { messages: [user, calls(call('call_1')), result('call_1')] }],
  ['a user behind results', 'mistral', { messages: [user, calls(call('a23456789')), result('a23456789'), user] }],
  ['max_completion_tokens', 'mistral', { messages: [user], max_completion_tokens: 5 }],
  ['an assistant at the end', 'mistral', { messages: [user, { role: 'assistant', content: 'x' }] }],
])('Chat Completions: %s (%s)', async (_situation, dialect, more) => {
  const body = { model: 'm', stream: true, ...more }
  const told = await post(startFakeOpenAiChat({ script, dialect }), {
    path: '/chat/completions',
    headers: BEARER,
    body,
  })
  expect(told).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error' } } })
})

const item = (id: string) => ({ type: 'function_call', call_id: id, name: 'a', arguments: '{}' })
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'ok' })
const thought = { type: 'reasoning', summary: [], encrypted_content: 'gAAAAAB-of-somebody-else' }

test.each<[string, object, string | null]>([
  ['a result without its call', { input: [user, output('a')] }, null],
  ['a call without its result', { input: [user, item('a')] }, null],
  ['a field that is not known', { input: [user], messages: [] }, null],
  ['thinking of a model that does not', { input: [user], model: 'gpt-4.1', reasoning: { effort: 'low' } }, null],
  ['a choice without tools', { input: [user], tool_choice: 'required' }, null],
  ['thoughts of others', { input: [user, thought, item('a'), output('a')] }, 'invalid_encrypted_content'],
  ['a thought alone', { input: [user, thought] }, null],
  ['no stream', { input: [user], stream: false }, null],
])('Responses: %s', async (_situation, more, code) => {
  const body = { model: 'gpt-5', stream: true, store: false, ...more }
  const told = await post(startFakeOpenAiResponses(script), { path: '/responses', headers: BEARER, body })
  expect(told).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error', code } } })
})

const asked = { role: 'user', parts: [{ text: 'hi' }] }
const model = (...parts: object[]) => ({ role: 'model', parts })
const functionCall = { functionCall: { name: 'a', args: {} } }
const functionResponse = { role: 'user', parts: [{ functionResponse: { name: 'a', response: {} } }] }
const GEMINI = '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse'

test.each<[string, object]>([
  ['a call without its result', { contents: [asked, model(functionCall), asked] }],
  ['a call without its signature', { contents: [asked, model(functionCall), functionResponse] }],
  ['a result without its call', { contents: [asked, functionResponse] }],
  ['a field of another provider', { contents: [asked], max_tokens: 5 }],
  ['the model last', { contents: [asked, model({ text: 'x' })] }],
])('Gemini: %s', async (_situation, body) => {
  const told = await post(startFakeGemini({ script }), { path: GEMINI, headers: { 'x-goog-api-key': 'k' }, body })
  expect(told).toMatchObject({ status: 400, body: { error: { status: 'INVALID_ARGUMENT' } } })
})

const VERTEX = '/v1/projects/p/locations/global/publishers/google/models/m:streamGenerateContent?alt=sse'
const NOVA = '/model/us.amazon.nova-lite-v1:0/converse-stream'
const bedrockKey = { authorization: `Bearer ${FAKE_BEDROCK_KEYS.bearer}` }

test.each<[string, () => Promise<FakeServer>, Omit<Post, 'body'>, number, string]>([
  ['Anthropic: no key', () => startFakeAnthropic(script), { path: '/v1/messages' }, 401, 'authentication_error'],
  ['Chat: no key', () => startFakeOpenAiChat({ script }), { path: '/chat/completions' }, 401, 'invalid_api_key'],
  ['Responses: no key', () => startFakeOpenAiResponses(script), { path: '/responses' }, 401, 'invalid_api_key'],
  ['Gemini: no key', () => startFakeGemini({ script }), { path: GEMINI }, 403, 'PERMISSION_DENIED'],
  ['Vertex: no token', () => startFakeGemini({ script }), { path: VERTEX }, 401, 'UNAUTHENTICATED'],
  ['Gemini: another place', () => startFakeGemini({ script }), { path: '/v1/models/m:x' }, 404, 'NOT_FOUND'],
  ['Bedrock: no key', () => startFakeBedrock(script), { path: NOVA }, 403, 'AccessDenied'],
  ['Bedrock: no messages', () => startFakeBedrock(script), { path: NOVA, headers: bedrockKey }, 400, 'Validation'],
  [
    'Bedrock: an unknown model',
    () => startFakeBedrock(script),
    { path: '/model/none/converse-stream', headers: bedrockKey },
    400,
    'Validation',
  ],
  ['Bedrock: another place', () => startFakeBedrock(script), { path: '/model/none/invoke' }, 404, 'UnknownOperation'],
])('%s', async (...[, start, asking, status, word]) => {
  const told = await post(start(), { ...asking, body: { messages: [] } })
  expect(told.status).toBe(status)
  expect(JSON.stringify(told)).toContain(word)
})

test('a call of a tool that the request does not offer is a fault of the script', async () => {
  const starting = startFakeOpenAiChat({ script: () => ({ calls: [{ name: 'other', input: {} }] }) })
  server = await starting
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...BEARER },
    body: JSON.stringify({ model: 'm', stream: true, messages: [user] }),
  }
  expect((await fetch(`${server.url}/chat/completions`, init)).status).toBe(500)
  expect(server.refusals).toMatchObject([{ status: 500 }])
})
