// Encodes neutral messages as Anthropic messages: two alternating roles, with tool results first in the message after
// their calls.
import type { AssistantMessage, AssistantPart, CallPart, JsonObject, ResultPart } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { HistoryEncoder } from '../histories.ts'
import { createTakingTurns } from '../taking-turns.ts'
import { encodeToolName } from '../tool-names.ts'
import { encodeContent, encodeResult } from './encode-content.ts'
import type { ServerCalls } from './server-calls.ts'
import { createServerCalls } from './server-calls.ts'
import type { WireBlock, WireMessage } from './wire.ts'
import { PROVIDER, isReplayable, modelFamily } from './wire.ts'

/**
 * Prepended to a history that does not start with a user message: the API rejects one ("first message must use the
 * `user` role").
 */
const FIRST_USER: WireMessage = { role: 'user', content: [{ type: 'text', text: '(The conversation begins.)' }] }

const GO_ON: WireMessage = { role: 'user', content: [{ type: 'text', text: '(Go on.)' }] }

export interface MessageEncoding {
  readonly model: string
  /**
   * False in a request without thinking: 400 "When thinking is disabled, an `assistant` message in the final position
   * cannot contain `thinking`" (tailcallhq/forgecode#1853).
   */
  readonly keepThinking: boolean
  /** False for models that do not support prefilling: the model is asked in words to continue. True by default. */
  readonly prefill?: boolean
}

export function createMessageEncoder(options: MessageEncoding): HistoryEncoder<WireMessage> {
  const encoding = chooseEncoding(options)
  const { ids } = encoding
  const serverCalls = createServerCalls()
  const turns = createTakingTurns<WireMessage['role'], WireBlock, WireMessage>((role, blocks) =>
    finishMessage(role, role === 'assistant' ? serverCalls.finish(blocks) : blocks),
  )
  return {
    add(message) {
      if (message.role === 'assistant') {
        if (readContainerId(message) !== undefined) serverCalls.knowContainer()
        turns.say('assistant', serverCalls.take(encodeAssistant(message, encoding)))
      } else if (message.role === 'user') {
        serverCalls.endTurn()
        turns.say('user', encodeContent(message.parts))
      } else
        turns.say(
          'user',
          message.parts.map((part) => encodeResult(part, ids.resultId(part))),
        )
    },
    wire: () => asRequest(settleServerCalls(turns.wire(), serverCalls), options.prefill ?? true),
  }
}

/** A call may be dropped long after its message was encoded. Messages that do not change keep their identity. */
function settleServerCalls(messages: readonly WireMessage[], serverCalls: ServerCalls): readonly WireMessage[] {
  if (!serverCalls.isUsed()) return messages
  const last = messages.at(-1)
  const settle = last?.role === 'assistant' ? serverCalls.settlePaused(last) : serverCalls.settle
  return messages.flatMap((message) => {
    if (message.role === 'user') return message
    const content = settle(message.content)
    return content === message.content ? message : (finishMessage('assistant', content) ?? [])
  })
}

/** Id of the container in which Anthropic's server tools ran for this answer. */
export function readContainerId({ parts }: AssistantMessage): string | undefined {
  for (const part of parts) {
    const data = part.type === 'provider' && part.state.provider === PROVIDER ? part.state.data : undefined
    const container = isJsonObject(data) ? data['container'] : undefined
    if (isJsonObject(container) && typeof container['id'] === 'string') return container['id']
  }
  return undefined
}

/** The blocks of an assistant message, as sent back to the provider. */
export function encodeAssistantParts(parts: readonly AssistantPart[], options: MessageEncoding): readonly WireBlock[] {
  return encodeAssistant({ role: 'assistant', parts }, chooseEncoding(options))
}

interface Encoding extends MessageEncoding {
  readonly family: string
  readonly ids: CallIds
}

function chooseEncoding(options: MessageEncoding): Encoding {
  return { ...options, family: modelFamily(options.model), ids: createCallIds() }
}

function encodeAssistant(message: AssistantMessage, given: Encoding): readonly WireBlock[] {
  // Newer models bind a signature to the preceding history: 400 "The block is bound to a different conversation"
  // (anomalyco/opencode#48637). Thinking of answers whose history was shortened or edited is not sent.
  const encoding = message.rebased ? { ...given, keepThinking: false } : given
  return message.parts.map((part) => encodePart(part, encoding)).filter((block) => block !== undefined)
}

function encodePart(part: AssistantPart, { family, ids, keepThinking }: Encoding): WireBlock | undefined {
  if (part.type === 'source') return undefined
  const state = part.state?.provider === PROVIDER ? part.state : undefined
  const data = isJsonObject(state?.data) ? withoutUnknown(state.data) : {}
  // Signatures are valid only for the model that made them: 400 "Invalid `signature` in `thinking` block".
  const mayThink = keepThinking && state !== undefined && modelFamily(state.model) === family
  switch (part.type) {
    case 'text':
      // Blank blocks: 400 "text content blocks must contain non-whitespace text".
      return part.text.trim() === '' ? undefined : { ...data, type: 'text', text: part.text }
    case 'reasoning': {
      const signature = data['signature']
      if (!mayThink || typeof signature !== 'string' || signature === '') return undefined
      return { ...data, type: 'thinking', thinking: part.text }
    }
    case 'call':
      return {
        ...data,
        type: 'tool_use',
        id: ids.callId(part),
        name: encodeToolName(part.name),
        input: readInput(part),
      }
    case 'provider':
      return providerBlock(data, mayThink)
  }
}

function providerBlock(data: JsonObject, mayThink: boolean): WireBlock | undefined {
  const block = data['block']
  const type = isJsonObject(block) ? block['type'] : undefined
  if (!isJsonObject(block) || typeof type !== 'string' || !isReplayable(type) || data['cut'] === true) return undefined
  return type === 'redacted_thinking' && !mayThink ? undefined : { ...block, type }
}

function withoutUnknown(data: JsonObject): JsonObject {
  const { unknownDeltas, ...known } = data
  return unknownDeltas === undefined ? data : known
}

/** The API accepts only objects. Unparseable arguments go back empty; the call's result explains why. */
function readInput(call: CallPart): JsonObject {
  const parsed = parseJson(call.arguments)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
}

/** Returns `undefined` if no content is left: 400 "all messages must have non-empty content". */
function finishMessage(role: WireMessage['role'], blocks: readonly WireBlock[]): WireMessage | undefined {
  const content = role === 'user' ? resultsFirst(blocks) : withoutLastThoughts(blocks)
  return content.length === 0 ? undefined : { role, content }
}

/** 400 "`tool_use` ids were found without `tool_result` blocks immediately after". */
function resultsFirst(content: readonly WireBlock[]): readonly WireBlock[] {
  const isResult = (block: WireBlock) => block.type === 'tool_result'
  return [...content.filter(isResult), ...content.filter((block) => !isResult(block))]
}

/**
 * 400 "The final block in an assistant message cannot be `thinking`": happens when the output limit stops the model
 * while it is thinking.
 */
function withoutLastThoughts(content: readonly WireBlock[]): readonly WireBlock[] {
  const end = content.findLastIndex((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking')
  return content.slice(0, end + 1)
}

/** Ensures a valid first and last message. */
function asRequest(messages: readonly WireMessage[], prefill: boolean): readonly WireMessage[] {
  const legal = messages[0]?.role === 'user' ? messages : [FIRST_USER, ...messages]
  const last = legal.at(-1)
  const block = last?.content.at(-1)
  // 400 "final assistant content cannot end with trailing whitespace". An answer that the API paused (`pause_turn`)
  // ends with a server tool block and goes back as is.
  if (!prefill && last?.role === 'assistant' && (block?.type === 'text' || block?.type === 'tool_use'))
    return [...legal, GO_ON]
  if (last?.role !== 'assistant' || block?.type !== 'text' || typeof block['text'] !== 'string') return legal
  const trimmed = { ...block, text: block['text'].trimEnd() }
  return legal.with(-1, { ...last, content: last.content.with(-1, trimmed) })
}

interface CallIds {
  callId(call: CallPart): string
  resultId(result: ResultPart): string
}

/** 400 "String should match pattern '^[a-zA-Z0-9_-]+$'"; 64 characters at most. */
const LEGAL_ID = /^[a-zA-Z0-9_-]{1,64}$/

/**
 * Wire ids of one request: Anthropic's own id if the call came from Anthropic, otherwise Baton's id made valid. Each is
 * unique.
 */
function createCallIds(): CallIds {
  const wireIds = new Map<string, string>()
  const taken = new Set<string>()
  const assign = (callId: string, wish: string): string => {
    const legal = LEGAL_ID.test(wish) ? wish : `call_${wish.replace(/[^a-zA-Z0-9_-]/g, '_')}`.slice(0, 56)
    let id = legal
    for (let count = 2; taken.has(id); count++) id = `${legal.slice(0, 56)}_${count}`
    taken.add(id)
    wireIds.set(callId, id)
    return id
  }
  return {
    callId(call) {
      const data = call.state?.provider === PROVIDER ? call.state.data : undefined
      const own = isJsonObject(data) && typeof data['id'] === 'string' ? data['id'] : call.callId
      return assign(call.callId, own)
    },
    resultId: (result) => wireIds.get(result.callId) ?? assign(result.callId, result.callId),
  }
}
