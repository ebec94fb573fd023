// Tools that a provider runs: whether a request may name them, and how they are reported during an answer.
import type { JsonObject, ModelEvent, ModelRequest, ModelSettings } from '@baton/core'
import { expect, test } from 'vitest'
import { decodeAnthropicMessage } from './anthropic/decode-stream.ts'
import { encodeAnthropicRequest } from './anthropic/encode-request.ts'
import { encodeBedrockRequest } from './bedrock/encode-request.ts'
import { createGeminiDecoder } from './gemini/decode-stream.ts'
import { encodeGeminiRequest } from './gemini/encode-request.ts'
import { encodeOpenAiChatRequest } from './openai-chat/encode-request.ts'
import { decodeOpenAiResponse } from './openai-responses/decode-stream.ts'
import { encodeOpenAiResponsesRequest } from './openai-responses/encode-request.ts'
import { createToolNames } from './tool-names.ts'

function listen() {
  const told: string[] = []
  const sink = (event: ModelEvent): void => {
    if (event.type === 'server-tool') told.push(`${event.name} ${event.status}`)
  }
  return { told, options: { model: 'm', names: createToolNames([]), maxTokens: 512, sink } }
}

test('Anthropic: its own tools and those of MCP servers, by the names of their calls', () => {
  const { told, options } = listen()
  const content = [
    { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'sky' } },
    { type: 'web_search_tool_result', tool_use_id: 'srv_1', content: [] },
    { type: 'mcp_tool_use', id: 'mcp_1', name: 'look', server_name: 's', input: {} },
    { type: 'mcp_tool_result', tool_use_id: 'mcp_1', content: [] },
    { type: 'text', text: 'blue' },
  ]
  decodeAnthropicMessage({ type: 'message', content, stop_reason: 'end_turn', usage: {} }, options)
  expect(told).toEqual(['web_search started', 'web_search finished', 'look started', 'look finished'])
})

test('OpenAI Responses: items that are calls of its own, and not those that wait for a client', () => {
  const { told, options } = listen()
  const output = [
    { type: 'web_search_call', id: 'ws_1', status: 'completed' },
    { type: 'custom_tool_call', id: 'ct_1', name: 'mine', input: 'x', status: 'completed' },
    { type: 'message', content: [{ type: 'output_text', text: 'blue' }] },
  ]
  decodeOpenAiResponse({ status: 'completed', output }, options)
  expect(told).toEqual(['web_search_call started', 'web_search_call finished'])
})

test('Gemini: its code, and its other tools', () => {
  const { told, options } = listen()
  const decoder = createGeminiDecoder(options)
  const parts = [
    { executableCode: { language: 'PYTHON', code: '1' } },
    { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
    { toolCall: { toolType: 'GOOGLE_SEARCH', id: 'a' } },
    { toolResponse: { toolType: 'GOOGLE_SEARCH', id: 'a' } },
    { text: 'blue' },
  ]
  decoder.push({ data: JSON.stringify({ candidates: [{ content: { parts }, finishReason: 'STOP' }] }) })
  expect(told).toEqual([
    'code_execution started',
    'code_execution finished',
    'GOOGLE_SEARCH started',
    'GOOGLE_SEARCH finished',
  ])
})

const LOOK = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' } } as const

type Tools = NonNullable<ModelSettings['serverTools']>

function createRequest(serverTools: Tools, more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    instructions: '',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
    tools: [LOOK],
    toolChoice: { type: 'auto' },
    settings: { serverTools },
    session: 's',
    ...more,
  }
}

const ENCODERS = {
  anthropic: (request: ModelRequest) => encodeAnthropicRequest(request, { model: 'claude-haiku-4-5' }),
  openai: (request: ModelRequest) => encodeOpenAiResponsesRequest(request, { model: 'gpt-5-mini' }),
  'openai-chat': (request: ModelRequest) => encodeOpenAiChatRequest(request, { model: 'gpt-4.1' }),
  groq: (request: ModelRequest) => encodeOpenAiChatRequest(request, { model: 'gpt-oss-120b', provider: 'groq' }),
  gemini: (request: ModelRequest) => encodeGeminiRequest(request, { model: 'gemini-3-pro-preview' }),
  bedrock: (request: ModelRequest) => encodeBedrockRequest(request, { model: 'us.amazon.nova-2-lite-v1:0' }),
}
type Wire = keyof typeof ENCODERS

const SEARCH: JsonObject = { type: 'web_search_20250305', name: 'web_search' }

test.each<[Wire, JsonObject, string, JsonObject]>([
  ['anthropic', SEARCH, 'web_search', { type: 'tool', name: 'web_search' }],
  ['openai', { type: 'web_search' }, 'web_search', { type: 'web_search' }],
  ['openai', { type: 'mcp', server_label: 'docs', server_url: 'u' }, 'docs', { type: 'mcp', server_label: 'docs' }],
])('%s is told to call %o', (wire, tool, name, expected) => {
  for (const tools of [[LOOK], []]) {
    const request = createRequest({ [wire]: [tool] }, { tools, toolChoice: { type: 'tool', name } })
    expect(ENCODERS[wire](request)).toMatchObject({ tool_choice: expected })
  }
})

test.each<[Wire, JsonObject, string]>([
  ['openai', { type: 'tool_search' }, 'tool_search'],
  ['groq', { type: 'browser_search' }, 'browser_search'],
  ['gemini', { googleSearch: {} }, 'googleSearch'],
  ['bedrock', { systemTool: { name: 'nova_grounding' } }, 'nova_grounding'],
])('%s cannot be told to call %o', (wire, tool, name) => {
  const request = createRequest({ [wire]: [tool] }, { toolChoice: { type: 'tool', name } })
  expect(() => ENCODERS[wire](request)).toThrow(
    expect.objectContaining({ code: 'model_invalid_request', message: expect.stringContaining(`"${name}"`) as string }),
  )
})

test.each(Object.keys(ENCODERS) as Wire[])('%s refuses a choice of a tool that nobody has', (wire) => {
  const request = createRequest({ [wire]: [{ name: 'other' }] }, { toolChoice: { type: 'tool', name: 'gone' } })
  expect(() => ENCODERS[wire](request)).toThrow('toolChoice names "gone", which is not among the request’s tools')
})

test('a choice counts also where the provider’s own tools are the only ones', () => {
  const alone = (type: 'any' | 'none' | 'auto', wire: Wire, tool: JsonObject) =>
    ENCODERS[wire](createRequest({ [wire]: [tool] }, { tools: [], toolChoice: { type } }))
  expect(alone('any', 'anthropic', SEARCH)).toMatchObject({ tool_choice: { type: 'any' } })
  expect(alone('none', 'anthropic', SEARCH)).toMatchObject({ tool_choice: { type: 'none' } })
  expect(alone('auto', 'anthropic', SEARCH)).not.toHaveProperty('tool_choice')
  expect(alone('any', 'openai', { type: 'web_search' })).toMatchObject({ tool_choice: 'required' })
  expect(alone('none', 'openai', { type: 'web_search' })).toMatchObject({ tool_choice: 'none' })
})

test('a model that cannot be forced is asked for the provider’s tool in words', () => {
  const request = createRequest(
    { anthropic: [SEARCH] },
    { tools: [], toolChoice: { type: 'tool', name: 'web_search' } },
  )
  const body = encodeAnthropicRequest(request, { model: 'claude-haiku-4-5', traits: { forcing: 'never' } })
  expect(body).not.toHaveProperty('tool_choice')
  expect(JSON.stringify(body.system)).toContain('Answer this with a call of your tool web_search.')
})

test.each<[Wire, readonly JsonObject[], string]>([
  ['anthropic', [SEARCH, { type: 'web_search_20260209', name: 'web_search' }], 'web_search'],
  ['anthropic', [{ type: 'bash_20250124', name: 'look' }], 'look'],
  ['openai', [{ type: 'web_search' }, { type: 'web_search' }], 'web_search'],
  ['openai-chat', [{ type: 'function', function: { name: 'look' } }], 'look'],
  ['gemini', [{ googleSearch: {} }, { googleSearch: {} }], 'googleSearch'],
  ['bedrock', [{ systemTool: { name: 'look' } }], 'look'],
])('%s refuses a tool that the request has twice', (wire, tools, name) => {
  expect(() => ENCODERS[wire](createRequest({ [wire]: tools }))).toThrow(
    `settings.serverTools.${wire} has the name "${name}", which another tool of the request already uses`,
  )
})

test('two MCP servers are two tools', () => {
  const servers = ['a', 'b'].map((label) => ({ type: 'mcp', server_label: label }))
  expect(ENCODERS.openai(createRequest({ openai: servers })).tools).toHaveLength(3)
})

test.each([
  ['antropic', 'anthropic'],
  ['Anthropic', 'anthropic'],
  ['claude', 'anthropic'],
  ['aws', 'bedrock'],
  ['gemeni', 'gemini'],
  ['open-ai', 'openai'],
])('settings for "%s" are refused as a slip', (name, meant) => {
  const said = `has the name "${name}", which no provider uses; did you mean "${meant}"?`
  expect(() => ENCODERS.gemini(createRequest({ [name]: [SEARCH] }))).toThrow(`settings.serverTools ${said}`)
  const settings = { provider: { [name]: { user: 'u' } } }
  expect(() => ENCODERS.openai(createRequest({}, { settings }))).toThrow(`settings.provider ${said}`)
})

test('settings for other providers, and for servers of one’s own, are passed over', () => {
  const others = { anthropic: [SEARCH], google: [SEARCH], 'gpu-1': [SEARCH], 'gpu-2': [SEARCH], xai2: [SEARCH] }
  expect(ENCODERS.gemini(createRequest(others))).toEqual(ENCODERS.gemini(createRequest({})))
  const server = { model: 'm', provider: 'gpu-1' }
  const body = encodeOpenAiChatRequest(createRequest({ 'gpu-2': [SEARCH] }), server)
  expect(body).toEqual(encodeOpenAiChatRequest(createRequest({}), server))
})
