// Chat Completions, for OpenAI and compatible servers: `createOpenAiChatModel` connects the pure encoder
// (encode-request) and decoder (decode-stream) to a transport.
import type { Model } from '@baton/core'
import type { HttpModelOptions, OptionNames } from '../http-model.ts'
import { assertConfigured, refuseOtherNames, createHttpModel, HTTP_OPTIONS } from '../http-model.ts'
import type { RequestMemory } from '../request-memory.ts'
import { describeCapabilities, findTraits } from '../traits/find-traits.ts'
import type { TraitsOverride } from '../traits/model-traits.ts'
import type { Answering } from '../transport/answer-reader.ts'
import { readSseInto } from '../transport/answer-reader.ts'
import { OPENAI_BASE_URL, apiUrl, authorization, isOpenAi, readHost } from './address.ts'
import type { OpenAiChatDecoderOptions } from './decode-stream.ts'
import { createOpenAiChatDecoder, decodeOpenAiChatCompletion } from './decode-stream.ts'
import { encodeOpenAiChatRequest, findQuery } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import type { OpenAiChatQuirks } from './quirks.ts'
import { OPENAI_QUIRKS } from './quirks.ts'
import type { OpenAiChatRequest, WireMessage } from './wire.ts'
import { PROVIDER } from './wire.ts'

export { COMPATIBLE_QUIRKS, OPENAI_QUIRKS } from './quirks.ts'
export type { OpenAiChatQuirks } from './quirks.ts'

/**
 * Options of `createOpenAiChatModel`: `{ model: 'gpt-5.2', apiKey }`, or `{ model, baseUrl, quirks }` for another server.
 */
export interface OpenAiChatModelOptions extends HttpModelOptions {
  /** Sent as `Authorization: Bearer …`; omit it for servers without keys. */
  readonly apiKey?: string
  /** Includes the version, as in OPENAI_BASE_URL; `https://api.openai.com/v1` by default. */
  readonly baseUrl?: string
  /** Separates the state of different servers, for example `groq`. `openai-chat` by default. */
  readonly provider?: string
  /** The model's id; `<provider>/<model>` by default. */
  readonly id?: string
  /** Name shown in errors, for example `Groq`. By default `OpenAI`, or the host of another `baseUrl`. */
  readonly label?: string
  /** How the server differs from OpenAI. By default nothing, or reasoning between tags if `baseUrl` is another host. */
  readonly quirks?: OpenAiChatQuirks
  /** Overrides for the model's row in the traits table: `{ contextTokens: 8192 }`. */
  readonly traits?: TraitsOverride
}

const TIMEOUT_MS = 30_000
const THINKING_TIMEOUT_MS = 300_000

/**
 * Deadlines are 5 minutes for OpenAI models that think, because they are silent meanwhile. A local server that loads a
 * model may need longer ones too.
 * @throws BatonError `model_not_configured` without a model
 */
export function createOpenAiChatModel(options: OpenAiChatModelOptions): Model {
  refuseOtherNames('createOpenAiChatModel', options, OPTIONS)
  const { model, provider = PROVIDER, baseUrl = OPENAI_BASE_URL } = options
  const isOther = !isOpenAi(baseUrl)
  const { label = isOther ? readHost(baseUrl) : 'OpenAI', quirks = { ...OPENAI_QUIRKS, thinkTags: isOther } } = options
  assertConfigured('createOpenAiChatModel', { model })
  const told = describeCapabilities(findQuery(options))
  const describeAnswer = (answering: Answering, body: OpenAiChatRequest): OpenAiChatDecoderOptions => {
    const maxTokens = body.max_tokens ?? body.max_completion_tokens
    const { thinkTags } = quirks
    return { ...answering, provider, label, thinkTags, ...(maxTokens !== undefined && { maxTokens }) }
  }
  return createHttpModel(options, {
    id: options.id ?? `${provider}/${model}`,
    provider,
    label,
    capabilities: {
      ...told,
      tools: quirks.tools,
      images: quirks.images && told.images,
      output: told.output === 'none' ? 'none' : quirks.output,
    },
    url: apiUrl(baseUrl, 'chat/completions'),
    headers: { ...authorization(options.apiKey), ...options.headers },
    requestIdHeaders: ['x-request-id', 'request-id'],
    requestBytesMax: quirks.requestBytesMax,
    history: 'messages',
    encode: (request, memory: RequestMemory<WireMessage>) =>
      encodeOpenAiChatRequest(request, { ...options, provider, quirks }, memory),
    findTimeoutMs: (body) => (thinksInSilence(options, body) ? THINKING_TIMEOUT_MS : TIMEOUT_MS),
    createReader: (answering, body) => readSseInto(createOpenAiChatDecoder(describeAnswer(answering, body))),
    decodeWhole: (value, answering, body) => decodeOpenAiChatCompletion(value, describeAnswer(answering, body)),
    readError: errorFromHttp,
  })
}

/** In Chat Completions, OpenAI streams neither reasoning nor keep-alives while a model thinks. */
function thinksInSilence(
  { model, traits, quirks = OPENAI_QUIRKS }: OpenAiChatModelOptions,
  body: OpenAiChatRequest,
): boolean {
  const { thinking } = findTraits(findQuery({ model, quirks, ...(traits && { traits }) })).traits
  if (quirks.reasoning !== 'openai' || thinking.kind === 'none') return false
  if (body.reasoning_effort === undefined && thinking.off !== 'never') return false
  return body.reasoning_effort !== 'none' && body.reasoning_effort !== 'minimal'
}

const OPTIONS: OptionNames<OpenAiChatModelOptions> = {
  ...HTTP_OPTIONS,
  apiKey: true,
  baseUrl: true,
  provider: true,
  id: true,
  label: true,
  quirks: true,
  traits: true,
}
