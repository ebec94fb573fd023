// Decodes Anthropic's event stream into one neutral answer. Pure: no I/O, no clock. Deltas go to the sink as they
// arrive; `end()` can be called after any event and changes nothing.
import type {
  JsonObject,
  JsonValue,
  ModelAnswer,
  ModelEvent,
  ModelPart,
  FinishReason,
  Usage,
} from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import type { ToolNames } from '../tool-names.ts'
import type { FoundSource } from '../found-sources.ts'
import { listSources } from '../found-sources.ts'
import { answerTooLong } from '../transport/answer-reader.ts'
import { redact } from '../transport/redact.ts'
import type { ReadAhead, SseEvent } from '../transport/sse.ts'
import type { AnswerProgress } from '../transport/whole-answer.ts'
import type { Block } from './decode-block.ts'
import {
  applyDelta,
  findSources,
  findStart,
  fitsDelta,
  isWhole,
  readAnswerState,
  readContainer,
  readCallName,
  lengthOfDelta,
  openBlock,
  readPart,
  repeatsStart,
  takesDelta,
} from './decode-block.ts'
import { errorFromEvent } from './errors.ts'
import { PieceReader } from './read-pieces.ts'
import type { WireEvent } from './wire.ts'
import { isServerCall, isServerResult } from './wire.ts'
import { readUsage as readChatUsage } from '../openai-chat/decode-end.ts'
import { errorIn } from '../openai-chat/errors.ts'
import type { TaggedPiece } from '../openai-chat/think-tags.ts'
import { splitThoughts, ThinkTags } from '../openai-chat/think-tags.ts'
import { pickReason, readFinishWord, readGivenReason } from '../finish-words.ts'
import { asList, overlayCounts, readCount } from '../json-fields.ts'
import { parseWireJson } from '../transport/wire-json.ts'

export interface AnthropicDecoderOptions {
  /** The requested model. Provider state is bound to it. */
  readonly model: string
  readonly names: Pick<ToolNames, 'decode'>
  readonly sink?: (event: ModelEvent) => void
  /** From the response headers. */
  readonly requestId?: string
  readonly secrets?: readonly string[]
  /** Whether text between `<think>` and `</think>` at the start is reasoning; false by default. */
  readonly thinkTags?: boolean
  /** Maximum UTF-16 units kept of an answer: text, reasoning, arguments and unknown content; 8 Mi by default. */
  readonly answerLengthMax?: number | undefined
}

const ANSWER_LENGTH_MAX = 8 * 1024 * 1024

export interface AnthropicDecoder {
  push(event: SseEvent): void
  /** Most events carry a piece of text and arrive in bursts, so adjacent ones are read as one. */
  readonly readAhead: ReadAhead
  /** The complete answer if the stream ended properly, otherwise the error so far. */
  end(): ModelAnswer | BatonError
  /** Set as soon as the stream cannot become a valid answer. */
  readonly failure: BatonError | undefined
  readonly progress: AnswerProgress
  readonly heard: number
}

export function createAnthropicDecoder(options: AnthropicDecoderOptions): AnthropicDecoder {
  return new StreamDecoder(options)
}

/** Decodes a non-streamed answer (`stream: false`, or a proxy that does not stream). */
export function decodeAnthropicMessage(message: JsonValue, options: AnthropicDecoderOptions): ModelAnswer | BatonError {
  const decoder = new StreamDecoder(options)
  decoder.handleWhole(message)
  return decoder.end()
}

class StreamDecoder implements AnthropicDecoder {
  failure: BatonError | undefined
  readonly #options: AnthropicDecoderOptions
  readonly #sink: (event: ModelEvent) => void
  /** Blocks in the order they began. */
  readonly #blocks: Block[] = []
  /** The latest block for each `index`. Gateways skip indexes, start at 1 and reuse them. */
  readonly #blockAt = new Map<JsonValue | undefined, Block>()
  #open = 0
  /** Whether a piece arrived under a different index than its block's start event. */
  #isShifted = false
  /** Number of events other than pings. */
  heard = 0
  /** Names of Anthropic's server tool calls by call id. */
  readonly #serverTools = new Map<string, string>()
  readonly #answered = new Set<JsonValue | undefined>()
  readonly #tags: ThinkTags | undefined
  /** The first text, which may begin with thoughts between tags. */
  #tagged: Block | undefined
  #calls = 0
  /** Total UTF-16 units of all blocks. */
  #length = 0
  #started: JsonObject | undefined
  #stop: JsonObject = {}
  #usage: JsonObject = {}
  /** The container in which Anthropic's server tools ran. */
  #container: JsonObject | undefined
  /** Number of blocks that had begun when the stop reason arrived. */
  #blocksAtReason = 0
  /** Whether a `message_delta`, which carries the stop reason, has arrived. */
  #hasDelta = false
  #isComplete = false

  constructor(options: AnthropicDecoderOptions) {
    this.#options = options
    this.#sink = options.sink ?? (() => undefined)
    if (options.thinkTags === true) this.#tags = new ThinkTags()
  }

  push(event: SseEvent): void {
    if (event.event === 'ping' || this.#isComplete || event.data.trim() === '') return
    // Chat Completions gateways send this after, or instead of, `message_stop`.
    if (event.data.trim() === '[DONE]') {
      // Gateways also send it when their upstream provider broke off.
      if (this.#hasDelta) this.handleEvent({ type: 'message_stop' })
      return
    }
    const parsed = parseEvent(event.data)
    if (parsed === undefined && event.event === 'error') this.handleEvent({ type: 'error', error: event.data })
    // Redact before truncating: half a key is still too much.
    else if (parsed === undefined)
      this.#fail(`an event is not JSON: ${redact(event.data, this.#options.secrets ?? []).slice(0, 80)}`)
    if (!isJsonObject(parsed)) return
    const isNamed = typeof parsed['type'] === 'string' || event.event === undefined
    this.handleEvent(isNamed ? parsed : { ...parsed, type: event.event }, event.data.length)
  }

  readonly #pieces = new PieceReader((index, type) => {
    const block = this.#blockAt.get(index)
    return block?.isOpen === true && takesDelta(block, type)
  })

  readonly readAhead: ReadAhead = (text, at) => {
    const pieces = this.#pieces
    pieces.begin(text, at)
    for (let piece = pieces.next(); piece; piece = pieces.next()) this.handleEvent(piece)
    return pieces.end
  }

  /** `length` is the length of the event's JSON, if known. */
  handleEvent(event: WireEvent, length?: number): void {
    // Ignore events after the end, and keep the first failure.
    if (this.failure || this.#isComplete) return
    if (event.type !== 'ping') this.heard += 1
    switch (event.type) {
      case 'content_block_delta':
        this.#handleDelta(event)
        break
      case 'content_block_start':
        this.#handleBlockStart(event.index, event.content_block, length)
        break
      case 'content_block_stop':
        this.#handleBlockStop(event.index)
        break
      case 'message_start':
        this.#handleStart(event.message)
        break
      case 'message_delta':
        this.#handleMessageDelta(event)
        break
      case 'message_stop':
        this.#takeReason(event.stop_reason)
        this.#handleStop()
        break
      // Some gateways send the whole answer as one event.
      case 'message':
        this.handleWhole(event as JsonObject)
        break
      case 'error':
        this.#handleError(event as JsonObject)
        break
      default:
        // `ping` and events added by later API versions carry nothing we need.
        if (typeof event.type !== 'string' && errorIn(event as JsonObject)) this.#handleError(event as JsonObject)
    }
  }

  handleWhole(message: JsonValue): void {
    const isMessage = isJsonObject(message) && message['content'] !== undefined && message['type'] !== 'error'
    if (isMessage) {
      this.#handleStart(message)
      this.#handleStop()
    } else if (isJsonObject(message) && (message['type'] === 'error' || errorIn(message))) this.#handleError(message)
    else this.#fail('it is not a message')
  }

  #handleError(event: JsonObject): void {
    const { request_id: id } = event
    const requestId = typeof id === 'string' ? id : this.#options.requestId
    this.failure ??= errorFromEvent(event, requestId, this.#options.secrets ?? [])
  }

  /** Without `message_stop`, an answer has ended once it has a known stop reason and all its blocks are closed. */
  get progress(): AnswerProgress {
    if (this.#isComplete) return 'whole'
    const hasReason = this.#hasDelta && readFinish(this.#stop['stop_reason']) !== 'other'
    return hasReason && this.#open === 0 ? 'ended' : 'open'
  }

  end(): ModelAnswer | BatonError {
    if (this.failure) return this.failure
    const message = this.#started
    if (this.progress === 'open' || !message)
      return new BatonError({
        code: 'model_cut_off',
        message: `Anthropic’s stream ended before ${message ? 'message_stop' : 'message_start'}`,
        ...(this.#options.requestId !== undefined && { data: { requestId: this.#options.requestId } }),
      })
    const refusal = isJsonObject(this.#stop['stop_details']) ? this.#stop['stop_details']['category'] : undefined
    const finish = this.#readEnd()
    const answer: { -readonly [Field in keyof ModelAnswer]: ModelAnswer[Field] } = {
      parts: this.#readParts(),
      finish,
      usage: readUsage(this.#usage),
      model: typeof message['model'] === 'string' ? message['model'] : this.#options.model,
    }
    if (this.#options.requestId !== undefined) answer.requestId = this.#options.requestId
    if (finish === 'refusal' && typeof refusal === 'string') answer.refusal = refusal
    return answer
  }

  /** A complete answer without a reason ended as its blocks say, if all its calls are whole. */
  #readEnd(): FinishReason {
    const { stop_reason: reason } = this.#stop
    if (readGivenReason(reason) !== undefined || !this.#isComplete || this.#blocks.length === 0)
      return readFinish(reason)
    if (!this.#blocks.every(isWhole)) return 'other'
    return this.#calls > 0 ? 'tool-calls' : 'end'
  }

  #readParts(): readonly ModelPart[] {
    const parts: ModelPart[] = []
    const finish = this.#readEnd()
    const options = {
      ...this.#options,
      isEndedForCalls: finish === 'tool-calls' || finish === 'pause',
      answered: this.#answered,
    }
    const sources: FoundSource[] = []
    for (const block of this.#blocks) {
      const part = readPart(block, options)
      if (part && block === this.#tagged) parts.push(...splitPart(part, parts))
      else if (part) parts.push(part)
      if (block.type === 'text') sources.push(...findSources(block))
    }
    if (sources.length > 0) parts.push(...listSources(sources))
    parts.push(...readAnswerState(this.#container, this.#options.model))
    return parts
  }

  #handleStart(message: JsonValue | undefined): void {
    if (!isJsonObject(message)) return
    if (this.#started) {
      // Proxies have been seen to send the same start twice, which is harmless, and to splice in a second answer, which
      // is not.
      const isRepeated = this.#blocks.length === 0 && message['id'] === this.#started['id']
      if (!isRepeated) this.#fail('a second message_start came before message_stop')
      return
    }
    this.#started = message
    this.#stop = message
    this.#takeUsage(message['usage'])
    this.#container = readContainer(message['container'])
    // Answers to programmatic tool calls carry their blocks only here (recorded).
    const { content } = message
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : asList(content)
    for (const [index, block] of blocks.entries()) {
      this.#handleBlockStart(index, block)
      this.#handleBlockStop(index)
    }
  }

  #handleBlockStart(index: JsonValue | undefined, start: JsonValue | undefined, length?: number): void {
    if (!isJsonObject(start)) {
      this.#fail(`content_block_start ${JSON.stringify(index)} has no block, after ${this.#blocks.length} blocks`)
      return
    }
    // Some gateways leave message_start out.
    this.#started ??= {}
    const before = this.#blockAt.get(index)
    if (before?.isOpen === true && repeatsStart(before, start)) {
      before.start = overlay(before.start, start)
      return
    }
    if (before?.isOpen === true && isWhole(before)) this.#close(before)
    else if (before?.isOpen === true) {
      this.#fail(`content_block_start ${JSON.stringify(index)} came before the open block with this index ended`)
      return
    }
    if (!this.#fits(length ?? JSON.stringify(start).length)) return
    const block = openBlock(start, this.#calls)
    this.#blocks.push(block)
    this.#blockAt.set(index, block)
    this.#open += 1
    if (block.type === 'text' && this.#tags) this.#tagged ??= block
    if (block.type === 'tool_use') {
      this.#calls++
      this.#sink({ type: 'call-start', index: block.call, name: readCallName(block, this.#options.names) })
    } else if (block.text !== '') this.#emitText(block, block.text)
    this.#tellServerTool(block)
  }

  /** Reports `server_tool_use`, `mcp_tool_use` and their results, which name the call they belong to. */
  #tellServerTool({ type, start }: Block): void {
    if (isServerCall(type)) {
      const { id, name } = start
      if (typeof id !== 'string' || typeof name !== 'string') return
      this.#serverTools.set(id, name)
      this.#sink({ type: 'server-tool', name, status: 'started' })
    } else if (isServerResult(type) && typeof start['tool_use_id'] === 'string') {
      this.#answered.add(start['tool_use_id'])
      const name = this.#serverTools.get(start['tool_use_id'])
      if (name !== undefined) this.#sink({ type: 'server-tool', name, status: 'finished' })
    }
  }

  #handleDelta(event: WireEvent): void {
    const { delta } = event
    const block = this.#openBlockAt(event.index, delta)
    if (!block) return
    if (!isJsonObject(delta) || !this.#fits(lengthOfDelta(block, delta))) return
    const text = applyDelta(block, delta)
    if (text !== '') this.#emitText(block, text)
  }

  #emitText(block: Block, text: string): void {
    if (block === this.#tagged) this.#emitTagged(this.#tags?.push(text) ?? [])
    else if (block.type === 'text') this.#sink({ type: 'text-delta', text })
    else if (block.type === 'thinking') this.#sink({ type: 'reasoning-delta', text })
    else if (block.type === 'tool_use') this.#sink({ type: 'call-delta', index: block.call, text })
  }

  #emitTagged(pieces: readonly TaggedPiece[]): void {
    for (const { type, text } of pieces) this.#sink({ type: type === 'text' ? 'text-delta' : 'reasoning-delta', text })
  }

  #handleBlockStop(index: JsonValue | undefined): void {
    // Some providers send a block's end twice.
    if (this.#blockAt.get(index)?.isOpen === false && !this.#isShifted) return
    const block = this.#openBlockAt(index)
    if (block) this.#close(block)
  }

  #close(block: Block): void {
    block.isOpen = false
    this.#open -= 1
    if (block.type === 'tool_use') this.#sink({ type: 'call-end', index: block.call })
    if (block === this.#tagged) this.#emitTagged(this.#tags?.flush() ?? [])
  }

  #handleMessageDelta(event: WireEvent): void {
    if (!this.#started) {
      this.#fail('message_delta came before message_start')
      return
    }
    this.#hasDelta = true
    const { stop_reason: reason, ...rest } = isJsonObject(event.delta) ? event.delta : {}
    this.#stop = overlay(this.#stop, rest)
    this.#takeReason(reason ?? event.stop_reason)
    this.#container = readContainer(rest['container'] ?? event.container) ?? this.#container
    this.#takeUsage(event.usage)
  }

  #takeReason(value: JsonValue | undefined): void {
    const reason = readGivenReason(value)
    if (reason === undefined) return
    const goesOn = this.#blocks.length > this.#blocksAtReason
    const before = readGivenReason(this.#stop['stop_reason'])
    this.#stop = { ...this.#stop, stop_reason: pickReason(before, reason, { read: readFinish, goesOn }) }
    this.#blocksAtReason = this.#blocks.length
  }

  #handleStop(): void {
    // A call without an end event may lack its last arguments, unless their JSON is closed. If the token limit ended
    // the answer, no end event is expected (anthropic-sdk-python, incomplete_partial_json_response).
    const isCut = ['max-tokens', 'context-full'].includes(readFinish(this.#stop['stop_reason']))
    if (isCut && this.#tagged?.isOpen === true) this.#emitTagged(this.#tags?.flush() ?? [])
    if (!isCut) for (const block of this.#blocks) if (block.isOpen && isWhole(block)) this.#close(block)
    if (!this.#started) this.#fail('message_stop came before message_start')
    else if (!isCut && this.#blocks.some((block) => block.isOpen && block.type === 'tool_use'))
      this.#fail('a tool_use block was never closed')
    else this.#isComplete = true
  }

  #takeUsage(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage)) return
    this.#usage = overlayCounts(this.#usage, usage)
    this.#sink({ type: 'usage', usage: readUsage(this.#usage) })
  }

  /**
   * The block with this index, or else the only open one: some gateways number a block's deltas differently from its
   * start.
   */
  #openBlockAt(index: JsonValue | undefined, delta?: JsonValue): Block | undefined {
    const block = this.#blockAt.get(index)
    if (block?.isOpen === true) return block
    const [only] = this.#open === 1 ? this.#blocks.filter(({ isOpen }) => isOpen) : []
    if (only && (!block || this.#isShifted || !fitsDelta(block, delta)) && fitsDelta(only, delta)) {
      this.#isShifted = true
      return only
    }
    // Some gateways leave the start of a text out.
    const start = findStart(delta)
    if (start) {
      this.#handleBlockStart(index, start)
      return this.#blockAt.get(index)
    }
    this.#fail(`an event names block ${JSON.stringify(index)}, which is not open`)
    return undefined
  }

  /** Counts content before keeping it. Otherwise an endless stream would fill memory, however small its events. */
  #fits(length: number): boolean {
    const most = this.#options.answerLengthMax ?? ANSWER_LENGTH_MAX
    this.#length += length
    if (this.#length <= most) return true
    this.failure = answerTooLong('Anthropic', most)
    return false
  }

  #fail(what: string): void {
    this.failure ??= new BatonError({
      code: 'model_malformed_answer',
      message: `Anthropic’s stream is malformed: ${what}`,
    })
  }
}

/** StopReason of SDK 1.12 that no other provider has; gateways pass theirs through. Unknown reasons map to `other`. */
const FINISH: Readonly<Record<string, FinishReason>> = { pause_turn: 'pause' }

/** Maps stop reasons and usage to neutral values. */
function readFinish(reason: JsonValue | undefined): FinishReason {
  if (typeof reason !== 'string') return 'other'
  return (Object.hasOwn(FINISH, reason) ? FINISH[reason] : readFinishWord(reason)) ?? 'other'
}

/** A text and the thoughts before it. */
function splitPart(part: ModelPart, before: readonly ModelPart[]): readonly ModelPart[] {
  if (part.type !== 'text') return [part]
  const isAfterThoughts = before.some(({ type }) => type === 'reasoning')
  const { thoughts, text } = splitThoughts(part.text, isAfterThoughts)
  return [
    ...(thoughts === '' ? [] : [{ type: 'reasoning' as const, text: thoughts }]),
    ...(text === '' ? [] : [{ ...part, text }]),
  ]
}

function parseEvent(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    const parsed = parseWireJson(data)
    return parsed.ok ? parsed.value : undefined
  }
}

/**
 * message_delta repeats fields of message_start with cumulative counts. Present values overwrite; absent or null ones
 * do not.
 */
export function overlay(before: JsonObject, now: JsonObject): JsonObject {
  const after: Record<string, JsonValue> = { ...before }
  for (const name of Object.keys(now)) {
    const value = now[name]
    // Assigning `__proto__` would set the prototype.
    if (value !== undefined && value !== null && name !== '__proto__') after[name] = value
  }
  return after
}

/** Anthropic's `input_tokens` excludes cache reads and writes; the neutral count includes both. */
export function readUsage(usage: JsonObject): Usage {
  const input = readCount(usage, 'input_tokens')
  if (input === undefined && readCount(usage, 'prompt_tokens') !== undefined) return readChatUsage(usage)
  const cacheRead = readCount(usage, 'cache_read_input_tokens')
  const cacheWrite = readCount(usage, 'cache_creation_input_tokens')
  const output = readCount(usage, 'output_tokens')
  const details = usage['output_tokens_details']
  const reasoning = isJsonObject(details) ? readCount(details, 'thinking_tokens') : undefined
  const counts: { -readonly [Name in keyof Usage]: Usage[Name] } = {}
  if (input !== undefined) counts.inputTokens = input + (cacheRead ?? 0) + (cacheWrite ?? 0)
  if (cacheRead !== undefined) counts.cacheReadTokens = cacheRead
  if (cacheWrite !== undefined) counts.cacheWriteTokens = cacheWrite
  if (output !== undefined) counts.outputTokens = output
  if (reasoning !== undefined) counts.reasoningTokens = reasoning
  return counts
}
