// The kinds of models that the provider contract is run on: every wire, tools in words, and the bridge to the AI SDK.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { Clock, JsonObject, Model, Transport } from '@baton/core/internal'
import { fromAiSdkModel } from '@baton/models/ai-sdk'
import { createAnthropicModel } from '@baton/models/anthropic'
import { createBedrockModel } from '@baton/models/bedrock'
import { createGeminiModel } from '@baton/models/gemini'
import { createOpenAiChatModel } from '@baton/models/openai-chat'
import { createOpenAiResponsesModel } from '@baton/models/openai-responses'
import { withPromptedTools } from '@baton/models/prompted'
import { startFakeAnthropic } from '../fake-providers/fake-anthropic.ts'
import { FAKE_BEDROCK_KEYS, startFakeBedrock } from '../fake-providers/fake-bedrock.ts'
import { startFakeGemini } from '../fake-providers/fake-gemini.ts'
import { startFakeOpenAiChat } from '../fake-providers/fake-openai-chat.ts'
import { startFakeOpenAiResponses } from '../fake-providers/fake-openai-responses.ts'
import type { FakeAnswer, FakeRequest, FakeScript, FakeServer } from '../fake-providers/fake-server.ts'
import { listObjects, readText } from '../fake-providers/fake-server.ts'

/** Options of a model; the rest is provider-specific. */
export interface ModelPlace {
  /** From the fake server. */
  readonly url: string
  readonly apiKey: string
  readonly transport: Transport
  readonly clock: Clock
  readonly answerLengthMax?: number
}

export interface ProviderKind {
  readonly name: string
  readonly start: (script: FakeScript) => Promise<FakeServer>
  readonly createModel: (place: ModelPlace) => Model
  /** The key that the fake accepts; it rejects `bad`. `key-of-a-test` by default. */
  readonly apiKey?: string
  /** The part of the fake's answer `index` (thinking and a call) that is sent back. */
  readonly replays?: (index: number) => string
  /** Set if it uses one code for all failures within a stream: an overload, a broken connection, an early end. */
  readonly codeInStream?: string
  /** True if another library does the networking: only that library knows the key, the ids and non-streamed answers. */
  readonly isBridge?: boolean
}

/** The tools of the contract's agent, as named by their author. */
export const TOOL_NAMES = ['weather.now', 'clock.now'] as const

export const PROVIDER_KINDS: readonly ProviderKind[] = [
  {
    name: 'Anthropic',
    start: startFakeAnthropic,
    createModel: ({ url: baseUrl, ...place }) =>
      createAnthropicModel({ ...place, baseUrl, model: 'claude-sonnet-4-5' }),
    replays: (index) => `signed-${index}`,
  },
  {
    name: 'OpenAI Responses',
    start: startFakeOpenAiResponses,
    createModel: ({ url: baseUrl, ...place }) => createOpenAiResponsesModel({ ...place, baseUrl, model: 'gpt-5-mini' }),
    replays: (index) => `gAAAAAB-fake-${index}`,
  },
  chatKind('Chat Completions', (model) => model),
  {
    name: 'Gemini',
    start: (script) => startFakeGemini({ script }),
    createModel: ({ url: baseUrl, apiKey, ...place }) =>
      createGeminiModel({
        ...place,
        baseUrl,
        access: { type: 'gemini-api', apiKey },
        model: 'gemini-3-pro-preview',
      }),
    replays: (index) => `signature-of-answer-${index}`,
  },
  bedrockKind('Bedrock with Claude', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', {
    replays: (index) => `signature-of-answer-${index}`,
  }),
  bedrockKind('Bedrock with Nova', 'us.amazon.nova-lite-v1:0'),
  {
    ...chatKind('tools in words', (model) => withPromptedTools(model, { format: 'hermes' })),
    start: (script) => startFakeOpenAiChat({ script: (request) => writeCalls(script(readWords(request))) }),
  },
  {
    name: 'the AI SDK',
    start: (script) => startFakeOpenAiChat({ script }),
    createModel: ({ url: baseURL, apiKey, answerLengthMax }) =>
      fromAiSdkModel(
        createOpenAICompatible({ name: 'theirs', baseURL, apiKey, includeUsage: true })('gpt-4.1'),
        answerLengthMax === undefined ? {} : { answerLengthMax },
      ),
    codeInStream: 'model_provider_failed',
    isBridge: true,
  },
]

function chatKind(name: string, wrap: (model: Model) => Model): ProviderKind {
  return {
    name,
    start: (script) => startFakeOpenAiChat({ script }),
    createModel: ({ url: baseUrl, ...place }) => wrap(createOpenAiChatModel({ ...place, baseUrl, model: 'gpt-4.1' })),
  }
}

function bedrockKind(name: string, model: string, more: Partial<ProviderKind> = {}): ProviderKind {
  return {
    name,
    apiKey: FAKE_BEDROCK_KEYS.bearer,
    start: startFakeBedrock,
    createModel: ({ url: baseUrl, ...place }) => createBedrockModel({ ...place, baseUrl, region: 'us-east-1', model }),
    ...more,
  }
}

/** Adapts a script for tools and results written as words. */
function readWords(request: FakeRequest): FakeRequest {
  const last = listObjects(request.body['messages']).at(-1)
  const found = readText(last?.['content']).matchAll(/<tool_response>\n([^]*?)\n<\/tool_response>/g)
  return {
    ...request,
    toolLike: (pattern) => TOOL_NAMES.find((name) => pattern.test(name)) ?? 'none',
    results: [...found].map(([, result = '']) => readResult(result)),
  }
}

function readResult(text: string): string {
  const { content } = JSON.parse(text) as JsonObject // as the format writes it
  return readText(content)
}

function writeCalls(answer: FakeAnswer): FakeAnswer {
  if ('status' in answer) return answer
  const { calls = [], text = '', ...said } = answer
  const written = calls.map(
    ({ name, input }) => `<tool_call>\n${JSON.stringify({ name, arguments: input })}\n</tool_call>`,
  )
  return { ...said, text: [text, ...written].filter((each) => each !== '').join('\n') }
}
