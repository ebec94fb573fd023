// Decodes Gemini's response stream into one neutral answer. Pure: no I/O, no clock. Deltas go to the sink as they
// arrive; `end()` can be called after any of them and changes nothing.
import type { JsonObject, JsonValue, ModelAnswer, ModelEvent, ModelPart, ProviderState } from '@baton/core/internal'
import { BatonError, isJsonObject } from '@baton/core/internal'
import type { ToolNames } from '../tool-names.ts'
import type { FoundSource } from '../found-sources.ts'
import { listSources, readSource } from '../found-sources.ts'
import { answerTooLong } from '../transport/answer-reader.ts'
import { redact } from '../transport/redact.ts'
import type { AnswerProgress } from '../transport/whole-answer.ts'
import type { CallDraft } from './decode-call.ts'
import { addToCall, buildCallPart, openCall } from './decode-call.ts'
import { createCounts, readFinish, readReason, updateCounts, readUsage } from './decode-end.ts'
import { errorFromChunk } from './errors.ts'
import type { WireChunk } from './wire.ts'
import { PROVIDER } from './wire.ts'
import { pickReason } from '../finish-words.ts'
import { asList, inCamelCase, listObjects, readCount } from '../json-fields.ts'
import { errorIn, saysNothing } from '../openai-chat/errors.ts'
import type { SseEvent } from '../transport/sse.ts'
import { parseWireJson } from '../transport/wire-json.ts'

export interface GeminiDecoderOptions {
  /** The requested model. Provider state is bound to it. */
  readonly model: string
  readonly names: Pick<ToolNames, 'decode'>
  readonly sink?: (event: ModelEvent) => void
  readonly secrets?: readonly string[]
  /** Maximum UTF-16 units of an answer's parts, as on the wire; 8 Mi by default. */
  readonly answerLengthMax?: number | undefined
}

const ANSWER_LENGTH_MAX = 8 * 1024 * 1024

export interface GeminiDecoder {
  /** Takes one event, or one element of the array sent without `alt=sse`. */
  push(event: SseEvent): void
  /** The complete answer if its finish reason has arrived, otherwise the error so far. */
  end(): ModelAnswer | BatonError
  /** Set as soon as the stream cannot become a valid answer. */
  readonly failure: BatonError | undefined
  readonly progress: AnswerProgress
  readonly heard: number
}

export function createGeminiDecoder(options: GeminiDecoderOptions): GeminiDecoder {
  return new StreamDecoder(options)
}

interface TextDraft {
  readonly type: 'text' | 'reasoning'
  text: string
  readonly signature: string | undefined
  /** Whether a signature without text came on a text part rather than a thought. */
  readonly isText: boolean
}

interface OpaqueDraft {
  readonly type: 'provider'
  readonly part: JsonObject
}

class StreamDecoder implements GeminiDecoder {
  failure: BatonError | undefined
  readonly #options: GeminiDecoderOptions
  readonly #sink: (event: ModelEvent) => void
  #sources: readonly FoundSource[] = []
  readonly #drafts: (TextDraft | OpaqueDraft | CallDraft)[] = []
  /** Number of chunks with content or usage. */
  heard = 0
  #calls = 0
  #openCall: CallDraft | undefined
  /** Whether a call was unreadable or never closed; then no call of the answer may run. */
  #isMalformed = false
  #length = 0
  readonly #counts = createCounts()
  #model: string | undefined
  #responseId: string | undefined
  #reason: string | undefined
  /** Whether content arrived since the finish reason. */
  #hasGoneOn = false
  #blocked: string | undefined

  constructor(options: GeminiDecoderOptions) {
    this.#options = options
    this.#sink = options.sink ?? (() => undefined)
  }

  push({ event, data }: SseEvent): void {
    const text = data.trim()
    if (this.failure || text === '') return
    if (text === '[DONE]') {
      // Gateways end with it, and some leave the reason out.
      if (this.#drafts.length > 0 && !this.#openCall) this.#reason ??= 'STOP'
      return
    }
    const parsed = parseWireJson(data)
    if (!parsed.ok && event === 'error') this.#failWith({ message: text })
    // Redact before truncating: half a key is still too much.
    if (!parsed.ok) this.#fail(`an event is not JSON: ${redact(data, this.#options.secrets ?? []).slice(0, 80)}`)
    // Late errors arrive as an array inside an event.
    else
      for (const chunk of Array.isArray(parsed.value) ? (parsed.value as readonly JsonValue[]) : [parsed.value])
        if (isJsonObject(chunk) && !this.failure) this.#handleChunk(inCamelCase(chunk))
  }

  get progress(): AnswerProgress {
    return (this.#reason ?? this.#blocked) === undefined ? 'open' : 'ended'
  }

  end(): ModelAnswer | BatonError {
    if (this.failure) return this.failure
    const reason = this.#reason ?? this.#blocked
    if (reason === undefined)
      return new BatonError({
        code: 'model_cut_off',
        message: `Gemini’s stream ended before a ${this.#drafts.length === 0 ? 'candidate' : 'finishReason'} came`,
        ...(this.#responseId !== undefined && { data: { requestId: this.#responseId } }),
      })
    const isMalformed = this.#isMalformed || this.#openCall !== undefined
    const said = this.#reason === undefined ? 'refusal' : readFinish(reason, this.#calls > 0)
    const finish = isMalformed && (said === 'tool-calls' || said === 'end') ? 'malformed-call' : said
    return {
      parts: [...this.#drafts.map((draft) => this.#readPart(draft)), ...listSources(this.#sources)],
      finish,
      usage: readUsage(this.#counts),
      model: this.#model ?? this.#options.model,
      ...(this.#responseId !== undefined && { requestId: this.#responseId }),
      ...(finish === 'refusal' && { refusal: reason }),
    }
  }

  #handleChunk(chunk: JsonObject & WireChunk): void {
    const { response, error } = chunk
    // Code Assist wraps each chunk.
    if (isJsonObject(response) && chunk.candidates === undefined) {
      this.#handleChunk(inCamelCase(response))
      return
    }
    const isAnswer = chunk.candidates !== undefined || chunk.usageMetadata !== undefined
    if (error !== undefined && error !== null && !(isAnswer && isJsonObject(error) && saysNothing(error))) {
      this.failure = errorFromChunk(chunk, this.#options.secrets ?? [])
      return
    }
    const other = isAnswer || chunk.promptFeedback !== undefined ? undefined : errorIn(chunk)
    if (other) {
      this.#failWith(other)
      return
    }
    const { modelVersion, responseId, usageMetadata, promptFeedback, candidates } = chunk
    if (typeof modelVersion === 'string' && modelVersion !== '') this.#model = modelVersion
    if (typeof responseId === 'string' && responseId !== '') this.#responseId = responseId
    // Only one candidate was requested, so any others are ignored.
    const candidate = asList(candidates).filter(isJsonObject).find(isFirst)
    if (candidate !== undefined || usageMetadata !== undefined) this.heard += 1
    if (candidate) this.#handleCandidate(inCamelCase(candidate))
    if (isJsonObject(usageMetadata)) this.#takeUsage(inCamelCase(usageMetadata))
    const blocked = isJsonObject(promptFeedback) ? inCamelCase(promptFeedback)['blockReason'] : undefined
    if (typeof blocked === 'string') this.#blocked = blocked
  }

  /** GroundingMetadata of the API: pages from a search and documents from a store. */
  #takeSources(metadata: JsonObject): void {
    const chunks = listObjects(metadata['groundingChunks'])
    if (chunks.length === 0 || !this.#fits(JSON.stringify(chunks).length)) return
    this.#sources = chunks.flatMap(({ web, retrievedContext }) => {
      const found = isJsonObject(web) ? web : retrievedContext
      return isJsonObject(found) ? [readSource({ url: found['uri'], title: found['title'], quote: found['text'] })] : []
    })
  }

  #handleCandidate({ content, finishReason, groundingMetadata }: JsonObject): void {
    if (isJsonObject(groundingMetadata)) this.#takeSources(groundingMetadata)
    const parts = isJsonObject(content) ? content['parts'] : content
    for (const given of typeof parts === 'string' ? [parts] : asList(parts)) {
      const part = typeof given === 'string' ? { text: given } : given
      if (!isJsonObject(part)) continue
      if (!this.#fits(countLength(part))) return
      this.#handlePart(inCamelCase(part))
    }
    const reason = readReason(finishReason)
    if (reason === undefined) return
    const read = (word: string) => readFinish(word, this.#calls > 0)
    this.#reason = pickReason(this.#reason, reason, { read, goesOn: this.#hasGoneOn })
    this.#hasGoneOn = false
  }

  #handlePart(part: JsonObject): void {
    const { text, functionCall, thoughtSignature } = part
    const signature = typeof thoughtSignature === 'string' && thoughtSignature !== '' ? thoughtSignature : undefined
    this.#hasGoneOn ||= text !== ''
    if (isJsonObject(functionCall)) this.#handleCall(inCamelCase(functionCall), signature)
    else if (typeof text === 'string' || (signature !== undefined && Object.keys(part).length === 1))
      this.#handleText(typeof text === 'string' ? text : '', part['thought'] === true, signature)
    else if (Object.keys(part).some((key) => key !== 'thought')) {
      this.#drafts.push({ type: 'provider', part })
      this.#tellServerTool(part)
    }
  }

  /** Reports code that Gemini runs and calls of its other tools (`toolCall`, `toolResponse`). */
  #tellServerTool(part: JsonObject): void {
    const { executableCode, codeExecutionResult, toolCall, toolResponse } = part
    if (executableCode !== undefined) this.#sink({ type: 'server-tool', name: 'code_execution', status: 'started' })
    if (codeExecutionResult !== undefined)
      this.#sink({ type: 'server-tool', name: 'code_execution', status: 'finished' })
    const called = isJsonObject(toolCall) ? toolCall : toolResponse
    if (!isJsonObject(called)) return
    const { toolType: name = 'tool' } = called
    if (typeof name === 'string')
      this.#sink({ type: 'server-tool', name, status: called === toolCall ? 'started' : 'finished' })
  }

  /** Signed parts stay separate: merged with others, they would be rejected. */
  #handleText(text: string, isThought: boolean, signature: string | undefined): void {
    const type = isThought || text === '' ? 'reasoning' : 'text'
    if (text === '' && signature === undefined) return
    const last = this.#drafts.at(-1)
    // A signature on a separate empty part belongs to the preceding call, which would be rejected without it.
    if (text === '' && last?.type === 'call' && last.signature === undefined) {
      last.signature = signature
      return
    }
    if (signature === undefined && last?.type === type && last.signature === undefined) last.text += text
    else this.#drafts.push({ type, text, signature, isText: !isThought })
    if (text !== '') this.#sink({ type: isThought ? 'reasoning-delta' : 'text-delta', text })
  }

  #handleCall(call: JsonObject, signature: string | undefined): void {
    const isNamed = typeof call['name'] === 'string' && call['name'] !== ''
    const draft = isNamed ? this.#startCall(call) : this.#openCall
    if (!draft) {
      // An empty end of a call that has already ended is harmless. Arguments without a call mean that a call was lost.
      if (call['args'] !== undefined || call['partialArgs'] !== undefined) this.#isMalformed = true
      return
    }
    draft.signature ??= signature
    if (!addToCall(draft, call)) this.#isMalformed = true
    if (call['willContinue'] === true) return
    this.#openCall = undefined
    if (draft.arguments === undefined) return
    // Argument pieces arrive in the order the model generates them, not in text order, so the text can only be shown
    // complete.
    this.#sink({ type: 'call-delta', index: draft.number, text: draft.arguments })
    this.#sink({ type: 'call-end', index: draft.number })
  }

  #startCall(call: JsonObject): CallDraft {
    if (this.#openCall) this.#isMalformed = true
    const draft = openCall(call, this.#calls++)
    this.#openCall = draft
    this.#drafts.push(draft)
    this.#sink({ type: 'call-start', index: draft.number, name: this.#options.names.decode(draft.name) })
    return draft
  }

  #takeUsage(usage: JsonObject): void {
    if (updateCounts(this.#counts, usage)) this.#sink({ type: 'usage', usage: readUsage(this.#counts) })
  }

  #readPart(draft: TextDraft | OpaqueDraft | CallDraft): ModelPart {
    const { model, names } = this.#options
    const buildState = (data: JsonObject): ProviderState => ({ provider: PROVIDER, model, data })
    if (draft.type === 'call') return buildCallPart(draft, model, names)
    if (draft.type === 'provider') return { type: 'provider', state: buildState({ part: draft.part }) }
    const { type, text, signature, isText } = draft
    if (signature === undefined) return { type, text }
    const state = buildState({ thoughtSignature: signature, ...(type === 'reasoning' && isText && { isText: true }) })
    return { type, text, state }
  }

  /** Counts content before keeping it. Otherwise an endless stream would fill memory, however small its events. */
  #fits(length: number): boolean {
    const most = this.#options.answerLengthMax ?? ANSWER_LENGTH_MAX
    this.#length += length
    if (this.#length <= most) return true
    this.failure = answerTooLong('Gemini', most)
    return false
  }

  #failWith(error: JsonObject): void {
    this.failure ??= errorFromChunk({ error }, this.#options.secrets ?? [])
  }

  #fail(what: string): void {
    this.failure ??= new BatonError({
      code: 'model_malformed_answer',
      message: `Gemini’s stream is malformed: ${what}`,
    })
  }
}

/** Length of a part on the wire, not counting escapes of text. Nearly every part is just text. */
function countLength(part: JsonObject): number {
  const { text, thoughtSignature, functionCall } = part
  const isText = typeof text === 'string' && thoughtSignature === undefined && functionCall === undefined
  return isText ? TEXT_PART_LENGTH + text.length : JSON.stringify(part).length
}

const TEXT_PART_LENGTH = '{"text":""}'.length

function isFirst(candidate: JsonObject): boolean {
  return (readCount(candidate, 'index') ?? 0) === 0
}
