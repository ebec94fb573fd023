// Decodes response events into one neutral answer. Pure: no I/O, no clock. Deltas go to the sink as they arrive;
// `end()` can be called after any event and changes nothing.
import type {
  JsonObject,
  JsonValue,
  ModelAnswer,
  ModelEvent,
  ModelPart,
  FinishReason,
  Usage,
} from '@baton/core/internal'
import { BatonError, isJsonObject, parseJson } from '@baton/core/internal'
import type { ToolNames } from '../tool-names.ts'
import { listSources } from '../found-sources.ts'
import { answerTooLong } from '../transport/answer-reader.ts'
import { redact } from '../transport/redact.ts'
import type { SseEvent } from '../transport/sse.ts'
import { parseWireJson } from '../transport/wire-json.ts'
import type { AnswerProgress } from '../transport/whole-answer.ts'
import { ItemDraft } from './decode-item.ts'
import { endedAs, errorFromStream, errorIn } from './errors.ts'
import { PROVIDER } from './wire.ts'
import { overlay as overlayChat, readUsage as readChatUsage } from '../openai-chat/decode-end.ts'
import type { TaggedPiece } from '../openai-chat/think-tags.ts'
import { splitThoughts, ThinkTags } from '../openai-chat/think-tags.ts'
import { readFinishWord } from '../finish-words.ts'
import { readGivenArguments } from '../meant-arguments.ts'
import { overlayCounts, readText, readObject, readPartText } from '../json-fields.ts'

export interface OpenAiResponsesDecoderOptions {
  /** The requested model. Provider state is bound to it. */
  readonly model: string
  readonly names: Pick<ToolNames, 'decode'>
  /** Name shown in errors; `OpenAI` by default. */
  readonly label?: string
  readonly sink?: (event: ModelEvent) => void
  /** From the response headers. */
  readonly requestId?: string
  readonly secrets?: readonly string[]
  /** Whether text between `<think>` and `</think>` at the start is reasoning; false by default. */
  readonly thinkTags?: boolean
  /** Maximum UTF-16 units kept of an answer: text, reasoning, arguments and unknown content; 8 Mi by default. */
  readonly answerLengthMax?: number | undefined
}

export interface OpenAiResponsesDecoder {
  push(event: SseEvent): void
  /** The complete answer if the stream ended properly, otherwise the error so far. */
  end(): ModelAnswer | BatonError
  /** Set as soon as the stream cannot become a valid answer. */
  readonly failure: BatonError | undefined
  readonly progress: AnswerProgress
  readonly heard: number
}

const ANSWER_LENGTH_MAX = 8 * 1024 * 1024
/** UTF-16 units charged per item in addition to its text, so that empty items are bounded too. */
const ITEM_LENGTH = 64

export function createOpenAiResponsesDecoder(options: OpenAiResponsesDecoderOptions): OpenAiResponsesDecoder {
  return new StreamDecoder(options)
}

/** Decodes a non-streamed answer (`stream: false`, or a server that does not stream). */
export function decodeOpenAiResponse(
  response: JsonValue,
  options: OpenAiResponsesDecoderOptions,
): ModelAnswer | BatonError {
  const decoder = new StreamDecoder(options)
  decoder.handleWhole(response)
  return decoder.end()
}

class StreamDecoder implements OpenAiResponsesDecoder {
  failure: BatonError | undefined
  readonly #options: OpenAiResponsesDecoderOptions
  readonly #sink: (event: ModelEvent) => void
  /** Items in the order they began. */
  readonly #items: ItemDraft[] = []
  /**
   * The latest item at each `output_index`, or with each id if there is no index. Ids alone cannot identify items: some
   * proxies change an item's id in each event.
   */
  readonly #itemAt = new Map<JsonValue | undefined, ItemDraft>()
  /** Number of meaningful events. */
  heard = 0
  readonly #tags: ThinkTags | undefined
  /** The first message, whose text may begin with thoughts between tags. */
  #tagged: ItemDraft | undefined
  #calls = 0
  /** Whether arguments arrived for a call that had not begun. */
  #hasStray = false
  /** Total UTF-16 units kept. */
  #length = 0
  #model = ''
  #id = ''
  #usage: JsonObject = {}
  #end: { readonly status: 'completed' | 'incomplete'; readonly details: JsonValue | undefined } | undefined

  constructor(options: OpenAiResponsesDecoderOptions) {
    this.#options = options
    this.#sink = options.sink ?? (() => undefined)
    if (options.thinkTags === true) this.#tags = new ThinkTags()
  }

  push({ event, data }: SseEvent): void {
    const text = data.trim()
    if (text === '' || this.failure || this.#end) return
    if (text === '[DONE]') {
      this.#handleDone()
      return
    }
    const parsed = parseWireJson(text)
    if (!parsed.ok && event === 'error') this.#failWith({ message: text })
    if (!parsed.ok) {
      // Redact before truncating: half a key is still too much.
      this.#fail(`an event is not JSON: ${redact(text, this.#options.secrets ?? []).slice(0, 80)}`)
      return
    }
    if (!isJsonObject(parsed.value)) return
    const { type } = parsed.value
    this.#handle(typeof type === 'string' ? type : (event ?? ''), parsed.value)
  }

  /** Some gateways end the stream without a completion event. If all items are closed, the answer is complete. */
  #handleDone(): void {
    const isWhole = ({ isDone, item, type }: ItemDraft): boolean =>
      isDone &&
      (item['status'] ?? 'completed') === 'completed' &&
      (type !== 'function_call' || parseJson(readText(item, 'arguments') || '{}').ok)
    if (this.#items.length > 0 && this.#items.every(isWhole) && !this.#hasStray) this.#handleEnd({}, 'completed')
  }

  handleWhole(response: JsonValue): void {
    const error = errorIn(response)
    const { status, output } = isJsonObject(response) ? response : {}
    const isResponse = typeof status === 'string' || Array.isArray(output)
    if (isJsonObject(response) && isResponse && (!error || status === 'failed'))
      this.#handleEnd({ response }, typeof status === 'string' ? status : 'completed')
    else if (error) this.#failWith(error)
    else this.#fail('it is not a response')
  }

  get progress(): AnswerProgress {
    return this.#end ? 'whole' : 'open'
  }

  end(): ModelAnswer | BatonError {
    if (this.failure) return this.failure
    if (!this.#end) return this.#cutOff()
    const items = this.#items
    const calls = items.filter(({ type }) => type === 'function_call')
    const { status, details } = this.#end
    const finish = readFinish({
      status,
      details,
      hasCalls: calls.length > 0,
      hasBrokenCall: calls.some((call) => call.isBroken),
      isRefused: items.some((item) => item.isRefused),
    })
    const requestId = this.#options.requestId ?? (this.#id === '' ? undefined : this.#id)
    const category = finish === 'refusal' ? incompleteReason(details) : undefined
    return {
      parts: [
        ...items.flatMap((item) => this.#readParts(item)),
        ...listSources(items.flatMap((item) => item.sources())),
      ],
      finish,
      usage: readUsage(this.#usage),
      model: this.#model === '' ? this.#options.model : this.#model,
      ...(requestId !== undefined && { requestId }),
      ...(category !== undefined && { refusal: category }),
    }
  }

  #readParts(item: ItemDraft): readonly ModelPart[] {
    const parts = item.parts({
      state: (data) => this.#state(data),
      readName: (wire) => this.#options.names.decode(wire),
    })
    const [first, ...others] = parts
    if (item !== this.#tagged || first?.type !== 'text') return parts
    const isAfterThoughts = this.#items.some(({ type }) => type === 'reasoning')
    const { thoughts, text } = splitThoughts(first.text, isAfterThoughts)
    return [
      ...(thoughts === '' ? [] : [{ type: 'reasoning' as const, text: thoughts }]),
      ...(text === '' ? [] : [{ ...first, text }]),
      ...others,
    ]
  }

  #handle(type: string, event: JsonObject): void {
    switch (type) {
      case 'response.created':
      case 'response.in_progress':
      case 'response.queued':
        this.#takeHead(event['response'])
        break
      case 'response.output_item.added':
        this.heard += 1
        this.#open(readKey(event), event['item'])
        break
      case 'response.output_item.done':
        this.heard += 1
        this.#close(readKey(event), event['item'])
        break
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.#handleEnd(event, type.slice('response.'.length))
        break
      case 'response.done':
        this.#handleEnd(event, 'completed')
        break
      case 'error':
      case 'response.error':
        // The API's own error has its message next to the type; gateways put it in `error`.
        this.#failWith(errorIn(event) ?? event)
        break
      default:
        this.#handlePiece(type, event)
    }
  }

  #handlePiece(type: string, event: JsonObject): void {
    const text = readPiece(type, event['delta'])
    if (text !== '') this.heard += 1
    const index = readKey(event)
    switch (type) {
      case 'response.output_text.delta':
        this.#say(index, 'message', text)
        break
      case 'response.refusal.delta': {
        const draft = this.#say(index, 'message', text)
        if (draft) draft.isRefused = true
        break
      }
      case 'response.reasoning_summary_part.added':
        if (event['summary_index'] !== 0) this.#say(index, 'reasoning', '\n\n')
        break
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.#say(index, 'reasoning', text)
        break
      case 'response.function_call_arguments.delta':
        if (!this.#say(index, 'function_call', text)) this.#hasStray ||= text !== ''
        break
      case 'response.function_call_arguments.done':
        this.#endArguments(index, readGivenArguments(event['arguments']))
        break
      case 'response.output_text.done':
        this.#endText(index, readText(event, 'text'))
        break
      case 'response.content_part.done':
        this.#endText(index, readText(readObject(event, 'part'), 'text'))
        break
      default:
        // Starts and ends that `output_item.done` also covers, and unknown types.
        if (type === '') this.#takeUntyped(event)
    }
  }

  /** An object without a type: some gateways send the whole answer as one event, or an error when they fail. */
  #takeUntyped(event: JsonObject): void {
    const error = errorIn(event)
    if (error) this.#failWith(error)
    else if (Array.isArray(event['output'])) this.handleWhole(event)
  }

  #takeHead(response: JsonValue | undefined): void {
    if (!isJsonObject(response)) return
    if (typeof response['model'] === 'string' && response['model'] !== '') this.#model = response['model']
    if (typeof response['id'] === 'string' && response['id'] !== '') this.#id = response['id']
    this.#takeUsage(response['usage'])
  }

  #takeUsage(usage: JsonValue | undefined): void {
    if (!isJsonObject(usage) || this.failure) return
    this.#usage = overlayCounts(this.#usage, usage)
    this.#sink({ type: 'usage', usage: readUsage(this.#usage) })
  }

  /** Finds or creates the item at this place, also if two items share it. */
  #open(key: JsonValue | undefined, item: JsonValue | undefined): ItemDraft | undefined {
    if (!isJsonObject(item)) return undefined
    const place = key ?? item['id'] ?? item['call_id']
    const known = this.#itemAt.get(place)
    if (known && !known.isFollowedBy(item)) return known
    const open = known && this.#items.findLast((one) => !one.isDone && one.hasIdOf(item))
    return open ?? this.#begin(place, item)
  }

  #begin(key: JsonValue | undefined, item: JsonObject): ItemDraft | undefined {
    if (!this.#fits(ITEM_LENGTH)) return undefined
    const draft = new ItemDraft(item, item['type'] === 'function_call' ? this.#calls++ : undefined)
    this.#items.push(draft)
    if (draft.type === 'message' && this.#tags) this.#tagged ??= draft
    this.#itemAt.set(key, draft)
    if (draft.call !== undefined) {
      const name = this.#options.names.decode(draft.name)
      this.#sink({ type: 'call-start', index: draft.call, name })
    }
    this.#tellServerTool(draft, 'started')
    return draft
  }

  /**
   * Adds a piece to an item. Text and reasoning can start an item; a piece of another kind, or arguments without a
   * call, is resolved when the item ends.
   */
  #say(key: JsonValue | undefined, type: ItemDraft['type'], text: string): ItemDraft | undefined {
    const placed = this.#itemAt.get(key)
    const isElsewhere = key === undefined || (placed !== undefined && placed.type !== type)
    const known = isElsewhere
      ? this.#items.findLast((one) => one.type === type && !one.isDone)
      : (placed ?? (type === 'function_call' ? this.#onlyOpenCall() : this.#findWaiting(key, type)))
    const mayBegin = !placed && type !== 'function_call' && text !== ''
    const draft = known ?? (mayBegin ? this.#begin(key, { type }) : undefined)
    if (draft?.type !== type || draft.isDone || !this.#fits(text.length)) return undefined
    draft.add(text)
    this.#tell(draft, text)
    return draft
  }

  /** The only open item of this type, if nothing of it has arrived: some servers number the pieces differently. */
  #findWaiting(key: JsonValue | undefined, type: ItemDraft['type']): ItemDraft | undefined {
    const [only, ...others] = this.#items.filter((one) => one.type === type && !one.isDone)
    if (others.length > 0 || only?.streamed !== '') return undefined
    this.#itemAt.set(key, only)
    return only
  }

  /** Some servers end a call only by ending its arguments. */
  #endArguments(key: JsonValue | undefined, told: string | undefined): void {
    const placed = this.#itemAt.get(key)
    const draft = placed?.type === 'function_call' ? placed : this.#onlyOpenCall()
    if (told === undefined || !draft || draft.isDone || !this.#fits(told.length - draft.streamed.length)) return
    draft.told = told
  }

  #onlyOpenCall(): ItemDraft | undefined {
    const [only, ...others] = this.#items.filter(({ type, isDone }) => type === 'function_call' && !isDone)
    return others.length === 0 ? only : undefined
  }

  /** Some servers send a text only in its final event. */
  #endText(key: JsonValue | undefined, text: string): void {
    const isTold = this.#items.some((one) => one.type === 'message' && (one.streamed === text || one.whole() === text))
    const placed = this.#itemAt.get(key)
    if (!isTold && (placed?.type !== 'message' || placed.streamed === '')) this.#say(key, 'message', text)
  }

  #tell(draft: ItemDraft, text: string): void {
    if (text === '') return
    if (draft === this.#tagged) this.#tellTagged(this.#tags?.push(text) ?? [])
    else if (draft.type === 'message') this.#sink({ type: 'text-delta', text })
    else if (draft.type === 'reasoning') this.#sink({ type: 'reasoning-delta', text })
    else if (draft.call !== undefined) this.#sink({ type: 'call-delta', index: draft.call, text })
  }

  #tellTagged(pieces: readonly TaggedPiece[]): void {
    for (const { type, text } of pieces) this.#sink({ type: type === 'text' ? 'text-delta' : 'reasoning-delta', text })
  }

  #close(key: JsonValue | undefined, item: JsonValue | undefined): void {
    if (!isJsonObject(item)) return
    const isPlaced = this.#itemAt.has(key ?? item['id'] ?? item['call_id'])
    const moved = isPlaced ? undefined : this.#items.findLast((one) => one.isEndedBy(item))
    this.#finish(moved ?? this.#open(key, item), item)
  }

  #finish(draft: ItemDraft | undefined, item: JsonObject): void {
    if (!draft || draft.isDone) return
    // Everything is kept: encrypted reasoning and OpenAI's server tool items may be long without having been streamed.
    if (!this.#fits(Math.max(JSON.stringify(item).length - draft.streamed.length, 0))) return
    this.#tell(draft, draft.close(item))
    if (draft === this.#tagged) this.#tellTagged(this.#tags?.flush() ?? [])
    if (draft.call !== undefined) this.#sink({ type: 'call-end', index: draft.call })
    this.#tellServerTool(draft, 'finished')
  }

  /** Reports `web_search_call`, `mcp_call` and similar items; `custom_tool_call` waits for a client. */
  #tellServerTool({ type, item }: ItemDraft, status: 'started' | 'finished'): void {
    const name = item['type']
    if (type === 'other' && typeof name === 'string' && name.endsWith('_call') && name !== 'custom_tool_call')
      this.#sink({ type: 'server-tool', name, status })
  }

  #handleEnd(event: JsonObject, type: string): void {
    const response = readObject(event, 'response')
    this.#takeUsage(event['usage'])
    this.#takeHead(response)
    const status = readStatus(response, type)
    if (status === 'failed') {
      const error = errorIn(response) ?? errorIn(event) ?? errorIn(readObject(response, 'status_details'))
      this.#failWith(error ?? { message: 'no reason was given' })
      return
    }
    if (status !== 'completed' && status !== 'incomplete') {
      this.failure ??= endedAs(status, this.#place())
      return
    }
    this.#closeRest(response['output'] ?? listSaid(response))
    for (const one of this.#items)
      if (!one.isDone && one.told !== undefined) this.#finish(one, { ...one.item, arguments: one.told })
    if (this.#hasStray && this.#calls === 0) this.#fail('arguments arrived that belong to no call')
    const open = this.#items.some(({ type, isDone }) => type === 'function_call' && !isDone)
    if (open && status === 'completed') this.#fail('the response is completed, but one of its calls is not')
    if (this.#tagged?.isDone === false) this.#tellTagged(this.#tags?.flush() ?? [])
    if (!this.failure) this.#end = { status, details: response['incomplete_details'] }
  }

  /**
   * The final response repeats all items. It closes items that began but did not end and adds missing ones; streamed
   * items that it does not list stay. A call must not be duplicated: it is matched by id or by content.
   */
  #closeRest(output: JsonValue | undefined): void {
    if (!Array.isArray(output)) return
    const unseen = [...this.#items]
    for (const [index, item] of (output as readonly JsonValue[]).entries()) {
      if (!isJsonObject(item)) continue
      const fits = [
        (one: ItemDraft): boolean => one.hasIdOf(item),
        (one: ItemDraft): boolean => one.isDone && one.says(item),
        (one: ItemDraft): boolean => one === this.#itemAt.get(index) && one.hasTypeOf(item),
        (one: ItemDraft): boolean => one.says(item),
      ]
      const draft = fits.map((fit) => unseen.find(fit)).find((one) => one !== undefined)
      if (draft) {
        unseen.splice(unseen.indexOf(draft), 1)
        this.#finish(draft, item)
      } else this.#finish(this.#begin(undefined, item), item)
    }
  }

  #state(data: JsonObject) {
    return { provider: PROVIDER, model: this.#options.model, data }
  }

  #cutOff(): BatonError {
    const { requestId } = this.#options
    return new BatonError({
      code: 'model_cut_off',
      message: `${this.#place().label}’s answer ended before it was completed`,
      ...(requestId !== undefined && { data: { requestId } }),
    })
  }

  /** Counts content before keeping it. Otherwise an endless stream would fill memory, however small its events. */
  #fits(length: number): boolean {
    const most = this.#options.answerLengthMax ?? ANSWER_LENGTH_MAX
    this.#length += length
    if (this.#length <= most) return this.failure === undefined
    this.failure ??= answerTooLong(this.#place().label, most)
    return false
  }

  #place() {
    const { label = 'OpenAI', requestId, secrets = [] } = this.#options
    return { label, requestId, secrets }
  }

  #failWith(error: JsonObject): void {
    this.failure ??= errorFromStream(error, this.#place())
  }

  #fail(what: string): void {
    const message = `${this.#place().label}’s answer is malformed: ${what}`
    this.failure ??= new BatonError({ code: 'model_malformed_answer', message })
  }
}

/** Some gateways end every answer as completed; the response itself says how it ended. */
function readStatus(response: JsonObject, type: string): string {
  const { status, incomplete_details: details } = response
  if (type !== 'completed') return type
  if (typeof status === 'string' && ENDS.has(status)) return status
  return incompleteReason(details) === undefined ? type : 'incomplete'
}

const ENDS: ReadonlySet<string> = new Set(['incomplete', 'failed', 'cancelled'])

/** The item of an answer that has its text in the field that OpenAI's libraries add. */
function listSaid({ output_text: content }: JsonObject): JsonValue {
  return typeof content === 'string' && content !== '' ? [{ type: 'message', content }] : []
}

/** Text of a delta, which some servers send as an object. */
function readPiece(type: string, delta: JsonValue | undefined): string {
  if (typeof delta === 'string' || delta === undefined) return delta ?? ''
  return type === 'response.function_call_arguments.delta' ? (readGivenArguments(delta) ?? '') : readPartText(delta)
}

/** Key of an item: its index in the answer, otherwise its id. */
function readKey({ output_index: index, item_id: id }: JsonObject): JsonValue | undefined {
  return typeof index === 'number' ? index : typeof id === 'string' ? id : undefined
}

/** `incomplete_details.reason` of openai 7.57. `steered` occurs on WebSockets: the answer stopped between two items. */
const INCOMPLETE: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'max-tokens',
  content_filter: 'refusal',
  steered: 'pause',
}

interface EndOfAnswer {
  readonly status: 'completed' | 'incomplete'
  /** `incomplete_details`. */
  readonly details: JsonValue | undefined
  readonly hasCalls: boolean
  /** Whether a call's own status says that it is incomplete. */
  readonly hasBrokenCall: boolean
  readonly isRefused: boolean
}

/** The API has no finish reason for tool calls; the presence of a call is the only sign. */
function readFinish({ status, details, hasCalls, hasBrokenCall, isRefused }: EndOfAnswer): FinishReason {
  if (status === 'incomplete') {
    const reason = incompleteReason(details) ?? ''
    const finish = (Object.hasOwn(INCOMPLETE, reason) ? INCOMPLETE[reason] : readFinishWord(reason)) ?? 'other'
    // An answer with calls cannot be continued.
    return finish === 'pause' && hasCalls ? 'other' : finish
  }
  if (isRefused) return 'refusal'
  if (!hasCalls) return 'end'
  return hasBrokenCall ? 'malformed-call' : 'tool-calls'
}

function incompleteReason(details: JsonValue | undefined): string | undefined {
  const reason = isJsonObject(details) ? details['reason'] : undefined
  return typeof reason === 'string' && reason !== '' ? reason : undefined
}

/**
 * `input_tokens` includes cache reads, `output_tokens` includes reasoning. Gateways differ as those to Chat Completions
 * do, and some use its words.
 */
export function readUsage(usage: JsonObject): Usage {
  return readChatUsage(overlayChat({}, usage))
}
