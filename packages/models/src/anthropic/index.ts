// Anthropic Messages: `createAnthropicModel` joins the two pure halves (encode-request, decode-stream) with a transport.
import type { Clock, HttpHead, HttpRequest, Model, Transport } from '@baton/core'
import { BatonError } from '@baton/core'
import { createRequestMemory } from '../request-memory.ts'
import { chooseToolNames } from '../tool-names.ts'
import { listSecrets } from '../transport/redact.ts'
import { createSseReader } from '../transport/sse.ts'
import { describeCapabilities } from '../traits/find-traits.ts'
import type { AnthropicDecoderOptions } from './decode-stream.ts'
import { answerTooLong, createAnthropicDecoder, decodeAnthropicMessage } from './decode-stream.ts'
import type { AnthropicEncodeOptions } from './encode-request.ts'
import { encodeAnthropicRequest } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import type { WireMessage } from './wire.ts'
import { PROVIDER, THINKING_BINDING_BETA } from './wire.ts'
import type { AnswerReader } from '../transport/answer-reader.ts'
import { createAnswerReader } from '../transport/answer-reader.ts'

export { createAnthropicDecoder, decodeAnthropicMessage } from './decode-stream.ts'
export type { AnthropicDecoder, AnthropicDecoderOptions } from './decode-stream.ts'
export { encodeAnthropicRequest } from './encode-request.ts'
export type { AnthropicEncodeOptions } from './encode-request.ts'
export type { AnthropicRequest } from './wire.ts'

export interface AnthropicModelOptions extends AnthropicEncodeOptions {
  readonly apiKey: string
  readonly transport: Transport
  readonly clock: Clock
  /** As in ANTHROPIC_BASE_URL; `https://api.anthropic.com` by default. */
  readonly baseUrl?: string
  /** Added to each request, over the adapter's own: `anthropic-beta`, or what a gateway asks for. */
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds; 30 s by default, both. */
  readonly firstByteTimeoutMs?: number
  readonly betweenBytesTimeoutMs?: number
  /** Most characters of one answer: text, reasoning and arguments together; 8 Mi by default. */
  readonly answerLengthMax?: number
}

const API_VERSION = '2023-06-01'
const TIMEOUT_MS = 30_000

/** @throws BatonError `model_not_configured` without a key or a model */
export function createAnthropicModel(options: AnthropicModelOptions): Model {
  for (const field of ['apiKey', 'model'] as const) {
    if (options[field].trim() === '')
      throw new BatonError({ code: 'model_not_configured', message: `createAnthropicModel: ${field} is empty` })
  }
  const { answerLengthMax } = options
  const memory = createRequestMemory<WireMessage>()
  const place = findPlace(options)
  const secrets = listSecrets(place)
  return {
    id: `${PROVIDER}/${options.model}`,
    provider: PROVIDER,
    capabilities: {
      tools: 'native',
      ...describeCapabilities({ model: options.model, family: 'messages', override: options.traits }),
    },
    async run(request, sink, signal) {
      const names = chooseToolNames(request)
      const body = encodeAnthropicRequest(request, options, memory)
      const http = { ...place, body: memory.write(body, 'messages') }
      const reading = readAnswer({
        model: options.model,
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

/** `https://host`, `https://host/` and `https://host/v1` name the same place. */
export function messagesUrl(baseUrl = 'https://api.anthropic.com'): string {
  return `${baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1/messages`
}

/** What all requests of the model have in common: the same objects each time. */
function findPlace(options: AnthropicModelOptions): Omit<HttpRequest, 'body'> {
  return {
    url: messagesUrl(options.baseUrl),
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'anthropic-version': API_VERSION,
      'x-api-key': options.apiKey,
      ...options.headers,
      ...betaHeader(options),
    },
    firstByteTimeoutMs: options.firstByteTimeoutMs ?? TIMEOUT_MS,
    betweenBytesTimeoutMs: options.betweenBytesTimeoutMs ?? TIMEOUT_MS,
  }
}

/** Joined with the user's own betas: a header of one name is sent once. */
function betaHeader(options: AnthropicModelOptions): Readonly<Record<string, string>> {
  if (options.thinkingMismatch !== 'drop') return {}
  const own = options.headers?.['anthropic-beta']
  return { 'anthropic-beta': own === undefined ? THINKING_BINDING_BETA : `${own},${THINKING_BINDING_BETA}` }
}

function readAnswer(options: AnthropicDecoderOptions & { readonly secrets: readonly string[] }): AnswerReader {
  const { secrets } = options
  return createAnswerReader({
    label: 'Anthropic',
    secrets,
    createDecoder: (head) => createAnthropicDecoder({ ...options, ...readId(head) }),
    readInto: (decoder) => {
      const reader = createSseReader((event) => decoder.push(event))
      return (bytes) => reader.push(bytes)
    },
    decodeBody: (value, head) => decodeAnthropicMessage(value, { ...options, ...readId(head) }),
    describeError: (failure) => errorFromHttp({ ...failure, secrets }),
    answerTooLong,
  })
}

function readId(head: HttpHead): { readonly requestId?: string } {
  const requestId = head.headers['request-id']
  return requestId === undefined ? {} : { requestId }
}
