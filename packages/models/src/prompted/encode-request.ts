// Rewrites a request without tools: tools become instructions, calls and results become text.
import type {
  AssistantPart,
  ContentPart,
  JsonObject,
  Message,
  ModelRequest,
  ResultPart,
  ToolMessage,
} from '@baton/core/internal'
import { withOutputInWords } from '../schema/sayable-output.ts'
import type { PromptedFormat } from './format.ts'

/** @param written messages as written in earlier requests; the same objects are returned again for later encoders */
export function encodePromptedRequest(
  request: ModelRequest,
  format: PromptedFormat,
  written = new WeakMap<Message, Message>(),
): ModelRequest {
  const write = (message: Message): Message => {
    const known = written.get(message) ?? encodeMessage(message, format)
    written.set(message, known)
    return known
  }
  const offered = request.toolChoice.type !== 'none' && request.tools.length > 0
  // A provider that enforces a schema on the text leaves no room for calls in it.
  const asked = offered ? withOutputInWords(request) : request
  return {
    ...asked,
    instructions: [asked.instructions, ...(offered ? [toolPrompt(request, format)] : [])]
      .filter((part) => part.trim() !== '')
      .join('\n\n'),
    messages: request.messages.map(write),
    tools: [],
    toolChoice: { type: 'none' },
  }
}

function toolPrompt({ tools, toolChoice, settings }: ModelRequest, { howTo }: PromptedFormat): string {
  const declared = tools.map(({ name, description, inputSchema }) =>
    JSON.stringify({ name, description, parameters: inputSchema satisfies JsonObject }),
  )
  const rules = [
    'You may call tools. These tools are available, one per line:',
    ...declared,
    howTo,
    'Then stop: the results come in the next message. Write a call only when you mean to make it.',
    ...(settings.parallelCalls === false ? ['Write at most one call.'] : []),
    ...(toolChoice.type === 'any' ? ['You must call a tool now.'] : []),
    ...(toolChoice.type === 'tool' ? [`You must call ${toolChoice.name} now.`] : []),
  ]
  return rules.join('\n')
}

function encodeMessage(message: Message, format: PromptedFormat): Message {
  if (message.role === 'user') return message
  if (message.role === 'tool') return { role: 'user', parts: listResults(message) }
  const parts = message.parts.flatMap((part): AssistantPart[] => {
    if (part.type !== 'call') return [part]
    return [{ type: 'text', text: `\n${format.writeCall(part)}` }]
  })
  return { ...message, parts }
}

/** All results of a step in one message, in call order. */
function listResults({ parts }: ToolMessage): readonly ContentPart[] {
  return parts.flatMap((result) => [{ type: 'text', text: readText(result) } as const, ...pickMedia(result)])
}

function readText({ name, isError, content }: ResultPart): string {
  const text = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}, see below]`)).join('\n')
  return `<tool_response>\n${JSON.stringify({ name, ...(isError && { error: true }), content: text })}\n</tool_response>`
}

function pickMedia({ content }: ResultPart): readonly ContentPart[] {
  return content.filter((part) => part.type !== 'text')
}
