// A server of our own that speaks OpenAI's Responses API over real HTTP: streams in the grammar of recorded ones and refuses
// what OpenAI would refuse. What it says is scripted by a function of the request.
import type { JsonObject } from '@baton/core'
import { isJsonObject, parseJson } from '@baton/core'
import { validateOpenAiResponsesRequest } from '@baton/core/testing'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FakeResponsesSaid } from './fake-openai-responses-stream.ts'
import { listEvents } from './fake-openai-responses-stream.ts'

export type { FakeResponsesSaid } from './fake-openai-responses-stream.ts'

/** An answer, or an error in place of one. */
export type FakeResponsesAnswer = FakeResponsesSaid | FakeResponsesError

export interface FakeResponsesError {
  readonly status: number
  readonly message: string
  readonly type?: string
  readonly code?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface FakeResponsesRequest {
  readonly body: JsonObject
  /** Number of this request, from 0; refused ones do not count. */
  readonly index: number
  /** The items of the input, in their order. */
  readonly items: readonly JsonObject[]
  /** The wire name of the only tool whose name matches. @throws when none or several do */
  toolLike(pattern: RegExp): string
  /** Outputs of the calls at the end, in their order; those with images as JSON. */
  readonly results: readonly string[]
}

export interface FakeOpenAiResponses {
  /** For OPENAI_BASE_URL. */
  readonly url: string
  readonly requests: readonly FakeResponsesRequest[]
  /** What was refused although the script would have answered it. */
  readonly refusals: readonly { readonly status: number; readonly message: string }[]
  /** Connections that the client closed before their answer had ended. */
  readonly aborted: () => number
  close(): Promise<void>
}

export interface FakeOpenAiResponsesInit {
  readonly script: (request: FakeResponsesRequest) => FakeResponsesAnswer
}

const BODY_BYTES_MAX = 32 * 1024 * 1024

export async function startFakeOpenAiResponses(init: FakeOpenAiResponsesInit): Promise<FakeOpenAiResponses> {
  const requests: FakeResponsesRequest[] = []
  const refusals: { status: number; message: string }[] = []
  /** What this server has encrypted: nobody else's thoughts are taken back. */
  const thoughts = new Map<string, string>()
  let aborted = 0
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await readBody(incoming)
    const refusal = findRefusal(incoming, text, thoughts)
    if (refusal) {
      refusals.push({ status: refusal.status, message: refusal.message })
      sendError(response, refusal)
      return
    }
    const parsed = parseJson(text)
    const request = readRequest(parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}, requests.length)
    requests.push(request)
    const answer = init.script(request)
    if ('status' in answer) sendError(response, answer)
    else if (!(await sendStream(response, answer, { request, thoughts }))) aborted++
  }
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((cause: unknown) => {
      // A script that fails is a fault of the test: it must not look like a model.
      refusals.push({ status: 500, message: String(cause) })
      if (response.headersSent) response.destroy()
      else sendError(response, { status: 500, type: 'server_error', message: String(cause) })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of this kind.
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}/v1`, requests, refusals, aborted: () => aborted, close }
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

type Thoughts = ReadonlyMap<string, string>

function findRefusal(incoming: IncomingMessage, text: string, thoughts: Thoughts): FakeResponsesError | undefined {
  const { method, url, headers } = incoming
  if (method !== 'POST' || url !== '/v1/responses') return { status: 404, message: `Invalid URL (${method} ${url})` }
  if (!/^Bearer \S+$/.test(headers.authorization ?? ''))
    return { status: 401, code: 'invalid_api_key', message: 'You didn’t provide an API key.' }
  const invalid = (message: string, code?: string): FakeResponsesError => {
    return { status: 400, message, ...(code !== undefined && { code }) }
  }
  if (headers['content-type'] !== 'application/json') return invalid('Content-Type must be application/json')
  const parsed = parseJson(text)
  if (!parsed.ok || !isJsonObject(parsed.value)) return invalid('We could not parse the JSON body of your request.')
  const issues = [
    ...validateOpenAiResponsesRequest(parsed.value).map(({ path, message }) => `${path}: ${message}`),
    ...fieldIssues(parsed.value),
  ]
  if (issues.length > 0) return invalid(issues.join('; '))
  const strange = strangeThought(parsed.value, thoughts)
  if (strange !== undefined)
    return invalid(`The encrypted content ${strange} could not be verified.`, 'invalid_encrypted_content')
  return parsed.value['stream'] === true ? undefined : invalid('this server answers streams only')
}

/** ResponseCreateParams of openai 7.57, those that Baton may send; 400 "Unknown parameter: 'x'." */
const FIELDS: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'stream',
  'store',
  'include',
  'max_output_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'prompt_cache_key',
  'reasoning',
  'text',
])

function fieldIssues(body: JsonObject): readonly string[] {
  const issues = Object.keys(body)
    .filter((field) => !FIELDS.has(field))
    .map((field) => `Unknown parameter: '${field}'.`)
  if (!thinks(body) && body['reasoning'] !== undefined)
    issues.push("Unsupported parameter: 'reasoning.effort' is not supported with this model.")
  if (body['tools'] === undefined && body['tool_choice'] !== undefined && body['tool_choice'] !== 'none')
    issues.push("Tool choice 'required' must be specified with 'tools' parameter.")
  return issues
}

function thinks({ model }: JsonObject): boolean {
  return typeof model === 'string' && /^(o\d|gpt-5(?!.*-chat))/.test(model)
}

/** Thoughts of other servers, and those of another model. */
function strangeThought(body: JsonObject, thoughts: Thoughts): string | undefined {
  for (const item of listObjects(body['input'])) {
    const encrypted = item['encrypted_content']
    if (item['type'] !== 'reasoning' || typeof encrypted !== 'string') continue
    if (thoughts.get(encrypted) !== body['model']) return encrypted.slice(0, 8)
  }
  return undefined
}

function readRequest(body: JsonObject, index: number): FakeResponsesRequest {
  const names = toolNames(body)
  const items = listObjects(body['input'])
  return {
    body,
    index,
    items,
    toolLike: (pattern) => {
      const found = names.filter((name) => pattern.test(name))
      const [only] = found
      if (only === undefined || found.length > 1)
        throw new Error(`${found.length} tools match ${pattern}: ${names.join(', ')}`)
      return only
    },
    results: listResults(items),
  }
}

function listObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : []
}

function toolNames(body: JsonObject): readonly string[] {
  return listObjects(body['tools']).map(({ name }) => (typeof name === 'string' ? name : ''))
}

function listResults(items: readonly JsonObject[]): readonly string[] {
  const lastOther = items.findLastIndex(({ type }) => type !== 'function_call_output')
  return items.slice(lastOther + 1).map(({ output }) => (typeof output === 'string' ? output : JSON.stringify(output)))
}

function sendError(response: ServerResponse, { status, message, type, code, headers }: FakeResponsesError): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_fake', ...headers })
  response.end(
    JSON.stringify({ error: { message, type: type ?? 'invalid_request_error', param: null, code: code ?? null } }),
  )
}

interface Streaming {
  readonly request: FakeResponsesRequest
  readonly thoughts: Map<string, string>
}

/** False when the client went away before the end. */
async function sendStream(
  response: ServerResponse,
  answer: FakeResponsesSaid,
  { request, thoughts }: Streaming,
): Promise<boolean> {
  const { body, index } = request
  const unknown = (answer.calls ?? []).find((call) => !toolNames(body).includes(call.name))
  if (unknown) throw new Error(`the script calls "${unknown.name}", which the request does not offer`)
  const model = typeof body['model'] === 'string' ? body['model'] : ''
  const asks = Array.isArray(body['include']) && body['include'].includes('reasoning.encrypted_content')
  const encrypted = thinks(body) && asks ? `gAAAAAB-fake-${index}` : undefined
  if (encrypted !== undefined) thoughts.set(encrypted, model)
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': `req_${index}` })
  for (const [number, event] of listEvents(answer, { model, index, encrypted }).entries()) {
    if (response.destroyed) return false
    if (number === answer.stallAfterEvents) {
      await new Promise((resolve) => response.on('close', resolve))
      return false
    }
    if (number === answer.cutAfterEvents) {
      response.destroy()
      return true
    }
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    // Each event in a packet of its own, as far as the network allows.
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
  return true
}
