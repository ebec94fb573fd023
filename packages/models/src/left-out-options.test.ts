// Options that a JavaScript program omits or misspells: the error names the function and the option.
import { expect, test } from 'vitest'
import { createAnthropicModel } from './anthropic/index.ts'
import { createBedrockModel } from './bedrock/index.ts'
import { createGeminiModel } from './gemini/index.ts'
import { loadGgufModel } from './gguf/index.ts'
import { createOpenAiChatModel } from './openai-chat/index.ts'
import { createOpenAiResponsesModel } from './openai-responses/index.ts'

type Create = (options: never) => unknown

test.each<[Create, object, string]>([
  [createAnthropicModel, { apiKey: 'k' }, 'createAnthropicModel: model is missing'],
  [createAnthropicModel, { model: 'm' }, 'createAnthropicModel: apiKey is missing'],
  [createOpenAiChatModel, {}, 'createOpenAiChatModel: model is missing'],
  [createOpenAiResponsesModel, { model: 'm' }, 'createOpenAiResponsesModel: apiKey is missing'],
  [createGeminiModel, { model: 'm' }, 'createGeminiModel: access is missing'],
  [createGeminiModel, { model: 'm', access: { type: 'gemini-api' } }, 'createGeminiModel: apiKey is missing'],
  [createBedrockModel, { region: 'eu-west-1', apiKey: 'k' }, 'createBedrockModel: model is missing'],
])('%o of %j', (create, options, message) => {
  expect(() => create(options as never)).toThrow(expect.objectContaining({ code: 'model_not_configured', message }))
})

test('a place in Vertex AI may be left out', () => {
  const access = { type: 'vertex', project: 'p', accessToken: 't', location: undefined }
  expect(createGeminiModel({ model: 'm', access } as never).id).toBe('gemini/m')
})

test('a model file that is no path', async () => {
  await expect(loadGgufModel({ path: 'model.gguf' } as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'loadGgufModel takes a file path, not an object',
  })
})

const KEYED = { model: 'm', apiKey: 'k' }

test.each<[Create, object, string, string]>([
  [createAnthropicModel, { ...KEYED, baseurl: 'http://x' }, 'no option "baseurl"', 'Write "baseUrl" instead.'],
  [createOpenAiChatModel, { ...KEYED, url: 'http://x' }, 'no option "url"', 'Write "baseUrl" instead.'],
  [createOpenAiResponsesModel, { ...KEYED, temperature: 0 }, 'no option "temperature"', 'defineAgent({ settings'],
  [
    createGeminiModel,
    { model: 'm', access: {}, fetch },
    'no option "fetch"',
    'createFetchTransport({ fetch }), of @baton/models',
  ],
  [createBedrockModel, { ...KEYED, region: 'r', baseURL: 'http://x' }, 'no option "baseURL"', 'Write "baseUrl"'],
])(
  'an option that does not exist is refused, since its key would go to another address: %o of %j',
  (create, options, message, hint) => {
    expect(() => create(options as never)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringContaining(message) as string,
        hint: expect.stringContaining(hint) as string,
      }),
    )
  },
)
