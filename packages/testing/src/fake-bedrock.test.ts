// The fake Bedrock server under the real adapter, transport and host: turns with tools from end to end, signed and with a key,
// and what is wrong is refused as AWS refuses it.
import type { Agent, Answer, Turn } from '@baton/core'
import { defineAgent, isBatonError, tool } from '@baton/core'
import type { LocalHost } from '@baton/host'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createModelOf } from '@baton/models/choose-model'
import type { UndiciTransport } from '@baton/models/transport/undici'
import { createUndiciTransport } from '@baton/models/transport/undici'
import { afterEach, describe, expect, test } from 'vitest'
import { FAKE_BEDROCK_KEYS, startFakeBedrock } from './fake-bedrock.ts'
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

const NOVA = 'us.amazon.nova-lite-v1:0'
const CLAUDE = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
const BEARER = { AWS_BEARER_TOKEN_BEDROCK: FAKE_BEDROCK_KEYS.bearer }
const SIGNED = {
  AWS_ACCESS_KEY_ID: FAKE_BEDROCK_KEYS.accessKeyId,
  AWS_SECRET_ACCESS_KEY: FAKE_BEDROCK_KEYS.secretAccessKey,
  AWS_REGION: 'eu-west-1',
}

interface Setup {
  readonly script: (request: FakeRequest) => FakeAnswer
  readonly model?: string
  readonly variables?: Readonly<Record<string, string>>
  readonly agent?: Partial<Parameters<typeof defineAgent>[0]>
}

async function setUp({ script, model = NOVA, variables = BEARER, agent: more = {} }: Setup) {
  ran.length = 0
  const server = await startFakeBedrock(script)
  const transport = createUndiciTransport({ variables: {} })
  const environment = createNodeEnvironment(transport)
  const modelOf = createModelOf({
    variables: { ...variables, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: server.url },
    transport,
    clock: environment.clock,
  })
  const agent: Agent = defineAgent({ name: 'a', model: `bedrock/${model}`, tools: [weather, screen], ...more })
  const host = createHost({ environment, agent, modelOf })
  Object.assign(open, { server, host, transport })
  return { server, session: await host.session(undefined) }
}

async function findCode(turn: Turn): Promise<string | Answer> {
  return turn.answer.catch((error: unknown) => (isBatonError(error) ? error.code : String(error)))
}

/** Two calls at once, one more after them, then an answer that quotes the last result. */
function threeCities({ index, toolLike, results, model }: FakeRequest): FakeAnswer {
  const thinks = (text: string) =>
    model === NOVA ? { text: `<thinking> Two. </thinking>\n${text}` } : { reasoning: 'Two.', text }
  if (index > 1) return { text: `Say: ${results.join(' and ')}.` }
  const callFor = (city: string) => ({ name: toolLike(/weather/), input: { city } })
  return index === 0
    ? { ...thinks('One moment.'), calls: [callFor('Berlin'), callFor('Paris "x" 🦀')] }
    : { ...(model === NOVA ? {} : { reasoning: 'One more.' }), calls: [callFor('Oslo')] }
}

describe('turns over real HTTP', () => {
  test.each<[string, string, Readonly<Record<string, string>>, string]>([
    ['Nova with a key', NOVA, BEARER, '<thinking> Two. </thinking>'],
    ['Claude with signed requests', CLAUDE, SIGNED, 'signature-of-answer-0'],
    ['Claude with temporary credentials', CLAUDE, { ...SIGNED, AWS_SESSION_TOKEN: 'a+b/c==' }, 'signature-of-answer-1'],
  ])('parallel and sequential calls: %s', async (_situation, model, variables, replayed) => {
    const agent = model === NOVA ? {} : { settings: { reasoningTokens: 2000 } }
    const { server, session } = await setUp({ script: threeCities, model, variables, agent })
    const first = await session.send('How is the weather?').answer
    expect([first.text, server.refusals]).toEqual(['One moment.\n\nSay: 15 °C in Oslo.', []])
    expect(ran).toEqual(['Berlin', 'Paris "x" 🦀', 'Oslo'])
    expect((await session.send('And now?').answer).outcome).toBe('answered')
    expect(server.refusals).toEqual([])
    expect(server.requests.map((request) => request.model)).toEqual([model, model, model, model])
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain(replayed)
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

  test('a call without arguments, and an image as its result', async () => {
    const { server, session } = await setUp({
      script: ({ index, toolLike }) =>
        index === 0 ? { calls: [{ name: toolLike(/show/), input: {} }] } : { text: 'A photo.' },
      model: CLAUDE,
    })
    expect((await session.send('What do you see?').answer).text).toBe('A photo.')
    expect(server.refusals).toEqual([])
    expect(JSON.stringify(server.requests[1]?.body)).toContain(
      '"image":{"format":"png","source":{"bytes":"iVBORw0KGgo="}}',
    )
  })

  test('when the rounds are used up, the history goes as text and nothing can be called', async () => {
    const { server, session } = await setUp({
      script: ({ body, toolLike }) =>
        body['toolConfig'] === undefined
          ? { text: 'That is all I know.' }
          : { calls: [{ name: toolLike(/weather/), input: { city: 'Berlin' } }] },
      agent: { limits: { toolRounds: 2 } },
    })
    expect((await session.send('Weather?').answer).text).toContain('That is all I know.')
    expect(server.refusals).toEqual([])
    const last = JSON.stringify(server.requests.at(-1)?.body)
    expect(last).toContain('[I called the tool weather.now with')
    expect(last).not.toMatch(/toolUse|toolResult/)
  })

  // Hand-made: no recording has `malformed_tool_use`.
  test.each(['malformed_tool_use', 'malformed_model_output', 'max_tokens', 'guardrail_intervened'])(
    '%s beside a call: nothing is executed',
    async (stopReason) => {
      const { server, session } = await setUp({
        script: ({ index, toolLike }) =>
          index === 0
            ? { calls: [{ name: toolLike(/weather/), input: { city: 'Berlin' } }], stopReason }
            : { text: 'Sorry.' },
      })
      await findCode(session.send('Weather?'))
      expect([ran, server.refusals]).toEqual([[], []])
    },
  )

  test.each<[string, FakeAnswer]>([
    [
      'a rate limit with its delay',
      { status: 429, type: 'ThrottlingException', message: 'Too many requests', retryAfter: 0.01 },
    ],
    // Hand-made: exceptions after the answer has begun.
    [
      'throttled',
      { text: 'Half an', fails: { status: 200, type: 'throttlingException', message: 'Too many requests' } },
    ],
    [
      'a broken model',
      { text: 'Half', fails: { status: 200, type: 'modelStreamErrorException', message: 'invalid sequence' } },
    ],
    ['a broken service', { text: 'Half', fails: { status: 200, type: 'internalServerException', message: 'Oops' } }],
    ['an overload', { text: 'Half', fails: { status: 200, type: 'serviceUnavailableException', message: 'Later' } }],
    ['a broken connection', { text: 'Half an answer', cutAfter: 2 }],
    ['a stream that ends without messageStop', { text: 'Half an answer', endAfter: 3 }],
  ])('%s: asked again', async (_situation, failure) => {
    const { server, session } = await setUp({ script: ({ index }) => (index === 0 ? failure : { text: 'Whole.' }) })
    expect(await findCode(session.send('Go'))).toMatchObject({ text: 'Whole.' })
    expect(server.requests).toHaveLength(2)
  })

  test.each<[string, Readonly<Record<string, string>>]>([
    ['a bad key', { AWS_BEARER_TOKEN_BEDROCK: 'bad' }],
    ['a bad secret', { ...SIGNED, AWS_SECRET_ACCESS_KEY: 'bad' }],
  ])('%s is said at once', async (_situation, variables) => {
    const { server, session } = await setUp({ script: () => ({ text: 'no' }), variables })
    expect(await findCode(session.send('Go'))).toBe('model_auth_failed')
    expect(server.refusals).toHaveLength(1)
  })

  // Hand-made: the same message as an HTTP error was recorded.
  test.each([
    ['validationException', 'The provided text is wrong.', 'model_invalid_request'],
    [
      'validationException',
      'Input Tokens Exceeded: Number of input tokens exceeds maximum length.',
      'context_overflow',
    ],
  ])('%s inside of a stream: %s', async (type, message, code) => {
    const { session } = await setUp({ script: () => ({ text: 'Half', fails: { status: 200, type, message } }) })
    expect(await findCode(session.send('Go'))).toBe(code)
  })

  test('an interrupt closes the connection', async () => {
    const { server, session } = await setUp({ script: () => ({ text: 'A long story begins', stallAfter: 3 }) })
    const turn = session.send('Tell me a story')
    for await (const event of turn.events) {
      if (event.type === 'text-delta') await session.interrupt()
    }
    await expect.poll(() => server.aborted()).toBe(1)
  })
})

describe('what is wrong is refused', () => {
  const post = async (
    body: object,
    headers: Readonly<Record<string, string>>,
    path = `/model/${NOVA}/converse-stream`,
  ) => {
    const { server } = await setUp({ script: () => ({ text: 'never said' }) })
    const sent = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
    const response = await fetch(`${server.url}${path}`, sent)
    await response.text()
    expect(server.requests).toEqual([])
    return [response.status, response.headers.get('x-amzn-errortype')?.split(':')[0]]
  }
  const key = { authorization: `Bearer ${FAKE_BEDROCK_KEYS.bearer}` }

  test.each<[string, Parameters<typeof post>, readonly unknown[]]>([
    ['no key', [{ messages: [] }, {}], [403, 'AccessDeniedException']],
    ['no messages', [{ messages: [] }, key], [400, 'ValidationException']],
    ['an unknown model', [{ messages: [] }, key, '/model/none/converse-stream'], [400, 'ValidationException']],
    ['an unknown address', [{ messages: [] }, key, '/model/none/invoke'], [404, 'UnknownOperationException']],
  ])('%s', async (_situation, request, expected) => {
    expect(await post(...request)).toEqual(expected)
  })
})
