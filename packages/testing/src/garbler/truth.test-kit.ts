// The meaning of a recorded stream by the plainest reading of each provider's documentation: texts concatenated,
// arguments concatenated by index. Independent of the decoders, which it judges.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import { readBedrock, readGemini } from './google-aws.test-kit.ts'

export interface Truth {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly arguments: string }[]
}

export type Wire = 'messages' | 'chat' | 'responses' | 'gemini' | 'bedrock'

/** The events of a stream of one answer: the JSON of each `data:` line. Empty if the stream is damaged. */
export function parseEvents(body: string): readonly JsonObject[] {
  const texts = body
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim())
    .filter((text) => text !== '' && text !== '[DONE]')
  const events = texts.map((text) => parseJson(text)).map((parsed) => (parsed.ok ? parsed.value : undefined))
  return events.every(isJsonObject) ? events : []
}

/** Undefined if the stream is not a complete answer with text or calls: an error, a cut, a server tool. */
export function readTruth(wire: Wire, events: readonly JsonObject[]): Truth | undefined {
  const readers = { messages: readMessages, chat: readChat, responses: readResponses }
  const read = { ...readers, gemini: readGemini, bedrock: readBedrock }[wire](events)
  if (!read || (read.text === '' && read.calls.length === 0)) return undefined
  const areWhole = read.calls.every((call) => call.name !== '' && isObjectText(call.arguments))
  return areWhole ? read : undefined
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text))
  } catch {
    return false
  }
}

const list = (value: JsonValue | undefined): readonly JsonObject[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]).filter(isJsonObject) : []
const object = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})
const string = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')

function readChat(events: readonly JsonObject[]): Truth | undefined {
  let text = ''
  let isEnded = false
  const calls = new Map<JsonValue, { name: string; arguments: string }>()
  for (const event of events)
    for (const choice of list(event['choices'])) {
      const delta = object(choice['delta'])
      if (choice['message'] !== undefined || choice['error'] !== undefined) return undefined
      if (delta['refusal'] !== undefined && delta['refusal'] !== null) return undefined
      if (delta['content'] !== undefined && delta['content'] !== null && typeof delta['content'] !== 'string')
        return undefined
      text += string(delta['content'])
      for (const piece of list(delta['tool_calls'])) {
        if (typeof piece['index'] !== 'number' || isObject(object(piece['function'])['arguments'])) return undefined
        const call = calls.get(piece['index']) ?? { name: '', arguments: '' }
        calls.set(piece['index'], call)
        call.name ||= string(object(piece['function'])['name'])
        call.arguments += string(object(piece['function'])['arguments'])
      }
      if (['stop', 'tool_calls'].includes(string(choice['finish_reason']))) isEnded = true
    }
  return isEnded ? { text, calls: [...calls.values()] } : undefined
}

function isObject(value: JsonValue | undefined): boolean {
  return typeof value === 'object' && value !== null
}

function readMessages(events: readonly JsonObject[]): Truth | undefined {
  let text = ''
  let isEnded = false
  const calls = new Map<JsonValue, { name: string; arguments: string }>()
  for (const event of events) {
    const index = event['index'] ?? null
    const block = object(event['content_block'])
    const delta = object(event['delta'])
    if (event['type'] === 'message_start' && event !== events[0]) return undefined // another answer, spliced in
    if (event['type'] === 'error' || /^(server_tool_use|mcp_tool_use)$/.test(string(block['type']))) return undefined
    if (event['type'] === 'content_block_start' && block['type'] === 'text') text += string(block['text'])
    if (event['type'] === 'content_block_start' && block['type'] === 'tool_use')
      calls.set(index, { name: string(block['name']), arguments: '' })
    if (delta['type'] === 'text_delta') text += string(delta['text'])
    const call = calls.get(index)
    if (delta['type'] === 'input_json_delta' && call) call.arguments += string(delta['partial_json'])
    if (event['type'] === 'message_delta') isEnded = ['end_turn', 'tool_use'].includes(string(delta['stop_reason']))
  }
  const ended = [...calls.values()].map((call) => ({
    ...call,
    arguments: call.arguments === '' ? '{}' : call.arguments,
  }))
  return isEnded ? { text, calls: ended } : undefined
}

function readResponses(events: readonly JsonObject[]): Truth | undefined {
  const ended = events.findLast(({ type }) => type === 'response.completed')
  if (!ended) return undefined
  let text = ''
  const calls: { name: string; arguments: string }[] = []
  for (const item of list(object(ended['response'])['output'])) {
    if (!['message', 'reasoning', 'function_call'].includes(string(item['type']))) return undefined
    if (item['type'] === 'message')
      for (const part of list(item['content'])) {
        if (part['type'] !== 'output_text') return undefined
        text += string(part['text'])
      }
    if (item['type'] === 'function_call')
      calls.push({ name: string(item['name']), arguments: string(item['arguments']) })
  }
  return { text, calls }
}
