// Runs models behind HTTP from a declarative description: encodes, authenticates and sends a request, and reads its
// answer as it streams. Each adapter supplies the encoder and decoder.
import type {
  AbortSignalLike,
  Clock,
  HttpHead,
  HttpRequest,
  JsonValue,
  Model,
  ModelAnswer,
  ModelRequest,
  Timers,
  Transport,
} from '@baton/core/internal'
import { BatonError, findNearName } from '@baton/core/internal'
import type { RequestMemory } from './request-memory.ts'
import { createRequestMemory } from './request-memory.ts'
import { chooseToolNames } from './tool-names.ts'
import type { AnswerReaderOptions, Answering, BodyReader } from './transport/answer-reader.ts'
import { createAnswerReader } from './transport/answer-reader.ts'
import { SYSTEM_TIME } from './transport/deadlines.ts'
import { createFetchTransport } from './transport/fetch-transport.ts'
import { listSecrets } from './transport/redact.ts'
import { mergeHeaders, moveUserInfo } from './transport/sent-headers.ts'
import { postUntilWhole } from './transport/whole-answer.ts'

/** Options shared by all HTTP models. */
export interface HttpModelOptions {
  readonly model: string
  /**
   * The global `fetch` by default. In Node, `createUndiciTransport` costs half as much per streamed piece and supports
   * proxies.
   */
  readonly transport?: Transport
  /** The system clock by default. */
  readonly clock?: Clock
  /** The system timers by default. */
  readonly timers?: Timers
  /** Headers added to each request, such as those a gateway requires. They override the adapter's own. */
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds. Both are 30 s by default, and several minutes if the provider is silent while its model thinks. */
  readonly firstByteTimeoutMs?: number
  readonly betweenBytesTimeoutMs?: number
  /** Maximum milliseconds with nothing but keep-alives (comments, pings); 30 minutes by default. */
  readonly keepAliveTimeoutMs?: number
  /**
   * Maximum bytes of a request as UTF-8: the provider's limit by default, or none if unknown. The oldest images and
   * files are dropped until the request fits (docs/media.md); a larger one is not sent. Set it for a gateway with a
   * lower limit.
   */
  readonly requestBytesMax?: number
  /** Maximum UTF-16 units of one answer: text, reasoning and arguments together; 8 Mi by default. */
  readonly answerLengthMax?: number
}

type Headers = HttpRequest['headers']

/** Returns the headers of one request; the same object as before means that nothing changed. */
export type Prove = (
  request: Pick<HttpRequest, 'url' | 'headers' | 'body'>,
  signal: AbortSignalLike,
) => Promise<Headers>

export interface HttpModelAdapter<List extends string, Body extends { readonly [key in List]: readonly object[] }, Wire>
  extends Pick<Model, 'id' | 'provider' | 'capabilities'>, Pick<AnswerReaderOptions, 'label' | 'readError'> {
  readonly url: string
  /**
   * Headers sent in addition to `content-type: application/json` and `accept: text/event-stream`, including the user's
   * own.
   */
  readonly headers: Headers
  /** Signs each request. */
  readonly prove?: Prove
  readonly encode: (request: ModelRequest, memory: RequestMemory<Wire>) => Body
  /** The provider's limit in bytes; omitted if unknown. */
  readonly requestBytesMax?: number | undefined
  /** The field of the body that holds the history. */
  readonly history: List
  /** Milliseconds of silence allowed for this request; 30 s by default. */
  readonly findTimeoutMs?: (body: Body, request: ModelRequest) => number
  /** Response headers that may hold the request id; the first one present is used. */
  readonly requestIdHeaders: readonly string[]
  readonly createReader: (answering: Answering, body: Body, head: HttpHead) => BodyReader
  /** Decodes a non-streamed JSON answer. Without it, such a body goes to the reader. */
  readonly decodeWhole?: (value: JsonValue, answering: Answering, body: Body) => ModelAnswer | BatonError
}

const TIMEOUT_MS = 30_000
/** Models may think for a long time, during which official providers send pings. */
const KEEP_ALIVE_TIMEOUT_MS = 1_800_000

const ADAPTER_HEADERS: Headers = { 'content-type': 'application/json', accept: 'text/event-stream' }

export function createHttpModel<
  List extends string,
  Body extends { readonly [key in List]: readonly object[] },
  Wire extends object,
>(options: HttpModelOptions, init: HttpModelAdapter<List, Body, Wire>): Model {
  const { id, provider, label, requestIdHeaders, readError, decodeWhole } = init
  const { model, transport = createFetchTransport(), clock = SYSTEM_TIME.clock, answerLengthMax } = options
  const { timers = SYSTEM_TIME.timers, keepAliveTimeoutMs = KEEP_ALIVE_TIMEOUT_MS } = options
  const { requestBytesMax = init.requestBytesMax ?? Infinity } = options
  const memory = createRequestMemory<Wire>()
  // Reuses the same objects, because the transport inspects each of them only once.
  const merged = mergeHeaders(ADAPTER_HEADERS, init.headers)
  const { url, headers: plain } = moveUserInfo({ url: init.url, headers: merged })
  // Includes secrets of the original address.
  const own = listSecrets({ url: init.url, headers: {} })
  const findSecrets = (headers: Headers) => [...own, ...listSecrets({ url, headers })]
  let proven = { headers: plain, secrets: findSecrets(plain) }
  return {
    id,
    provider,
    capabilities: isOnThisMachine(url) ? { ...init.capabilities, network: false } : init.capabilities,
    async run(request, sink, signal) {
      const encoded = init.encode(request, memory)
      const body = memory.write(encoded, init.history)
      refuseTooLarge(body, requestBytesMax, label)
      const headers = init.prove ? await init.prove({ url, headers: plain, body }, signal) : plain
      if (headers !== proven.headers) proven = { headers, secrets: findSecrets(headers) }
      const { secrets } = proven
      const timeoutMs = init.findTimeoutMs?.(encoded, request) ?? TIMEOUT_MS
      const { firstByteTimeoutMs = timeoutMs, betweenBytesTimeoutMs = timeoutMs } = options
      const names = chooseToolNames(request)
      const describeAnswer = ({ headers: told }: HttpHead): Answering => {
        const header = requestIdHeaders.find((name) => told[name] !== undefined)
        const requestId = header === undefined ? undefined : told[header]
        const answering = { model, names, sink, secrets, answerLengthMax }
        return requestId === undefined ? answering : { ...answering, requestId }
      }
      const reader = createAnswerReader({
        label,
        secrets,
        createReader: (head) => init.createReader(describeAnswer(head), encoded, head),
        decodeWhole: decodeWhole && ((value, head) => decodeWhole(value, describeAnswer(head), encoded)),
        readError,
        readNowMs: () => clock.nowMs(),
      })
      const posting = { url, headers, body, firstByteTimeoutMs, betweenBytesTimeoutMs }
      const head = await postUntilWhole({
        post: (closing, onBytes) => transport.post(posting, closing, onBytes),
        reader,
        signal,
        clock,
        timers,
        keepAliveTimeoutMs,
        url,
      })
      return reader.end(head)
    },
  }
}

/** @throws BatonError `model_request_too_large` */
function refuseTooLarge(body: string, bytesMax: number, label: string): void {
  // A UTF-16 unit takes at most 3 bytes, so few requests need an exact count.
  if (body.length * 3 <= bytesMax) return
  const bytes = new TextEncoder().encode(body).length
  if (bytes <= bytesMax) return
  throw new BatonError({
    code: 'model_request_too_large',
    message: `the request has ${bytes} bytes; ${label} accepts at most ${bytesMax}`,
  })
}

/** Option names used by vendors' libraries and the AI SDK, mapped to Baton's. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  baseURL: 'baseUrl',
  base_url: 'baseUrl',
  defaultHeaders: 'headers',
  timeout: 'firstByteTimeoutMs',
  url: 'baseUrl',
  fetch: 'write transport: createFetchTransport({ fetch }), of @baton/models',
  temperature: 'it is a setting: defineAgent({ settings: { temperature } })',
  maxTokens: 'it is a setting: defineAgent({ settings: { maxOutputTokens } })',
  maxOutputTokens: 'it is a setting: defineAgent({ settings: { maxOutputTokens } })',
}

/** Names of options, for `refuseOtherNames`; the compiler compares them with the options' type. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>

export const HTTP_OPTIONS: OptionNames<HttpModelOptions> = {
  model: true,
  transport: true,
  clock: true,
  timers: true,
  headers: true,
  firstByteTimeoutMs: true,
  betweenBytesTimeoutMs: true,
  keepAliveTimeoutMs: true,
  requestBytesMax: true,
  answerLengthMax: true,
}

/**
 * Refuses misspelt options and names of other libraries: a misspelt base address would send the requests and the key to
 * the provider's default one. Other fields pass, so that programs can spread a larger object.
 * @throws BatonError `invalid_option`
 */
export function refuseOtherNames(creator: string, options: object, names: object): void {
  const known = Object.keys(names)
  for (const name of Object.keys(options)) {
    const elsewhere = Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined
    const meant = Object.hasOwn(names, name) ? undefined : (elsewhere ?? findNearName(known, name))
    if (meant === undefined) continue
    throw new BatonError({
      code: 'invalid_option',
      message: `${creator} has no option "${name}"`,
      hint: meant.includes(' ') ? `${meant.charAt(0).toUpperCase()}${meant.slice(1)}.` : `Write "${meant}" instead.`,
    })
  }
}

/** @throws BatonError `model_not_configured` for the first field that is blank or, in a JavaScript program, missing */
export function assertConfigured(creator: string, fields: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(fields)) {
    const isBlank = typeof value === 'string' && value.trim() === ''
    if (isBlank || value === undefined)
      throw new BatonError({
        code: 'model_not_configured',
        message: `${creator}: ${field} is ${isBlank ? 'empty' : 'missing'}`,
      })
  }
}

/** Checks the literal address only: resolving a name would need a lookup. */
function isOnThisMachine(url: string): boolean {
  const { hostname = '' } = URL.parse(url) ?? {}
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
