// Encodes neutral messages as Converse messages: two alternating roles, with tool results in the message after their
// calls.
import type { AssistantMessage, AssistantPart, CallPart, JsonObject, Message, ResultPart } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { CallIds } from '../openai-chat/call-ids.ts'
import { createCallIds } from '../openai-chat/call-ids.ts'
import type { HistoryEncoder } from '../histories.ts'
import { createTakingTurns } from '../taking-turns.ts'
import { encodeToolName } from '../tool-names.ts'
import type { Documents } from './encode-content.ts'
import { createDocuments, encodeContent, encodeText, textBlock } from './encode-content.ts'
import { flattenMessage } from './flatten-history.ts'
import { dropRegion } from '../traits/find-traits.ts'
import type { ModelFamily } from '../traits/model-traits.ts'
import type { WireBlock, WireMessage } from './wire.ts'
import { PROVIDER } from './wire.ts'

/** Prepended to a history that does not start with a user message: "A conversation must start with a user message." */
const FIRST_USER: WireMessage = { role: 'user', content: [{ text: '(The conversation begins.)' }] }
/** A message with a document must also have text (API_runtime_DocumentBlock). */
const BESIDE_DOCUMENT_TEXT = '(A document.)'

export interface MessageEncoding {
  readonly model: string
  readonly family: ModelFamily
  /** False in a request without thinking, where Claude rejects earlier thinking. */
  readonly keepThinking: boolean
  /** Whether to send calls and results as text; see flatten-history.ts. */
  readonly isFlat: boolean
  /** Number of leading documents to leave out. */
  readonly documentsLeftOut: number
}

interface Encoding extends MessageEncoding {
  readonly ids: CallIds
  readonly documents: Documents
}

export function createMessageEncoder(options: MessageEncoding): HistoryEncoder<WireMessage> {
  const encoding: Encoding = {
    ...options,
    // Mistral accepts only ids of nine letters and digits, on Bedrock too.
    ids: createCallIds(PROVIDER, options.family === 'mistral' ? 'mistral' : 'responses'),
    documents: createDocuments(options.documentsLeftOut),
  }
  const turns = createTakingTurns<WireMessage['role'], WireBlock, WireMessage>(finishMessage)
  return {
    add: (given) => {
      const message = options.isFlat ? flattenMessage(given) : given
      turns.say(message.role === 'assistant' ? 'assistant' : 'user', encodeMessage(message, encoding))
    },
    wire: () => asRequest(turns.wire()),
  }
}

function encodeMessage(message: Message, encoding: Encoding): readonly WireBlock[] {
  if (message.role === 'user') return encodeContent(message.parts, encoding.documents)
  if (message.role === 'tool') return message.parts.map((part) => encodeResult(part, encoding))
  return encodeAssistant(message, encoding)
}

/** Only Claude and Nova accept `status` and non-text results (API_runtime_ToolResultBlock). */
function encodeResult(part: ResultPart, { family, ids, documents }: Encoding): WireBlock {
  const { isError } = part
  const hasStatus = family === 'claude' || family === 'nova' || family === 'nova-2'
  const said = isError || !hasStatus ? encodeText(part.content) : encodeContent(part.content, documents)
  const prefix = isError && !hasStatus ? [{ text: 'The tool failed:' }] : []
  const content = said.length > 0 ? said : [{ text: isError ? 'error' : '(nothing)' }]
  return {
    toolResult: {
      toolUseId: ids.resultId(part),
      content: [...prefix, ...content],
      ...(hasStatus && { status: isError ? 'error' : 'success' }),
    },
  }
}

function encodeAssistant(message: AssistantMessage, given: Encoding): readonly WireBlock[] {
  // Newer Claude models bind a signature to the preceding history, so thinking of answers whose history changed is not
  // sent.
  const encoding = message.rebased ? { ...given, keepThinking: false } : given
  const blocks = message.parts.map((part) => encodePart(part, encoding)).filter((block) => block !== undefined)
  return endProperly(blocks)
}

function encodePart(part: AssistantPart, encoding: Encoding): WireBlock | undefined {
  if (part.type === 'source') return undefined
  const state = part.state?.provider === PROVIDER ? part.state : undefined
  const data = isJsonObject(state?.data) ? state.data : {}
  const isOwn = state !== undefined && dropRegion(state.model) === dropRegion(encoding.model)
  switch (part.type) {
    case 'text':
      return textBlock(part.text)
    case 'reasoning':
      return isOwn ? encodeReasoning(part.text, data, encoding.keepThinking) : undefined
    case 'call':
      return {
        toolUse: {
          toolUseId: encoding.ids.callId(part),
          name: encodeToolName(part.name),
          input: readInput(part),
        },
      }
    case 'provider': {
      // Bedrock's server tools and their results are kept for the log only; the model's text already reflects them.
      const redacted = data['redactedContent']
      const mayGo = isOwn && encoding.keepThinking && typeof redacted === 'string'
      return mayGo ? { reasoningContent: { redactedContent: redacted } } : undefined
    }
  }
}

/** Nova's thinking goes back in its tags. Unsigned thinking of other models is not sent: some repeat it aloud. */
function encodeReasoning(text: string, data: JsonObject, keepThinking: boolean): WireBlock | undefined {
  if (data['tag'] === 'thinking') return { text: `<thinking>${text}</thinking>\n` }
  const { signature } = data
  if (!keepThinking || typeof signature !== 'string' || signature === '') return undefined
  return { reasoningContent: { reasoningText: { text, signature } } }
}

/**
 * "The format of the value at … toolUse.input is invalid. Provide a json object": unparseable arguments go back empty.
 */
function readInput(call: CallPart): JsonObject {
  const parsed = parseJson(call.arguments)
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
}

/** Claude: "The final block in an assistant message cannot be `thinking`". */
function endProperly(blocks: readonly WireBlock[]): readonly WireBlock[] {
  return blocks.slice(0, blocks.findLastIndex((block) => block['reasoningContent'] === undefined) + 1)
}

function finishMessage(role: WireMessage['role'], blocks: readonly WireBlock[]): WireMessage {
  return { role, content: role === 'user' ? withTextBeside(resultsFirst(blocks)) : [...blocks] }
}

/** Ensures a valid first and last message. */
function asRequest(messages: readonly WireMessage[]): readonly WireMessage[] {
  const legal = messages[0]?.role === 'user' ? messages : [FIRST_USER, ...messages]
  const last = legal.at(-1)
  return last?.role === 'assistant' ? legal.with(-1, { ...last, content: trimmedEnd(last.content) }) : legal
}

function resultsFirst(content: readonly WireBlock[]): readonly WireBlock[] {
  const isResult = (block: WireBlock) => block['toolResult'] !== undefined
  return [...content.filter(isResult), ...content.filter((block) => !isResult(block))]
}

function withTextBeside(content: readonly WireBlock[]): readonly WireBlock[] {
  const has = (key: string) => content.some((block) => block[key] !== undefined)
  return has('document') && !has('text') ? [...content, { text: BESIDE_DOCUMENT_TEXT }] : content
}

/** Claude: "final assistant content cannot end with trailing whitespace". */
function trimmedEnd(content: readonly WireBlock[]): readonly WireBlock[] {
  const text = content.at(-1)?.['text']
  return typeof text === 'string' ? [...content.slice(0, -1), { text: text.trimEnd() }] : content
}
