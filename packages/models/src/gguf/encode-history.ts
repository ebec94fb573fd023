// Encodes a neutral history as a node-llama-cpp chat, whose wrappers know each model's template.
import type { JsonValue, Message, ModelRequest, ResultPart, ToolMessage } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { ToolNames } from '../tool-names.ts'
import { describeForced, findForced } from './forced-call.ts'
import type { ChatItem, FunctionCallItem } from './llama.ts'

/** The last item is the answer to write or to continue. */
export function encodeHistory(request: ModelRequest, names: ToolNames): readonly ChatItem[] {
  const { instructions, messages, toolChoice } = request
  const forced = findForced(request)
  const must = forced ? describeForced(forced) : toolChoice.type === 'any' ? 'Call a function now.' : ''
  const told = [instructions, must].filter((part) => part.trim() !== '').join('\n\n')
  const items: ChatItem[] = told === '' ? [] : [{ type: 'system', text: told }]
  for (const message of messages) addMessage(items, message, names)
  if (items.at(-1)?.type !== 'model') items.push({ type: 'model', response: [] })
  return items
}

function addMessage(items: ChatItem[], message: Message, names: ToolNames): void {
  if (message.role === 'user') {
    const texts = message.parts.map((part) =>
      part.type === 'text' ? part.text : `[${part.type}, which this model cannot see]`,
    )
    items.push({ type: 'user', text: texts.join('\n') })
    return
  }
  const last = items.at(-1)
  const response = last?.type === 'model' ? last.response : []
  if (message.role === 'tool') addResults(response, message)
  else {
    for (const part of message.parts) {
      if (part.type === 'text' && part.text !== '') response.push(part.text)
      if (part.type === 'call')
        response.push({
          type: 'functionCall',
          name: names.encode(part.name),
          params: readValue(part.arguments),
          result: null,
        })
    }
    if (last?.type !== 'model') items.push({ type: 'model', response })
  }
}

/** Sets results in call order, on the last calls of the answer. */
function addResults(response: readonly (string | FunctionCallItem)[], { parts }: ToolMessage): void {
  const calls = response.filter((one): one is FunctionCallItem => typeof one !== 'string').slice(-parts.length)
  parts.forEach((part, index) => {
    const call = calls[index]
    if (call) call.result = toResult(part)
  })
}

function toResult({ isError, content }: ResultPart): JsonValue {
  const text = content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
  return isError ? { error: text } : text
}

function readValue(argumentsText: string): JsonValue {
  const parsed = parseJson(argumentsText)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
}
