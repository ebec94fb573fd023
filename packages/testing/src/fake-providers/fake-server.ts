// Base of all fake providers: a real HTTP server that records requests, answers from a script and fails on demand. Each
// provider's wire defines how requests are checked and answers written.
import type { JsonObject, JsonValue } from '@baton/core/internal'
import { isJsonObject, parseJson } from '@baton/core/internal'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeCall {
  /** The name on the wire: one of the request's tools. */
  readonly name: string
  readonly input: JsonObject
}

/** An answer. Wires add what is specific to them. */
export interface FakeSaid {
  /** Reasoning is first, signed if the provider signs it. */
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly FakeCall[]
  /** The provider's own finish reason; the correct one by default. */
  readonly stopReason?: string
  /** An error within the stream, in place of its end. */
  readonly fails?: FakeError
  /** Send the answer as one JSON body, like a proxy that does not stream. */
  readonly isWhole?: boolean
  /** A body to send instead: a page, half an answer, nothing. */
  readonly raw?: { readonly type: string; readonly text: string }
  /** Break the connection after this many pieces of the stream. */
  readonly cutAfter?: number
  /** End the stream properly after this many pieces. */
  readonly endAfter?: number
  /** Stall after this many pieces, until the client disconnects. */
  readonly stallAfter?: number
}

/** An error in place of an answer. */
export interface FakeError {
  readonly status: number
  readonly message: string
  /** The provider's own name for it; by default, the one for the status. */
  readonly type?: string
  readonly code?: string
  /** Retry delay in seconds, in the provider's format. */
  readonly retryAfter?: number
}

export type FakeAnswer<Said extends FakeSaid = FakeSaid> = Said | FakeError

export interface FakeRequest {
  readonly body: JsonObject
  /** The model from the address or body, as the provider reads it. */
  readonly model: string
  /** Number of this request, from 0; rejected ones do not count. */
  readonly index: number
  /** Whether this is Baton's probe for tool support. */
  readonly isToolProbe: boolean
  /** Returns the wire name of the only tool whose name matches. @throws if none or several match */
  toolLike(pattern: RegExp): string
  /**
   * Texts of the trailing tool results, in order; those of failed calls start with `error: ` if the wire has errors.
   */
  readonly results: readonly string[]
}

export type FakeScript<Said extends FakeSaid = FakeSaid> = (request: FakeRequest) => FakeAnswer<Said>

export interface FakeServer {
  /** Value for the variable that holds the provider's address. */
  readonly url: string
  readonly requests: readonly FakeRequest[]
  /** Rejected requests that the script would have answered. */
  readonly refusals: readonly { readonly status: number; readonly message: string }[]
  /** Number of connections that the client closed before their answer had ended. */
  readonly aborted: () => number
  close(): Promise<void>
}

export interface FakeAsked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Bytes of the text in UTF-8. */
  readonly bytes: number
  /** `undefined` if the text is not a JSON object. */
  readonly body: JsonObject | undefined
}

export interface FakeStream {
  readonly type: string
  readonly pieces: readonly (string | Uint8Array)[]
  /** Written after the pieces, even if they end early. */
  readonly end?: string
}

type Headers = Readonly<Record<string, string>>

export interface FakeWire<Said extends FakeSaid> {
  /** Suffix of the server's address: `/v1`. */
  readonly path?: string
  readonly findRefusal: (asked: FakeAsked) => FakeError | undefined
  /** Answers other requests, such as a list of models; `undefined` for scripted requests. */
  readonly answerAside?: (asked: FakeAsked) => JsonObject | undefined
  readonly readModel?: (asked: FakeAsked) => string
  readonly listTools: (body: JsonObject) => readonly JsonValue[]
  readonly listResults: (body: JsonObject) => readonly string[]
  readonly encodeError: (error: FakeError) => { readonly body: JsonObject; readonly headers?: Headers }
  readonly encodeStream: (said: Said, request: FakeRequest) => FakeStream
  readonly encodeWhole: (said: Said, request: FakeRequest) => JsonObject
  /** Header for the request id. */
  readonly idHeader?: string
}

const BODY_BYTES_MAX = 128 * 1024 * 1024
/** Characters per piece of text: few, so that every answer arrives in several. */
const PIECE_CHARS = 7

export async function startFakeServer<Said extends FakeSaid>(
  wire: FakeWire<Said>,
  script: FakeScript<Said>,
): Promise<FakeServer> {
  const requests: FakeRequest[] = []
  const refusals: { status: number; message: string }[] = []
  let aborted = 0
  const refuse = (response: ServerResponse, error: FakeError): void => {
    refusals.push({ status: error.status, message: error.message })
    sendError(wire, response, error)
  }
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = await readAsked(incoming)
    const refusal = wire.findRefusal(asked)
    if (refusal) return refuse(response, refusal)
    const aside = wire.answerAside?.(asked)
    if (aside) return sendJson(response, aside)
    const request = readRequest(wire, asked, requests.length)
    requests.push(request)
    const answer = script(request)
    if ('status' in answer) sendError(wire, response, answer)
    else if (!(await sendAnswer(wire, response, { answer, request }))) aborted++
  }
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((cause: unknown) => {
      // A failing script is a test error: it must not look like a model's failure.
      refusals.push({ status: 500, message: String(cause) })
      if (response.headersSent) response.destroy()
      else sendError(wire, response, { status: 500, message: String(cause) })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // a server that listens on a port has this kind of address
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}${wire.path ?? ''}`, requests, refusals, aborted: () => aborted, close }
}

async function readAsked(incoming: IncomingMessage): Promise<FakeAsked> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of incoming) {
    // Without an encoding, a request streams buffers.
    bytes += (piece as Buffer).length
    if (bytes <= BODY_BYTES_MAX) pieces.push(piece as Buffer)
  }
  const text = bytes > BODY_BYTES_MAX ? '' : Buffer.concat(pieces).toString()
  const parsed = parseJson(text)
  const body = parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined
  return { method: incoming.method ?? '', url: incoming.url ?? '', headers: incoming.headers, text, bytes, body }
}

function readRequest<Said extends FakeSaid>(wire: FakeWire<Said>, asked: FakeAsked, index: number): FakeRequest {
  const body = asked.body ?? {}
  const { model } = body
  return {
    body,
    model: wire.readModel?.(asked) ?? readText(model),
    index,
    isToolProbe: asked.text.includes('Call the tool repeat_word'),
    toolLike: (pattern) => {
      const names = wire.listTools(body).map(readText)
      const found = names.filter((name) => pattern.test(name))
      const [only] = found
      if (only === undefined || found.length > 1)
        throw new Error(`${found.length} tools match ${pattern}: ${names.join(', ')}`)
      return only
    },
    results: wire.listResults(body),
  }
}

function sendError<Said extends FakeSaid>(wire: FakeWire<Said>, response: ServerResponse, error: FakeError): void {
  const { body, headers } = wire.encodeError(error)
  const id = wire.idHeader === undefined ? {} : { [wire.idHeader]: 'req_fake' }
  response.writeHead(error.status, { 'content-type': 'application/json', ...id, ...headers })
  response.end(JSON.stringify(body))
}

function sendJson(response: ServerResponse, body: JsonObject): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

interface Answering<Said> {
  readonly answer: Said
  readonly request: FakeRequest
}

/** Returns false if the client disconnected before the end. */
async function sendAnswer<Said extends FakeSaid>(
  wire: FakeWire<Said>,
  response: ServerResponse,
  { answer, request }: Answering<Said>,
): Promise<boolean> {
  const offered = wire.listTools(request.body)
  const unknown = (answer.calls ?? []).find(({ name }) => !offered.includes(name))
  if (unknown) throw new Error(`the script calls "${unknown.name}", which is not among the request's tools`)
  if (wire.idHeader !== undefined) response.setHeader(wire.idHeader, `req_${request.index}`)
  if (answer.raw) {
    response.writeHead(200, { 'content-type': answer.raw.type }).end(answer.raw.text)
    return true
  }
  if (answer.isWhole) {
    sendJson(response, wire.encodeWhole(answer, request))
    return true
  }
  const { type, pieces, end } = wire.encodeStream(answer, request)
  response.writeHead(200, { 'content-type': type })
  for (const [number, piece] of pieces.entries()) {
    if (response.destroyed) return false
    if (number === answer.stallAfter) {
      await new Promise((resolve) => response.on('close', resolve))
      return false
    }
    if (number === answer.cutAfter) {
      response.destroy()
      return true
    }
    if (number === answer.endAfter) break
    // In two packets where the network allows it, possibly splitting a character.
    const bytes = Buffer.from(piece)
    response.write(bytes.subarray(0, bytes.length >> 1))
    await new Promise((resolve) => setImmediate(resolve))
    response.write(bytes.subarray(bytes.length >> 1))
  }
  response.end(end)
  return true
}

export function listObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : []
}

export function readText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

export function splitPieces(text: string): readonly string[] {
  return text.match(new RegExp(`[^]{1,${PIECE_CHARS}}`, 'gu')) ?? []
}

/** The retry header of most providers and of proxies in front of them. */
export function describeDelay({ retryAfter }: FakeError): Headers {
  return retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
}

/** Checks that all JSON providers make first. */
export function findJsonIssue({ headers, body }: FakeAsked): string | undefined {
  if (headers['content-type'] !== 'application/json') return 'Content-Type must be application/json'
  return body === undefined ? 'We could not parse the JSON body of your request.' : undefined
}

/** Joins the report of a strict wire into one message; `undefined` if it is empty. */
export function joinIssues(issues: readonly { readonly path: string; readonly message: string }[]): string | undefined {
  return issues.length === 0 ? undefined : issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
}
