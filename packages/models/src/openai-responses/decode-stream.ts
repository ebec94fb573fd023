// From the events of a response to one neutral answer. Pure: no I/O, no clock. Pieces go to the sink as they arrive; `end()`
// may be asked after any event and changes nothing.
import type { JsonObject, JsonValue, ModelAnswer, ModelEvent } from '@baton/core'
import { BatonError, isJsonObject, parseJson } from '@baton/core'
import type { ToolNames } from '../tool-names.ts'
import { listSources } from '../found-sources.ts'
import { answerTooLong } from '../transport/answer-reader.ts'
import { redact } from '../transport/redact.ts'
import type { SseEvent } from '../transport/sse.ts'
import { readFinish, incompleteReason, readUsage } from './decode-end.ts'
import { ItemDraft } from './decode-item.ts'
import { endedAs, errorFromStream, errorIn } from './errors.ts'
import { PROVIDER } from './wire.ts'

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
}

const ANSWER_LENGTH_MAX = 8 * 1024 * 1024
/** What an item costs beside its text, so that items without any are bounded too. */
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
  /** By `output_index`. Ids do not tell items apart everywhere: proxies give an item another one in each event. */
  readonly #items = new Map<number, ItemDraft>()
  #calls = 0
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
    if (text === '' || text === '[DONE]' || this.failure || this.#end) return
    const parsed = parseJson(text)
    if (!parsed.ok) {
      // Redacted before it is cut: half a key is still too much.
      this.#fail(`an event is not JSON: ${redact(text, this.#options.secrets ?? []).slice(0, 80)}`)
      return
    }
    if (!isJsonObject(parsed.value)) return
    const { type } = parsed.value
    this.#handle(typeof type === 'string' ? type : (event ?? ''), parsed.value)
  }

  handleWhole(response: JsonValue): void {
    const error = errorIn(response)
    const status = isJsonObject(response) ? response['status'] : undefined
    if (isJsonObject(response) && (!error || status === 'failed'))
      this.#handleEnd(response, typeof status === 'string' ? status : 'completed')
    else if (error) this.#failWith(error)
    else this.#fail('it is no response')
  }

  end(): ModelAnswer | BatonError {
    if (this.failure) return this.failure
    if (!this.#end) return this.#cutOff()
    const items = this.#inOrder()
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
        this.#open(event['output_index'], event['item'])
        break
      case 'response.output_item.done':
        this.#close(event['output_index'], event['item'])
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
    const { delta, output_index: index } = event
    const text = typeof delta === 'string' ? delta : ''
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
        this.#say(index, 'function_call', text)
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

  #open(index: JsonValue | undefined, item: JsonValue | undefined): ItemDraft | undefined {
    if (typeof index !== 'number' || !isJsonObject(item)) return undefined
    const known = this.#items.get(index)
    if (known) return known
    if (!this.#fits(ITEM_LENGTH)) return undefined
    const draft = new ItemDraft(item, item['type'] === 'function_call' ? this.#calls++ : undefined)
    this.#items.set(index, draft)
    if (draft.call !== undefined) {
      const name = this.#options.names.decode(draft.name)
      this.#sink({ type: 'call-start', index: draft.call, name })
    }
    this.#tellServerTool(draft, 'started')
    return draft
  }

  /** A piece of an item; one that was never begun, or is of another kind, is for the item's end to set right. */
  #say(index: JsonValue | undefined, type: ItemDraft['type'], text: string): ItemDraft | undefined {
    const draft = typeof index === 'number' ? this.#items.get(index) : undefined
    if (draft?.type !== type || draft.isDone || !this.#fits(text.length)) return undefined
    draft.streamed += text
    this.#tell(draft, text)
    return draft
  }

  #tell(draft: ItemDraft, text: string): void {
    if (text === '') return
    if (draft.type === 'message') this.#sink({ type: 'text-delta', text })
    else if (draft.type === 'reasoning') this.#sink({ type: 'reasoning-delta', text })
    else if (draft.call !== undefined) this.#sink({ type: 'call-delta', index: draft.call, text })
  }

  #close(index: JsonValue | undefined, item: JsonValue | undefined): void {
    const draft = this.#open(index, item)
    if (!draft || draft.isDone || !isJsonObject(item)) return
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
    const open = this.#inOrder().some(({ type, isDone }) => type === 'function_call' && !isDone)
    if (open && status === 'completed') this.#fail('it is completed, but one of its calls is not')
    if (!this.failure) this.#end = { status, details: response['incomplete_details'] }
  }

  /**
   * The response repeats all items. Only those that were begun and not ended are taken from it, or all where none was
   * streamed: what does not fit to the stream must not become a second call.
   */
  #closeRest(output: JsonValue | undefined): void {
    if (!Array.isArray(output)) return
    const isWhole = this.#items.size === 0
    for (const [index, item] of (output as readonly JsonValue[]).entries()) {
      const draft = this.#items.get(index)
      const isSame = draft !== undefined && isJsonObject(item) && draft.item['type'] === item['type']
      if (isWhole || isSame) this.#close(index, item)
    }
  }

  #inOrder(): readonly ItemDraft[] {
    return [...this.#items].toSorted(([one], [other]) => one - other).map(([, draft]) => draft)
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
