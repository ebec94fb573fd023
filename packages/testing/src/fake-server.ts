// The base of every fake provider: a server over real HTTP that records what it is asked, answers by a script and breaks where it is
// told to. How requests are checked and answers written, each provider's wire says.
import type { JsonObject, JsonValue } from '@baton/core'
import { isJsonObject, parseJson } from '@baton/core'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface FakeCall {
  /** As it stands on the wire: one of the request's tools. */
  readonly name: string
  readonly input: JsonObject
}

/** An answer. Wires add what only they can say. */
export interface FakeSaid {
  /** Thoughts come first, signed where the provider signs them. */
  readonly reasoning?: string
  readonly text?: string
  readonly calls?: readonly FakeCall[]
  /** The provider's own word for why the answer ended; the honest one by default. */
  readonly stopReason?: string
  /** An error inside of the stream, in place of its end. */
  readonly fails?: FakeError
  /** As one body of JSON, as from a proxy that does not stream. */
  readonly isWhole?: boolean
  /** A body in place of it all: a page, half an answer, nothing. */
  readonly raw?: { readonly type: string; readonly text: string }
  /** The connection breaks after so many pieces of the stream. */
  readonly cutAfter?: number
  /** The stream ends properly after so many pieces. */
  readonly endAfter?: number
  /** The stream stands still after so many pieces, until the client goes away. */
  readonly stallAfter?: number
}

/** An error in place of an answer. */
export interface FakeError {
  readonly status: number
  readonly message: string
  /** The provider's own name of it; the one that belongs to the status by default. */
  readonly type?: string
  readonly code?: string
  /** Seconds after which it may be tried again, as the provider says it. */
  readonly retryAfter?: number
}

export type FakeAnswer<Said extends FakeSaid = FakeSaid> = Said | FakeError

export interface FakeRequest {
  readonly body: JsonObject
  /** Model of the address or the body, as the provider reads it. */
  readonly model: string
  /** Number of this request, from 0; refused ones do not count. */
  readonly index: number
  /** Baton finds out by it whether the server takes tools. */
  readonly isToolProbe: boolean
  /** The wire name of the only tool whose name matches. @throws when none or several do */
  toolLike(pattern: RegExp): string
  /** Texts of the tool results at the end, in their order; those of failed calls begin with `error: ` where the wire has errors. */
  readonly results: readonly string[]
}

export type FakeScript<Said extends FakeSaid = FakeSaid> = (request: FakeRequest) => FakeAnswer<Said>

export interface FakeServer {
  /** For the variable that holds the provider's address. */
  readonly url: string
  readonly requests: readonly FakeRequest[]
  /** Refused requests that the script would have answered. */
  readonly refusals: readonly { readonly status: number; readonly message: string }[]
  /** Connections that the client closed before their answer had ended. */
  readonly aborted: () => number
  close(): Promise<void>
}

export interface FakeAsked {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** Bytes of the text, as UTF-8. */
  readonly bytes: number
  /** Undefined when the text is no JSON object. */
  readonly body: JsonObject | undefined
}

export interface FakeStream {
  readonly type: string
  readonly pieces: readonly (string | Uint8Array)[]
  /** Behind the pieces, also where they end early. */
  readonly end?: string
}

type Headers = Readonly<Record<string, string>>

export interface FakeWire<Said extends FakeSaid> {
  /** End of the server's address: `/v1`. */
  readonly path?: string
  readonly findRefusal: (asked: FakeAsked) => FakeError | undefined
  /** Answers other requests, such as a list of models; undefined for requests of the script. */
  readonly answerAside?: (asked: FakeAsked) => JsonObject | undefined
  readonly readModel?: (asked: FakeAsked) => string
  readonly listTools: (body: JsonObject) => readonly JsonValue[]
  readonly listResults: (body: JsonObject) => readonly string[]
  readonly encodeError: (error: FakeError) => { readonly body: JsonObject; readonly headers?: Headers }
  readonly encodeStream: (said: Said, request: FakeRequest) => FakeStream
  readonly encodeWhole: (said: Said, request: FakeRequest) => JsonObject
  /** The header that has the id of the request. */
  readonly idHeader?: string
}

const BODY_BYTES_MAX = 128 * 1024 * 1024
/** Characters of one piece of text: few, so that every answer comes in several. */
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
      // A script that fails is a fault of the test: it must not look like a model.
      refusals.push({ status: 500, message: String(cause) })
      if (response.headersSent) response.destroy()
      else sendError(wire, response, { status: 500, message: String(cause) })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of this kind.
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
    // Without an encoding a request streams buffers.
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

/** False when the client went away before the end. */
async function sendAnswer<Said extends FakeSaid>(
  wire: FakeWire<Said>,
  response: ServerResponse,
  { answer, request }: Answering<Said>,
): Promise<boolean> {
  const offered = wire.listTools(request.body)
  const unknown = (answer.calls ?? []).find(({ name }) => !offered.includes(name))
  if (unknown) throw new Error(`the script calls "${unknown.name}", which the request does not offer`)
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
    // In two packets, as far as the network allows, which may part a character.
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

/** As most providers, or the proxies before them, say when to try again. */
export function describeDelay({ retryAfter }: FakeError): Headers {
  return retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
}

/** The checks that all providers of JSON make first. */
export function findJsonIssue({ headers, body }: FakeAsked): string | undefined {
  if (headers['content-type'] !== 'application/json') return 'Content-Type must be application/json'
  return body === undefined ? 'We could not parse the JSON body of your request.' : undefined
}

/** The report of a strict wire, as one message; undefined when there is nothing. */
export function joinIssues(issues: readonly { readonly path: string; readonly message: string }[]): string | undefined {
  return issues.length === 0 ? undefined : issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
}
