// The fake Responses server under the real adapter, transport and host: turns with tools from end to end, and what is wrong is
// refused as OpenAI refuses it.
import type { Answer, ModelSettings, Turn } from '@baton/core'
import { defineAgent, isBatonError, tool } from '@baton/core'
import type { LocalHost } from '@baton/host'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createModelOf } from '@baton/models/choose-model'
import type { UndiciTransport } from '@baton/models/transport/undici'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { afterEach, describe, expect, test } from 'vitest'
import type { FakeResponsesSaid } from './fake-openai-responses.ts'
import { startFakeOpenAiResponses } from './fake-openai-responses.ts'
import type { FakeAnswer, FakeRequest, FakeServer } from './fake-server.ts'
import { listObjects } from './fake-server.ts'

const open: { server?: FakeServer; host?: LocalHost; transport?: UndiciTransport } = {}
afterEach(async () => {
  await open.host?.stop()
  await open.transport?.close()
  await open.server?.close()
})

const ran: string[] = []
const weather = tool({
  name: 'weather.now',
  description: 'The weather of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  effect: 'pure',
  execute: (input) => {
    const { city } = input as { city: string }
    ran.push(city)
    if (city === 'Atlantis') throw new Error('there is no such city')
    return `15 °C in ${city}`
  },
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
  readonly script: (request: FakeRequest) => FakeAnswer<FakeResponsesSaid>
  readonly model?: string
  readonly settings?: ModelSettings
  readonly output?: object
}

async function setUp({ script, model = 'openai/gpt-5-mini', settings = {}, output }: Setup) {
  ran.length = 0
  const server = await startFakeOpenAiResponses(script)
  const transport = createUndiciTransport({ variables: {} })
  const environment = createNodeEnvironment(transport)
  const variables = { OPENAI_API_KEY: 'key-of-a-test', OPENAI_BASE_URL: server.url }
  const modelOf = createModelOf({ variables, transport, clock: environment.clock })
  const init = { name: 'a', model, settings, tools: [weather, screen] }
  const agent = defineAgent(output ? { ...init, output: output as { readonly type: 'object' } } : init)
  const host = createHost({ environment, agent, modelOf })
  Object.assign(open, { server, host, transport })
  return { server, session: await host.session(undefined) }
}

async function findCode(turn: Turn): Promise<string | Answer> {
  return turn.answer.catch((error: unknown) => (isBatonError(error) ? error.code : String(error)))
}

/** Two calls at once, then an answer that quotes their results. */
function twoCities({ index, toolLike, results }: FakeRequest): FakeAnswer<FakeResponsesSaid> {
  if (index > 0) return { reasoning: 'Both are known.', text: `Say: ${results.join(' and ')}.` }
  const name = toolLike(/weather/)
  const calls = [
    { name, input: { city: 'Berlin' } },
    { name, input: { city: 'Paris "x" 🦀' } },
  ]
  return { reasoning: 'Two calls.', text: 'One moment.', calls }
}

const typesIn = (request: FakeRequest | undefined) =>
  listObjects(request?.body['input']).map(({ type, role }) => type ?? role)

describe('turns over real HTTP', () => {
  test('two parallel calls of a model that thinks: its thoughts go back, in their places', async () => {
    const { server, session } = await setUp({ script: twoCities, settings: { reasoningTokens: 2000 } })
    const first = await session.send('How is the weather?').answer
    expect(first.text).toBe('One moment.\n\nSay: 15 °C in Berlin and 15 °C in Paris "x" 🦀.')
    expect(first.usage).toMatchObject({ inputTokens: 200, cacheReadTokens: 80, outputTokens: 40, reasoningTokens: 10 })
    expect((await session.send('And now?').answer).outcome).toBe('answered')
    expect(server.refusals).toEqual([])
    expect(server.requests[0]?.body).toMatchObject({ store: false, reasoning: { effort: 'low' } })
    const [call, output] = ['function_call', 'function_call_output']
    const calls = ['reasoning', 'assistant', call, call, output, output]
    expect(typesIn(server.requests[2])).toEqual(['user', ...calls, 'reasoning', 'assistant', 'user'])
    expect(JSON.stringify(server.requests[2]?.body)).toContain('gAAAAAB-fake-0')
  })

  test('a model that does not think, one call at a time', async () => {
    const { server, session } = await setUp({
      script: twoCities,
      model: 'openai/gpt-4.1',
      settings: { parallelCalls: false, temperature: 0.2 },
    })
    expect((await session.send('Weather?').answer).outcome).toBe('answered')
    expect(server.refusals).toEqual([])
    expect(server.requests[0]?.body).toMatchObject({ parallel_tool_calls: false, temperature: 0.2 })
    expect(server.requests[0]?.body).not.toHaveProperty('include')
  })

  test('an image of a result reaches the model inside of it', async () => {
    const { server, session } = await setUp({
      script: ({ index, toolLike }) =>
        index === 0 ? { calls: [{ name: toolLike(/show/), input: {} }] } : { text: 'A photo.' },
    })
    expect((await session.send('What do you see?').answer).text).toBe('A photo.')
    expect(server.refusals).toEqual([])
    expect(server.requests[1]?.results).toEqual([
      '[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo=","detail":"auto"}]',
    ])
  })

  test('a call that fails is told to the model in words', async () => {
    const { session } = await setUp({
      script: ({ index, toolLike, results }) =>
        index === 0
          ? { calls: [{ name: toolLike(/weather/), input: { city: 'Atlantis' } }] }
          : { text: results.join() },
    })
    expect((await session.send('Weather?').answer).text).toMatch(/^Error: .*there is no such city/)
  })

  test('a call in whose middle the output limit came is not run', async () => {
    const { server, session } = await setUp({
      script: ({ index, toolLike, results }) =>
        index === 0
          ? { calls: [{ name: toolLike(/weather/), input: { city: 'Berlin' } }], incomplete: 'max_output_tokens' }
          : { text: results.join() },
    })
    const { text } = await session.send('Weather?').answer
    expect(text).toBe('Error: the answer was stopped (max-tokens) while its calls were written; nothing was executed')
    expect(ran).toEqual([])
    expect(server.refusals).toEqual([])
  })

  test('whole calls beside a filter are not run either', async () => {
    const { session } = await setUp({
      script: ({ toolLike }) => {
        const name = toolLike(/weather/)
        const calls = [
          { name, input: { city: 'Berlin' } },
          { name, input: { city: 'Rome' } },
        ]
        return { text: 'I will', calls, incomplete: 'content_filter' }
      },
    })
    expect(await findCode(session.send('Go'))).toMatchObject({ outcome: 'refused' })
    expect(ran).toEqual([])
  })

  test('what the model says in place of an answer is a refusal', async () => {
    const { server, session } = await setUp({
      script: ({ index }) => (index === 0 ? { refusal: 'I can’t help with that.' } : { text: 'Sure.' }),
    })
    expect(await findCode(session.send('Go'))).toMatchObject({ outcome: 'refused', text: 'I can’t help with that.' })
    expect(await findCode(session.send('Something else'))).toMatchObject({ outcome: 'answered' })
    expect(server.refusals).toEqual([])
  })

  test.each<[string, FakeAnswer<FakeResponsesSaid>]>([
    ['a rate limit', { status: 429, message: 'Rate limit reached', code: 'rate_limit_exceeded', retryAfter: 0 }],
    ['an error event', { text: 'Half an', fails: { status: 500, code: 'server_error', message: 'An error occurred' } }],
    ['a broken connection', { text: 'Half an answer', cutAfter: 8 }],
  ])('%s: asked again, and what was whole stands', async (_situation, failure) => {
    const { server, session } = await setUp({ script: ({ index }) => (index === 0 ? failure : { text: 'Whole.' }) })
    expect(await findCode(session.send('Go'))).toMatchObject({ text: 'Whole.' })
    expect(server.requests).toHaveLength(2)
    expect(server.refusals).toEqual([])
  })

  test.each<[string, FakeAnswer<FakeResponsesSaid>, string]>([
    [
      'no credit',
      { status: 429, message: 'You exceeded your current quota', type: 'insufficient_quota' },
      'model_auth_failed',
    ],
    [
      'a prompt that is not allowed',
      { fails: { status: 500, code: 'invalid_prompt', message: 'No.' } },
      'model_invalid_request',
    ],
  ])('%s is not asked for twice', async (_situation, failure, code) => {
    const { server, session } = await setUp({ script: () => failure })
    expect(await findCode(session.send('Go'))).toBe(code)
    expect(server.requests).toHaveLength(1)
  })

  test('an interrupt closes the connection', async () => {
    const { server, session } = await setUp({ script: () => ({ text: 'A long story begins', stallAfter: 8 }) })
    const turn = session.send('Tell me a story')
    for await (const event of turn.events) {
      if (event.type === 'text-delta') await session.interrupt()
    }
    await expect.poll(() => server.aborted()).toBe(1)
  })

  test('an answer with a schema is kept to it', async () => {
    const properties = { valid: { type: 'boolean' }, note: { type: 'string', minLength: 1 } }
    const { server, session } = await setUp({
      script: () => ({ text: '{"valid":true,"note":null}' }),
      output: { type: 'object', properties, required: ['valid'] },
    })
    expect(await session.send('Is it?').answer).toMatchObject({ output: { valid: true } })
    expect(server.refusals).toEqual([])
    expect(server.requests[0]?.body['text']).toMatchObject({
      format: { type: 'json_schema', name: 'a', strict: true, schema: { required: ['valid', 'note'] } },
    })
  })
})

describe('what is wrong is refused', () => {
  const user = { role: 'user', content: 'hi' }
  const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'a', arguments: '{}' })
  const result = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'ok' })
  const thought = { type: 'reasoning', summary: [], encrypted_content: 'gAAAAAB-of-somebody-else' }

  test.each<[string, object, string | null]>([
    ['a result without its call', { input: [user, result('a')] }, null],
    ['a call without its result', { input: [user, call('a')] }, null],
    ['a field that is not known', { input: [user], messages: [] }, null],
    ['thinking of a model that does not', { input: [user], model: 'gpt-4.1', reasoning: { effort: 'low' } }, null],
    ['a choice without tools', { input: [user], tool_choice: 'required' }, null],
    ['thoughts of others', { input: [user, thought, call('a'), result('a')] }, 'invalid_encrypted_content'],
    ['a thought alone', { input: [user, thought] }, null],
    ['no stream', { input: [user], stream: false }, null],
  ])('%s', async (_situation, body, code) => {
    const { server } = await setUp({ script: () => ({ text: 'never said' }) })
    const headers = { 'content-type': 'application/json', authorization: 'Bearer k' }
    const text = JSON.stringify({ model: 'gpt-5', stream: true, store: false, ...body })
    const response = await fetch(`${server.url}/responses`, { method: 'POST', headers, body: text })
    const error = { type: 'invalid_request_error', code }
    expect([response.status, await response.json()]).toMatchObject([400, { error }])
    expect(server.refusals).toHaveLength(1)
    expect(server.requests).toEqual([])
  })

  test('a request without a key', async () => {
    const { server } = await setUp({ script: () => ({ text: 'never said' }) })
    const response = await fetch(`${server.url}/responses`, { method: 'POST', body: '{}' })
    expect([response.status, await response.json()]).toMatchObject([401, { error: { code: 'invalid_api_key' } }])
  })
})
