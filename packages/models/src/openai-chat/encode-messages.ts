// Encodes neutral messages as Chat Completions messages: results directly after their calls, alternating roles, and
// only the reasoning that the server wants back. Images in results go into a user message, because results are text.
import type { AssistantMessage, JsonObject, ResultPart, ToolMessage } from '@baton/core/internal'
import { isJsonObject, parseJson, readText } from '@baton/core/internal'
import type { HistoryEncoder } from '../histories.ts'
import { encodeToolName } from '../tool-names.ts'
import type { CallIds } from './call-ids.ts'
import { createCallIds } from './call-ids.ts'
import { encodeContent, joinContent } from './encode-content.ts'
import { readExtra } from './decode-call.ts'
import type { OpenAiChatQuirks } from './quirks.ts'
import type { WireAssistant, WireCall, WireContentPart, WireMessage } from './wire.ts'

/**
 * Chat templates of many open models require a user message first ("conversation roles must alternate
 * user/assistant/…").
 */
const FIRST_USER: WireMessage = { role: 'user', content: '(The conversation begins.)' }
const AFTER_RESULTS_TEXT = '(The results are known.)'

export interface MessageEncoding {
  /** The provider whose state is sent back. */
  readonly provider: string
  readonly model: string
  readonly instructions: string
  readonly quirks: OpenAiChatQuirks
}

interface Encoding extends MessageEncoding {
  readonly ids: CallIds
}

export function createMessageEncoder(options: MessageEncoding): HistoryEncoder<WireMessage> {
  const { instructions, quirks } = options
  const encoding: Encoding = { ...options, ids: createCallIds(options.provider, quirks.callIds) }
  const system: readonly WireMessage[] = instructions.trim() === '' ? [] : [{ role: 'system', content: instructions }]
  const wire: WireMessage[] = []
  return {
    add(message) {
      if (message.role === 'user') addUser(wire, encodeContent(message.parts, quirks), quirks)
      else if (message.role === 'tool') addResults(wire, message, encoding)
      else addAssistant(wire, encodeAssistant(message, encoding))
    },
    wire: () => [...system, ...asRequest(wire, quirks)],
  }
}

function asRequest(wire: readonly WireMessage[], { prefixLast }: OpenAiChatQuirks): readonly WireMessage[] {
  const last = wire.at(-1)
  if (!last) return [FIRST_USER]
  return prefixLast && last.role === 'assistant' ? wire.with(-1, { ...last, prefix: true }) : wire
}

/** Merges consecutive user messages, which chat templates of open models reject. */
function addUser(wire: WireMessage[], parts: readonly WireContentPart[], quirks: OpenAiChatQuirks): void {
  if (parts.length === 0) return
  const last = wire.at(-1)
  if (last?.role === 'user') {
    const before = typeof last.content === 'string' ? [{ type: 'text' as const, text: last.content }] : last.content
    wire[wire.length - 1] = { role: 'user', content: joinContent([...before, ...parts]) }
    return
  }
  if (last?.role === 'tool' && quirks.assistantAfterResults)
    wire.push({ role: 'assistant', content: AFTER_RESULTS_TEXT })
  wire.push({ role: 'user', content: joinContent(parts) })
}

function addAssistant(wire: WireMessage[], message: WireAssistant | undefined): void {
  if (!message) return
  const last = wire.at(-1)
  // Happens only if an answer was paused, or nothing between the two could be sent: both are one answer.
  if (last?.role === 'assistant' && !last.tool_calls) {
    const content = [last.content, message.content].filter((text) => (text ?? '') !== '').join('')
    wire[wire.length - 1] = { ...last, ...message, content: content === '' ? null : content }
    return
  }
  if (!last) wire.push(FIRST_USER)
  wire.push(message)
}

function encodeAssistant(message: AssistantMessage, encoding: Encoding): WireAssistant | undefined {
  const calls = encodeCalls(message, encoding)
  const text = readText(message.parts)
  // A blank answer is meaningless, and some servers reject it.
  if (calls.length === 0 && text.trim() === '') return undefined
  return {
    role: 'assistant',
    // Mistral and older templates require a string next to calls; OpenAI accepts null too (recorded).
    content: text,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...buildExtra(message, encoding),
    ...encodeReasoningBack(message, encoding),
  }
}

function encodeCalls(message: AssistantMessage, encoding: Encoding): readonly WireCall[] {
  const { ids, quirks } = encoding
  return message.parts.flatMap((part): readonly WireCall[] => {
    if (part.type !== 'call') return []
    const extra = quirks.reasoningBack === 'nothing' ? undefined : ownData(part.state, encoding)
    const call = { name: encodeToolName(part.name), arguments: readArguments(part.arguments) }
    return [
      {
        id: ids.callId(part),
        type: 'function',
        function: call,
        ...(extra && readExtra(extra)),
      },
    ]
  })
}

/** Chat templates parse the arguments. Unparseable ones go back empty; the call's result explains why. */
function readArguments(text: string): string {
  const parsed = parseJson(text)
  return parsed.ok && isJsonObject(parsed.value) ? text : '{}'
}

/** Server state of the whole message: Gemini's signature of a text (recorded). */
function buildExtra(message: AssistantMessage, encoding: Encoding): Pick<WireAssistant, 'extra_content'> {
  if (encoding.quirks.reasoningBack === 'nothing') return {}
  for (const part of message.parts) {
    const data = part.type === 'provider' ? ownData(part.state, encoding) : undefined
    const extra = data?.['extra_content']
    if (isJsonObject(extra)) return { extra_content: extra }
  }
  return {}
}

type ReasoningBack = Pick<WireAssistant, 'reasoning' | 'reasoning_content' | 'reasoning_details' | 'thinking_blocks'>

function encodeReasoningBack(message: AssistantMessage, encoding: Encoding): ReasoningBack {
  const { reasoningBack } = encoding.quirks
  if (reasoningBack === 'nothing') return {}
  for (const part of message.parts) {
    const data = part.type === 'reasoning' ? ownData(part.state, encoding) : undefined
    if (part.type !== 'reasoning' || !data) continue
    const { reasoning_details: details, thinking_blocks: blocks } = data
    // Signatures are valid only in their original place, so those of a message whose history changed are not sent.
    if (reasoningBack === 'details') {
      if (Array.isArray(details) && !message.rebased) return { reasoning_details: details.filter(isJsonObject) }
      continue
    }
    const signed = Array.isArray(blocks) && !message.rebased ? { thinking_blocks: blocks.filter(isJsonObject) } : {}
    if (data['field'] === 'reasoning') return { reasoning: part.text, ...signed }
    if (data['field'] === 'reasoning_content') return { reasoning_content: part.text, ...signed }
    if (Array.isArray(blocks)) return signed
  }
  return reasoningBack === 'always' ? { reasoning_content: '' } : {}
}

/** Reasoning is valid only for the server and model that made it. */
function ownData(
  state: { readonly provider: string; readonly model: string; readonly data: unknown } | undefined,
  { provider, model }: Encoding,
): JsonObject | undefined {
  return state?.provider === provider && state.model === model && isJsonObject(state.data) ? state.data : undefined
}

/** Adds one message per result, followed by one user message with their media (recorded: "This is file bd38f5:"). */
function addResults(wire: WireMessage[], message: ToolMessage, encoding: Encoding): void {
  const shown: WireContentPart[] = []
  for (const part of message.parts) {
    const { text, media } = encodeResult(part, encoding)
    wire.push({ role: 'tool', tool_call_id: encoding.ids.resultId(part), content: text })
    shown.push(...media)
  }
  addUser(wire, shown, encoding.quirks)
}

interface EncodedResult {
  readonly text: string
  readonly media: readonly WireContentPart[]
}

function encodeResult(result: ResultPart, { quirks }: Encoding): EncodedResult {
  const parts = encodeContent(result.content, quirks)
  const said = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
  const media = parts.filter((part) => part.type !== 'text')
  const pointer = media.length > 0 ? [`[The ${media.length} file(s) of this result are in the next user message.]`] : []
  const words = [...(said === '' ? [] : [said]), ...pointer].join('\n\n')
  // There is no field for a failure, and some servers reject an empty result.
  const prefix = result.isError && !/^error\b/i.test(words) ? 'Error: ' : ''
  const text = words === '' ? (result.isError ? 'Error' : '(no output)') : `${prefix}${words}`
  const title = { type: 'text' as const, text: `Result of ${encodeToolName(result.name)}:` }
  return { text, media: media.length > 0 ? [title, ...media] : [] }
}
