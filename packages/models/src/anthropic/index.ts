// Anthropic Messages: `createAnthropicModel` connects the pure encoder (encode-request) and decoder (decode-stream) to
// a transport.
import type { Model } from '@baton/core'
import type { HttpModelOptions, OptionNames } from '../http-model.ts'
import { assertConfigured, refuseOtherNames, createHttpModel, HTTP_OPTIONS } from '../http-model.ts'
import type { RequestMemory } from '../request-memory.ts'
import { describeCapabilities } from '../traits/find-traits.ts'
import { readSseInto } from '../transport/answer-reader.ts'
import { createAnthropicDecoder, decodeAnthropicMessage } from './decode-stream.ts'
import type { AnthropicEncodeOptions } from './encode-request.ts'
import { encodeAnthropicRequest } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import type { WireMessage } from './wire.ts'
import { PROVIDER, THINKING_BINDING_BETA, messagesUrl } from './wire.ts'

/** Options of `createAnthropicModel`: `{ model: 'claude-haiku-4-5', apiKey }`. */
export interface AnthropicModelOptions extends HttpModelOptions, AnthropicEncodeOptions {
  readonly apiKey: string
  /** Same format as ANTHROPIC_BASE_URL; `https://api.anthropic.com` by default. */
  readonly baseUrl?: string
}

const API_VERSION = '2023-06-01'
/** 32 MB (platform.claude.com/docs/en/api/overview#request-size-limits, November 2026). */
const REQUEST_BYTES_MAX = 32_000_000

/** @throws BatonError `model_not_configured` if the key or the model is missing */
export function createAnthropicModel(options: AnthropicModelOptions): Model {
  refuseOtherNames('createAnthropicModel', options, OPTIONS)
  const { apiKey, model, baseUrl } = options
  assertConfigured('createAnthropicModel', { apiKey, model })
  // Gateways serve other models, which think in the text.
  const thinkTags = baseUrl !== undefined && !/(?:^|\.)anthropic\.com$/i.test(URL.parse(baseUrl)?.hostname ?? '')
  return createHttpModel(options, {
    id: `${PROVIDER}/${model}`,
    provider: PROVIDER,
    label: 'Anthropic',
    capabilities: {
      tools: 'native',
      ...describeCapabilities({ model, family: 'messages', override: options.traits }),
    },
    url: messagesUrl(options.baseUrl),
    headers: {
      'anthropic-version': API_VERSION,
      'x-api-key': apiKey,
      ...options.headers,
      ...betaHeader(options),
    },
    requestIdHeaders: ['request-id'],
    requestBytesMax: REQUEST_BYTES_MAX,
    history: 'messages',
    encode: (request, memory: RequestMemory<WireMessage>) => encodeAnthropicRequest(request, options, memory),
    createReader: (answering) => readSseInto(createAnthropicDecoder({ ...answering, thinkTags })),
    decodeWhole: (value, answering) => decodeAnthropicMessage(value, { ...answering, thinkTags }),
    readError: errorFromHttp,
  })
}

/** Merged with the user's own betas, since a header can be sent only once. */
function betaHeader(options: AnthropicModelOptions): Readonly<Record<string, string>> {
  if (options.thinkingMismatch !== 'drop') return {}
  const given = Object.entries(options.headers ?? {})
  const own = given.find(([name]) => name.toLowerCase() === 'anthropic-beta')?.[1]
  return { 'anthropic-beta': own === undefined ? THINKING_BINDING_BETA : `${own},${THINKING_BINDING_BETA}` }
}

const OPTIONS: OptionNames<AnthropicModelOptions> = {
  ...HTTP_OPTIONS,
  apiKey: true,
  baseUrl: true,
  cache: true,
  traits: true,
  thinkingMismatch: true,
  serverTools: true,
}
