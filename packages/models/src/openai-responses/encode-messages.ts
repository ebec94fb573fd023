// Encodes neutral messages as Responses API items: a flat list in which reasoning precedes the item it led to and every
// call has its output.
import type { AssistantMessage, AssistantPart, Message, ProviderState } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { JsonObject, JsonValue } from '@baton/core/internal'
import type { CallIds } from '../openai-chat/call-ids.ts'
import { createCallIds } from '../openai-chat/call-ids.ts'
import type { HistoryEncoder } from '../histories.ts'
import { encodeToolName } from '../tool-names.ts'
import { encodeContent, encodeResult, joinContent } from './encode-content.ts'
import type { WireItem } from './wire.ts'
import { PROVIDER, modelFamily } from './wire.ts'

/** 400 "Missing required parameter: 'input'": sent if there is nothing to answer yet. */
const FIRST_USER: WireItem = { role: 'user', content: '(The conversation begins.)' }

interface Encoding {
  readonly family: string
  readonly ids: CallIds
}

export function createMessageEncoder(model: string): HistoryEncoder<WireItem> {
  const encoding = { family: modelFamily(model), ids: createCallIds(PROVIDER, 'responses') }
  const items: WireItem[] = []
  return {
    add: (message) => void items.push(...encodeMessage(message, encoding)),
    wire: () => (items.length > 0 ? [...items] : [FIRST_USER]),
  }
}

function encodeMessage(message: Message, encoding: Encoding): readonly WireItem[] {
  if (message.role === 'assistant') return encodeAssistant(message, encoding)
  if (message.role === 'tool')
    return message.parts.map((part) => ({
      type: 'function_call_output',
      call_id: encoding.ids.resultId(part),
      output: encodeResult(part),
    }))
  const parts = encodeContent(message.parts)
  return parts.length > 0 ? [{ role: 'user', content: joinContent(parts) }] : []
}

/**
 * Encrypted reasoning is not bound to its place, so it is also sent for messages whose history changed: OpenAI's guide
 * lets clients drop items of earlier turns. It is bound to the item that follows it in the same answer.
 */
function encodeAssistant(message: AssistantMessage, encoding: Encoding): readonly WireItem[] {
  const items = message.parts.map((part) => encodePart(part, encoding)).filter((item) => item !== undefined)
  return withoutLoneThoughts(items)
}

/**
 * 400 "Item 'rs_x' of type 'reasoning' was provided without its required following item.": happens if an answer was cut
 * off there.
 */
function withoutLoneThoughts(items: readonly WireItem[]): readonly WireItem[] {
  const end = items.findLastIndex((item) => !('type' in item) || item.type !== 'reasoning')
  return items.slice(0, end + 1)
}

function encodePart(part: AssistantPart, encoding: Encoding): WireItem | undefined {
  if (part.type === 'source') return undefined
  const data = ownData(part.state, encoding)
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? undefined : encodeText(part.text, data)
    case 'reasoning':
      return encodeThought(data)
    case 'call': {
      const extra = data?.['extra']
      return {
        ...(isJsonObject(extra) && extra),
        type: 'function_call',
        call_id: encoding.ids.callId(part),
        name: encodeToolName(part.name),
        arguments: readArguments(part.arguments),
      }
    }
    case 'provider':
      return encodeOwnItem(data?.['item'])
  }
}

/** `phase` separates remarks between calls from the answer; without it, gpt-5.3-codex and later confuse the two. */
function encodeText(text: string, data: JsonObject | undefined): WireItem {
  const phase = data?.['phase']
  const part =
    data?.['refusal'] === true
      ? ({ type: 'refusal', refusal: text } as const)
      : ({ type: 'output_text', text } as const)
  return { role: 'assistant', content: [part], ...(typeof phase === 'string' && { phase }) }
}

/** Reasoning without its encrypted content is useless, because nothing is stored. */
function encodeThought(data: JsonObject | undefined): WireItem | undefined {
  const encrypted = data?.['encrypted_content']
  const summary: JsonValue | undefined = data?.['summary']
  if (typeof encrypted !== 'string' || encrypted === '') return undefined
  const list = Array.isArray(summary) ? (summary as readonly JsonValue[]).filter(isJsonObject) : []
  return { type: 'reasoning', summary: list, encrypted_content: encrypted }
}

/** OpenAI's server tool items that are complete in themselves. A call that waits for a client's output is not. */
const REPLAYABLE: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
  'tool_search_call',
  'tool_search_output',
  'program',
  'program_output',
  'compaction',
])

/** A shell in an OpenAI container has already run; a client's shell waits for its output. */
function isHostedShell({ type, environment }: JsonObject): boolean {
  if (type === 'shell_call_output') return true
  return type === 'shell_call' && isJsonObject(environment) && environment['type'] !== 'local'
}

function encodeOwnItem(item: JsonValue | undefined): WireItem | undefined {
  const type = isJsonObject(item) ? item['type'] : undefined
  if (!isJsonObject(item) || typeof type !== 'string') return undefined
  return REPLAYABLE.has(type) || isHostedShell(item) ? { ...item, type } : undefined
}

/** Unparseable arguments go back empty; the call's result explains why. */
function readArguments(text: string): string {
  const parsed = parseJson(text)
  return parsed.ok && isJsonObject(parsed.value) ? text : '{}'
}

/** Encrypted state is valid only for the model that made it. */
function ownData(state: ProviderState | undefined, { family }: Encoding): JsonObject | undefined {
  const isOwn = state?.provider === PROVIDER && modelFamily(state.model) === family
  return isOwn && isJsonObject(state.data) ? state.data : undefined
}
