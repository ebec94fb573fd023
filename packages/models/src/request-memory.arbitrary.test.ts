// However a conversation continues, rewinds, forks or is trimmed, cached requests equal freshly encoded ones.
import type {
  AssistantMessage,
  JsonObject,
  Message,
  ModelRequest,
  ModelSettings,
  ToolChoice,
} from '@baton/core/internal'
import { chooseCount } from '@baton/testing/depth'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeAnthropicRequest } from './anthropic/encode-request.ts'
import type { WireMessage as AnthropicMessage } from './anthropic/wire.ts'
import { encodeBedrockRequest } from './bedrock/encode-request.ts'
import type { WireMessage as ConverseMessage } from './bedrock/wire.ts'
import { encodeGeminiRequest } from './gemini/encode-request.ts'
import type { WireContent } from './gemini/wire.ts'
import { encodeOpenAiChatRequest } from './openai-chat/encode-request.ts'
import type { OpenAiChatQuirks } from './openai-chat/quirks.ts'
import type { WireMessage as ChatMessage } from './openai-chat/wire.ts'
import { encodeOpenAiResponsesRequest } from './openai-responses/encode-request.ts'
import type { WireItem } from './openai-responses/wire.ts'
import { PRESETS } from './presets.ts'
import { createRequestMemory } from './request-memory.ts'

const text = fc.constantFrom('', ' ', 'Go on. ', '\u2028\u2029', '\ud800')
const content = fc.oneof(
  text.map((said) => ({ type: 'text' as const, text: said })),
  fc
    .constantFrom('application/pdf', 'image/png')
    .map((mediaType) => ({ type: 'file' as const, mediaType, source: { type: 'base64' as const, data: 'AAAA' } })),
)
const OWNERS = [
  { provider: 'anthropic', model: 'claude-haiku-4-5' },
  { provider: 'bedrock', model: 'anthropic.claude-haiku-4-5' },
  { provider: 'gemini', model: 'gemini-3-pro-preview' },
  { provider: 'openai-responses', model: 'gpt-5' },
  { provider: 'mine', model: 'm' },
]
const DATA: JsonObject = {
  id: 'id_1',
  signature: 's',
  thoughtSignature: 's',
  encrypted_content: 's',
  reasoning_details: [{ text: 's' }],
  field: 'reasoning_content',
}
const state = fc.constantFrom(...OWNERS).map((owner) => ({ ...owner, data: DATA }))
const spoken = fc.oneof(
  text.map((said) => ({ type: 'text' as const, text: said })),
  state.map((own) => ({ type: 'reasoning' as const, text: 'Hm.', state: own })),
)
const call = fc.record({
  name: fc.constantFrom('agent.spawn', 'look'),
  arguments: fc.constantFrom('{}', '{"a":'),
  state,
})
const exchange: fc.Arbitrary<readonly Message[]> = fc.oneof(
  // Enough of them to reach Bedrock's document limit.
  fc.array(content, { maxLength: 6 }).map((parts): readonly Message[] => [{ role: 'user', parts }]),
  fc
    .record({ said: fc.array(spoken, { maxLength: 3 }), calls: fc.array(call, { maxLength: 2 }), result: content })
    .map(({ said, calls, result }): readonly Message[] => {
      const made = calls.map((one, index) => ({ type: 'call' as const, callId: `call_${index}`, ...one }))
      const answer: AssistantMessage = { role: 'assistant', parts: [...said, ...made] }
      const results = made.map(({ callId, name, arguments: given }) => ({
        type: 'result' as const,
        callId,
        name,
        isError: given !== '{}',
        content: [result],
      }))
      return results.length > 0 ? [answer, { role: 'tool', parts: results }] : [answer]
    }),
)

/** A change to one of the histories so far. */
interface Step {
  readonly of: number
  readonly change: 'grow' | 'wind-back' | 'shorten' | 'edit' | 'repeat'
  readonly at: number
  readonly added: readonly Message[]
  readonly asked: Omit<ModelRequest, 'messages'>
}
const TOOLS = ['agent.spawn', 'look'].map((name) => ({ name, description: '', inputSchema: { type: 'object' } }))
const asked = fc.record({
  instructions: fc.constantFrom('', 'Be brief.'),
  tools: fc.constantFrom(TOOLS, TOOLS, []),
  toolChoice: fc.constantFrom<ToolChoice>({ type: 'auto' }, { type: 'auto' }, { type: 'none' }),
  settings: fc.constantFrom<ModelSettings>({}, { reasoningTokens: 2000 }),
  session: fc.constant('s'),
})
const walk: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    of: fc.nat({ max: 3 }),
    change: fc.constantFrom('grow' as const, 'grow' as const, 'wind-back', 'shorten', 'edit', 'repeat'),
    at: fc.nat({ max: 12 }),
    added: exchange,
    asked,
  }),
  { minLength: 4, maxLength: 16 },
)

function changed(messages: readonly Message[], { change, at, added }: Step): readonly Message[] {
  const index = at % Math.max(messages.length, 1)
  const message = messages[index]
  if (change === 'wind-back') return messages.slice(0, index)
  if (change === 'shorten') return messages.slice(index)
  if (change === 'grow' || !message) return [...messages, ...added]
  if (change === 'repeat') return [...messages, message]
  return messages.with(index, message.role === 'assistant' ? { ...message, rebased: true } : { ...message })
}

type Write = (request: ModelRequest) => string

/** Each new writer starts with an empty memory. */
const WRITERS: Readonly<Record<string, () => Write>> = {
  anthropic: () => {
    const memory = createRequestMemory<AnthropicMessage>()
    const options = { model: 'claude-haiku-4-5', cache: '5m' } as const
    return (request) => memory.write(encodeAnthropicRequest(request, options, memory), 'messages')
  },
  gemini: () => {
    const memory = createRequestMemory<WireContent>()
    const options = { model: 'gemini-3-pro-preview' }
    return (request) => memory.write(encodeGeminiRequest(request, options, memory), 'contents')
  },
  'openai-responses': () => {
    const memory = createRequestMemory<WireItem>()
    return (request) => memory.write(encodeOpenAiResponsesRequest(request, { model: 'gpt-5' }, memory), 'input')
  },
  ...Object.fromEntries(
    ['anthropic.claude-haiku-4-5', 'amazon.nova-lite-v1:0'].map((model) => [model, () => bedrockWriter(model)]),
  ),
  ...Object.fromEntries(Object.entries(PRESETS).map(([name, { quirks }]) => [name, () => chatWriter(quirks)])),
}

function bedrockWriter(model: string): Write {
  const memory = createRequestMemory<ConverseMessage>()
  return (request) => memory.write(encodeBedrockRequest(request, { model, cache: '5m' }, memory), 'messages')
}

function chatWriter(quirks: OpenAiChatQuirks): Write {
  const memory = createRequestMemory<ChatMessage>()
  const options = { model: 'm', provider: 'mine', quirks }
  return (request) => memory.write(encodeOpenAiChatRequest(request, options, memory), 'messages')
}

test.each(Object.entries(WRITERS))('%s', (_name, create) => {
  fc.assert(
    fc.property(walk, (steps) => {
      const write = create()
      const histories: (readonly Message[])[] = [[]]
      for (const step of steps) {
        const messages = changed(histories.at(-1 - (step.of % histories.length)) ?? [], step)
        histories.push(messages)
        const request = { ...step.asked, messages }
        expect(write(request)).toBe(create()(request))
      }
    }),
    { numRuns: chooseCount({ quick: 30, landing: 100, deep: 100 }) },
  )
})
