// Checks a history against every wire with an adapter: encoded as it would be sent, then validated by the provider's
// rules.
import type { Message, ModelRequest } from '@baton/core'
import {
  validateAnthropicRequest,
  validateBedrockRequest,
  validateGeminiRequest,
  validateOpenAiResponsesRequest,
} from '../wires/index.ts'
import { encodeAnthropicRequest } from '@baton/models/internal'
import { encodeBedrockRequest } from '@baton/models/internal'
import { encodeGeminiRequest } from '@baton/models/internal'
import { encodeOpenAiResponsesRequest } from '@baton/models/internal'

export function validateWires(messages: readonly Message[]): readonly { readonly message: string }[] {
  if (messages.length === 0) return []
  const toolsUsed = new Set(
    messages.flatMap((message) => (message.role === 'user' ? [] : message.parts.flatMap(readName))),
  )
  const request: ModelRequest = {
    instructions: 'validate',
    messages,
    tools: [...toolsUsed].map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    toolChoice: { type: 'auto' },
    settings: {},
    session: 'validated',
  }
  const gemini = { model: 'gemini-3-pro-preview' }
  return [
    ...validateAnthropicRequest(encodeAnthropicRequest(request, { model: 'claude-haiku-4-5' })),
    ...validateBedrockRequest(encodeBedrockRequest(request, { model: 'amazon.nova-lite-v1:0' })),
    ...validateGeminiRequest(encodeGeminiRequest(request, gemini), gemini),
    ...validateOpenAiResponsesRequest(encodeOpenAiResponsesRequest(request, { model: 'gpt-5-mini' })),
  ]
}

function readName(part: { readonly type: string; readonly name?: string }): readonly string[] {
  return part.type === 'call' && part.name !== undefined ? [part.name] : []
}
