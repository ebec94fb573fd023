// Runs every model behind HTTP, described by data: a request is encoded, proved, sent and waited for, and its answer read as
// it comes. Each adapter supplies the encoding and the decoding.
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
} from '@baton/core'
import { BatonError } from '@baton/core'
import type { RequestMemory } from './request-memory.ts'
import { createRequestMemory } from './request-memory.ts'
import { chooseToolNames } from './tool-names.ts'
import type { AnswerReaderInit, Answering, BodyReader } from './transport/answer-reader.ts'
import { createAnswerReader } from './transport/answer-reader.ts'
import { SYSTEM_TIME } from './transport/deadlines.ts'
import { createFetchTransport } from './transport/fetch-transport.ts'
import { listSecrets } from './transport/redact.ts'
import { mergeHeaders, moveUserInfo } from './transport/sent-headers.ts'
import { postUntilWhole } from './transport/whole-answer.ts'

/** Options that all these models share. */
export interface HttpModelOptions {
  readonly model: string
  /** The global `fetch` by default. In Node, `createUndiciTransport` costs half as much per streamed piece and knows proxies. */
  readonly transport?: Transport
  /** The system's by default. */
  readonly clock?: Clock
  /** The system's by default. */
  readonly timers?: Timers
  /** Added to each request, over the adapter's own: what a gateway asks for. */
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds; 30 s by default, both, and minutes where the provider says nothing while its model thinks. */
  readonly firstByteTimeoutMs?: number
  readonly betweenBytesTimeoutMs?: number
  /** Milliseconds in which nothing but signs of life (comments, pings) may come; 30 minutes by default. */
  readonly keepAliveTimeoutMs?: number
  /**
   * Most bytes of one request, as UTF-8: the provider's own limit by default, and none where that is not known. A request over it is
   * not sent: the oldest images and files leave first (docs/media.md). Set it for a gateway that takes less.
   */
  readonly requestBytesMax?: number
  /** Most characters of one answer: text, reasoning and arguments together; 8 Mi by default. */
  readonly answerLengthMax?: number
}

type Headers = HttpRequest['headers']

/** The headers of one request; the same object as before says that nothing has changed. */
export type Prove = (
  request: Pick<HttpRequest, 'url' | 'headers' | 'body'>,
  signal: AbortSignalLike,
) => Promise<Headers>

export interface HttpModelInit<List extends string, Body extends { readonly [key in List]: readonly object[] }, Wire>
  extends Pick<Model, 'id' | 'provider' | 'capabilities'>, Pick<AnswerReaderInit, 'label' | 'readError'> {
  readonly url: string
  /** Over `content-type: application/json` and `accept: text/event-stream`; the user's own among them. */
  readonly headers: Headers
  /** Signs each request anew. */
  readonly prove?: Prove
  readonly encode: (request: ModelRequest, memory: RequestMemory<Wire>) => Body
  /** The provider's limit, in bytes; absent: not known. */
  readonly requestBytesMax?: number | undefined
  /** The field of the body that has the history. */
  readonly history: List
  /** How long this request may be answered with silence, in milliseconds; 30 s by default. */
  readonly findTimeoutMs?: (body: Body, request: ModelRequest) => number
  /** The answer's headers that may have the id of the request; the first one counts. */
  readonly requestIdHeaders: readonly string[]
  readonly createReader: (answering: Answering, body: Body, head: HttpHead) => BodyReader
  /** An answer that came whole, as JSON; without it such a body goes to the reader. */
  readonly decodeWhole?: (value: JsonValue, answering: Answering, body: Body) => ModelAnswer | BatonError
}

const TIMEOUT_MS = 30_000
/** Models think for long, and official providers send pings meanwhile. */
const KEEP_ALIVE_TIMEOUT_MS = 1_800_000

const ADAPTER_HEADERS: Headers = { 'content-type': 'application/json', accept: 'text/event-stream' }

export function createHttpModel<
  List extends string,
  Body extends { readonly [key in List]: readonly object[] },
  Wire extends object,
>(options: HttpModelOptions, init: HttpModelInit<List, Body, Wire>): Model {
  refuseOtherNames(options, init.label)
  const { id, provider, label, requestIdHeaders, readError, decodeWhole } = init
  const { model, transport = createFetchTransport(), clock = SYSTEM_TIME.clock, answerLengthMax } = options
  const { timers = SYSTEM_TIME.timers, keepAliveTimeoutMs = KEEP_ALIVE_TIMEOUT_MS } = options
  const { requestBytesMax = init.requestBytesMax ?? Infinity } = options
  const memory = createRequestMemory<Wire>()
  // The same objects each time: the transport looks at them once.
  const merged = mergeHeaders(ADAPTER_HEADERS, init.headers)
  const { url, headers: plain } = moveUserInfo({ url: init.url, headers: merged })
  // Those of the address as it was given, too.
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
  // A UTF-16 unit takes 3 bytes at most: few requests have to be counted.
  if (body.length * 3 <= bytesMax) return
  const bytes = new TextEncoder().encode(body).length
  if (bytes <= bytesMax) return
  throw new BatonError({
    code: 'model_request_too_large',
    message: `the request has ${bytes} bytes; ${label} takes ${bytesMax}`,
  })
}

/** Option names of vendors' libraries and the AI SDK, and what to write here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  baseURL: 'baseUrl',
  base_url: 'baseUrl',
  defaultHeaders: 'headers',
  timeout: 'firstByteTimeoutMs',
  fetch: 'transport: createFetchTransport({ fetch }), of @baton/models/transport',
}

/**
 * Ignored in silence, another name of the address would send the requests and the key to the provider's own.
 * @throws BatonError `invalid_option`
 */
function refuseOtherNames(options: object, label: string): void {
  const name = Object.keys(options).find((one) => Object.hasOwn(OTHER_NAMES, one))
  if (name === undefined) return
  throw new BatonError({
    code: 'invalid_option',
    message: `a model of ${label} has no option "${name}"`,
    hint: `Write ${OTHER_NAMES[name]} in its place.`,
  })
}

/** @throws BatonError `model_not_configured` for the first one that is blank, or that a program in JavaScript has left out */
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

/** By its address alone: a name in it would have to be looked up. */
function isOnThisMachine(url: string): boolean {
  const { hostname = '' } = URL.parse(url) ?? {}
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}
