// Requests to Bedrock: the rules of Nova, Claude and Mistral, state, rounds without calls, and files.
import type { AssistantPart, Message, ModelRequest } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import { validateBedrockRequest } from '@baton/testing/wires'
import { expect, test } from 'vitest'
import { encodeBedrockRequest } from './encode-request.ts'

const NOVA = 'amazon.nova-lite-v1:0'
const CLAUDE = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  title: 'Weather',
  properties: { city: { type: 'string' } },
  additionalProperties: false,
}
const tool = { name: 'weather.now', description: ' ', inputSchema: schema }
const user: Message = { role: 'user', parts: [{ type: 'text', text: 'Weather?' }] }
const asked = (...before: readonly AssistantPart[]): readonly Message[] => [
  user,
  {
    role: 'assistant',
    parts: [...before, { type: 'call', callId: 'call_1', name: 'weather.now', arguments: '{"city":"Oslo"}' }],
  },
  {
    role: 'tool',
    parts: [
      { type: 'result', callId: 'call_1', name: 'weather.now', isError: true, content: [{ type: 'text', text: 'no' }] },
    ],
  },
]
const base: ModelRequest = {
  instructions: 'Be brief.',
  messages: [user],
  tools: [tool],
  toolChoice: { type: 'auto' },
  settings: {},
  session: 's',
}

function encode(model: string, more: Partial<ModelRequest> = {}, options: { readonly cache?: '5m' } = {}) {
  const body = encodeBedrockRequest(
    { ...base, ...more, settings: { maxOutputTokens: 512, ...more.settings } },
    { model, ...options },
  )
  expect(validateBedrockRequest(JSON.parse(JSON.stringify(body)))).toEqual([])
  return body
}

test('Nova with tools: greedy, a root of three keywords, no empty description', () => {
  expect(encode(NOVA)).toEqual({
    messages: [{ role: 'user', content: [{ text: 'Weather?' }] }],
    system: [{ text: 'Be brief.' }],
    inferenceConfig: { maxTokens: 512, temperature: 0 },
    additionalModelRequestFields: { inferenceConfig: { topK: 1 } },
    toolConfig: {
      tools: [
        {
          toolSpec: {
            name: 'weather_-dot-now',
            inputSchema: { json: { type: 'object', properties: { city: { type: 'string' } } } },
          },
        },
      ],
    },
  })
})

test('a temperature that is set wins over greedy decoding', () => {
  const { inferenceConfig, additionalModelRequestFields } = encode(NOVA, { settings: { temperature: 1.5 } })
  expect([inferenceConfig.temperature, additionalModelRequestFields]).toEqual([1, undefined])
})

test('Claude takes any JSON Schema, and its own temperature', () => {
  const { toolConfig, inferenceConfig, additionalModelRequestFields } = encode(CLAUDE)
  expect(toolConfig?.tools[0]).toMatchObject({ toolSpec: { inputSchema: { json: { additionalProperties: false } } } })
  expect([inferenceConfig, additionalModelRequestFields]).toEqual([{ maxTokens: 512 }, undefined])
})

test.each([
  [CLAUDE, { tool: { name: 'weather_-dot-now' } }, { any: {} }],
  [NOVA, { tool: { name: 'weather_-dot-now' } }, { any: {} }],
  ['mistral.mistral-large-2407-v1:0', { any: {} }, { any: {} }],
  ['meta.llama3-1-70b-instruct-v1:0', undefined, undefined],
])('the choice of a tool: %s', (model, named, any) => {
  const choose = (toolChoice: ModelRequest['toolChoice']) => encode(model, { toolChoice }).toolConfig?.toolChoice
  expect([choose({ type: 'tool', name: 'weather.now' }), choose({ type: 'any' }), choose({ type: 'auto' })]).toEqual([
    named,
    any,
    undefined,
  ])
})

test('a choice that names no tool is refused', () => {
  const choose = () => encode(CLAUDE, { toolChoice: { type: 'tool', name: 'none' } })
  expect(choose).toThrow(expect.toSatisfy((error) => isBatonError(error) && error.code === 'model_invalid_request'))
})

test.each<[string, Partial<ModelRequest>]>([
  ['nothing may be called', { toolChoice: { type: 'none' } }],
  ['the tools are gone', { tools: [] }],
])('%s: calls and results of before go as text', (_situation, more) => {
  const { messages, toolConfig } = encode(CLAUDE, { messages: asked(), ...more })
  expect(toolConfig).toBeUndefined()
  expect(messages.slice(1)).toEqual([
    { role: 'assistant', content: [{ text: '[I called the tool weather.now with {"city":"Oslo"}]' }] },
    { role: 'user', content: [{ text: '[The tool weather.now failed with:]' }, { text: 'no' }] },
  ])
})

test('the status of a result is for Claude and Nova; others read that it failed', () => {
  const toResult = (model: string) => encode(model, { messages: asked() }).messages.at(-1)?.content[0]?.['toolResult']
  expect(toResult(NOVA)).toMatchObject({ status: 'error', content: [{ text: 'no' }] })
  expect(toResult('mistral.mistral-large-2407-v1:0')).toEqual({
    toolUseId: expect.stringMatching(/^[a-zA-Z0-9]{9}$/),
    content: [{ text: 'The tool failed:' }, { text: 'no' }],
  })
})

const thought = (model: string, provider = 'bedrock'): AssistantPart => ({
  type: 'reasoning',
  text: 'Hm.',
  state: { provider, model, data: { signature: 'sig' } },
})
const thinking: Partial<ModelRequest> = { settings: { reasoningTokens: 2000 } }

test('a signature goes back to its model, under any profile, and to no other', () => {
  const first = (part: AssistantPart) => {
    const body = encode(CLAUDE, { messages: asked(part), ...thinking })
    return [body.messages[1]?.content[0], body.additionalModelRequestFields]
  }
  const enabled = { thinking: { type: 'enabled', budget_tokens: 2000 } }
  const replayed = [{ reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } }, enabled]
  expect(first(thought(CLAUDE))).toEqual(replayed)
  expect(first(thought(CLAUDE.replace('us.', 'eu.')))).toEqual(replayed)
  // An open turn that does not start with thinking is rejected while thinking is on.
  const dropped = [{ toolUse: expect.anything() }, undefined]
  expect(first(thought('anthropic.claude-opus-4-8-v1:0'))).toEqual(dropped)
  expect(first(thought(CLAUDE, 'anthropic'))).toEqual(dropped)
})

test('signed thoughts of an answer whose past was changed stay at home', () => {
  const [, answer, results] = asked(thought(CLAUDE))
  const messages: readonly Message[] = [
    user,
    { role: 'assistant', parts: [], ...answer, rebased: true } as Message,
    ...(results ? [results] : []),
  ]
  expect(JSON.stringify(encode(CLAUDE, { messages, ...thinking }))).not.toContain('sig')
})

test('thoughts of Nova go back in their tags, to Nova alone', () => {
  const part: AssistantPart = {
    type: 'reasoning',
    text: ' Oslo. ',
    state: { provider: 'bedrock', model: NOVA, data: { tag: 'thinking' } },
  }
  const first = (model: string) => encode(model, { messages: asked(part) }).messages[1]?.content[0]
  expect(first(NOVA)).toEqual({ text: '<thinking> Oslo. </thinking>\n' })
  expect(first(CLAUDE)).toEqual({ toolUse: expect.anything() })
})

test('cache points stand behind instructions, tools and history of Claude; Nova has none among its tools', () => {
  const listPoints = (model: string) => {
    const { system, toolConfig, messages } = encode(model, {}, { cache: '5m' })
    return [system, toolConfig?.tools, messages.at(-1)?.content].map((list) => JSON.stringify(list?.at(-1)))
  }
  const point = '{"cachePoint":{"type":"default"}}'
  expect(listPoints(CLAUDE)).toEqual([point, point, point])
  expect(listPoints(NOVA)).toEqual([point, expect.stringContaining('toolSpec'), point])
})

test('a cache point stands where the request before this one ended, too', () => {
  const said = (role: 'user' | 'assistant', text: string): Message => ({ role, parts: [{ type: 'text', text }] })
  const messages = [
    said('user', 'a'),
    said('assistant', 'A'),
    said('user', 'b'),
    said('assistant', 'B'),
    said('user', 'c'),
  ]
  const { messages: sent } = encode(NOVA, { messages }, { cache: '5m' })
  expect(sent.map(({ content }) => content.length)).toEqual([1, 1, 2, 1, 2])
})

test('more documents than Bedrock takes: the latest five, each with its own name and text beside it', () => {
  const file = {
    type: 'file',
    mediaType: 'application/pdf',
    name: 'a/b.pdf',
    source: { type: 'base64', data: 'JVBERi0=' },
  } as const
  const messages: readonly Message[] = [{ role: 'user', parts: [file, file, file, file, file, file] }]
  const content = encode(CLAUDE, { messages }).messages[0]?.content ?? []
  expect(content[0]).toEqual({ text: expect.stringContaining('over the limit of documents') })
  expect(content.slice(1).map((block) => block['document'])).toMatchObject(
    [2, 3, 4, 5, 6].map((number) => ({ format: 'pdf', name: `a b pdf (${number})` })),
  )
})

test('an answer to a schema: the schema is a text', () => {
  const { outputConfig } = encode(CLAUDE, {
    output: { name: 'the answer', schema: { type: 'object', properties: {} } },
  })
  expect(outputConfig).toMatchObject({
    textFormat: { type: 'json_schema', structure: { jsonSchema: { schema: expect.stringContaining('"object"') } } },
  })
})
