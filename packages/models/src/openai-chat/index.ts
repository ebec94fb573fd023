// Chat Completions, of OpenAI and of every server that speaks it: `createOpenAiChatModel` joins the two pure halves
// (encode-request, decode-stream) with a transport.
import type { Clock, HttpHead, HttpRequest, Model, ModelAnswer, Transport } from '@baton/core'
import { BatonError, isBatonError, parseJson } from '@baton/core'
import { toolNamesOf } from '../tool-names.ts'
import { redact, secretsOf } from '../transport/redact.ts'
import { createSseReader } from '../transport/sse.ts'
import { OPENAI_BASE_URL, apiUrl, authorization } from './address.ts'
import type { OpenAiChatDecoder, OpenAiChatDecoderOptions } from './decode-stream.ts'
import { answerTooLong, createOpenAiChatDecoder, decodeOpenAiChatCompletion } from './decode-stream.ts'
import { keepsToSchemas } from './encode-output.ts'
import { isOpenAiReasoningModel } from './encode-reasoning.ts'
import { encodeOpenAiChatRequest } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import type { OpenAiChatQuirks } from './quirks.ts'
import { OPENAI_QUIRKS } from './quirks.ts'
import type { OpenAiChatRequest } from './wire.ts'
import { PROVIDER } from './wire.ts'

export { createOpenAiChatDecoder, decodeOpenAiChatCompletion } from './decode-stream.ts'
export type { OpenAiChatDecoder, OpenAiChatDecoderOptions } from './decode-stream.ts'
export { encodeOpenAiChatRequest } from './encode-request.ts'
export type { OpenAiChatEncodeOptions } from './encode-request.ts'
export { listModels } from './list-models.ts'
export type { FetchLike, ListedModel, ListModelsInit } from './list-models.ts'
export { COMPATIBLE_QUIRKS, OPENAI_QUIRKS } from './quirks.ts'
export type { OpenAiChatQuirks } from './quirks.ts'
export type { OpenAiChatRequest } from './wire.ts'

export interface OpenAiChatModelOptions {
  readonly model: string
  /** As `Authorization: Bearer …`; absent for servers that ask for none. */
  readonly apiKey?: string
  readonly transport: Transport
  readonly clock: Clock
  /** With its version, as in OPENAI_BASE_URL; `https://api.openai.com/v1` by default. */
  readonly baseUrl?: string
  /** Keeps the state of one server from another: `groq`. `openai-chat` by default. */
  readonly provider?: string
  /** The model's id; `<provider>/<model>` by default. */
  readonly id?: string
  /** For people, in errors: `Groq`. `OpenAI` by default. */
  readonly label?: string
  /** Where the server differs; OpenAI itself by default. */
  readonly quirks?: OpenAiChatQuirks
  /** Added to each request, over the adapter's own: what a gateway asks for. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * Milliseconds; 30 s by default, both; 5 minutes where a model of OpenAI thinks, which it does in silence. A local server
   * may need longer to load a model.
   */
  readonly firstByteTimeoutMs?: number
  readonly betweenBytesTimeoutMs?: number
  /** Tokens of input and output together; absent when unknown. */
  readonly contextTokens?: number
  /** Most characters of one answer: text, reasoning and arguments together; 8 Mi by default. */
  readonly answerLengthMax?: number
}

const TIMEOUT_MS = 30_000
const THINKING_TIMEOUT_MS = 300_000
/** Characters of a body that is not a stream: an error page, or a whole answer. */
const BODY_LENGTH_MAX = 16 * 1024 * 1024

/** @throws BatonError `model_not_configured` without a model */
export function createOpenAiChatModel(options: OpenAiChatModelOptions): Model {
  if (options.model.trim() === '')
    throw new BatonError({ code: 'model_not_configured', message: 'createOpenAiChatModel: model is empty' })
  const { model, contextTokens, answerLengthMax } = options
  const { provider = PROVIDER, label = 'OpenAI', quirks = OPENAI_QUIRKS } = options
  return {
    id: options.id ?? `${provider}/${model}`,
    provider,
    capabilities: {
      tools: 'native',
      images: quirks.images,
      output: keepsToSchemas(model) ? quirks.output : 'none',
      ...(contextTokens !== undefined && { contextTokens }),
    },
    async run(request, sink, signal) {
      const names = toolNamesOf(request)
      const body = encodeOpenAiChatRequest(request, { model, provider, quirks }, names)
      const maxTokens = body.max_tokens ?? body.max_completion_tokens
      const http = httpRequest(options, body)
      const reading = readAnswer({
        model,
        provider,
        label,
        thinkTags: quirks.thinkTags,
        names,
        sink,
        secrets: secretsOf(http),
        ...(maxTokens !== undefined && { maxTokens }),
        ...(answerLengthMax !== undefined && { answerLengthMax }),
      })
      const head = await options.transport.post(http, signal, reading.push)
      return reading.end(head, options.clock.nowMs())
    },
  }
}

function httpRequest(options: OpenAiChatModelOptions, body: OpenAiChatRequest): HttpRequest {
  const timeoutMs = thinksInSilence(options, body) ? THINKING_TIMEOUT_MS : TIMEOUT_MS
  return {
    url: apiUrl(options.baseUrl ?? OPENAI_BASE_URL, 'chat/completions'),
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...authorization(options.apiKey),
      ...options.headers,
    },
    body: JSON.stringify(body),
    firstByteTimeoutMs: options.firstByteTimeoutMs ?? timeoutMs,
    betweenBytesTimeoutMs: options.betweenBytesTimeoutMs ?? timeoutMs,
  }
}

/** OpenAI shows nothing of a model's thoughts by Chat Completions, no sign of life either. */
function thinksInSilence({ model, quirks = OPENAI_QUIRKS }: OpenAiChatModelOptions, body: OpenAiChatRequest): boolean {
  if (quirks.reasoning !== 'openai' || !isOpenAiReasoningModel(model)) return false
  return body.reasoning_effort !== 'none' && body.reasoning_effort !== 'minimal'
}

interface Reading {
  readonly push: (bytes: Uint8Array, head: HttpHead) => void
  /** @throws BatonError */
  readonly end: (head: HttpHead, nowMs: number) => ModelAnswer
}

type ReadingOptions = OpenAiChatDecoderOptions & { readonly label: string; readonly secrets: readonly string[] }

/** A stream of events is decoded as it comes; any other body (an error, a whole answer) is collected first. */
function readAnswer(options: ReadingOptions): Reading {
  let pushEvents: ((bytes: Uint8Array) => void) | undefined
  let decoder: OpenAiChatDecoder | undefined
  let body = ''
  const text = new TextDecoder()
  const isStream = (head: HttpHead) =>
    isSuccess(head) && !(head.headers['content-type'] ?? '').includes('application/json')
  const open = (head: HttpHead) => {
    const opened = createOpenAiChatDecoder({ ...options, ...idOf(head) })
    const reader = createSseReader((event) => opened.push(event))
    decoder = opened
    pushEvents = (bytes) => {
      reader.push(bytes)
      // Nothing more can come of it, and the server would go on writing.
      if (opened.failure) throw opened.failure
    }
    return pushEvents
  }
  return {
    push(bytes, head) {
      if (isStream(head)) (pushEvents ?? open(head))(bytes)
      else if (body.length < BODY_LENGTH_MAX) body += text.decode(bytes, { stream: true })
      // Of an error its beginning is enough; half an answer is none.
      else if (isSuccess(head)) throw answerTooLong(options.label, BODY_LENGTH_MAX)
    },
    end(head, nowMs) {
      const { label, secrets } = options
      if (!isSuccess(head)) throw errorFromHttp({ provider: label, head, body, nowMs, secrets })
      const answer = isStream(head)
        ? (decoder ?? createOpenAiChatDecoder({ ...options, ...idOf(head) })).end()
        : decodeBody(body, { ...options, ...idOf(head) })
      if (isBatonError(answer)) throw answer
      return answer
    },
  }
}

function decodeBody(body: string, options: ReadingOptions): ModelAnswer | BatonError {
  const parsed = parseJson(body)
  if (parsed.ok) return decodeOpenAiChatCompletion(parsed.value, options)
  const message = `${options.label}’s answer is not JSON: ${redact(body, options.secrets).slice(0, 80)}`
  return new BatonError({ code: parsed.cutOff ? 'model_cut_off' : 'model_malformed_answer', message })
}

function isSuccess(head: HttpHead): boolean {
  return head.status >= 200 && head.status < 300
}

function idOf(head: HttpHead): { readonly requestId?: string } {
  const requestId = head.headers['x-request-id'] ?? head.headers['request-id']
  return requestId === undefined ? {} : { requestId }
}
