// OpenAI's Responses API: `createOpenAiResponsesModel` connects the pure encoder (encode-request) and decoder
// (decode-stream) to a transport. OpenAI stores nothing; every request has the whole history.
import type { Model } from '@baton/core'
import type { HttpModelOptions, OptionNames } from '../http-model.ts'
import { assertConfigured, refuseOtherNames, createHttpModel, HTTP_OPTIONS } from '../http-model.ts'
import { OPENAI_BASE_URL, apiUrl, authorization, isOpenAi } from '../openai-chat/address.ts'
import { OPENAI_QUIRKS } from '../openai-chat/quirks.ts'
import type { RequestMemory } from '../request-memory.ts'
import { describeCapabilities, findTraits } from '../traits/find-traits.ts'
import { readSseInto } from '../transport/answer-reader.ts'
import { createOpenAiResponsesDecoder, decodeOpenAiResponse } from './decode-stream.ts'
import type { OpenAiResponsesEncodeOptions } from './encode-request.ts'
import { encodeOpenAiResponsesRequest } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import type { OpenAiResponsesRequest, WireItem } from './wire.ts'
import { PROVIDER } from './wire.ts'

/** Options of `createOpenAiResponsesModel`: `{ model: 'gpt-5.2', apiKey }`. */
export interface OpenAiResponsesModelOptions extends HttpModelOptions, OpenAiResponsesEncodeOptions {
  /** Sent as `Authorization: Bearer …`. */
  readonly apiKey: string
  /** Includes the version, as in OPENAI_BASE_URL; `https://api.openai.com/v1` by default. */
  readonly baseUrl?: string
  /** Name shown in errors; `OpenAI` by default. */
  readonly label?: string
}

const TIMEOUT_MS = 30_000
const THINKING_TIMEOUT_MS = 300_000

/**
 * Deadlines are 5 minutes for models that think, because they are silent meanwhile.
 * @throws BatonError `model_not_configured` without a key or a model
 */
export function createOpenAiResponsesModel(options: OpenAiResponsesModelOptions): Model {
  refuseOtherNames('createOpenAiResponsesModel', options, OPTIONS)
  const { apiKey, model, label = 'OpenAI', traits: override } = options
  assertConfigured('createOpenAiResponsesModel', { apiKey, model })
  // Gateways serve other models, which think in the text.
  const more = { label, thinkTags: !isOpenAi(options.baseUrl ?? OPENAI_BASE_URL) }
  return createHttpModel(options, {
    id: `${PROVIDER}/${model}`,
    provider: PROVIDER,
    label,
    capabilities: { tools: 'native', ...describeCapabilities({ model, override }) },
    url: apiUrl(options.baseUrl ?? OPENAI_BASE_URL, 'responses'),
    headers: { ...authorization(apiKey), ...options.headers },
    requestIdHeaders: ['x-request-id'],
    requestBytesMax: OPENAI_QUIRKS.requestBytesMax,
    history: 'input',
    encode: (request, memory: RequestMemory<WireItem>) => encodeOpenAiResponsesRequest(request, options, memory),
    findTimeoutMs: (body) => (thinksInSilence(body, override) ? THINKING_TIMEOUT_MS : TIMEOUT_MS),
    createReader: (answering) => readSseInto(createOpenAiResponsesDecoder({ ...answering, ...more })),
    decodeWhole: (value, answering) => decodeOpenAiResponse(value, { ...answering, ...more }),
    readError: errorFromHttp,
  })
}

/** Nothing is sent between `response.in_progress` and the first delta, however long the model thinks. */
function thinksInSilence(
  { model, reasoning }: OpenAiResponsesRequest,
  override: OpenAiResponsesModelOptions['traits'],
): boolean {
  const { thinking } = findTraits({ model, override }).traits
  const mayThink = thinking.kind !== 'none' && (reasoning !== undefined || thinking.off === 'never')
  return mayThink && reasoning?.effort !== 'none' && reasoning?.effort !== 'minimal'
}

const OPTIONS: OptionNames<OpenAiResponsesModelOptions> = {
  ...HTTP_OPTIONS,
  apiKey: true,
  baseUrl: true,
  label: true,
  reasoningSummary: true,
  serverTools: true,
  traits: true,
  promptCacheKey: true,
}
