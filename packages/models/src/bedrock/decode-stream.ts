// Decodes ConverseStream events into one neutral answer. Pure: no I/O, no clock. Deltas go to the sink as they arrive;
// `end()` can be called after any event and changes nothing.
import type { JsonObject, JsonValue, ModelAnswer, ModelEvent, FinishReason, Usage } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import type { ToolNames } from '../tool-names.ts'
import type { Block, Piece } from './decode-block.ts'
import { listSources } from '../found-sources.ts'
import {
  applyDelta,
  findSources,
  findStart,
  fitsDelta,
  flushBlock,
  isWhole,
  listParts,
  openBlock,
  readCallName,
  repeatsStart,
} from './decode-block.ts'
import { errorFromException } from './errors.ts'
import { answerTooLong } from '../transport/answer-reader.ts'
import type { AnswerProgress } from '../transport/whole-answer.ts'
import { findTraits } from '../traits/find-traits.ts'
import type { ModelFamily } from '../traits/model-traits.ts'
import type { WireEvent } from './wire.ts'
import { pickReason, readFinishWord, readGivenReason } from '../finish-words.ts'
import { overlayCounts, readCount } from '../json-fields.ts'
import { readGivenArguments } from '../meant-arguments.ts'
import { errorIn } from '../openai-chat/errors.ts'

export interface BedrockDecoderOptions {
  /** The requested model. Provider state is bound to it. */
  readonly model: string
  /** Derived from the model id by default. */
  readonly family?: ModelFamily
  readonly names: Pick<ToolNames, 'decode'>
  readonly sink?: (event: ModelEvent) => void
  /** From the response headers. */
  readonly requestId?: string
  readonly secrets?: readonly string[]
  /** Maximum UTF-16 units kept of an answer: text, reasoning, arguments and unknown content; 8 Mi by default. */
  readonly answerLengthMax?: number | undefined
}

const ANSWER_LENGTH_MAX = 8 * 1024 * 1024

export interface BedrockDecoder {
  push(event: WireEvent): void
  /** The complete answer if the stream ended properly, otherwise the error so far. */
  end(): ModelAnswer | BatonError
  /** Set as soon as the stream cannot become a valid answer. */
  readonly failure: BatonError | undefined
  readonly progress: AnswerProgress
  readonly heard: number
}

export function createBedrockDecoder(options: BedrockDecoderOptions): BedrockDecoder {
  return new StreamDecoder(options)
}

/** Decodes a non-streamed answer from Converse. */
export function decodeBedrockMessage(message: JsonValue, options: BedrockDecoderOptions): ModelAnswer | BatonError {
  const decoder = new StreamDecoder(options)
  if (isJsonObject(message) && message['output'] !== undefined)
    for (const event of listEvents(message)) decoder.push(event)
  else decoder.handleOther(message)
  return decoder.end()
}

class StreamDecoder implements BedrockDecoder {
  failure: BatonError | undefined
  readonly #options: BedrockDecoderOptions
  readonly #sink: (event: ModelEvent) => void
  readonly #hasTags: boolean
  /** Blocks in the order they arrived. */
  readonly #blocks: Block[] = []
  readonly #blockAt = new Map<JsonValue | undefined, Block>()
  #calls = 0
  /** Total UTF-16 units of all blocks. */
  #length = 0
  #stop: JsonObject | undefined
  /** Number of blocks that had begun when the stop reason arrived. */
  #blocksAtStop = 0
  #hasMetadata = false
  /** Whether content followed a stop reason. */
  #hasGoneOn = false
  /** Number of events received. */
  heard = 0
  #usage: JsonObject = {}

  constructor(options: BedrockDecoderOptions) {
    this.#options = options
    this.#sink = options.sink ?? (() => undefined)
    this.#hasTags = (options.family ?? findTraits({ model: options.model }).family).startsWith('nova')
  }

  /** Only `metadata` follows the final stop reason. */
  get progress(): AnswerProgress {
    if (!this.#stop) return 'open'
    if (this.#hasMetadata) return 'whole'
    return this.#hasGoneOn ? 'doubtful' : 'ended'
  }

  push({ type, isException, payload }: WireEvent): void {
    if (this.failure) return
    this.heard += 1
    if (type === 'metadata') this.#hasMetadata = true
    if (type === 'metadata' && !isException) this.#handleMetadata(payload)
    else if (isException || /(?:exception|error)$/i.test(type)) this.#handleException(type, payload)
    else if (isJsonObject(payload)) this.#handleEvent(type, payload)
  }

  /** A JSON body that is no answer. */
  handleOther(body: JsonValue): void {
    const { __type: type, Message: capital } = isJsonObject(body) ? body : {}
    const error = errorIn(body) ?? (typeof capital === 'string' ? { message: capital } : undefined)
    if (error) this.#handleException(typeof type === 'string' ? type : '', error)
    else this.#fail('it is not an answer')
  }

  end(): ModelAnswer | BatonError {
    if (this.failure) return this.failure
    const { requestId, model } = this.#options
    const ids = requestId === undefined ? {} : { requestId }
    if (!this.#stop)
      return new BatonError({
        code: 'model_cut_off',
        message: 'Bedrock’s stream ended before messageStop',
        data: ids,
      })
    const reason = this.#stop['stopReason']
    const hasReason = readGivenReason(reason) !== undefined
    const finish =
      hasReason || !this.#blocks.every(isWhole) ? readFinish(reason) : this.#calls > 0 ? 'tool-calls' : 'end'
    // A call without an end event may lack its last arguments, unless the token limit ended the answer. Other blocks
    // are complete as they are.
    const isCut = finish === 'max-tokens' || finish === 'context-full'
    if (!isCut && this.#blocks.some((block) => block.isOpen && !isWhole(block)))
      return createMalformed('a toolUse block was never closed')
    const options = { ...this.#options, isEndedForCalls: finish === 'tool-calls' }
    return {
      parts: [
        ...this.#blocks.flatMap((block) => listParts(block, options)),
        ...listSources(this.#blocks.flatMap(findSources)),
      ],
      finish,
      usage: readUsage(this.#usage),
      model,
      ...ids,
      ...(finish === 'refusal' && typeof reason === 'string' && { refusal: reason }),
    }
  }

  #handleEvent(type: string, payload: JsonObject): void {
    if (this.#stop && type.startsWith('contentBlock')) this.#hasGoneOn = true
    switch (type) {
      case 'contentBlockDelta':
        this.#handleDelta(payload)
        break
      case 'contentBlockStart':
        this.#handleBlockStart(payload['contentBlockIndex'], payload['start'])
        break
      case 'contentBlockStop':
        this.#handleBlockStop(payload['contentBlockIndex'])
        break
      case 'messageStop':
        this.#handleStop(payload)
        break
      default:
      // `messageStart` carries only the role, and events added by later API versions carry nothing we need.
    }
  }

  #handleBlockStart(index: JsonValue | undefined, start: JsonValue | undefined): void {
    const before = this.#blockAt.get(index)
    const given = isJsonObject(start) ? start : {}
    if (before?.isOpen === true && repeatsStart(before, given)) return
    if (before?.isOpen === true && isWhole(before)) this.#close(before)
    else if (before?.isOpen === true) {
      this.#fail(`block ${JSON.stringify(index)} started twice`)
      return
    }
    const block = this.#open(index, given)
    if (block && typeof given['text'] === 'string') this.#emit(block, applyDelta(block, { text: given['text'] }))
  }

  #open(index: JsonValue | undefined, start: JsonObject): Block | undefined {
    if (!this.#fits(JSON.stringify(start).length)) return undefined
    const block = openBlock({ start, call: this.#calls, hasTags: this.#hasTags })
    this.#blocks.push(block)
    this.#blockAt.set(index, block)
    if (block.kind === 'call') {
      this.#calls++
      this.#sink({ type: 'call-start', index: block.call, name: readCallName(block, this.#options.names) })
    }
    return block
  }

  #handleDelta(payload: JsonObject): void {
    const { contentBlockIndex: index, delta } = payload
    if (!isJsonObject(delta)) return
    const block = this.#findBlock(index, delta)
    if (!block) this.#fail(`a delta names block ${JSON.stringify(index)}, which is not open`)
    else if (this.#fits(countLength(delta))) this.#emit(block, applyDelta(block, delta))
  }

  /** The open block with this index, else the only open one: some gateways number deltas differently from the start. */
  #findBlock(index: JsonValue | undefined, delta: JsonObject): Block | undefined {
    const known = this.#blockAt.get(index)
    if (known?.isOpen === true) return known
    const [only, ...others] = this.#blocks.filter(({ isOpen }) => isOpen)
    const isMoved = delta['toolUse'] !== undefined && (!known || !fitsDelta(known, delta))
    if (only?.kind === 'call' && others.length === 0 && isMoved) return only
    // Blocks of text and of reasoning have no start (recorded).
    const start = findStart(delta)
    return start && this.#open(index, start)
  }

  #handleBlockStop(index: JsonValue | undefined): void {
    const block = this.#blockAt.get(index)
    // A block without a start or a delta is empty.
    if (block?.isOpen === true) this.#close(block)
  }

  #close(block: Block): void {
    block.isOpen = false
    this.#emit(block, flushBlock(block))
    if (block.kind === 'call') this.#sink({ type: 'call-end', index: block.call })
  }

  /**
   * Some gateways send a stop reason before the rest of the answer. It does not end later content, and the last one
   * counts.
   */
  #handleStop(payload: JsonObject): void {
    for (const block of this.#blocks)
      if (block.isOpen && block.kind !== 'call') this.#emit(block, flushBlock(block))
      else if (block.isOpen && isWhole(block)) this.#close(block)
    const before = this.#stop?.['stopReason']
    const goesOn = this.#blocks.length > this.#blocksAtStop
    const stopReason = pickReason(before, payload['stopReason'] ?? before ?? null, { read: readFinish, goesOn })
    this.#stop = { ...payload, stopReason }
    this.#blocksAtStop = this.#blocks.length
  }

  #handleMetadata(payload: JsonValue): void {
    const usage = isJsonObject(payload) ? payload['usage'] : undefined
    if (!isJsonObject(usage)) return
    this.#usage = overlayCounts(this.#usage, usage)
    this.#sink({ type: 'usage', usage: readUsage(this.#usage) })
  }

  #handleException(type: string, payload: JsonValue): void {
    const { requestId, secrets = [] } = this.#options
    this.failure = errorFromException({ type, payload, requestId, secrets })
  }

  #emit(block: Block, pieces: readonly Piece[]): void {
    for (const { type, text } of pieces) {
      if (text === '') continue
      if (type === 'call') this.#sink({ type: 'call-delta', index: block.call, text })
      else this.#sink({ type: type === 'text' ? 'text-delta' : 'reasoning-delta', text })
    }
  }

  /** Counts content before keeping it. Otherwise an endless stream would fill memory, however small its events. */
  #fits(length: number): boolean {
    const most = this.#options.answerLengthMax ?? ANSWER_LENGTH_MAX
    this.#length += length
    if (this.#length <= most) return true
    this.failure = answerTooLong('Bedrock', most)
    return false
  }

  #fail(what: string): void {
    this.failure ??= createMalformed(what)
  }
}

function createMalformed(what: string): BatonError {
  return new BatonError({ code: 'model_malformed_answer', message: `Bedrock’s stream is malformed: ${what}` })
}

function countLength(delta: JsonObject): number {
  return typeof delta['text'] === 'string' ? delta['text'].length : JSON.stringify(delta).length
}

/** Yields the stream events equivalent to a whole message. */
function* listEvents(message: JsonValue): Generator<WireEvent> {
  const event = (type: string, payload: JsonObject): WireEvent => ({ type, isException: false, payload })
  if (!isJsonObject(message)) return
  const output = isJsonObject(message['output']) ? message['output']['message'] : undefined
  const content = isJsonObject(output) ? output['content'] : undefined
  const blocks = Array.isArray(content) ? (content as readonly JsonValue[]) : []
  for (const [contentBlockIndex, block] of blocks.entries()) {
    if (!isJsonObject(block)) continue
    const { start, delta } = splitBlock(block)
    const deltas = listDeltas(block) ?? (delta ? [delta] : [])
    if (start) yield event('contentBlockStart', { contentBlockIndex, start })
    for (const each of deltas) yield event('contentBlockDelta', { contentBlockIndex, delta: each })
    yield event('contentBlockStop', { contentBlockIndex })
  }
  if (message['stopReason'] !== undefined) yield event('messageStop', message)
  yield event('metadata', message)
}

function splitBlock(block: JsonObject): { readonly start?: JsonObject; readonly delta?: JsonObject } {
  const { toolUse, reasoningContent, citationsContent } = block
  if (isJsonObject(citationsContent)) return {}
  if (isJsonObject(toolUse)) {
    const { input, ...start } = toolUse
    return { start: { toolUse: start }, delta: { toolUse: { input: readGivenArguments(input) ?? '{}' } } }
  }
  if (isJsonObject(reasoningContent)) {
    const { reasoningText } = reasoningContent
    return { delta: { reasoningContent: isJsonObject(reasoningText) ? reasoningText : reasoningContent } }
  }
  return typeof block['text'] === 'string' ? { delta: block } : { start: block }
}

/** Splits a text with citations (CitationsContentBlock) into the text and its citations, as in a stream. */
function listDeltas(block: JsonObject): readonly JsonObject[] | undefined {
  const cited = block['citationsContent']
  if (!isJsonObject(cited)) return undefined
  const texts = Array.isArray(cited['content']) ? (cited['content'] as readonly JsonValue[]) : []
  const citations = Array.isArray(cited['citations']) ? (cited['citations'] as readonly JsonValue[]) : []
  return [
    ...texts.flatMap((part) =>
      isJsonObject(part) && typeof part['text'] === 'string' ? [{ text: part['text'] }] : [],
    ),
    ...citations.map((citation) => ({ citation })),
  ]
}

/** StopReason of client-bedrock-runtime 3.1163. Unknown reasons map to `other`. */
const FINISH: Readonly<Record<string, FinishReason>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  tool_use: 'tool-calls',
  max_tokens: 'max-tokens',
  model_context_window_exceeded: 'context-full',
  guardrail_intervened: 'refusal',
  content_filtered: 'refusal',
  malformed_tool_use: 'malformed-call',
  malformed_model_output: 'malformed-call',
}

/** Maps stop reasons and usage to neutral values. */
function readFinish(reason: JsonValue | undefined): FinishReason {
  if (typeof reason !== 'string') return 'other'
  return (Object.hasOwn(FINISH, reason) ? FINISH[reason] : readFinishWord(reason)) ?? 'other'
}

/**
 * `inputTokens` excludes cache reads and writes (recorded: 10 alongside 7351 read; `totalTokens` has both); the neutral
 * count includes both. Reasoning is part of `outputTokens` and not counted separately.
 */
export function readUsage(usage: JsonObject): Usage {
  const input = readCount(usage, 'inputTokens')
  // The longer names are those of 2024, which some gateways still send.
  const cacheRead = readCount(usage, 'cacheReadInputTokens') ?? readCount(usage, 'cacheReadInputTokenCount')
  const cacheWrite = readCount(usage, 'cacheWriteInputTokens') ?? readCount(usage, 'cacheWriteInputTokenCount')
  const output = readCount(usage, 'outputTokens')
  const total = readCount(usage, 'totalTokens')
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  // Some gateways already include the cache in the input, as their total shows.
  const isIn = input !== undefined && total !== undefined && input + cached + (output ?? 0) > total
  return {
    ...(input !== undefined && { inputTokens: isIn && input >= cached ? input : input + cached }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(output !== undefined && { outputTokens: output }),
  }
}
