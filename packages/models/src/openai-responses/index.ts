// OpenAI's Responses API: `createOpenAiResponsesModel` joins the two pure halves (encode-request, decode-stream) with a
// transport. Nothing is stored with OpenAI; every request has the whole history.
import type { Clock, HttpHead, HttpRequest, Model, ModelAnswer, Transport } from '@baton/core'
import { BatonError, isBatonError, parseJson } from '@baton/core'
import { OPENAI_BASE_URL, apiUrl, authorization } from '../openai-chat/address.ts'
import { keepsToSchemas } from '../openai-chat/encode-output.ts'
import { isOpenAiReasoningModel } from '../openai-chat/encode-reasoning.ts'
import { toolNamesOf } from '../tool-names.ts'
import { redact, secretsOf } from '../transport/redact.ts'
import { createSseReader } from '../transport/sse.ts'
import type { OpenAiResponsesDecoder, OpenAiResponsesDecoderOptions } from './decode-stream.ts'
import { answerTooLong, createOpenAiResponsesDecoder, decodeOpenAiResponse } from './decode-stream.ts'
import type { OpenAiResponsesEncodeOptions } from './encode-request.ts'
import { encodeOpenAiResponsesRequest } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import type { OpenAiResponsesRequest } from './wire.ts'
import { PROVIDER } from './wire.ts'

export { createOpenAiResponsesDecoder, decodeOpenAiResponse } from './decode-stream.ts'
export type { OpenAiResponsesDecoder, OpenAiResponsesDecoderOptions } from './decode-stream.ts'
export { encodeOpenAiResponsesRequest } from './encode-request.ts'
export type { OpenAiResponsesEncodeOptions } from './encode-request.ts'
export type { OpenAiResponsesRequest } from './wire.ts'

export interface OpenAiResponsesModelOptions extends OpenAiResponsesEncodeOptions {
  /** As `Authorization: Bearer …`. */
  readonly apiKey: string
  readonly transport: Transport
  readonly clock: Clock
  /** With its version, as in OPENAI_BASE_URL; `https://api.openai.com/v1` by default. */
  readonly baseUrl?: string
  /** For people, in errors; `OpenAI` by default. */
  readonly label?: string
  /** Added to each request, over the adapter's own: what a gateway asks for. */
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds; 30 s by default, both; 5 minutes where the model thinks, which it does in silence. */
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

/** @throws BatonError `model_not_configured` without a key or a model */
export function createOpenAiResponsesModel(options: OpenAiResponsesModelOptions): Model {
  for (const field of ['apiKey', 'model'] as const) {
    if (options[field].trim() === '')
      throw new BatonError({ code: 'model_not_configured', message: `createOpenAiResponsesModel: ${field} is empty` })
  }
  const { model, contextTokens, answerLengthMax, label = 'OpenAI' } = options
  return {
    id: `${PROVIDER}/${model}`,
    provider: PROVIDER,
    capabilities: {
      tools: 'native',
      images: true,
      output: keepsToSchemas(model) ? 'native' : 'none',
      ...(contextTokens !== undefined && { contextTokens }),
    },
    async run(request, sink, signal) {
      const names = toolNamesOf(request)
      const http = httpRequest(options, encodeOpenAiResponsesRequest(request, options, names))
      const secrets = secretsOf(http)
      const reading = readAnswer({
        model,
        label,
        names,
        sink,
        secrets,
        ...(answerLengthMax !== undefined && { answerLengthMax }),
      })
      const head = await options.transport.post(http, signal, reading.push)
      return reading.end(head, options.clock.nowMs())
    },
  }
}

function httpRequest(options: OpenAiResponsesModelOptions, body: OpenAiResponsesRequest): HttpRequest {
  const timeoutMs = thinksInSilence(body) ? THINKING_TIMEOUT_MS : TIMEOUT_MS
  return {
    url: apiUrl(options.baseUrl ?? OPENAI_BASE_URL, 'responses'),
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

/** Between `response.in_progress` and the first piece nothing is sent, however long the model thinks. */
function thinksInSilence({ model, reasoning }: OpenAiResponsesRequest): boolean {
  return isOpenAiReasoningModel(model) && reasoning?.effort !== 'none' && reasoning?.effort !== 'minimal'
}

interface Reading {
  readonly push: (bytes: Uint8Array, head: HttpHead) => void
  /** @throws BatonError */
  readonly end: (head: HttpHead, nowMs: number) => ModelAnswer
}

type ReadingOptions = OpenAiResponsesDecoderOptions & { readonly label: string; readonly secrets: readonly string[] }

/** A stream of events is decoded as it comes; any other body (an error, a whole answer) is collected first. */
function readAnswer(options: ReadingOptions): Reading {
  let pushEvents: ((bytes: Uint8Array) => void) | undefined
  let decoder: OpenAiResponsesDecoder | undefined
  let body = ''
  const text = new TextDecoder()
  const isStream = (head: HttpHead) =>
    isSuccess(head) && !(head.headers['content-type'] ?? '').includes('application/json')
  const open = (head: HttpHead) => {
    const opened = createOpenAiResponsesDecoder({ ...options, ...idOf(head) })
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
        ? (decoder ?? createOpenAiResponsesDecoder({ ...options, ...idOf(head) })).end()
        : decodeBody(body, { ...options, ...idOf(head) })
      if (isBatonError(answer)) throw answer
      return answer
    },
  }
}

function decodeBody(body: string, options: ReadingOptions): ModelAnswer | BatonError {
  const parsed = parseJson(body)
  if (parsed.ok) return decodeOpenAiResponse(parsed.value, options)
  const message = `${options.label}’s answer is not JSON: ${redact(body, options.secrets).slice(0, 80)}`
  return new BatonError({ code: parsed.cutOff ? 'model_cut_off' : 'model_malformed_answer', message })
}

function isSuccess(head: HttpHead): boolean {
  return head.status >= 200 && head.status < 300
}

function idOf(head: HttpHead): { readonly requestId?: string } {
  const requestId = head.headers['x-request-id']
  return requestId === undefined ? {} : { requestId }
}
