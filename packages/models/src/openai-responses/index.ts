// OpenAI's Responses API: `createOpenAiResponsesModel` joins the two pure halves (encode-request, decode-stream) with a
// transport. Nothing is stored with OpenAI; every request has the whole history.
import type { Clock, HttpHead, HttpRequest, Model, Transport } from '@baton/core'
import { BatonError } from '@baton/core'
import { OPENAI_BASE_URL, apiUrl, authorization } from '../openai-chat/address.ts'
import { createRequestMemory } from '../request-memory.ts'
import { chooseToolNames } from '../tool-names.ts'
import { listSecrets } from '../transport/redact.ts'
import { createSseReader } from '../transport/sse.ts'
import { describeCapabilities, findTraits } from '../traits/find-traits.ts'
import type { OpenAiResponsesDecoderOptions } from './decode-stream.ts'
import { answerTooLong, createOpenAiResponsesDecoder, decodeOpenAiResponse } from './decode-stream.ts'
import type { OpenAiResponsesEncodeOptions } from './encode-request.ts'
import { encodeOpenAiResponsesRequest } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import type { OpenAiResponsesRequest, WireItem } from './wire.ts'
import { PROVIDER } from './wire.ts'
import type { AnswerReader } from '../transport/answer-reader.ts'
import { createAnswerReader } from '../transport/answer-reader.ts'

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
  /** Most characters of one answer: text, reasoning and arguments together; 8 Mi by default. */
  readonly answerLengthMax?: number
}

const TIMEOUT_MS = 30_000
const THINKING_TIMEOUT_MS = 300_000

/** @throws BatonError `model_not_configured` without a key or a model */
export function createOpenAiResponsesModel(options: OpenAiResponsesModelOptions): Model {
  for (const field of ['apiKey', 'model'] as const) {
    if (options[field].trim() === '')
      throw new BatonError({ code: 'model_not_configured', message: `createOpenAiResponsesModel: ${field} is empty` })
  }
  const { model, answerLengthMax, label = 'OpenAI' } = options
  const memory = createRequestMemory<WireItem>()
  const place = findPlace(options)
  const secrets = listSecrets(place)
  return {
    id: `${PROVIDER}/${model}`,
    provider: PROVIDER,
    capabilities: {
      tools: 'native',
      ...describeCapabilities({ model, override: options.traits }),
    },
    async run(request, sink, signal) {
      const names = chooseToolNames(request)
      const body = encodeOpenAiResponsesRequest(request, options, memory)
      const http = { ...place, ...findTimeouts(options, body), body: memory.write(body, 'input') }
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

/** What all requests of the model have in common: the same objects each time. */
function findPlace(options: OpenAiResponsesModelOptions): Pick<HttpRequest, 'url' | 'headers'> {
  return {
    url: apiUrl(options.baseUrl ?? OPENAI_BASE_URL, 'responses'),
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...authorization(options.apiKey),
      ...options.headers,
    },
  }
}

type Timeouts = Pick<HttpRequest, 'firstByteTimeoutMs' | 'betweenBytesTimeoutMs'>

function findTimeouts(options: OpenAiResponsesModelOptions, request: OpenAiResponsesRequest): Timeouts {
  const timeoutMs = thinksInSilence(request, options.traits) ? THINKING_TIMEOUT_MS : TIMEOUT_MS
  const { firstByteTimeoutMs = timeoutMs, betweenBytesTimeoutMs = timeoutMs } = options
  return { firstByteTimeoutMs, betweenBytesTimeoutMs }
}

/** Between `response.in_progress` and the first piece nothing is sent, however long the model thinks. */
function thinksInSilence(
  { model, reasoning }: OpenAiResponsesRequest,
  override: OpenAiResponsesModelOptions['traits'],
): boolean {
  const { thinking } = findTraits({ model, override }).traits
  const mayThink = thinking.kind !== 'none' && (reasoning !== undefined || thinking.off === 'never')
  return mayThink && reasoning?.effort !== 'none' && reasoning?.effort !== 'minimal'
}

type ReadingOptions = OpenAiResponsesDecoderOptions & { readonly label: string; readonly secrets: readonly string[] }

function readAnswer(options: ReadingOptions): AnswerReader {
  const { label, secrets } = options
  return createAnswerReader({
    label: label,
    secrets,
    createDecoder: (head) => createOpenAiResponsesDecoder({ ...options, ...readId(head) }),
    readInto: (decoder) => {
      const reader = createSseReader((event) => decoder.push(event))
      return (bytes) => reader.push(bytes)
    },
    decodeBody: (value, head) => decodeOpenAiResponse(value, { ...options, ...readId(head) }),
    describeError: (failure) => errorFromHttp({ ...failure, provider: label, secrets }),
    answerTooLong: (lengthMax) => answerTooLong(label, lengthMax),
  })
}

function readId(head: HttpHead): { readonly requestId?: string } {
  const requestId = head.headers['x-request-id']
  return requestId === undefined ? {} : { requestId }
}
