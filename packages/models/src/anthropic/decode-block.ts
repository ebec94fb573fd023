// One content block of a streaming answer and the neutral part it becomes. Unknown blocks and deltas are kept for the
// log and never throw.
import type { JsonObject, JsonValue, ModelPart, ProviderState } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { FoundSource } from '../found-sources.ts'
import { readSource } from '../found-sources.ts'
import type { ToolNames } from '../tool-names.ts'
import type { MeantArguments } from '../meant-arguments.ts'
import { growCumulative, isEmptyObject, isNothing, readGivenArguments, readMeantArguments } from '../meant-arguments.ts'
import { PROVIDER, isServerCall } from './wire.ts'
import { listObjects } from '../json-fields.ts'

export interface Block {
  readonly type: string
  /** The block as received in `content_block_start`. */
  start: JsonObject
  /** Call number, for `tool_use`. */
  readonly call: number
  isOpen: boolean
  /** Text, thinking or JSON, depending on the block's type. */
  text: string
  /** The latest piece, while each piece starts with the previous one. */
  cumulative: string | undefined
  /** Whether arguments arrived that could not be read. */
  isUnread: boolean
  signature: string
  readonly citations: JsonValue[]
  readonly unknownDeltas: JsonObject[]
}

export function openBlock(start: JsonObject, call: number): Block {
  const type = typeof start['type'] === 'string' ? start['type'] : ''
  const text = start[type === 'thinking' ? 'thinking' : 'text']
  const hasText = (type === 'text' || type === 'thinking') && typeof text === 'string'
  return {
    type,
    start,
    call,
    isOpen: true,
    text: hasText ? text : '',
    cumulative: type === 'tool_use' ? '' : undefined,
    isUnread: false,
    signature: typeof start['signature'] === 'string' ? start['signature'] : '',
    citations: [],
    unknownDeltas: [],
  }
}

/** Applies a delta and returns the text it adds to the block. */
export function applyDelta(block: Block, delta: JsonObject): string {
  const text = textOfDelta(block, delta)
  if (text !== undefined) {
    block.text += text
    block.cumulative = growCumulative(block.cumulative, text)
    return text
  }
  if (delta['type'] === 'signature_delta' && typeof delta['signature'] === 'string')
    block.signature = delta['signature']
  else if (delta['type'] === 'citations_delta' && delta['citation'] !== undefined)
    block.citations.push(delta['citation'])
  else {
    block.unknownDeltas.push(delta)
    if (typeOfDelta(delta) === 'input_json_delta') block.isUnread = true
  }
  return ''
}

/** The type of a delta, by its text if a gateway left the type out. */
export function typeOfDelta(delta: JsonObject): string {
  const { type } = delta
  if (typeof type === 'string') return type
  const [known = ''] = Object.entries(TEXT_OF_TYPE).find(([, field]) => delta[field] !== undefined) ?? []
  return known
}

const TEXT_OF_TYPE: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
}

/** The block that a delta of text or reasoning without a start belongs to; `undefined` for other deltas. */
export function findStart(delta: JsonValue | undefined): JsonObject | undefined {
  const type = isJsonObject(delta) ? typeOfDelta(delta) : ''
  if (type === 'text_delta') return { type: 'text', text: '' }
  return type === 'thinking_delta' ? { type: 'thinking', thinking: '' } : undefined
}

/** Whether a start repeats that of an open call. */
export function repeatsStart({ type, start }: Block, again: JsonObject): boolean {
  return type === 'tool_use' && again['type'] === type && typeof start['id'] === 'string' && start['id'] === again['id']
}

/** Whether deltas of this type carry text of the block, so that adjacent ones can be merged. */
export function takesDelta(block: Block, type: string): boolean {
  return (
    type === 'input_json_delta' ||
    (type === 'text_delta' && block.type === 'text') ||
    (type === 'thinking_delta' && block.type === 'thinking')
  )
}

/** Whether a delta can belong to the block. */
export function fitsDelta({ type }: Block, delta: JsonValue | undefined): boolean {
  const said = isJsonObject(delta) ? typeOfDelta(delta) : ''
  if (said === 'text_delta') return type === 'text'
  if (said === 'thinking_delta') return type === 'thinking'
  return said !== 'input_json_delta' || (type !== 'text' && type !== 'thinking')
}

/**
 * Whether a block is complete even without its end event: text always is, and arguments are once their JSON is closed.
 */
export function isWhole(block: Block): boolean {
  if (block.type !== 'tool_use') return true
  const { text } = readArguments(block, false)
  return !isEmptyObject(text) && parseJson(text).ok
}

/** UTF-16 units that a delta adds to the kept answer. Non-text deltas count the length of their JSON. */
export function lengthOfDelta(block: Block, delta: JsonObject): number {
  return (textOfDelta(block, delta) ?? JSON.stringify(delta)).length
}

function textOfDelta(block: Block, delta: JsonObject): string | undefined {
  const type = typeOfDelta(delta)
  // `server_tool_use` and related blocks stream their input the same way as `tool_use`.
  if (type === 'input_json_delta') return readGivenArguments(delta['partial_json'] ?? delta['input'])
  let text: JsonValue | undefined
  if (type === 'text_delta' && block.type === 'text') text = delta['text']
  else if (type === 'thinking_delta' && block.type === 'thinking') text = delta['thinking']
  return typeof text === 'string' ? text : undefined
}

export interface PartOptions {
  readonly model: string
  readonly names: Pick<ToolNames, 'decode'>
  /** Whether the answer ended with a reason that lets its calls run. */
  readonly isEndedForCalls: boolean
  /** Ids of Anthropic's server tool calls that have a result in this answer. */
  readonly answered: ReadonlySet<JsonValue | undefined>
}

/** Returns `undefined` for an empty block, since requests must not contain empty text. */
export function readPart(block: Block, options: PartOptions): ModelPart | undefined {
  switch (block.type) {
    case 'text':
      return textPart(block, options.model)
    case 'thinking':
      return {
        type: 'reasoning',
        text: block.text,
        state: buildState(options.model, { ...rest(block, ['type', 'thinking']), signature: block.signature }),
      }
    case 'tool_use': {
      const { text, repair } = readArguments(block, options.isEndedForCalls)
      return {
        type: 'call',
        name: readCallName(block, options.names),
        arguments: text,
        ...(repair !== undefined && { repairs: [repair] }),
        // `id` and any other fields of the block (such as `caller`, for programmatic calls) go back with it.
        state: buildState(options.model, rest(block, ['type', 'name', 'input'])),
      }
    }
    default:
      return { type: 'provider', state: buildState(options.model, providerData(block, options)) }
  }
}

/**
 * Sources cited by a text block. web_search_result_location and search_result_location have an address; locations in
 * documents have a title (https://platform.claude.com/docs/en/build-with-claude/citations).
 */
export function findSources(block: Block): readonly FoundSource[] {
  if (block.type !== 'text') return []
  return listCitations(block).map((one) =>
    readSource({
      url: one['url'] ?? one['source'],
      title: one['title'] ?? one['document_title'],
      quote: one['cited_text'],
    }),
  )
}

function listCitations(block: Block): readonly JsonObject[] {
  return listObjects(block.citations.length > 0 ? block.citations : block.start['citations'])
}

/** The tool name as its author wrote it; empty if the provider omitted it. */
export function readCallName(block: Block, names: Pick<ToolNames, 'decode'>): string {
  const wire = block.start['name']
  return typeof wire === 'string' ? names.decode(wire) : ''
}

function textPart(block: Block, model: string): ModelPart | undefined {
  const data = rest(block, ['type', 'text', 'citations'])
  const citations = block.citations.length > 0 ? block.citations : (block.start['citations'] ?? [])
  const hasCitations = Array.isArray(citations) && citations.length > 0
  if (!hasCitations && Object.keys(data).length === 0)
    return block.text === '' ? undefined : { type: 'text', text: block.text }
  return { type: 'text', text: block.text, state: buildState(model, hasCitations ? { ...data, citations } : data) }
}

/** `cut` marks a server tool call that will never get a result because the answer hit a limit. */
function providerData(block: Block, { isEndedForCalls, answered }: PartOptions): JsonObject {
  const parsed = block.text === '' ? undefined : parseJson(block.text)
  const input = parsed?.ok === true ? { input: parsed.value } : {}
  const isCut = isServerCall(block.type) && !isEndedForCalls && !answered.has(block.start['id'])
  return { block: { ...block.start, ...input }, ...(isCut && { cut: true }), ...unknown(block) }
}

/** State of the whole answer: the container in which Anthropic's server tools ran. */
export function readAnswerState(container: JsonObject | undefined, model: string): readonly ModelPart[] {
  return container ? [{ type: 'provider', state: buildState(model, { container }) }] : []
}

/** A container with its id; some gateways send the id alone. */
export function readContainer(given: JsonValue | undefined): JsonObject | undefined {
  if (typeof given === 'string') return given === '' ? undefined : { id: given }
  return isJsonObject(given) && typeof given['id'] === 'string' ? given : undefined
}

/**
 * Anthropic sends `input: {}` followed by JSON pieces, or only an empty piece if there are no arguments; some calls
 * arrive whole. If no piece arrived and the answer did not end for calls, the arguments are lost.
 */
function readArguments(block: Block, isEndedForCalls: boolean): MeantArguments {
  const { input } = block.start
  const given = typeof input === 'object' && input !== null ? input : {}
  const isGiven = Object.keys(given).length > 0
  // Some gateways send the whole input at the start and an empty object behind it.
  if (isGiven && isNothing(block.text)) return { text: JSON.stringify(given) }
  if (block.text !== '') return readMeantArguments(block)
  if (typeof input === 'string') return readMeantArguments({ text: input })
  // An empty object; in PHP an empty list.
  return { text: isEndedForCalls && input === given && !block.isUnread ? '{}' : '' }
}

function rest(block: Block, known: readonly string[]): JsonObject {
  const others: Record<string, JsonValue> = {}
  for (const name of Object.keys(block.start)) {
    const value = block.start[name]
    // Assigning `__proto__` would set the prototype.
    if (value !== undefined && name !== '__proto__' && !known.includes(name)) others[name] = value
  }
  if (block.unknownDeltas.length > 0) others['unknownDeltas'] = block.unknownDeltas
  return others
}

function unknown(block: Block): JsonObject {
  return block.unknownDeltas.length > 0 ? { unknownDeltas: block.unknownDeltas } : {}
}

function buildState(model: string, data: JsonValue): ProviderState {
  return { provider: PROVIDER, model, data }
}
