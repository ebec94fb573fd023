// Everything HTTP models send in addition to their body: headers, and the user in an address.
import { expect, test } from 'vitest'
import { createAnthropicModel } from './anthropic/index.ts'
import { createBedrockModel } from './bedrock/index.ts'
import { createGeminiModel } from './gemini/index.ts'
import { answerWith, HELLO, takeError } from './memory-transport.test-kit.ts'
import { createHttpModel } from './http-model.ts'
import { createOpenAiChatModel } from './openai-chat/index.ts'
import { createOpenAiResponsesModel } from './openai-responses/index.ts'
import { errorFromResponse } from './transport/index.ts'

const KEY = 'sk-secret-0123456789'
const options = { model: 'm', baseUrl: 'https://gateway.test/v1', apiKey: KEY }

test.each([
  ['Anthropic', 'X-Api-Key', createAnthropicModel],
  ['Chat Completions', 'Authorization', createOpenAiChatModel],
  ['Responses', 'AUTHORIZATION', createOpenAiResponsesModel],
] as const)(
  '%s: a header of the user’s takes the place of the adapter’s, however it is written',
  async (_, name, create) => {
    const provider = answerWith({ status: 500 })
    const headers = { [name]: 'of the gateway', 'Content-Type': 'application/json; charset=utf-8' }
    const { transport, clock } = provider
    await takeError(
      create({ ...options, transport, clock, headers }).run(HELLO, () => {}, new AbortController().signal),
    )
    const [sent] = provider.sent
    expect(sent?.headers).toMatchObject({
      [name.toLowerCase()]: 'of the gateway',
      'content-type': 'application/json; charset=utf-8',
    })
    expect(Object.keys(sent?.headers ?? {}).every((one) => one === one.toLowerCase())).toBe(true)
    expect(JSON.stringify(sent)).not.toContain(KEY)
  },
)

test.each([
  ['baseURL', 'http://127.0.0.1:1/v1', 'Write "baseUrl" instead.'],
  ['fetch', () => {}, 'Write transport: createFetchTransport({ fetch })'],
])('an option by the name that other libraries have, %s, is refused', (name, value, hint) => {
  const { transport, clock } = answerWith({})
  for (const create of [createAnthropicModel, createOpenAiChatModel, createOpenAiResponsesModel])
    expect(() => create({ ...options, transport, clock, [name]: value })).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(`no option "${name}"`) as string,
        hint: expect.stringContaining(hint) as string,
      }) as Error,
    )
})

test('Gemini: a key of the user’s takes the place of the adapter’s', async () => {
  const provider = answerWith({ status: 500 })
  const { transport, clock } = provider
  const headers = { 'X-Goog-Api-Key': 'of the gateway' }
  const access = { type: 'gemini-api', apiKey: KEY } as const
  const model = createGeminiModel({ model: 'm', transport, clock, headers, access })
  await takeError(model.run(HELLO, () => {}, new AbortController().signal))
  expect(JSON.stringify(provider.sent)).not.toContain(KEY)
})

test('a user and a password in a base address are sent as Basic, and not in the address', async () => {
  const provider = answerWith({ status: 401 }, 'no hunter%202 and no hunter 2')
  const { transport, clock } = provider
  const baseUrl = 'http://user:hunter%202@gateway.test/v1'
  const model = createOpenAiChatModel({ model: 'm', transport, clock, baseUrl })
  const error = await takeError(model.run(HELLO, () => {}, new AbortController().signal))
  expect(provider.sent[0]).toMatchObject({
    url: 'http://gateway.test/v1/chat/completions',
    headers: { authorization: `Basic ${btoa('user:hunter 2')}` },
  })
  expect(error.message).not.toContain('hunter')
})

test('a user in a base address beside a key that goes the same way is refused', () => {
  const { transport, clock } = answerWith({})
  const baseUrl = 'http://user:hunter2@gateway.test/v1'
  expect(() => createOpenAiChatModel({ model: 'm', apiKey: KEY, transport, clock, baseUrl })).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: expect.not.stringContaining('hunter2') as string,
    }) as Error,
  )
})

test('Bedrock: the headers of a signed request are in lower case', async () => {
  const provider = answerWith({ status: 500 })
  const { transport, clock } = provider
  const model = createBedrockModel({
    model: 'm',
    transport,
    clock,
    apiKey: KEY,
    region: 'us-east-1',
    headers: { 'X-A': 'b' },
  })
  await takeError(model.run(HELLO, () => {}, new AbortController().signal))
  expect(provider.sent[0]?.headers).toMatchObject({ 'x-a': 'b' })
})

test('the token of each request is kept out of its error, also after another one', async () => {
  const tokens = ['token-of-the-first-hour', 'token-of-the-second-hour']
  const { transport, clock, sent } = answerWith(
    { status: 401 },
    'no: token-of-the-first-hour, token-of-the-second-hour',
  )
  const model = createHttpModel(
    { model: 'm', transport, clock },
    {
      id: 'x/m',
      provider: 'x',
      label: 'X',
      url: 'https://host.test/v1',
      headers: {},
      capabilities: { tools: 'native', images: false },
      encode: () => ({ messages: [] }),
      history: 'messages',
      requestIdHeaders: [],
      readError: errorFromResponse,
      createReader: () => {
        throw new Error('there is no answer')
      },
      prove: async () => ({ authorization: `Bearer ${tokens.shift()}` }),
    },
  )
  const ask = () => takeError(model.run(HELLO, () => {}, new AbortController().signal))
  const messages = [(await ask()).message, (await ask()).message]
  expect(messages[0]).not.toContain('first-hour')
  expect(messages[1]).not.toContain('second-hour')
  expect(sent.map(({ headers }) => headers['authorization'])).toEqual([
    'Bearer token-of-the-first-hour',
    'Bearer token-of-the-second-hour',
  ])
})

test('the user’s limit of a request’s bytes takes the place of the provider’s', async () => {
  const { transport, clock, sent } = answerWith({ status: 500 })
  const model = createAnthropicModel({ ...options, transport, clock, requestBytesMax: 10 })
  const error = await takeError(model.run(HELLO, () => {}, new AbortController().signal))
  expect([error.code, sent.length]).toEqual(['model_request_too_large', 0])
})
