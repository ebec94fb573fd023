// Sources of an answer, in every encoder: a request is the same with and without them.
import type { AssistantPart, ModelRequest } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { encodeCallOptions } from './ai-sdk/encode-prompt.ts'
import { encodeAnthropicRequest } from './anthropic/index.ts'
import { encodeBedrockRequest } from './bedrock/index.ts'
import { encodeGeminiRequest } from './gemini/index.ts'
import { encodeHistory } from './gguf/encode-history.ts'
import { encodeOpenAiChatRequest } from './openai-chat/index.ts'
import { encodeOpenAiResponsesRequest } from './openai-responses/index.ts'
import { encodePromptedRequest } from './prompted/encode-request.ts'
import { PROMPTED_FORMATS } from './prompted/formats.ts'
import { chooseToolNames } from './tool-names.ts'

const source: AssistantPart = {
  type: 'source',
  id: 's1',
  url: 'https://example.org',
  title: 'A page',
  quote: 'its words',
}

function createRequest(...sources: readonly AssistantPart[]): ModelRequest {
  const call: AssistantPart = { type: 'call', callId: 'call_1_0', name: 'look', arguments: '{}' }
  const text: AssistantPart = { type: 'text', text: 'It is blue.' }
  const result = { type: 'result', callId: 'call_1_0', name: 'look', isError: false } as const
  return {
    instructions: 'Be brief.',
    messages: [
      { role: 'user', parts: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', parts: [...sources, text, ...sources, call, ...sources] },
      { role: 'tool', parts: [{ ...result, content: [{ type: 'text', text: 'blue' }] }] },
      { role: 'assistant', parts: [...sources, text] },
      { role: 'user', parts: [{ type: 'text', text: 'on' }] },
    ],
    tools: [{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }],
    toolChoice: { type: 'auto' },
    settings: {},
    session: 's',
  }
}

test.each<[string, (request: ModelRequest) => unknown]>([
  ['anthropic', (request) => encodeAnthropicRequest(request, { model: 'claude-haiku-4-5' })],
  ['bedrock', (request) => encodeBedrockRequest(request, { model: 'amazon.nova-lite-v1:0' })],
  [
    'bedrock without a choice',
    (request) => encodeBedrockRequest({ ...request, toolChoice: { type: 'none' } }, { model: 'amazon.nova-lite-v1:0' }),
  ],
  ['gemini', (request) => encodeGeminiRequest(request, { model: 'gemini-3-pro-preview' })],
  ['openai', (request) => encodeOpenAiResponsesRequest(request, { model: 'gpt-5-mini' })],
  ['openai-chat', (request) => encodeOpenAiChatRequest(request, { model: 'gpt-5-mini' })],
  ['gguf', (request) => encodeHistory(request, chooseToolNames(request))],
  [
    'ai-sdk',
    (request) => encodeCallOptions(request, { provider: 'ai-sdk:xai', model: 'm', names: chooseToolNames(request) }),
  ],
  [
    'prompted',
    (request) =>
      encodeAnthropicRequest(encodePromptedRequest(request, PROMPTED_FORMATS.hermes), { model: 'claude-haiku-4-5' }),
  ],
])('%s sends no sources', (_, encode) => {
  expect(JSON.stringify(encode(createRequest(source)))).toBe(JSON.stringify(encode(createRequest())))
})
