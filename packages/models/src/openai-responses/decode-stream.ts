// From the events of a response to one neutral answer. Pure: no I/O, no clock. Pieces go to the sink as they arrive; `end()`
// may be asked after any event and changes nothing.
import type { JsonObject, JsonValue, ModelAnswer, ModelEvent } from '@baton/core'
import { BatonError, isJsonObject, parseJson } from '@baton/core'
import type { ToolNames } from '../tool-names.ts'
import { listSources } from '../found-sources.ts'
import { answerTooLong } from '../transport/answer-reader.ts'
import { redact } from '../transport/redact.ts'
import type { SseEvent } from '../transport/sse.ts'
import { parseWireJson } from '../transport/wire-json.ts'
import type { AnswerProgress } from '../transport/whole-answer.ts'
import { readFinish, incompleteReason, readUsage } from './decode-end.ts'
import { ItemDraft } from './decode-item.ts'
import { endedAs, errorFromStream, errorIn } from './errors.ts'
import { PROVIDER } from './wire.ts'
import { readText } from '../json-fields.ts'

export interface OpenAiResponsesDecoderOptions {
  /** The model as it was asked for; provider state is bound to it. */
  readonly model: string
  readonly names: Pick<ToolNames, 'decode'>
  /** For people, in errors; `OpenAI` by default. */
  readonly label?: string
  readonly sink?: (event: ModelEvent) => void
  /** From the answer's headers. */
  readonly requestId?: string
  readonly secrets?: readonly string[]
  /** Most UTF-16 units of text, reasoning, arguments and what else is kept of an answer; 8 Mi by default. */
  readonly answerLengthMax?: number | undefined
}

export interface OpenAiResponsesDecoder {
  push(event: SseEvent): void
  /** The whole answer when the stream has ended properly, else what is wrong with it so far. */
  end(): ModelAnswer | BatonError
  /** Set as soon as the stream can no longer become an answer. */
  readonly failure: BatonError | undefined
  readonly progress: AnswerProgress
  readonly heard: number
}

const ANSWER_LENGTH_MAX = 8 * 1024 * 1024
/** UTF-16 units that an item counts beside its text, so that items without any are bounded too. */
const ITEM_LENGTH = 64

export function createOpenAiResponsesDecoder(options: OpenAiResponsesDecoderOptions): OpenAiResponsesDecoder {
  return new StreamDecoder(options)
}

/** An answer that came whole (`stream: false`, or from a server that does not stream). */
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
  /** In the order in which they began. */
  readonly #items: ItemDraft[] = []
  /**
   * The newest item at each `output_index`, or with each id where there is no index. Ids alone do not tell items apart: proxies
   * give an item another one in each event.
   */
  readonly #itemAt = new Map<JsonValue | undefined, ItemDraft>()
  /** Events that said something. */
  heard = 0
  #calls = 0
  /** Whether arguments came of a call that nobody had begun. */
  #hasStray = false
  /** UTF-16 units of all that is kept. */
  #length = 0
  #model = ''
  #id = ''
  #usage: JsonObject = {}
  #end: { readonly status: 'completed' | 'incomplete'; readonly details: JsonValue | undefined } | undefined

  constructor(options: OpenAiResponsesDecoderOptions) {
    this.#options = options
    this.#sink = options.sink ?? (() => undefined)
  }

  push({ event, data }: SseEvent): void {
    const text = data.trim()
    if (text === '' || this.failure || this.#end) return
    if (text === '[DONE]') {
      this.#handleDone()
      return
    }
    const parsed = parseWireJson(text)
    if (!parsed.ok) {
      // Redacted before it is cut: half a key is still too much.
      this.#fail(`an event is not JSON: ${redact(text, this.#options.secrets ?? []).slice(0, 80)}`)
      return
    }
    if (!isJsonObject(parsed.value)) return
    const { type } = parsed.value
    this.#handle(typeof type === 'string' ? type : (event ?? ''), parsed.value)
  }

  /** Gateways end the stream without the event that says so: what all its items have closed is whole. */
  #handleDone(): void {
    const isWhole = ({ isDone, item, type }: ItemDraft): boolean =>
      isDone &&
      (item['status'] ?? 'completed') === 'completed' &&
      (type !== 'function_call' || parseJson(readText(item, 'arguments') || '{}').ok)
    if (this.#items.length > 0 && this.#items.every(isWhole) && !this.#hasStray) this.#handleEnd({}, 'completed')
  }

  handleWhole(response: JsonValue): void {
    const error = errorIn(response)
    const status = isJsonObject(response) ? response['status'] : undefined
    if (isJsonObject(response) && (!error || status === 'failed'))
      this.#handleEnd(response, typeof status === 'string' ? status : 'completed')
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
        ...items.flatMap((item) =>
          item.parts({ state: (data) => this.#state(data), readName: (wire) => this.#options.names.decode(wire) }),
        ),
        ...listSources(items.flatMap((item) => item.sources())),
      ],
      finish,
      usage: readUsage(this.#usage),
      model: this.#model === '' ? this.#options.model : this.#model,
      ...(requestId !== undefined && { requestId }),
      ...(category !== undefined && { refusal: category }),
    }
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
        this.#handleEnd(event['response'], type.slice('response.'.length))
        break
      case 'error':
        // The API's own has the words beside the type, gateways have them in `error`.
        this.#failWith(errorIn(event) ?? event)
        break
      default:
        this.#handlePiece(type, event)
    }
  }

  #handlePiece(type: string, event: JsonObject): void {
    const { delta } = event
    const text = typeof delta === 'string' ? delta : ''
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
        this.#endArguments(index, event['arguments'])
        break
      case 'response.output_text.done':
        this.#endText(index, readText(event, 'text'))
        break
      default:
        // Beginnings and ends of what comes by `output_item.done` as well, and kinds that are not known.
        if (type === '') this.#takeError(event)
    }
  }

  /** An object without a type, as some gateways break off. */
  #takeError(event: JsonObject): void {
    const error = errorIn(event)
    if (error) this.#failWith(error)
  }

  #takeHead(response: JsonValue | undefined): void {
    if (!isJsonObject(response)) return
    if (typeof response['model'] === 'string' && response['model'] !== '') this.#model = response['model']
    if (typeof response['id'] === 'string' && response['id'] !== '') this.#id = response['id']
    if (!isJsonObject(response['usage']) || this.failure) return
    this.#usage = response['usage']
    this.#sink({ type: 'usage', usage: readUsage(this.#usage) })
  }

  /** The item at this place: one that is there, or a new one, also where two share a place. */
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
    this.#itemAt.set(key, draft)
    if (draft.call !== undefined) {
      const name = this.#options.names.decode(draft.name)
      this.#sink({ type: 'call-start', index: draft.call, name })
    }
    this.#tellServerTool(draft, 'started')
    return draft
  }

  /**
   * A piece of an item. Text and thoughts of one that was never begun begin it; a piece of another kind, and arguments
   * without a call, are for the item's end to set right.
   */
  #say(key: JsonValue | undefined, type: ItemDraft['type'], text: string): ItemDraft | undefined {
    const placed = this.#itemAt.get(key)
    const isElsewhere = key === undefined || (placed !== undefined && placed.type !== type)
    const known = isElsewhere
      ? this.#items.findLast((one) => one.type === type && !one.isDone)
      : (placed ?? (type === 'function_call' ? this.#onlyOpenCall() : undefined))
    const mayBegin = !placed && type !== 'function_call' && text !== ''
    const draft = known ?? (mayBegin ? this.#begin(key, { type }) : undefined)
    if (draft?.type !== type || draft.isDone || !this.#fits(text.length)) return undefined
    draft.streamed += text
    this.#tell(draft, text)
    return draft
  }

  /** Some close a call by the end of its arguments and by nothing else. */
  #endArguments(key: JsonValue | undefined, told: JsonValue | undefined): void {
    const placed = this.#itemAt.get(key)
    const draft = placed?.type === 'function_call' ? placed : this.#onlyOpenCall()
    if (typeof told !== 'string' || !draft || draft.isDone || !this.#fits(told.length - draft.streamed.length)) return
    draft.told = told
  }

  #onlyOpenCall(): ItemDraft | undefined {
    const [only, ...others] = this.#items.filter(({ type, isDone }) => type === 'function_call' && !isDone)
    return others.length === 0 ? only : undefined
  }

  /** Some tell a text by its end and by no piece. */
  #endText(key: JsonValue | undefined, text: string): void {
    const isTold = this.#items.some((one) => one.type === 'message' && (one.streamed === text || one.whole() === text))
    const placed = this.#itemAt.get(key)
    if (!isTold && (placed?.type !== 'message' || placed.streamed === '')) this.#say(key, 'message', text)
  }

  #tell(draft: ItemDraft, text: string): void {
    if (text === '') return
    if (draft.type === 'message') this.#sink({ type: 'text-delta', text })
    else if (draft.type === 'reasoning') this.#sink({ type: 'reasoning-delta', text })
    else if (draft.call !== undefined) this.#sink({ type: 'call-delta', index: draft.call, text })
  }

  #close(key: JsonValue | undefined, item: JsonValue | undefined): void {
    if (isJsonObject(item)) this.#finish(this.#open(key, item), item)
  }

  #finish(draft: ItemDraft | undefined, item: JsonObject): void {
    if (!draft || draft.isDone) return
    // All of it is kept: encrypted thoughts and items of OpenAI's own tools may be long without having been streamed.
    if (!this.#fits(Math.max(JSON.stringify(item).length - draft.streamed.length, 0))) return
    this.#tell(draft, draft.close(item))
    if (draft.call !== undefined) this.#sink({ type: 'call-end', index: draft.call })
    this.#tellServerTool(draft, 'finished')
  }

  /** `web_search_call`, `mcp_call` and the like; `custom_tool_call` waits for a client. */
  #tellServerTool({ type, item }: ItemDraft, status: 'started' | 'finished'): void {
    const name = item['type']
    if (type === 'other' && typeof name === 'string' && name.endsWith('_call') && name !== 'custom_tool_call')
      this.#sink({ type: 'server-tool', name, status })
  }

  #handleEnd(value: JsonValue | undefined, status: string): void {
    const response = isJsonObject(value) ? value : {}
    this.#takeHead(response)
    if (status === 'failed') {
      this.#failWith(isJsonObject(response['error']) ? response['error'] : { message: 'no reason is given' })
      return
    }
    if (status !== 'completed' && status !== 'incomplete') {
      this.failure ??= endedAs(status, this.#place())
      return
    }
    this.#closeRest(response['output'])
    for (const one of this.#items)
      if (!one.isDone && one.told !== undefined) this.#finish(one, { ...one.item, arguments: one.told })
    if (this.#hasStray && this.#calls === 0) this.#fail('arguments came that belong to no call')
    const open = this.#items.some(({ type, isDone }) => type === 'function_call' && !isDone)
    if (open && status === 'completed') this.#fail('it is completed, but one of its calls is not')
    if (!this.failure) this.#end = { status, details: response['incomplete_details'] }
  }

  /**
   * The response repeats all items. What was begun and not ended is ended by it, and what the stream had not is taken; what was
   * streamed and is not listed stays. A call must not become a second one: it is known by its id, or by what it says.
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

  /** Counts what is about to be kept: a stream that never ends would fill the memory, however small its events are. */
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

/** The place of an item: its number in the answer, else its id. */
function readKey({ output_index: index, item_id: id }: JsonObject): JsonValue | undefined {
  return typeof index === 'number' ? index : typeof id === 'string' ? id : undefined
}
