// The model adapter of each measured wire, with an injected transport.
import type { Clock, Model, Transport } from '@baton/core/internal'
import { createAnthropicModel } from '@baton/models/anthropic'
import { createBedrockModel } from '@baton/models/bedrock'
import { createGeminiModel } from '@baton/models/gemini'
import { createOpenAiChatModel } from '@baton/models/openai-chat'
import { createOpenAiResponsesModel } from '@baton/models/openai-responses'
import type { WireName } from '../scenarios.ts'

export interface Server {
  readonly base: string
  readonly transport: Transport
  readonly clock: Clock
}

export function modelOfWire(wire: WireName, { base, transport, clock }: Server): Model {
  const common = { model: 'mock-model', apiKey: 'k', transport, clock }
  if (wire === 'messages') return createAnthropicModel({ ...common, baseUrl: base })
  if (wire === 'responses') return createOpenAiResponsesModel({ ...common, baseUrl: `${base}/v1` })
  if (wire === 'chat') return createOpenAiChatModel({ ...common, baseUrl: `${base}/v1` })
  if (wire === 'converse') return createBedrockModel({ ...common, region: 'us-east-1', baseUrl: base })
  const { apiKey, ...gemini } = common
  return createGeminiModel({ ...gemini, access: { type: 'gemini-api', apiKey }, baseUrl: base })
}
