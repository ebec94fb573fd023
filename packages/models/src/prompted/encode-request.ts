// A request without tools that says the same in words: the tools in the instructions, calls and results as text.
import type {
  AssistantPart,
  ContentPart,
  JsonObject,
  Message,
  ModelRequest,
  ResultPart,
  ToolMessage,
} from '@baton/core'
import { withOutputInWords } from '../schema/sayable-output.ts'
import type { PromptedFormat } from './format.ts'

/** @param written messages as they were written in earlier requests: the same objects again, for whoever encodes them next */
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
  // A provider that keeps the text to a schema leaves no room for calls in it.
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
    'You may call tools. These are there, one in a line:',
    ...declared,
    howTo,
    'Then stop: the results come in the next message. Write a call only when you mean to make it.',
    ...(settings.parallelCalls === false ? ['Write one call at most.'] : []),
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

/** All results of a step in one message, in the order of the calls. */
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
