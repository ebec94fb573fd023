// Rewrites a server's HTTP responses into the form that the SDK accepts: the body decides, not the headers. Each
// message is read by `lenient-messages.ts`. Login requests pass unchanged.
import type { JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { FetchLike } from '@modelcontextprotocol/client'
import type { Message, TellOdd } from './lenient-messages.ts'
import type { OpenRequest } from './lenient-results.ts'
import { Exchange, makeUnreadable, OpenRequests } from './lenient-messages.ts'
import { asText } from './json-fields.ts'
import { EVENTS, rewriteEvents } from './lenient-events.ts'
import { MessageReader } from './message-reader.ts'

const SESSION = 'mcp-session-id'
/** The start of an event stream's line. */
const EVENT_LINE = /^\s*(?::|(?:data|event|id|retry)\s*:)/
/**
 * Statuses that may come with an answer. Those of logins and lost sessions are left to the SDK, except for a method
 * that the server does not know.
 */
const MAY_ANSWER: ReadonlySet<number> = new Set([400, 404, 406, 409, 413, 415, 422, 429, 500, 501, 502, 503])
const METHOD_NOT_FOUND = -32_601
const INVALID_PARAMS = -32_602
/** Statuses of a notification's response that concern the login. */
const LOGIN: ReadonlySet<number> = new Set([401, 403])

type Init = Parameters<FetchLike>[1]
type Bytes = ReadableStream<Uint8Array<ArrayBuffer>>

/**
 * @param tell logs odd messages
 * @param deliver for the transport of 2024-11-05: takes an answer that came in a response, which the SDK does not read
 */
export function createLenientFetch(fetcher: FetchLike, tell: TellOdd, deliver?: (message: Message) => void): FetchLike {
  const open = new OpenRequests()
  /** The newest session id named by the server: some servers change it. */
  let session: string | undefined
  return async (url, init) => {
    const sent = readSent(init)
    if (sent === undefined && !isListening(init)) return fetcher(url, init)
    const own = open.note(sent)
    if (own?.method === 'initialize') session = undefined
    const response = await fetcher(url, withSession(init, session)).catch((thrown: unknown) => {
      if (own) open.settle(own)
      throw thrown
    })
    session = response.headers.get(SESSION) ?? session
    const exchange = new Exchange({ open, own, tell })
    if (sent === undefined) return readStream(response, exchange)
    if (!own) return readReceipt(response, isNotice(sent), tell)
    const answer = deliver
      ? await readOlderReceipt(response, exchange, { own, deliver })
      : await readAnswer(response, exchange, own)
    if (!answer.ok) open.settle(own)
    return answer
  }
}

/** The message in a request, or `undefined` for any other request. */
function readSent(init: Init): JsonValue | undefined {
  if (init?.method !== 'POST' || typeof init.body !== 'string') return undefined
  const parsed = parseJson(init.body)
  return parsed.ok && isJsonObject(parsed.value) && 'jsonrpc' in parsed.value ? parsed.value : undefined
}

function isListening(init: Init): boolean {
  return (init?.method ?? 'GET') === 'GET' && (new Headers(init?.headers).get('accept') ?? '').includes(EVENTS)
}

function withSession(init: Init, session: string | undefined): Init {
  if (session === undefined) return init
  const headers = new Headers(init?.headers)
  headers.set(SESSION, session)
  return { ...init, headers }
}

/** A response that is not an event stream has no messages for a listening client; the SDK expects 405 then. */
function readStream(response: Response, exchange: Exchange): Response {
  if (!response.ok) return response
  if (response.body && isCalled(response, EVENTS))
    return remake(response, {
      body: response.body.pipeThrough(rewriteEvents(exchange, readCharset(response))),
      type: EVENTS,
    })
  drop(response)
  return remake(response, { status: 405 })
}

function isNotice(sent: JsonValue): boolean {
  return isJsonObject(sent) && 'method' in sent
}

/**
 * Turns any success of a notification into the status that the SDK expects, and a refusal as well: a notification has
 * no answer, and some servers know only requests.
 */
function readReceipt(response: Response, isNotice: boolean, tell: TellOdd): Response {
  const isRefused = !response.ok && isNotice && !LOGIN.has(response.status)
  if (isRefused) tell('an MCP server refused a notification', `HTTP ${response.status}`)
  if ((!response.ok && !isRefused) || response.status === 202) return response
  drop(response)
  return remake(response, { status: 202 })
}

interface Receipt {
  readonly own: OpenRequest
  readonly deliver: (message: Message) => void
}

/** The older transport answers on its stream. Some servers answer in the response, or in both, such as early mcp-go. */
async function readOlderReceipt(response: Response, exchange: Exchange, receipt: Receipt): Promise<Response> {
  const { own, deliver } = receipt
  const text = await response.text()
  const parsed = parseJson(text)
  const value = parsed.ok ? parsed.value : null
  const isAnswer = (one: JsonValue): boolean =>
    isJsonObject(one) && asText(one['id'] ?? '') === String(own.id) && (isJsonObject(one['result']) || 'error' in one)
  const answers = (Array.isArray(value) ? (value as readonly JsonValue[]) : [value]).filter(isAnswer)
  const isUnknown = own.method === 'server/discover' && !response.ok && !LOGIN.has(response.status)
  const messages = isUnknown ? [refuse(own)] : answers.flatMap((one) => exchange.read(one))
  for (const message of messages) deliver(message)
  if (response.ok || messages.length > 0) return remake(response, { status: 202 })
  return remake(response, { body: text, status: response.status })
}

async function readAnswer(response: Response, exchange: Exchange, own: OpenRequest): Promise<Response> {
  const { body, ok, status } = response
  // An unknown method ends some servers, and a gateway then answers instead.
  if (own.method === 'server/discover' && status >= 500) return answerWith(response, [refuse(own)])
  if (status === 401 && own.method === 'server/discover') return readUnauthorized(response, own)
  if (!ok) return MAY_ANSWER.has(status) ? readRefusal(response, exchange, own) : response
  if (body && isCalled(response, EVENTS))
    return remake(response, { body: body.pipeThrough(rewriteEvents(exchange, readCharset(response))), type: EVENTS })
  const read = body ? await readWhole(body, readCharset(response)) : ''
  if (typeof read !== 'string')
    return remake(response, { body: read.pipeThrough(rewriteEvents(exchange, readCharset(response))), type: EVENTS })
  const messages = readText(read, exchange)
  if (messages.length > 0) return answerWith(response, messages)
  if (own.method === 'server/discover') return answerWith(response, [refuse(own)])
  // The answer may arrive on the listening stream.
  if (status === 202) return remake(response, {})
  // The SDK reports what the body is instead.
  if (read.trim() !== '' && !isCalled(response, 'json')) return remake(response, { body: read, status: 200 })
  const what = read.trim() === '' ? 'its response is empty' : `its response is not JSON: ${read.slice(0, 200)}`
  return answerWith(response, [makeUnreadable(own, what)])
}

/**
 * Servers before 2026 do not know the first request, and some reject it in no known form: the SDK then falls back to
 * the older one.
 */
function refuse({ id }: OpenRequest): Message {
  return { jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message: 'unknown method' } }
}

/** Some servers answer so to any request without a session, of which the first request of 2026 is one. */
async function readUnauthorized(response: Response, own: OpenRequest): Promise<Response> {
  const text = await response.text()
  const isAboutSession = !response.headers.has('www-authenticate') && FORGOTTEN.test(text)
  return isAboutSession ? answerWith(response, [refuse(own)]) : remake(response, { body: text })
}

/** A refusal that contains an answer to this request. */
async function readRefusal(response: Response, exchange: Exchange, own: OpenRequest): Promise<Response> {
  const text = await response.text()
  const parsed = parseJson(text)
  const value = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  const isOwn = asText(value['id'] ?? '') === String(own.id) && ('error' in value || 'result' in value)
  return isOwn && !isElsewhere(response.status, value['error'])
    ? answerWith(response, exchange.read(value))
    : remake(response, { body: text, status: response.status })
}

/** Whether the error is about the session and not about the request, which the server has not read then. */
function isElsewhere(status: number, error: JsonValue | undefined): boolean {
  const { code, message } = isJsonObject(error) ? error : {}
  if (code === METHOD_NOT_FOUND || code === INVALID_PARAMS) return false
  return status === 404 || (status === 400 && FORGOTTEN.test(asText(message ?? '')))
}

/** Words of servers that do not know a session, such as after a restart. */
export const FORGOTTEN = /session|not initialized/i

/** JSON is always UTF-8, but servlets write the charset that they name: ISO-8859-1 by default. */
function readCharset(response: Response): string {
  const [, name = 'utf-8'] = /charset\s*=\s*"?([\w.:-]+)/i.exec(response.headers.get('content-type') ?? '') ?? []
  try {
    return new TextDecoder(name).encoding
  } catch {
    return 'utf-8' // unknown to the platform
  }
}

/** The text of a body, or the body itself if it is an event stream. */
async function readWhole(body: Bytes, charset: string): Promise<string | Bytes> {
  const reader = body.getReader()
  const decoder = new TextDecoder(charset)
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let text = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return text + decoder.decode()
    chunks.push(value)
    text += decoder.decode(value, { stream: true })
    if (EVENT_LINE.test(text)) return putBack(chunks, reader)
  }
}

function putBack(
  chunks: readonly Uint8Array<ArrayBuffer>[],
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
): Bytes {
  const first = [...chunks]
  return new ReadableStream({
    pull: async (controller) => {
      const next = first.shift() ?? (await reader.read()).value
      if (next) controller.enqueue(next)
      else controller.close()
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

function readText(text: string, exchange: Exchange): readonly Message[] {
  const messages: Message[] = []
  const reader = new MessageReader({
    onValue: (value) => void messages.push(...exchange.read(value)),
    onNoise: (noise) => void messages.push(...exchange.readBroken(noise)),
  })
  reader.push(text)
  reader.end()
  messages.push(...exchange.end())
  return messages
}

function isCalled(response: Response, type: string): boolean {
  return (response.headers.get('content-type') ?? '').toLowerCase().includes(type)
}

function drop(response: Response): void {
  response.body?.cancel().catch(() => {
    // Nothing reads it.
  })
}

function answerWith(response: Response, messages: readonly Message[]): Response {
  return remake(response, { body: JSON.stringify(messages), type: 'application/json', status: 200 })
}

interface Remade {
  readonly body?: string | Bytes
  readonly type?: string
  readonly status?: number
}

function remake(response: Response, { body, type, status = response.status }: Remade): Response {
  const headers = new Headers(response.headers)
  headers.delete('content-length')
  headers.delete('content-encoding')
  if (type !== undefined) headers.set('content-type', type)
  // Turns a stream sent with an error status into a successful response.
  const made = new Response(body ?? null, { status: body !== undefined && status < 400 ? 200 : status, headers })
  // The constructor accepts no URL, but the SDK resolves other URLs against it.
  Object.defineProperty(made, 'url', { value: response.url })
  Object.defineProperty(made, 'redirected', { value: response.redirected })
  return made
}
