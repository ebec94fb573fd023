// A history against every wire whose adapter exists: encoded as it would be sent, then held against the provider's rules.
import type { Message, ModelRequest } from '@baton/core'
import { validateAnthropicRequest } from '@baton/core/testing'
import { encodeAnthropicRequest } from '@baton/models/anthropic'

export function validateWires(messages: readonly Message[]): readonly { readonly message: string }[] {
  if (messages.length === 0) return []
  const toolsUsed = new Set(
    messages.flatMap((message) => (message.role === 'user' ? [] : message.parts.flatMap(nameOf))),
  )
  const request: ModelRequest = {
    instructions: 'validate',
    messages,
    tools: [...toolsUsed].map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
    toolChoice: { type: 'auto' },
    settings: {},
    session: 'validated',
  }
  return validateAnthropicRequest(encodeAnthropicRequest(request, { model: 'claude-haiku-4-5' }))
}

function nameOf(part: { readonly type: string; readonly name?: string }): readonly string[] {
  return part.type === 'call' && part.name !== undefined ? [part.name] : []
}
