// A server of our own that speaks Bedrock's ConverseStream over real HTTP: binary frames, checked signatures, and AWS's errors
// for whatever the strict wire reports. What it says is scripted by a function of the request.
import type { JsonObject } from '@baton/core'
import { isJsonObject, parseJson } from '@baton/core'
import { validateBedrockRequest } from '@baton/core/testing'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FakeBedrockKeys } from './fake-bedrock-auth.ts'
import { findAuthRefusal } from './fake-bedrock-auth.ts'
import type { FakeBedrockSaid } from './fake-bedrock-stream.ts'
import { listFrames } from './fake-bedrock-stream.ts'

export type { FakeBedrockCall, FakeBedrockSaid } from './fake-bedrock-stream.ts'

/** An answer, or an error in place of one. */
export type FakeBedrockAnswer = FakeBedrockSaid | FakeBedrockError

export interface FakeBedrockError {
  readonly status: number
  /** `ThrottlingException`. */
  readonly errorType: string
  readonly message: string
  /** Seconds, as a proxy before Bedrock gives them (hand-made: Bedrock itself gives none). */
  readonly retryAfter?: string
}

export interface FakeBedrockRequest {
  readonly body: JsonObject
  /** Of the address. */
  readonly model: string
  /** Number of this request, from 0; refused ones do not count. */
  readonly index: number
  /** The wire name of the only tool whose name matches. @throws when none or several do */
  toolLike(pattern: RegExp): string
  /** Texts of the tool results in the last message, in their order; those of failed calls begin with `error: `. */
  readonly results: readonly string[]
}

export interface FakeBedrock {
  /** For AWS_ENDPOINT_URL_BEDROCK_RUNTIME. */
  readonly url: string
  readonly requests: readonly FakeBedrockRequest[]
  /** What was refused although the script would have answered it. */
  readonly refusals: readonly { readonly status: number; readonly message: string }[]
  /** Connections that the client closed before their answer had ended. */
  readonly aborted: () => number
  close(): Promise<void>
}

/** Those that the server takes. */
export const FAKE_BEDROCK_KEYS: FakeBedrockKeys = {
  bearer: 'bedrock-key-of-a-test',
  accessKeyId: 'AKIAOFATEST',
  secretAccessKey: 'secret-of-a-test',
}
const BODY_BYTES_MAX = 25 * 1024 * 1024

export async function startFakeBedrock(
  script: (request: FakeBedrockRequest) => FakeBedrockAnswer,
): Promise<FakeBedrock> {
  const requests: FakeBedrockRequest[] = []
  const refusals: { status: number; message: string }[] = []
  let aborted = 0
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await readBody(incoming)
    const refusal = findRefusal(incoming, text)
    if (refusal) {
      refusals.push({ status: refusal.status, message: refusal.message })
      sendError(response, refusal)
      return
    }
    const parsed = parseJson(text)
    const body = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
    const request = readRequest(body, modelOf(incoming), requests.length)
    requests.push(request)
    const answer = script(request)
    if ('status' in answer) sendError(response, answer)
    else if (!(await sendStream(response, answer, request.index))) aborted++
  }
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((cause: unknown) => {
      // A script that fails is a fault of the test: it must not look like a model.
      refusals.push({ status: 500, message: String(cause) })
      if (response.headersSent) response.destroy()
      else sendError(response, { status: 500, errorType: 'InternalServerException', message: String(cause) })
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

const PATH = /^\/model\/([^/?]+)\/converse-stream$/

function modelOf({ url = '' }: IncomingMessage): string {
  return decodeURIComponent(PATH.exec(url)?.[1] ?? '')
}

function findRefusal(incoming: IncomingMessage, text: string): FakeBedrockError | undefined {
  const model = modelOf(incoming)
  if (incoming.method !== 'POST' || model === '')
    return { status: 404, errorType: 'UnknownOperationException', message: `${incoming.method} ${incoming.url}` }
  const wrongKey = findAuthRefusal(incoming, text, FAKE_BEDROCK_KEYS)
  if (wrongKey !== undefined) return { status: 403, errorType: 'AccessDeniedException', message: wrongKey }
  const invalid = (message: string): FakeBedrockError => ({ status: 400, errorType: 'ValidationException', message })
  if (!/amazon|anthropic|mistral|meta/.test(model)) return invalid('The provided model identifier is invalid.')
  if (incoming.headers['content-type'] !== 'application/json') return invalid('The content type is not supported.')
  const parsed = parseJson(text)
  if (!parsed.ok) return { status: 400, errorType: 'SerializationException', message: 'The body is not JSON' }
  const issues = validateBedrockRequest(parsed.value)
  return issues.length > 0 ? invalid(issues.map(({ path, message }) => `${path}: ${message}`).join('; ')) : undefined
}

function readRequest(body: JsonObject, model: string, index: number): FakeBedrockRequest {
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

function toolNames(body: JsonObject): readonly string[] {
  const config = isJsonObject(body['toolConfig']) ? body['toolConfig'] : {}
  const specs = listObjects(config['tools']).map(({ toolSpec }) => (isJsonObject(toolSpec) ? toolSpec['name'] : ''))
  return specs.filter((name) => typeof name === 'string')
}

function listResults(body: JsonObject): readonly string[] {
  return listObjects(listObjects(body['messages']).at(-1)?.['content']).flatMap(({ toolResult }) => {
    if (!isJsonObject(toolResult)) return []
    const texts = listObjects(toolResult['content']).map(({ text }) => (typeof text === 'string' ? text : ''))
    return [`${toolResult['status'] === 'error' ? 'error: ' : ''}${texts.join('')}`]
  })
}

/** The type stands in a header; the body has the message alone (recorded). */
function sendError(response: ServerResponse, { status, errorType, message, retryAfter }: FakeBedrockError): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'x-amzn-requestid': 'request-of-a-test',
    'x-amzn-errortype': `${errorType}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
    ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
  })
  response.end(JSON.stringify({ message }))
}

/** False when the client went away before the end. */
async function sendStream(response: ServerResponse, said: FakeBedrockSaid, index: number): Promise<boolean> {
  response.writeHead(200, {
    'content-type': 'application/vnd.amazon.eventstream',
    'x-amzn-requestid': `request-${index}`,
  })
  for (const [number, frame] of listFrames(said, index).entries()) {
    if (response.destroyed) return false
    if (number === said.stallAfterFrames) {
      await new Promise((resolve) => response.on('close', resolve))
      return false
    }
    if (number === said.cutAfterFrames) {
      response.destroy()
      return true
    }
    if (number === said.endAfterFrames) break
    // Each frame in two packets, as far as the network allows.
    response.write(frame.subarray(0, 9))
    await new Promise((resolve) => setImmediate(resolve))
    response.write(frame.subarray(9))
  }
  response.end()
  return true
}
