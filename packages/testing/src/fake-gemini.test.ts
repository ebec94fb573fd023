// The fake Gemini server under the real adapter, transport and host: turns with tools from end to end, over the Gemini API and
// over Vertex AI, and what is wrong is refused as Google refuses it.
import type { Agent, Answer, Turn } from '@baton/core'
import { defineAgent, isBatonError, tool } from '@baton/core'
import type { LocalHost } from '@baton/host'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createModelOf } from '@baton/models/choose-model'
import type { UndiciTransport } from '@baton/models/transport/undici'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { afterEach, describe, expect, test } from 'vitest'
import type { FakeGeminiFraming } from './fake-gemini.ts'
import type { FakeGeminiSaid } from './fake-gemini.ts'
import { startFakeGemini } from './fake-gemini.ts'
import type { FakeAnswer, FakeRequest, FakeServer } from './fake-server.ts'

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
  readonly script: (request: FakeRequest) => FakeAnswer<FakeGeminiSaid>
  readonly framing?: FakeGeminiFraming
  readonly model?: string
  readonly variables?: Readonly<Record<string, string>>
}
const API = { GEMINI_API_KEY: 'key-of-a-test' }
const VERTEX = {
  GOOGLE_CLOUD_PROJECT: 'p-1',
  GOOGLE_CLOUD_LOCATION: 'europe-west4',
  GOOGLE_CLOUD_ACCESS_TOKEN: 'ya29.x',
}

async function setUp({ script, framing = 'sse', model = 'gemini-3-pro-preview', variables = API }: Setup) {
  ran.length = 0
  const server = await startFakeGemini({ script, framing })
  const transport = createUndiciTransport({ variables: {} })
  const environment = createNodeEnvironment(transport)
  const modelOf = createModelOf({
    variables: { ...variables, GOOGLE_GEMINI_BASE_URL: server.url },
    transport,
    clock: environment.clock,
  })
  const agent: Agent = defineAgent({ name: 'a', model: `gemini/${model}`, tools: [weather, screen] })
  const host = createHost({ environment, agent, modelOf })
  Object.assign(open, { server, host, transport })
  return { server, session: await host.session(undefined) }
}

async function findCode(turn: Turn): Promise<string | Answer> {
  return turn.answer.catch((error: unknown) => (isBatonError(error) ? error.code : String(error)))
}

/** Two calls at once, one more after them, then an answer that quotes the last result. */
function threeCities({ index, toolLike, results }: FakeRequest): FakeAnswer<FakeGeminiSaid> {
  if (index > 1) return { reasoning: 'All are known.', text: `Say: ${results.join(' and ')}.` }
  const callFor = (city: string) => ({ name: toolLike(/weather/), input: { city } })
  if (index === 0)
    return { reasoning: 'Two.', text: 'One moment.', calls: [callFor('Berlin'), callFor('Paris "x" 🦀')] }
  return { calls: [callFor('Oslo')] }
}

describe('turns over real HTTP', () => {
  test.each<[string, FakeGeminiFraming, Readonly<Record<string, string>>]>([
    ['events of the API', 'sse', API],
    ['an array', 'array', API],
    ['arguments in pieces, of Vertex', 'pieces', VERTEX],
  ])('parallel and sequential calls: %s', async (_situation, framing, variables) => {
    const { server, session } = await setUp({ script: threeCities, framing, variables })
    const first = await session.send('How is the weather?').answer
    expect(first.text).toBe('One moment.\n\nSay: 15 °C in Oslo.')
    expect(ran).toEqual(['Berlin', 'Paris "x" 🦀', 'Oslo'])
    expect((await session.send('And now?').answer).outcome).toBe('answered')
    expect(server.refusals).toEqual([])
    // Each signature is back where it came from, and only there.
    const last = JSON.stringify(server.requests.at(-1)?.body)
    expect(last.match(/signature-of-answer-\d|skip_thought/g)).toEqual([
      'signature-of-answer-0',
      'signature-of-answer-1',
    ])
  })

  test('a tool that fails is an error that the model reads', async () => {
    const { server, session } = await setUp({
      script: ({ index, toolLike, results }) =>
        index === 0
          ? { calls: [{ name: toolLike(/weather/), input: { city: 'Atlantis' } }] }
          : { text: results.join() },
    })
    expect((await session.send('Weather?').answer).text).toMatch(/^error: .*there is no such city/)
    expect(server.refusals).toEqual([])
  })

  test.each(['gemini-3-pro-preview', 'gemini-2.5-flash'])('an image of a result reaches %s', async (model) => {
    const { server, session } = await setUp({
      script: ({ index, toolLike }) =>
        index === 0 ? { calls: [{ name: toolLike(/show/), input: {} }] } : { text: 'A photo.' },
      model,
    })
    expect((await session.send('What do you see?').answer).text).toBe('A photo.')
    expect(server.refusals).toEqual([])
    expect(JSON.stringify(server.requests[1]?.body)).toContain(
      '"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}',
    )
  })

  // Hand-made: no recording has them. The message is the one that Vertex gave for an undeclared function.
  test.each([
    ['MALFORMED_FUNCTION_CALL', 'Malformed function call: print(weather('],
    ['UNEXPECTED_TOOL_CALL', 'Model tried to call an undeclared function: nope'],
    ['MAX_TOKENS', ''],
    ['SAFETY', ''],
  ])('%s beside a call: nothing is executed', async (stopReason, finishMessage) => {
    const { server, session } = await setUp({
      script: ({ index, toolLike }) =>
        index === 0
          ? { calls: [{ name: toolLike(/weather/), input: { city: 'Berlin' } }], stopReason, finishMessage }
          : { text: 'Sorry.' },
    })
    await findCode(session.send('Weather?'))
    expect(ran).toEqual([])
    expect(server.refusals).toEqual([])
  })

  test('a question that is blocked is a refusal', async () => {
    const { session } = await setUp({ script: () => ({ blockReason: 'PROHIBITED_CONTENT' }) })
    expect(await findCode(session.send('Go'))).toMatchObject({ outcome: 'refused' })
  })

  test.each<[string, FakeAnswer<FakeGeminiSaid>]>([
    ['a rate limit with its delay', { status: 429, message: 'Quota.', retryAfter: 0.01 }],
    // Hand-made: an overload after the answer has begun.
    ['an error inside of the stream', { text: 'Half an', fails: { status: 503, message: 'Overloaded.' } }],
    ['a broken connection', { text: 'Half an answer', cutAfter: 2 }],
    ['a stream that ends without a reason', { text: 'Half an answer', endAfter: 2 }],
  ])('%s: asked again', async (_situation, failure) => {
    for (const framing of ['sse', 'array'] as const) {
      const { server, session } = await setUp({
        script: ({ index }) => (index === 0 ? failure : { text: 'Whole.' }),
        framing,
      })
      expect(await findCode(session.send('Go'))).toMatchObject({ text: 'Whole.' })
      expect(server.requests).toHaveLength(2)
      await open.host?.stop()
      await server.close()
    }
  })

  test('a bad key is said at once', async () => {
    const { server, session } = await setUp({ script: () => ({ text: 'no' }), variables: { GOOGLE_API_KEY: 'bad' } })
    expect(await findCode(session.send('Go'))).toBe('model_auth_failed')
    expect(server.refusals).toHaveLength(1)
  })

  test('an interrupt closes the connection', async () => {
    const { server, session } = await setUp({ script: () => ({ text: 'A long story begins', stallAfter: 2 }) })
    const turn = session.send('Tell me a story')
    for await (const event of turn.events) {
      if (event.type === 'text-delta') await session.interrupt()
    }
    await expect.poll(() => server.aborted()).toBe(1)
  })
})

describe('what is wrong is refused', () => {
  const user = { role: 'user', parts: [{ text: 'hi' }] }
  const model = (...parts: object[]) => ({ role: 'model', parts })
  const call = { functionCall: { name: 'a', args: {} } }
  const result = { role: 'user', parts: [{ functionResponse: { name: 'a', response: {} } }] }
  const post = async (path: string, body: object, headers: Readonly<Record<string, string>>) => {
    const { server } = await setUp({ script: () => ({ text: 'never said' }) })
    const sent = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
    const response = await fetch(server.url + path, sent)
    expect(server.requests).toEqual([])
    return [response.status, await response.json()]
  }
  const PATH = '/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse'

  test.each<[string, object]>([
    ['a call without its result', { contents: [user, model(call), user] }],
    ['a call without its signature', { contents: [user, model(call), result] }],
    ['a result without its call', { contents: [user, result] }],
    ['a field of another provider', { contents: [user], max_tokens: 5 }],
    ['the model last', { contents: [user, model({ text: 'x' })] }],
  ])('%s', async (_situation, body) => {
    expect(await post(PATH, body, { 'x-goog-api-key': 'k' })).toMatchObject([
      400,
      { error: { status: 'INVALID_ARGUMENT' } },
    ])
  })

  test.each([
    ['no key', PATH, 403],
    ['no token', '/v1/projects/p/locations/global/publishers/google/models/m:streamGenerateContent?alt=sse', 401],
    ['another place', '/v1/models/m:generateContent', 404],
  ])('%s', async (_situation, path, code) => {
    expect(await post(path, { contents: [user] }, {})).toMatchObject([code, { error: { code } }])
  })
})
