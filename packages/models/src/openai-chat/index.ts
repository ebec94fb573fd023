// Chat Completions, of OpenAI and of every server that speaks it: `createOpenAiChatModel` joins the two pure halves
// (encode-request, decode-stream) with a transport.
import type { Clock, HttpHead, HttpRequest, Model, Transport } from '@baton/core'
import { BatonError } from '@baton/core'
import { createRequestMemory } from '../request-memory.ts'
import { chooseToolNames } from '../tool-names.ts'
import { listSecrets } from '../transport/redact.ts'
import { createSseReader } from '../transport/sse.ts'
import { describeCapabilities, findTraits } from '../traits/find-traits.ts'
import type { TraitsOverride } from '../traits/model-traits.ts'
import { OPENAI_BASE_URL, apiUrl, authorization } from './address.ts'
import type { OpenAiChatDecoderOptions } from './decode-stream.ts'
import { answerTooLong, createOpenAiChatDecoder, decodeOpenAiChatCompletion } from './decode-stream.ts'
import { encodeOpenAiChatRequest, findQuery } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import type { OpenAiChatQuirks } from './quirks.ts'
import { OPENAI_QUIRKS } from './quirks.ts'
import type { OpenAiChatRequest, WireMessage } from './wire.ts'
import { PROVIDER } from './wire.ts'
import type { AnswerReader } from '../transport/answer-reader.ts'
import { createAnswerReader } from '../transport/answer-reader.ts'

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
  /** What you know better of the model than the table of traits: `{ contextTokens: 8192 }`. */
  readonly traits?: TraitsOverride
  /** Most characters of one answer: text, reasoning and arguments together; 8 Mi by default. */
  readonly answerLengthMax?: number
}

const TIMEOUT_MS = 30_000
const THINKING_TIMEOUT_MS = 300_000

/** @throws BatonError `model_not_configured` without a model */
export function createOpenAiChatModel(options: OpenAiChatModelOptions): Model {
  if (options.model.trim() === '')
    throw new BatonError({ code: 'model_not_configured', message: 'createOpenAiChatModel: model is empty' })
  const { model, answerLengthMax } = options
  const { provider = PROVIDER, label = 'OpenAI', quirks = OPENAI_QUIRKS } = options
  const told = describeCapabilities(findQuery(options))
  const memory = createRequestMemory<WireMessage>()
  const place = findPlace(options)
  const secrets = listSecrets(place)
  return {
    id: options.id ?? `${provider}/${model}`,
    provider,
    capabilities: {
      ...told,
      tools: quirks.tools,
      images: quirks.images && told.images,
      output: told.output === 'none' ? 'none' : quirks.output,
    },
    async run(request, sink, signal) {
      const names = chooseToolNames(request)
      const body = encodeOpenAiChatRequest(request, { ...options, provider, quirks }, memory)
      const maxTokens = body.max_tokens ?? body.max_completion_tokens
      const http = { ...place, ...findTimeouts(options, body), body: memory.write(body, 'messages') }
      const reading = readAnswer({
        model,
        provider,
        label,
        thinkTags: quirks.thinkTags,
        names,
        sink,
        secrets,
        ...(maxTokens !== undefined && { maxTokens }),
        ...(answerLengthMax !== undefined && { answerLengthMax }),
      })
      const head = await options.transport.post(http, signal, reading.push)
      return reading.end(head, options.clock.nowMs())
    },
  }
}

/** What all requests of the model have in common: the same objects each time. */
function findPlace(options: OpenAiChatModelOptions): Pick<HttpRequest, 'url' | 'headers'> {
  return {
    url: apiUrl(options.baseUrl ?? OPENAI_BASE_URL, 'chat/completions'),
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      ...authorization(options.apiKey),
      ...options.headers,
    },
  }
}

type Timeouts = Pick<HttpRequest, 'firstByteTimeoutMs' | 'betweenBytesTimeoutMs'>

function findTimeouts(options: OpenAiChatModelOptions, request: OpenAiChatRequest): Timeouts {
  const timeoutMs = thinksInSilence(options, request) ? THINKING_TIMEOUT_MS : TIMEOUT_MS
  const { firstByteTimeoutMs = timeoutMs, betweenBytesTimeoutMs = timeoutMs } = options
  return { firstByteTimeoutMs, betweenBytesTimeoutMs }
}

/** OpenAI shows nothing of a model's thoughts by Chat Completions, no sign of life either. */
function thinksInSilence(
  { model, traits, quirks = OPENAI_QUIRKS }: OpenAiChatModelOptions,
  body: OpenAiChatRequest,
): boolean {
  const { thinking } = findTraits(findQuery({ model, quirks, ...(traits && { traits }) })).traits
  if (quirks.reasoning !== 'openai' || thinking.kind === 'none') return false
  if (body.reasoning_effort === undefined && thinking.off !== 'never') return false
  return body.reasoning_effort !== 'none' && body.reasoning_effort !== 'minimal'
}

type ReadingOptions = OpenAiChatDecoderOptions & { readonly label: string; readonly secrets: readonly string[] }

function readAnswer(options: ReadingOptions): AnswerReader {
  const { label, secrets } = options
  return createAnswerReader({
    label: label,
    secrets,
    createDecoder: (head) => createOpenAiChatDecoder({ ...options, ...readId(head) }),
    readInto: (decoder) => {
      const reader = createSseReader((event) => decoder.push(event))
      return (bytes) => reader.push(bytes)
    },
    decodeBody: (value, head) => decodeOpenAiChatCompletion(value, { ...options, ...readId(head) }),
    describeError: (failure) => errorFromHttp({ ...failure, provider: label, secrets }),
    answerTooLong: (lengthMax) => answerTooLong(label, lengthMax),
  })
}

function readId(head: HttpHead): { readonly requestId?: string } {
  const requestId = head.headers['x-request-id'] ?? head.headers['request-id']
  return requestId === undefined ? {} : { requestId }
}
