// Rewrites the calls and results of a history as text. Converse rejects a history with calls if no tools are declared
// ("The toolConfig field must be defined when using toolUse and toolResult content blocks") and has no tool choice
// `none`, so a request that forbids calls describes earlier ones in words.
import type { AssistantPart, ContentPart, Message, ResultPart } from '@baton/core/internal'

export function hasCalls(messages: readonly Message[]): boolean {
  return messages.some(
    ({ role, parts }) => role === 'tool' || (role === 'assistant' && parts.some(({ type }) => type === 'call')),
  )
}

export function flattenMessage(message: Message): Message {
  if (message.role === 'user') return message
  if (message.role === 'tool') return { role: 'user', parts: message.parts.flatMap(flattenResult) }
  return { ...message, parts: message.parts.map(flattenCall) }
}

function flattenCall(part: AssistantPart): AssistantPart {
  if (part.type !== 'call') return part
  return { type: 'text', text: `[I called the tool ${part.name} with ${part.arguments || '{}'}]` }
}

function flattenResult({ name, isError, content }: ResultPart): readonly ContentPart[] {
  const said = content.length > 0 ? content : [{ type: 'text', text: 'nothing' } as const]
  return [{ type: 'text', text: `[The tool ${name} ${isError ? 'failed with' : 'returned'}:]` }, ...said]
}
