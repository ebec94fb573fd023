// The fake Chat Completions server under the real adapter, transport and host: turns with tools from end to end, and what is
// wrong is refused as OpenAI and Mistral refuse it.
import type { Agent, Answer, Turn } from '@baton/core'
import { defineAgent, isBatonError, tool } from '@baton/core'
import type { LocalHost } from '@baton/host'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createModelOf, listModelsOf } from '@baton/models/choose-model'
import type { UndiciTransport } from '@baton/models/transport/undici'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { afterEach, describe, expect, test } from 'vitest'
import type { FakeOpenAiDialect } from './fake-openai-chat.ts'
import type { FakeChatSaid } from './fake-openai-chat.ts'
import { startFakeOpenAiChat } from './fake-openai-chat.ts'
import type { FakeAnswer, FakeRequest, FakeServer } from './fake-server.ts'

const open: { server?: FakeServer; host?: LocalHost; transport?: UndiciTransport } = {}
afterEach(async () => {
  await open.host?.stop()
  await open.transport?.close()
  await open.server?.close()
})

const weather = tool({
  name: 'weather.now',
  description: 'The weather of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'pure',
  execute: (input) => `15 °C in ${(input as { city: string }).city}`,
})
const screen = tool({
  name: 'screen.show',
  description: 'What the screen shows',
  input: { type: 'object', properties: {} },
  effect: 'pure',
  execute: () => ({
    content: [{ type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'iVBORw0KGgo=' } }],
  }),
})

interface Setup {
  readonly script: (request: FakeRequest) => FakeAnswer<FakeChatSaid>
  readonly dialect?: FakeOpenAiDialect
  readonly provider?: string
}

async function setUp({ script, dialect = 'openai', provider = 'openai-chat' }: Setup) {
  const server = await startFakeOpenAiChat({ script, dialect, models: ['m-2', 'm-1'] })
  const transport = createUndiciTransport({ variables: {} })
  const environment = createNodeEnvironment(transport)
  const variables = {
    OPENAI_API_KEY: 'key-of-a-test',
    OPENAI_BASE_URL: server.url,
    MISTRAL_API_KEY: 'key-of-a-test',
    MISTRAL_BASE_URL: server.url,
  }
  const modelOf = createModelOf({ variables, transport, clock: environment.clock })
  const agent: Agent = defineAgent({ name: 'a', model: `${provider}/gpt-test`, tools: [weather, screen] })
  const host = createHost({ environment, agent, modelOf })
  Object.assign(open, { server, host, transport })
  return { server, variables, session: await host.session(undefined) }
}

async function findCode(turn: Turn): Promise<string | Answer> {
  return turn.answer.catch((error: unknown) => (isBatonError(error) ? error.code : String(error)))
}

/** Two calls at once, then an answer that quotes their results. */
function twoCities({ body, isToolProbe, toolLike, results }: FakeRequest): FakeAnswer<FakeChatSaid> {
  if (isToolProbe) return { calls: [{ name: toolLike(/repeat/), input: { word: 'copper' } }] }
  if (results.length > 0 || JSON.stringify(body['messages']).includes('And now?'))
    return { reasoning: 'Both are known.', text: `Say: ${results.join(' and ')}.` }
  const name = toolLike(/weather/)
  const calls = [
    { name, input: { city: 'Berlin' } },
    { name, input: { city: 'Paris "x" 🦀' } },
  ]
  return { reasoning: 'Two calls.', text: 'One moment.', calls }
}

describe('turns over real HTTP', () => {
  test.each<[FakeOpenAiDialect, string]>([
    ['openai', 'openai-chat'],
    ['mistral', 'mistral'],
    ['sloppy', 'openai-compatible'],
  ])('two parallel calls of a server of the kind %s', async (dialect, provider) => {
    const { server, session } = await setUp({ script: twoCities, dialect, provider })
    const first = await session.send('How is the weather?').answer
    expect(first.text).toBe('One moment.\n\nSay: 15 °C in Berlin and 15 °C in Paris "x" 🦀.')
    const second = await session.send('And now?').answer
    expect(second.outcome).toBe('answered')
    expect(server.refusals).toEqual([])
    // Whether a server of one's own takes tools is tried first.
    expect(server.requests).toHaveLength(provider === 'openai-compatible' ? 4 : 3)
  })

  test('an image of a result reaches the model, also where the server takes none in results', async () => {
    const { server, session } = await setUp({
      script: ({ index, toolLike }) =>
        index === 0 ? { calls: [{ name: toolLike(/show/), input: {} }] } : { text: 'A photo.' },
      dialect: 'mistral',
      provider: 'mistral',
    })
    expect((await session.send('What do you see?').answer).text).toBe('A photo.')
    expect(server.refusals).toEqual([])
    expect(JSON.stringify(server.requests[1]?.body)).toContain('data:image/png;base64,iVBORw0KGgo=')
  })

  test('a call that the output limit cut is not run', async () => {
    const { server, session } = await setUp({
      script: ({ index, toolLike, results }) =>
        index === 0
          ? { calls: [{ name: toolLike(/weather/), input: { city: 'Berlin' } }], stopReason: 'length' }
          : { text: results.join() },
    })
    const { text } = await session.send('Weather?').answer
    expect(text).toBe('Error: the answer was stopped (max-tokens) while its calls were written; nothing was executed')
    expect(server.refusals).toEqual([])
  })

  test('a rate limit, then an overload inside of a stream, then a broken connection: asked again each time', async () => {
    const failures: readonly FakeAnswer<FakeChatSaid>[] = [
      { status: 429, message: 'Rate limit reached', code: 'rate_limit_exceeded', retryAfter: 0 },
      { text: 'Half an', fails: { status: 503, message: 'Provider returned error', code: 'server_is_overloaded' } },
      { text: 'Half an answer', cutAfter: 2 },
    ]
    const { server, session } = await setUp({ script: ({ index }) => failures[index] ?? { text: 'Whole.' } })
    const answers = [await findCode(session.send('Go')), await findCode(session.send('Go'))]
    expect(answers).toContainEqual(expect.objectContaining({ text: 'Whole.' }))
    expect(server.requests.length).toBeGreaterThan(3)
  })

  test('an account without credit is not asked for twice', async () => {
    const { server, session } = await setUp({
      script: () => ({ status: 429, message: 'You exceeded your current quota', type: 'insufficient_quota' }),
    })
    expect(await findCode(session.send('Go'))).toBe('model_auth_failed')
    expect(server.requests).toHaveLength(1)
  })

  test('what the model says in place of an answer is a refusal', async () => {
    const { session } = await setUp({ script: () => ({ refusal: 'I can’t help with that.' }) })
    const answer = await findCode(session.send('Go'))
    expect(answer).toMatchObject({ outcome: 'refused', text: 'I can’t help with that.' })
  })

  test('an interrupt closes the connection', async () => {
    const { server, session } = await setUp({ script: () => ({ text: 'A long story begins', stallAfter: 2 }) })
    const turn = session.send('Tell me a story')
    for await (const event of turn.events) {
      if (event.type === 'text-delta') await session.interrupt()
    }
    await expect.poll(() => server.aborted()).toBe(1)
  })

  test('the models of the server', async () => {
    const { variables } = await setUp({ script: () => ({ text: '' }) })
    expect(await listModelsOf('openai-compatible', { variables })).toEqual([
      { id: 'openai-compatible/m-1' },
      { id: 'openai-compatible/m-2' },
    ])
  })
})

describe('what is wrong is refused', () => {
  const user = { role: 'user', content: 'hi' }
  const call = (id: string, name = 'a') => ({ id, type: 'function', function: { name, arguments: '{}' } })
  const calls = (...all: object[]) => ({ role: 'assistant', content: null, tool_calls: all })
  const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'ok' })

  test.each<[string, FakeOpenAiDialect, object]>([
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
  ])('%s (%s)', async (_situation, dialect, body) => {
    const { server } = await setUp({ script: () => ({ text: 'never said' }), dialect })
    const headers = { 'content-type': 'application/json', authorization: 'Bearer k' }
    const text = JSON.stringify({ model: 'm', stream: true, ...body })
    const response = await fetch(`${server.url}/chat/completions`, { method: 'POST', headers, body: text })
    expect([response.status, await response.json()]).toMatchObject([400, { error: { type: 'invalid_request_error' } }])
    expect(server.refusals).toHaveLength(1)
    expect(server.requests).toEqual([])
  })

  test('a request without a key', async () => {
    const { server } = await setUp({ script: () => ({ text: 'never said' }) })
    const response = await fetch(`${server.url}/chat/completions`, { method: 'POST', body: '{}' })
    expect([response.status, await response.json()]).toMatchObject([401, { error: { code: 'invalid_api_key' } }])
  })
})
