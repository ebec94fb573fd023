// Amazon Bedrock: `createBedrockModel` connects the pure encoder (encode-request) and decoder (decode-stream) to a
// transport and to AWS authentication.
import type { Model } from '@baton/core'
import { BatonError } from '@baton/core'
import type { HttpModelOptions, Prove, OptionNames } from '../http-model.ts'
import { assertConfigured, createHttpModel, HTTP_OPTIONS, refuseOtherNames } from '../http-model.ts'
import type { RequestMemory } from '../request-memory.ts'
import { describeCapabilities, findTraits } from '../traits/find-traits.ts'
import { joinReader } from '../transport/answer-reader.ts'
import { SYSTEM_TIME } from '../transport/deadlines.ts'
import { createBedrockDecoder, decodeBedrockMessage } from './decode-stream.ts'
import type { BedrockEncodeOptions } from './encode-request.ts'
import { encodeBedrockRequest, findQuery } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import { createEventStreamReader } from './event-stream.ts'
import type { AwsCredentialProvider, AwsCredentials } from './sign.ts'
import { signRequest, takeCredentials } from './sign.ts'
import type { WireMessage } from './wire.ts'
import { PROVIDER } from './wire.ts'

/** Options of `createBedrockModel`: `{ model, region: 'us-east-1', apiKey }`, or `credentials` instead of a key. */
export interface BedrockModelOptions extends HttpModelOptions, BedrockEncodeOptions {
  /** For example `us-east-1`. The model must be available there. */
  readonly region: string
  /** A Bedrock API key, as in AWS_BEARER_TOKEN_BEDROCK; takes precedence over `credentials`. */
  readonly apiKey?: string
  /** Credentials for signing requests. A function is called before each request and has 10 s to return. */
  readonly credentials?: AwsCredentials | AwsCredentialProvider
  /** `https://bedrock-runtime.<region>.amazonaws.com` by default. */
  readonly baseUrl?: string
}

/**
 * 20 MB for Claude (platform.claude.com/docs/en/api/overview#request-size-limits); 19.1 MB was accepted, 27.7 MB was
 * not.
 */
const REQUEST_BYTES_MAX = 20_000_000

/** @throws BatonError `model_not_configured` without a model, a region, or a key or credentials */
export function createBedrockModel(options: BedrockModelOptions): Model {
  refuseOtherNames('createBedrockModel', options, OPTIONS)
  checkOptions(options)
  const query = findQuery(options)
  const { family } = findTraits(query)
  const { apiKey = '' } = options
  const prove = apiKey.trim() === '' ? signWith(options) : undefined
  return createHttpModel(options, {
    id: `${PROVIDER}/${options.model}`,
    provider: PROVIDER,
    label: 'Bedrock',
    capabilities: { tools: 'native', ...describeCapabilities(query) },
    url: converseUrl(options),
    headers: {
      accept: 'application/vnd.amazon.eventstream',
      ...options.headers,
      ...(!prove && { authorization: `Bearer ${apiKey}` }),
    },
    ...(prove && { prove }),
    requestIdHeaders: ['x-amzn-requestid'],
    requestBytesMax: REQUEST_BYTES_MAX,
    history: 'messages',
    encode: (request, memory: RequestMemory<WireMessage>) => encodeBedrockRequest(request, options, memory),
    createReader: (answering) => {
      const decoder = createBedrockDecoder({ ...answering, family })
      return joinReader(
        createEventStreamReader((event) => decoder.push(event)),
        decoder,
      )
    },
    decodeWhole: (value, answering) => decodeBedrockMessage(value, { ...answering, family }),
    readError: errorFromHttp,
  })
}

function checkOptions({ model, region, apiKey, credentials }: BedrockModelOptions): void {
  assertConfigured('createBedrockModel', { model })
  const refuse = (what: string) =>
    new BatonError({ code: 'model_not_configured', message: `createBedrockModel: ${what}` })
  // The region becomes part of the address that receives the credentials.
  if (!/^[a-z]+(-[a-z0-9]+)+$/.test(region)) throw refuse(`"${region}" is not the name of a region, such as us-east-1`)
  if ((apiKey ?? '').trim() === '' && credentials === undefined) throw refuse('apiKey or credentials must be set')
}

/** The model is part of the path and is URL-encoded, because ids contain colons and ARNs slashes. */
function converseUrl({ baseUrl, region, model }: Pick<BedrockModelOptions, 'baseUrl' | 'region' | 'model'>): string {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const base = baseUrl ?? `https://bedrock-runtime.${region}.${domain}`
  return `${base.replace(/\/+$/, '')}/model/${encodeURIComponent(model)}/converse-stream`
}

function signWith({ credentials, region, clock = SYSTEM_TIME.clock }: BedrockModelOptions): Prove | undefined {
  if (!credentials) return undefined
  return async (request, signal) => {
    const taken = typeof credentials === 'function' ? await takeCredentials(credentials, signal) : credentials
    return await signRequest(request, { region, credentials: taken, nowMs: clock.nowMs() })
  }
}

const OPTIONS: OptionNames<BedrockModelOptions> = {
  ...HTTP_OPTIONS,
  region: true,
  apiKey: true,
  credentials: true,
  baseUrl: true,
  family: true,
  traits: true,
  cache: true,
}
