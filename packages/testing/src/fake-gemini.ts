// A server of our own that speaks Gemini's streamGenerateContent over real HTTP, as the Gemini API or as Vertex AI, and refuses
// with Google's errors whatever the strict wire reports. What it says is scripted by a function of the request.
import type { JsonObject } from '@baton/core'
import { isJsonObject, parseJson } from '@baton/core'
import { validateGeminiRequest } from '@baton/core/testing'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FakeGeminiFraming, FakeGeminiSaid } from './fake-gemini-stream.ts'
import { listChunks } from './fake-gemini-stream.ts'

export type { FakeGeminiCall, FakeGeminiFraming, FakeGeminiSaid } from './fake-gemini-stream.ts'

/** An answer, or an error in place of one. */
export type FakeGeminiAnswer = FakeGeminiSaid | FakeGeminiError

export interface FakeGeminiError {
  readonly code: number
  /** google.rpc.Code: `RESOURCE_EXHAUSTED`. */
  readonly status: string
  readonly message: string
  /** Adds a RetryInfo with this delay, such as `0.01s` (recorded shape, hand-made delay). */
  readonly retryDelay?: string
}

export interface FakeGeminiRequest {
  readonly body: JsonObject
  /** Of the address. */
  readonly model: string
  /** Number of this request, from 0; refused ones do not count. */
  readonly index: number
  /** The wire name of the only tool whose name matches. @throws when none or several do */
  toolLike(pattern: RegExp): string
  /** Texts of the results in the last content, in their order; those of failed calls begin with `error: `. */
  readonly results: readonly string[]
}

export interface FakeGemini {
  /** For GOOGLE_GEMINI_BASE_URL. */
  readonly url: string
  readonly requests: readonly FakeGeminiRequest[]
  /** What was refused although the script would have answered it. */
  readonly refusals: readonly { readonly code: number; readonly message: string }[]
  /** Connections that the client closed before their answer had ended. */
  readonly aborted: () => number
  close(): Promise<void>
}

export interface FakeGeminiInit {
  /** `sse` by default. */
  readonly framing?: FakeGeminiFraming
  readonly script: (request: FakeGeminiRequest) => FakeGeminiAnswer
}

const BODY_BYTES_MAX = 32 * 1024 * 1024

export async function startFakeGemini({ framing = 'sse', script }: FakeGeminiInit): Promise<FakeGemini> {
  const requests: FakeGeminiRequest[] = []
  const refusals: { code: number; message: string }[] = []
  let aborted = 0
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await readBody(incoming)
    const refusal = findRefusal(incoming, text)
    if (refusal) {
      refusals.push({ code: refusal.code, message: refusal.message })
      sendError(response, refusal)
      return
    }
    const parsed = parseJson(text)
    const body = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
    const request = readRequest(body, modelOf(incoming), requests.length)
    requests.push(request)
    const answer = script(request)
    if ('message' in answer) sendError(response, answer)
    else if (!(await sendStream(response, answer, { request, framing }))) aborted++
  }
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((cause: unknown) => {
      // A script that fails is a fault of the test: it must not look like a model.
      refusals.push({ code: 500, message: String(cause) })
      if (response.headersSent) response.destroy()
      else sendError(response, { code: 500, status: 'INTERNAL', message: String(cause) })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}`, requests, refusals, aborted: () => aborted, close }
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of incoming) {
    // Without an encoding a request streams buffers.
    bytes += (piece as Buffer).length
    if (bytes <= BODY_BYTES_MAX) pieces.push(piece as Buffer)
  }
  return bytes > BODY_BYTES_MAX ? '' : Buffer.concat(pieces).toString()
}

const API = /^\/v1beta\/models\/([^/:?]+):streamGenerateContent\?alt=sse$/
const VERTEX =
  /^\/v1\/projects\/[^/]+\/locations\/[^/]+\/publishers\/google\/models\/([^/:?]+):streamGenerateContent\?alt=sse$/

function modelOf({ url = '' }: IncomingMessage): string {
  return (API.exec(url) ?? VERTEX.exec(url))?.[1] ?? ''
}

/** Messages are literal ones of the Gemini API and of Vertex AI. */
function findRefusal(incoming: IncomingMessage, text: string): FakeGeminiError | undefined {
  const { method, url = '', headers } = incoming
  const model = modelOf(incoming)
  if (method !== 'POST' || model === '')
    return { code: 404, status: 'NOT_FOUND', message: `Requested entity was not found: ${method} ${url}` }
  const unknown =
    'Method doesn’t allow unregistered callers. Please use API Key or other form of API consumer identity.'
  if (API.test(url) && headers['x-goog-api-key'] === undefined)
    return { code: 403, status: 'PERMISSION_DENIED', message: unknown }
  if (VERTEX.test(url) && !/^Bearer \S+$/.test(headers.authorization ?? ''))
    return { code: 401, status: 'UNAUTHENTICATED', message: 'Request is missing required authentication credential.' }
  const invalid = (message: string): FakeGeminiError => ({ code: 400, status: 'INVALID_ARGUMENT', message })
  if (headers['x-goog-api-key'] === 'bad') return invalid('API key not valid. Please pass a valid API key.')
  if (headers['content-type'] !== 'application/json') return invalid('Content-Type must be application/json')
  const parsed = parseJson(text)
  if (!parsed.ok) return invalid('Invalid JSON payload received. Unexpected end of string.')
  const issues = validateGeminiRequest(parsed.value, { model })
  return issues.length > 0 ? invalid(issues.map(({ path, message }) => `${path}: ${message}`).join('; ')) : undefined
}

function readRequest(body: JsonObject, model: string, index: number): FakeGeminiRequest {
  const names = toolNames(body)
  return {
    body,
    model,
    index,
    toolLike: (pattern) => {
      const found = names.filter((name) => pattern.test(name))
      const [only] = found
      if (only === undefined || found.length > 1)
        throw new Error(`${found.length} tools match ${pattern}: ${names.join(', ')}`)
      return only
    },
    results: listResults(body),
  }
}

function listObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : []
}

/** Google takes both spellings of every field; proxies mix them. */
function toolNames(body: JsonObject): readonly string[] {
  const declared = listObjects(body['tools']).flatMap((tool) =>
    listObjects(tool['functionDeclarations'] ?? tool['function_declarations']),
  )
  return declared.map(({ name }) => (typeof name === 'string' ? name : ''))
}

function listResults(body: JsonObject): readonly string[] {
  return listObjects(listObjects(body['contents']).at(-1)?.['parts']).flatMap((part) => {
    const given = part['functionResponse'] ?? part['function_response']
    const result = isJsonObject(given) ? given['response'] : undefined
    if (!isJsonObject(result)) return []
    // `content` is LiteLLM's word.
    const { error, content, output = content } = result
    if (typeof error === 'string') return [`error: ${error}`]
    return typeof output === 'string' ? [output] : []
  })
}

function sendError(response: ServerResponse, { code, status, message, retryDelay }: FakeGeminiError): void {
  response.writeHead(code, { 'content-type': 'application/json; charset=UTF-8' })
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }]
  response.end(JSON.stringify({ error: { code, message, status, ...(retryDelay !== undefined && { details }) } }))
}

interface Streaming {
  readonly request: FakeGeminiRequest
  readonly framing: FakeGeminiFraming
}

/** False when the client went away before the end. */
async function sendStream(response: ServerResponse, answer: FakeGeminiSaid, streaming: Streaming): Promise<boolean> {
  const { request, framing } = streaming
  const chunks = listChunks(answer, { model: request.model, index: request.index, framing })
  const isArray = framing === 'array'
  const type = isArray ? 'application/json; charset=UTF-8' : 'text/event-stream'
  response.writeHead(200, { 'content-type': type, 'server-timing': 'gfet4t7; dur=1' })
  for (const [number, chunk] of chunks.entries()) {
    if (response.destroyed) return false
    if (number === answer.stallAfterChunks) {
      await new Promise((resolve) => response.on('close', resolve))
      return false
    }
    if (number === answer.cutAfterChunks) {
      response.destroy()
      return true
    }
    if (number === answer.endAfterChunks) break
    response.write(isArray ? `${number === 0 ? '[' : '\n,\n'}${JSON.stringify(chunk, null, 2)}` : parseEvent(chunk))
    // Each chunk in a packet of its own, as far as the network allows.
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end(isArray ? '\n]' : '')
  return true
}

/** An error that breaks into the events stands there bare (js-genai looks for it in every piece). */
function parseEvent(chunk: JsonObject): string {
  return 'error' in chunk ? JSON.stringify(chunk, null, 2) : `data: ${JSON.stringify(chunk)}\r\n\r\n`
}
