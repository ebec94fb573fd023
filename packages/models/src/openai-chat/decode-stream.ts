// Decodes a stream of chat.completion.chunk into one neutral answer. Pure: no I/O, no clock. Deltas go to the sink as
// they arrive; `end()` can be called after any event and changes nothing.
import type { JsonObject, JsonValue, ModelAnswer, ModelEvent, ModelPart, ProviderState } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import type { ToolNames } from '../tool-names.ts'
import type { FoundSource } from '../found-sources.ts'
import { listSources, readSource } from '../found-sources.ts'
import { answerTooLong } from '../transport/answer-reader.ts'
import type { AnswerProgress } from '../transport/whole-answer.ts'
import { redact } from '../transport/redact.ts'
import type { SseEvent } from '../transport/sse.ts'
import { parseWireJson } from '../transport/wire-json.ts'
import type { CallDraft } from './decode-call.ts'
import { addArguments, addName, CallDrafts, isEcho, listCalls, readArguments, readCallPiece } from './decode-call.ts'
import { isFailure, isForCalls, overlay, readFinish, readUsage } from './decode-end.ts'
import { ReasoningDraft } from './decode-reasoning.ts'
import { errorFromStream, errorIn } from './errors.ts'
import type { TaggedPiece } from './think-tags.ts'
import { hasOpenTag, splitAtClose, ThinkTags } from './think-tags.ts'
import { PROVIDER } from './wire.ts'
import { pickReason, readFinishWord, readGivenReason } from '../finish-words.ts'
import { asList, listObjects, readCount, readPartText } from '../json-fields.ts'

export interface OpenAiChatDecoderOptions {
  /** The requested model. Provider state is bound to it. */
  readonly model: string
  readonly names: Pick<ToolNames, 'decode'>
  /** Provider name of the state; `openai-chat` by default. */
  readonly provider?: string
  /** Name shown in errors; `The server` by default. */
  readonly label?: string
  /** Whether text between `<think>` and `</think>` at the start is reasoning; false by default. */
  readonly thinkTags?: boolean
  readonly sink?: (event: ModelEvent) => void
  /** From the response headers. */
  readonly requestId?: string
  readonly secrets?: readonly string[]
  /** The request's token limit: an answer that used all of it was cut off, whatever its finish reason says. */
  readonly maxTokens?: number
  /** Maximum UTF-16 units kept of an answer: text, reasoning, arguments and unknown content; 8 Mi by default. */
  readonly answerLengthMax?: number | undefined
}

const ANSWER_LENGTH_MAX = 8 * 1024 * 1024
/** UTF-16 units charged per call in addition to its text, so that empty calls are bounded too. */
const CALL_LENGTH = 64

export interface OpenAiChatDecoder {
  push(event: SseEvent): void
  /** Sends the sink any text held back as a possible tag. Call it once the stream has ended. */
  finish(): void
  /** The complete answer if the stream ended properly, otherwise the error so far. */
  end(): ModelAnswer | BatonError
  /** Set as soon as the stream cannot become a valid answer. */
  readonly failure: BatonError | undefined
  readonly progress: AnswerProgress
  readonly heard: number
}

export function createOpenAiChatDecoder(options: OpenAiChatDecoderOptions): OpenAiChatDecoder {
  return new StreamDecoder(options)
}

/** Decodes a non-streamed answer (`stream: false`, or a server that does not stream). */
export function decodeOpenAiChatCompletion(
  completion: JsonValue,
  options: OpenAiChatDecoderOptions,
): ModelAnswer | BatonError {
  const decoder = new StreamDecoder(options)
  decoder.handleChunk(completion)
  decoder.handleDone()
  return decoder.endOfWhole()
}

/** The last event: `[DONE]`, in the variants servers send. */
const END = /^["[]*done["\]]*$/i

class StreamDecoder implements OpenAiChatDecoder {
  failure: BatonError | undefined
  readonly #options: OpenAiChatDecoderOptions
  readonly #sink: (event: ModelEvent) => void
  readonly #calls = new CallDrafts()
  readonly #reasoning = new ReasoningDraft()
  readonly #tags: ThinkTags | undefined
  readonly #growing = new GrowingText()
  /** Numbers of the calls whose end was reported. */
  readonly #ended = new Set<number>()
  #text = ''
  /** Number of pieces of text. */
  #texts = 0
  /** Whether calls came in `tool_calls`; some servers repeat them in `function_call`. */
  #hasToolCalls = false
  #refusal = ''
  #extra: JsonObject | undefined
  readonly #sources: FoundSource[] = []
  /** Total UTF-16 units kept. */
  #length = 0
  /** Number of finish reasons and counts received. */
  #others = 0
  #model = ''
  #id = ''
  #usage: JsonObject = {}
  /** Index of the choice to read; only one was requested. */
  #choice: number | undefined
  #hasChoice = false
  #hasDeltas = false
  #finish: string | undefined
  /** Whether anything arrived since the latest finish reason. */
  #hasMore = false
  /** Whether the answer continued after a finish reason. */
  #goesOn = false
  /** Number of calls begun before the piece with the finish reason. */
  #callsBeforeReason = 0
  #isDone = false

  constructor(options: OpenAiChatDecoderOptions) {
    this.#options = options
    this.#sink = options.sink ?? (() => undefined)
    if (options.thinkTags === true) this.#tags = new ThinkTags()
  }

  push({ event, data }: SseEvent): void {
    const text = data.trim()
    if (text === '' || this.failure) return
    if (this.#isDone) {
      this.#takeLateUsage(text)
      return
    }
    if (END.test(text)) {
      this.handleDone()
      return
    }
    const parsed = parseWireJson(text)
    const lines = parsed.ok ? [] : text.split('\n')
    // Some servers end each event with a single line break, so several arrive as one.
    if (lines.length > 1 && lines.every((line) => END.test(line.trim()) || parseWireJson(line).ok)) {
      for (const data of lines) this.push({ event, data })
      return
    }
    if (!parsed.ok && event === 'error') this.#failWith({ message: text })
    if (!parsed.ok) {
      // Redact before truncating: half a key is still too much.
      this.#fail(`an event is not JSON: ${redact(text, this.#options.secrets ?? []).slice(0, 80)}`)
      return
    }
    // Groq: `event: error` (recorded).
    if (event === 'error') this.#failWith(errorIn(parsed.value) ?? { message: text })
    else this.handleChunk(parsed.value)
  }

  handleChunk(chunk: JsonValue): void {
    if (this.failure) return
    const error = errorIn(chunk)
    if (error || !isJsonObject(chunk)) {
      if (error) this.#failWith(error)
      return
    }
    if (typeof chunk['model'] === 'string' && chunk['model'] !== '') this.#model = chunk['model']
    if (typeof chunk['id'] === 'string' && chunk['id'] !== '') this.#id = chunk['id']
    // Perplexity repeats them in every chunk.
    if (this.#sources.length === 0) for (const source of listObjects(chunk['search_results'])) this.#cite(source)
    const choices = asList(chunk['choices']).filter(isJsonObject)
    if (choices.length > 0) this.#choice ??= Math.min(...choices.map(readNumber))
    for (const choice of choices) {
      if (readNumber(choice) !== this.#choice) continue
      this.#handleChoice(choice)
      this.#takeUsage(choice['usage']) // Moonshot
    }
    this.#takeUsage(chunk['usage'] ?? (isJsonObject(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined))
  }

  get progress(): AnswerProgress {
    // Some servers send their counts after the end.
    if (this.#isDone) return Object.keys(this.#usage).length > 0 ? 'whole' : 'ended'
    if (this.#finish === undefined) return 'open'
    return this.#goesOn ? 'doubtful' : 'ended'
  }

  get heard(): number {
    return this.#length + this.#others
  }

  handleDone(): void {
    if (this.failure || this.#isDone) return
    this.#isDone = true
    this.finish()
    this.#endCalls()
  }

  /** A finish reason does not end reasoning: some servers send one in each piece. */
  finish(): void {
    this.#flushText()
    this.#takePieces(this.#tags?.flush() ?? [])
  }

  end(): ModelAnswer | BatonError {
    if (this.failure) return this.failure
    const { all } = this.#calls
    const areClosed = all.every(({ json }) => json.isClosed)
    // Without a finish reason, only an answer whose JSON is closed is complete.
    if (this.#finish === undefined && !(this.#isDone && this.#hasChoice && areClosed)) return this.#cutOff()
    const usage = readUsage(this.#usage)
    const requestId = this.#options.requestId ?? (this.#id === '' ? undefined : this.#id)
    return {
      parts: this.#parts(),
      finish: readFinish({
        reason: this.#finish ?? 'stop',
        hasCalls: all.length > 0,
        areClosed,
        isRefused: this.#refusal !== '',
        outputTokens: readCount(this.#usage, 'completion_tokens'),
        maxTokens: this.#options.maxTokens,
      }),
      usage,
      model: this.#model === '' ? this.#options.model : this.#model,
      ...(requestId !== undefined && { requestId }),
    }
  }

  /** Like `end`, for a non-streamed answer: missing parts never existed, rather than being cut off. */
  endOfWhole(): ModelAnswer | BatonError {
    if (!this.#hasChoice) this.#fail('it has no choices')
    return this.end()
  }

  #handleChoice(choice: JsonObject): void {
    this.#hasChoice = true
    if (isJsonObject(choice['error'])) {
      this.#failWith(choice['error'])
      return
    }
    // A non-streamed answer has a message. Some servers stream one as well, or put an empty delta next to it.
    const { delta: told, message, text } = choice
    const given = typeof told === 'string' ? { content: told } : told
    // Before 2023, answers had a text instead of a message.
    const isOlder = typeof text === 'string' && !isJsonObject(message) && (!isJsonObject(given) || isEmptyDelta(given))
    const delta = isOlder ? { content: text } : given
    const hasDelta = isJsonObject(delta) && !isEmptyDelta(delta)
    this.#hasDeltas ||= hasDelta
    if (!hasDelta && isJsonObject(message)) this.#flushText()
    if (hasDelta && this.#finish !== undefined) this.#goesOn = true
    this.#hasMore ||= hasDelta
    const said = hasDelta ? delta : message
    const callsBefore = this.#calls.all.length
    const reason = ['finish_reason', 'finishReason']
      .flatMap((name) => [choice[name], isJsonObject(given) ? given[name] : undefined])
      .map(readGivenReason)
      .find((one) => one !== undefined)
    const isRepeated = (!hasDelta && this.#hasDeltas) || (reason !== undefined && this.#isAllOver(said))
    if (isJsonObject(said)) this.#handleDelta(isRepeated ? this.#findUnsaid(said) : said)
    if (reason === undefined || this.failure) return
    if (isFailure(reason)) {
      this.#failWith({ code: reason.toLowerCase(), message: `the answer ended with finish_reason "${reason}"` })
      return
    }
    // Does not end the answer: some servers send a reason in each piece, or calls after it. The last one counts.
    this.#others += 1
    this.#flushText()
    const read = (word: string) => readFinishWord(word) ?? 'other'
    this.#finish = pickReason(this.#finish, reason, { read, goesOn: this.#hasMore })
    this.#hasMore = false
    this.#callsBeforeReason = callsBefore
    this.#endCalls()
  }

  /** Some servers repeat the whole text in the piece with the finish reason. */
  #isAllOver(said: JsonValue | undefined): boolean {
    const content = isJsonObject(said) ? said['content'] : undefined
    return this.#texts > 1 && this.#text.length >= REPEATED_LENGTH && content === this.#text
  }

  /** A message after deltas repeats the whole answer; only what the deltas lacked is new. */
  #findUnsaid({ content, tool_calls: calls, ...rest }: JsonObject): JsonObject {
    const hasText = this.#text !== ''
    const isMore = typeof content === 'string' && content.startsWith(this.#text)
    return {
      ...(!hasText && { ...rest, content: content ?? null }),
      ...(hasText && isMore && { content: content.slice(this.#text.length) }),
      ...(this.#calls.all.length === 0 && { tool_calls: calls ?? null }),
    }
  }

  #handleDelta(delta: JsonObject): void {
    this.#handleReasoning(delta)
    this.#handleContent(delta['content'] ?? delta['text'])
    if (typeof delta['refusal'] === 'string') this.#addRefusal(delta['refusal'])
    const pieces = listCalls(delta['tool_calls'])
    if (pieces.length > 0) this.#flushText()
    this.#hasToolCalls ||= pieces.length > 0
    for (const piece of pieces) this.#handleCall(piece, pieces.length > 1)
    // The pre-2024 name of `tool_calls`.
    if (isJsonObject(delta['function_call']) && !this.#hasToolCalls)
      this.#handleCall({ index: 0, function: delta['function_call'] })
    for (const { url_citation: cited } of listObjects(delta['annotations'])) if (isJsonObject(cited)) this.#cite(cited)
    const extra = delta['extra_content']
    if (isJsonObject(extra) && this.#fits(JSON.stringify(extra).length)) this.#extra = extra
  }

  /** Takes a source from `annotations` (OpenAI, OpenRouter) or `search_results` (Perplexity). */
  #cite(source: JsonObject): void {
    const found = readSource({ url: source['url'], title: source['title'], quote: source['content'] })
    if (this.#fits(JSON.stringify(found).length)) this.#sources.push(found)
  }

  #handleReasoning(delta: JsonObject): void {
    for (const kept of [delta['reasoning_details'], delta['thinking_blocks']])
      if (Array.isArray(kept) && !this.#fits(JSON.stringify(kept).length)) return
    const text = this.#reasoning.push(delta)
    if (text !== '' && this.#fits(text.length)) this.#sink({ type: 'reasoning-delta', text })
  }

  /**
   * Handles a string, or a list of parts (Mistral's reasoning models:
   * `{type:"thinking",thinking:[{type:"text",text}]}`).
   */
  #handleContent(content: JsonValue | undefined): void {
    if (typeof content === 'string') for (const text of this.#growing.push(content)) this.#addText(text)
    for (const part of asList(content)) {
      const { type, thinking, refusal } = isJsonObject(part) ? part : {}
      if (type === 'thinking') this.#handleReasoning({ reasoning: textOfThinking(thinking) })
      else if (typeof refusal === 'string') this.#addRefusal(refusal)
      else this.#addText(readPartText(part))
    }
  }

  #addText(text: string): void {
    if (text === '' || !this.#fits(text.length)) return
    this.#texts += 1
    this.#takePieces(this.#tags?.push(text) ?? [{ type: 'text', text }])
  }

  /** No further piece can show whether the text is cumulative. */
  #flushText(): void {
    for (const text of this.#growing.flush()) this.#addText(text)
  }

  #takePieces(pieces: readonly TaggedPiece[]): void {
    for (const { type, text } of pieces) {
      if (type === 'text') this.#text += text
      else this.#reasoning.text += text
      this.#sink({ type: type === 'text' ? 'text-delta' : 'reasoning-delta', text })
    }
  }

  /** Adds text that the model gives instead of an answer. Users see it. */
  #addRefusal(text: string): void {
    this.#addText(text)
    this.#refusal += text
  }

  #handleCall(value: JsonValue, isListed = false): void {
    const piece = readCallPiece(value, isListed)
    if (!piece || this.failure) return
    // Some servers send an empty call slot in every message.
    const { id, name, arguments: text = '', extra } = piece
    if (id === '' && name === '' && text === '' && !extra) return
    const before = this.#calls.all.length
    const call = this.#calls.find(piece)
    const isNew = this.#calls.all.length > before
    const extraLength = extra ? JSON.stringify(extra).length : 0
    const isEmpty = name === '' && text === '' && !extra
    if (!this.#fits(name.length + text.length + extraLength + (isNew || isEmpty ? CALL_LENGTH : 0))) return
    if (call.id === '') call.id = id
    if (extra) call.extra = { ...call.extra, ...extra }
    const isNamed = addName(call, name)
    if (piece.arguments !== undefined) addArguments(call, text)
    if (isNamed) this.#startCall(call)
    else if (text !== '' && call.name !== '') this.#sink({ type: 'call-delta', index: call.number, text })
  }

  /** The name may arrive late; the sink then gets the arguments received before it. */
  #startCall({ name, number, arguments: text }: CallDraft): void {
    this.#sink({ type: 'call-start', index: number, name: this.#options.names.decode(name) })
    if (text !== '') this.#sink({ type: 'call-delta', index: number, text })
  }

  /** Calls may interleave, so none has ended until all have. */
  #endCalls(): void {
    for (const call of this.#calls.all) {
      if (this.#ended.has(call.number)) continue
      this.#ended.add(call.number)
      if (call.name !== '') this.#sink({ type: 'call-end', index: call.number })
    }
  }

  #takeLateUsage(text: string): void {
    const parsed = parseWireJson(text)
    if (parsed.ok && isJsonObject(parsed.value)) this.#takeUsage(parsed.value['usage'])
  }

  #takeUsage(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage) || this.failure) return
    this.#others += 1
    this.#usage = overlay(this.#usage, usage)
    this.#sink({ type: 'usage', usage: readUsage(this.#usage) })
  }

  #parts(): readonly ModelPart[] {
    const { names } = this.#options
    const reasoning = this.#reasoning
    const parts: ModelPart[] = []
    // It may have been streamed as text before its end was known.
    const mayBeOpen = reasoning.isEmpty || hasOpenTag(reasoning.text)
    const held = this.#tags?.held
    const whole = this.#text + (held?.type === 'text' ? held.text : '')
    const split = this.#tags && splitAtClose(whole, !mayBeOpen)
    const { thoughts = '', text = whole } = split ?? {}
    const ownThoughts = reasoning.text + (held?.type === 'reasoning' ? held.text : '')
    if (!reasoning.isEmpty || ownThoughts !== '' || thoughts !== '')
      parts.push({
        type: 'reasoning',
        text: [ownThoughts, thoughts].filter((one) => one !== '').join('\n\n'),
        ...(reasoning.data && this.#state(reasoning.data)),
      })
    if (text !== '') parts.push({ type: 'text', text })
    const hasStray = this.#calls.all.some(({ name, arguments: text }) => name === '' && text !== '')
    for (const call of this.#calls.all) {
      if (isEcho(call, this.#calls.all)) continue
      const data = { ...(call.id !== '' && { id: call.id }), ...call.extra }
      const { text, repair } = readArguments(call, { mayBeEmpty: this.#mayBeEmpty(call), hasStray })
      parts.push({
        type: 'call',
        name: call.name === '' ? '' : names.decode(call.name),
        arguments: text,
        ...(Object.keys(data).length > 0 && this.#state(data)),
        ...(repair !== undefined && { repairs: [repair] }),
      })
    }
    parts.push(...listSources(this.#sources))
    if (this.#extra) parts.push({ type: 'provider', ...this.#state({ extra_content: this.#extra }) })
    return parts
  }

  /**
   * Whether an empty string means "no arguments": the server ended for calls, in a piece after the start of this call
   * or at the end of the stream, and no later call of this tool (without ids or under the same index) may hold its
   * arguments.
   */
  #mayBeEmpty(call: CallDraft): boolean {
    if (this.#finish === undefined || !isForCalls(this.#finish)) return false
    const mayHaveItsOwn = ({ id, index, name, number, arguments: text }: CallDraft): boolean =>
      ((id === '' && call.id === '') || (index !== undefined && index === call.index)) &&
      name === call.name &&
      number > call.number &&
      text !== ''
    return (this.#isDone || call.number < this.#callsBeforeReason) && !this.#calls.all.some(mayHaveItsOwn)
  }

  #state(data: JsonObject): { readonly state: ProviderState } {
    return { state: { provider: this.#options.provider ?? PROVIDER, model: this.#options.model, data } }
  }

  #cutOff(): BatonError {
    const { requestId } = this.#options
    return new BatonError({
      code: 'model_cut_off',
      message: `${this.#label}’s answer ended before ${this.#hasChoice ? 'its finish_reason' : 'it began'}`,
      ...(requestId !== undefined && { data: { requestId } }),
    })
  }

  /** Counts content before keeping it. Otherwise an endless stream would fill memory, however small its events. */
  #fits(length: number): boolean {
    const most = this.#options.answerLengthMax ?? ANSWER_LENGTH_MAX
    this.#length += length
    if (this.#length <= most) return true
    this.failure ??= answerTooLong(this.#label, most)
    return false
  }

  get #label(): string {
    return this.#options.label ?? 'The server'
  }

  #failWith(error: JsonObject): void {
    const { requestId, secrets = [] } = this.#options
    this.failure ??= errorFromStream(error, { label: this.#label, requestId, secrets })
  }

  #fail(what: string): void {
    this.failure ??= this.#malformed(what)
  }

  #malformed(what: string): BatonError {
    const message = `${this.#label}’s answer is malformed: ${what}`
    return new BatonError({ code: 'model_malformed_answer', message })
  }
}

function readNumber(choice: JsonObject): number {
  return readCount(choice, 'index') ?? 0
}

function isEmptyDelta(delta: JsonObject): boolean {
  return Object.entries(delta).every(
    ([key, value]) =>
      ['role', 'finish_reason', 'finishReason'].includes(key) ||
      value === null ||
      value === '' ||
      (Array.isArray(value) && value.length === 0),
  )
}

function textOfThinking(thinking: JsonValue | undefined): string {
  if (typeof thinking === 'string') return thinking
  if (!Array.isArray(thinking)) return ''
  const texts = (thinking as readonly JsonValue[]).map((part) => (isJsonObject(part) ? part['text'] : part))
  return texts.filter((text) => typeof text === 'string').join('')
}

/** Minimum characters that must repeat, over at least two pieces. */
const REPEATED_LENGTH = 24
const PIECES = 3
/** Maximum UTF-16 units held back. */
const HELD_LENGTH_MAX = 4096

/**
 * Handles servers that send the whole text so far in each piece. Pieces that might be cumulative are held back until
 * later ones decide; if undecided, they count as ordinary text.
 */
class GrowingText {
  #state: 'open' | 'grows' | 'pieces' = 'open'
  #first = ''
  /** The latest piece. */
  #whole = ''
  #repeated = 0
  #held: string[] = []

  /** Returns the new text, once it is known. */
  push(piece: string): readonly string[] {
    if (piece === '') return []
    if (this.#state === 'pieces') return [piece]
    const before = this.#whole
    if (this.#state === 'grows') {
      if (!piece.startsWith(before)) return [piece]
      this.#whole = piece
      return piece.length > before.length ? [piece.slice(before.length)] : []
    }
    if (before === '') {
      this.#first = piece
      this.#whole = piece
      return [piece]
    }
    this.#held.push(piece)
    if (piece.length <= before.length || !piece.startsWith(before)) return this.flush()
    this.#whole = piece
    this.#repeated += before.length
    if (this.#held.length + 1 >= PIECES && this.#repeated >= REPEATED_LENGTH && !repeatsItself(piece)) {
      this.#state = 'grows'
      this.#held = []
      return [piece.slice(this.#first.length)]
    }
    return this.#repeated > HELD_LENGTH_MAX ? this.flush() : []
  }

  /** Returns the held-back text, since no further piece can decide. */
  flush(): readonly string[] {
    if (this.#state === 'open' && this.#whole !== '') this.#state = 'pieces'
    return this.#held.splice(0)
  }
}

/** A model may repeat itself, in which case a piece that starts like all before it proves nothing. */
function repeatsItself(text: string): boolean {
  const half = text.slice(0, Math.ceil(text.length / 2))
  return text.includes(half, 1)
}
