// Amazon Bedrock: `createBedrockModel` joins the two pure halves (encode-request, decode-stream) with a transport and a proof
// of who asks.
import type { AbortSignalLike, Clock, HttpHead, HttpRequest, Model, Transport } from '@baton/core'
import { BatonError } from '@baton/core'
import { createRequestMemory } from '../request-memory.ts'
import { chooseToolNames } from '../tool-names.ts'
import { describeCapabilities, findTraits } from '../traits/find-traits.ts'
import { listSecrets } from '../transport/redact.ts'
import type { BedrockDecoderOptions } from './decode-stream.ts'
import { answerTooLong, createBedrockDecoder, decodeBedrockMessage } from './decode-stream.ts'
import type { BedrockEncodeOptions } from './encode-request.ts'
import { encodeBedrockRequest, findQuery } from './encode-request.ts'
import { errorFromHttp } from './errors.ts'
import { createEventStreamReader } from './event-stream.ts'
import type { AwsCredentialProvider, AwsCredentials } from './sign.ts'
import { signRequest, takeCredentials } from './sign.ts'
import type { WireMessage } from './wire.ts'
import { PROVIDER } from './wire.ts'
import type { AnswerReader } from '../transport/answer-reader.ts'
import { createAnswerReader } from '../transport/answer-reader.ts'

export { createBedrockDecoder, decodeBedrockMessage } from './decode-stream.ts'
export type { BedrockDecoder, BedrockDecoderOptions } from './decode-stream.ts'
export { encodeBedrockRequest } from './encode-request.ts'
export type { BedrockEncodeOptions } from './encode-request.ts'
export { createEventStreamReader } from './event-stream.ts'
export type { EventStreamReader } from './event-stream.ts'
export { encodeFrame } from './frames.ts'
export type { Frame } from './frames.ts'
export type { AwsCredentialProvider, AwsCredentials } from './sign.ts'
export type { BedrockRequest, WireEvent } from './wire.ts'

export interface BedrockModelOptions extends BedrockEncodeOptions {
  /** `us-east-1`; the model must be offered there. */
  readonly region: string
  /** A Bedrock API key, as in AWS_BEARER_TOKEN_BEDROCK; it wins over `credentials`. */
  readonly apiKey?: string
  /** Requests are signed with them. A function is asked before each request, for 10 s at most. */
  readonly credentials?: AwsCredentials | AwsCredentialProvider
  readonly transport: Transport
  readonly clock: Clock
  /** `https://bedrock-runtime.<region>.amazonaws.com` by default. */
  readonly baseUrl?: string
  /** Added to each request, over the adapter's own. */
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds; 30 s by default, both. */
  readonly firstByteTimeoutMs?: number
  readonly betweenBytesTimeoutMs?: number
  /** Most characters of one answer: text, reasoning and arguments together; 8 Mi by default. */
  readonly answerLengthMax?: number
}

const TIMEOUT_MS = 30_000

/** @throws BatonError `model_not_configured` without a model, a region, or a key or credentials */
export function createBedrockModel(options: BedrockModelOptions): Model {
  checkOptions(options)
  const { answerLengthMax, model } = options
  const query = findQuery(options)
  const { family } = findTraits(query)
  const memory = createRequestMemory<WireMessage>()
  const place = findPlace(options)
  return {
    id: `${PROVIDER}/${model}`,
    provider: PROVIDER,
    capabilities: {
      tools: 'native',
      ...describeCapabilities(query),
    },
    async run(request, sink, signal) {
      const names = chooseToolNames(request)
      const body = memory.write(encodeBedrockRequest(request, options, memory), 'messages')
      const http = await provenRequest(options, place, { body, signal })
      const reading = readAnswer({
        model,
        family,
        names,
        sink,
        secrets: http.headers === place.proven ? place.secrets : listSecrets(http),
        ...(answerLengthMax !== undefined && { answerLengthMax }),
      })
      const head = await options.transport.post(http, signal, reading.push)
      return reading.end(head, options.clock.nowMs())
    },
  }
}

function checkOptions({ model, region, apiKey, credentials }: BedrockModelOptions): void {
  const refuse = (what: string) =>
    new BatonError({ code: 'model_not_configured', message: `createBedrockModel: ${what}` })
  if (model.trim() === '') throw refuse('model is empty')
  // It becomes part of the address that credentials go to.
  if (!/^[a-z]+(-[a-z0-9]+)+$/.test(region)) throw refuse(`"${region}" is not the name of a region, such as us-east-1`)
  if ((apiKey ?? '').trim() === '' && credentials === undefined) throw refuse('apiKey or credentials is needed')
}

/** The model stands in the path, encoded: ids have colons, ARNs slashes. */
export function converseUrl({
  baseUrl,
  region,
  model,
}: Pick<BedrockModelOptions, 'baseUrl' | 'region' | 'model'>): string {
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  const base = baseUrl ?? `https://bedrock-runtime.${region}.${domain}`
  return `${base.replace(/\/+$/, '')}/model/${encodeURIComponent(model)}/converse-stream`
}

interface Place extends Pick<HttpRequest, 'url' | 'headers'> {
  /** With an API key: the headers of every request. Signatures are made for each. */
  readonly proven?: HttpRequest['headers']
  readonly secrets: readonly string[]
}

/** What all requests of the model have in common: the same objects each time. */
function findPlace(options: BedrockModelOptions): Place {
  const { apiKey = '', credentials } = options
  const headers = {
    'content-type': 'application/json',
    accept: 'application/vnd.amazon.eventstream',
    ...options.headers,
  }
  const isKey = apiKey.trim() !== '' || !credentials
  const url = converseUrl(options)
  if (!isKey) return { url, headers, secrets: [] }
  const proven = { ...headers, authorization: `Bearer ${apiKey}` }
  return { url, headers, proven, secrets: listSecrets({ url, headers: proven }) }
}

async function provenRequest(
  options: BedrockModelOptions,
  { url, headers, proven }: Place,
  { body, signal }: { readonly body: string; readonly signal: AbortSignalLike },
): Promise<HttpRequest> {
  const { credentials, region, firstByteTimeoutMs = TIMEOUT_MS, betweenBytesTimeoutMs = TIMEOUT_MS } = options
  const request = { url, body, firstByteTimeoutMs, betweenBytesTimeoutMs }
  if (proven || !credentials) return { ...request, headers: proven ?? headers }
  const taken = typeof credentials === 'function' ? await takeCredentials(credentials, signal) : credentials
  const signing = { region, credentials: taken, nowMs: options.clock.nowMs() }
  return { ...request, headers: await signRequest({ url, body, headers }, signing) }
}

function readAnswer(options: BedrockDecoderOptions & { readonly secrets: readonly string[] }): AnswerReader {
  const { secrets } = options
  return createAnswerReader({
    label: 'Bedrock',
    secrets,
    createDecoder: (head) => createBedrockDecoder({ ...options, ...readId(head) }),
    readInto: (decoder) => {
      const reader = createEventStreamReader((event) => decoder.push(event))
      return (bytes) => reader.push(bytes)
    },
    decodeBody: (value, head) => decodeBedrockMessage(value, { ...options, ...readId(head) }),
    describeError: (failure) => errorFromHttp({ ...failure, secrets }),
    answerTooLong,
  })
}

function readId(head: HttpHead): { readonly requestId?: string } {
  const requestId = head.headers['x-amzn-requestid']
  return requestId === undefined ? {} : { requestId }
}
