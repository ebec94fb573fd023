// A server of our own that speaks Chat Completions over real HTTP: streams in the grammar of recorded ones and refuses what
// OpenAI, or Mistral, would refuse. What it says is scripted by a function of the request.
import type { JsonObject } from '@baton/core'
import { isJsonObject, parseJson } from '@baton/core'
import { validateOpenAiChatRequest } from '@baton/core/testing'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FakeOpenAiDialect, FakeOpenAiSaid } from './fake-openai-chat-stream.ts'
import { listChunks } from './fake-openai-chat-stream.ts'

export type { FakeOpenAiDialect, FakeOpenAiSaid } from './fake-openai-chat-stream.ts'

/** An answer, or an error in place of one. */
export type FakeOpenAiAnswer = FakeOpenAiSaid | FakeOpenAiError

export interface FakeOpenAiError {
  readonly status: number
  readonly message: string
  readonly type?: string
  readonly code?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface FakeOpenAiRequest {
  readonly body: JsonObject
  /** Number of this request, from 0; refused ones do not count. */
  readonly index: number
  /** Baton finds out by it whether the server takes tools. */
  readonly isToolProbe: boolean
  /** The wire name of the only tool whose name matches. @throws when none or several do */
  toolLike(pattern: RegExp): string
  /** Texts of the tool messages at the end, in their order. */
  readonly results: readonly string[]
}

export interface FakeOpenAiChat {
  /** For OPENAI_BASE_URL. */
  readonly url: string
  readonly requests: readonly FakeOpenAiRequest[]
  /** What was refused although the script would have answered it. */
  readonly refusals: readonly { readonly status: number; readonly message: string }[]
  /** Connections that the client closed before their answer had ended. */
  readonly aborted: () => number
  close(): Promise<void>
}

export interface FakeOpenAiChatInit {
  /** How it streams, and what it refuses beside what OpenAI refuses; `openai` by default. */
  readonly dialect?: FakeOpenAiDialect
  /** What GET /models lists. */
  readonly models?: readonly string[]
  /**
   * `ignored`: what stands in `tools` never reaches the script, as with a chat template that has no place for them; `refused`:
   * requests with tools fail, in the words of Ollama. `native` by default.
   */
  readonly tools?: 'native' | 'ignored' | 'refused'
  readonly script: (request: FakeOpenAiRequest) => FakeOpenAiAnswer
}

const BODY_BYTES_MAX = 32 * 1024 * 1024

export async function startFakeOpenAiChat(init: FakeOpenAiChatInit): Promise<FakeOpenAiChat> {
  const requests: FakeOpenAiRequest[] = []
  const refusals: { status: number; message: string }[] = []
  let aborted = 0
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await readBody(incoming)
    const refusal = findRefusal(incoming, text, init.dialect ?? 'openai')
    if (refusal) {
      refusals.push({ status: refusal.status, message: refusal.message })
      sendError(response, refusal)
      return
    }
    if (incoming.method === 'GET') {
      sendModels(response, init.models ?? [])
      return
    }
    const parsed = parseJson(text)
    const body = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
    const { tools, tool_choice: _, ...without } = body
    if (init.tools === 'refused' && tools !== undefined) {
      const refusedTools = withoutTools(body)
      refusals.push(refusedTools)
      sendError(response, refusedTools)
      return
    }
    const request = readRequest(init.tools === 'ignored' ? without : body, requests.length)
    requests.push(request)
    const answer = init.script(request)
    if ('status' in answer) sendError(response, answer)
    else if (!(await sendStream(response, answer, { request, dialect: init.dialect ?? 'openai' }))) aborted++
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

function findRefusal(incoming: IncomingMessage, text: string, dialect: FakeOpenAiDialect): FakeOpenAiError | undefined {
  const { method, url, headers } = incoming
  const isKnown = (method === 'POST' && url === '/v1/chat/completions') || (method === 'GET' && url === '/v1/models')
  if (!isKnown) return { status: 404, type: 'invalid_request_error', message: `Invalid URL (${method} ${url})` }
  if (!/^Bearer \S+$/.test(headers.authorization ?? ''))
    return {
      status: 401,
      type: 'invalid_request_error',
      code: 'invalid_api_key',
      message: 'You didn’t provide an API key.',
    }
  if (method === 'GET') return undefined
  const invalid = (message: string): FakeOpenAiError => ({ status: 400, type: 'invalid_request_error', message })
  if (headers['content-type'] !== 'application/json') return invalid('Content-Type must be application/json')
  const parsed = parseJson(text)
  if (!parsed.ok || !isJsonObject(parsed.value)) return invalid('We could not parse the JSON body of your request.')
  const issues = [
    ...validateOpenAiChatRequest(parsed.value).map(({ path, message }) => `${path}: ${message}`),
    ...(dialect === 'mistral' ? mistralIssues(parsed.value) : openAiIssues(parsed.value)),
  ]
  if (issues.length > 0) return invalid(issues.join('; '))
  return parsed.value['stream'] === true ? undefined : invalid('this server answers streams only')
}

/** ChatCompletionCreateParams of openai 7.57, those that Baton may send; 400 "Unrecognized request argument supplied: x". */
const OPENAI_FIELDS: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_completion_tokens',
  'max_tokens',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'temperature',
  'prompt_cache_key',
  'reasoning_effort',
  'response_format',
])

function openAiIssues(body: JsonObject): readonly string[] {
  const issues = Object.keys(body)
    .filter((field) => !OPENAI_FIELDS.has(field))
    .map((field) => `Unrecognized request argument supplied: ${field}`)
  const isReasoning = /^(o\d|gpt-5)/.test(typeof body['model'] === 'string' ? body['model'] : '')
  if (!isReasoning) return issues
  if (body['max_tokens'] !== undefined)
    issues.push("Unsupported parameter: 'max_tokens' is not supported with this model.")
  if (body['temperature'] !== undefined && body['temperature'] !== 1)
    issues.push("Unsupported value: 'temperature' does not support other values than the default (1)")
  return issues
}

/** What Mistral's API adds: literal messages of its issues threads. */
function mistralIssues(body: JsonObject): readonly string[] {
  const issues: string[] = []
  for (const field of ['max_completion_tokens', 'stream_options', 'prompt_cache_key', 'reasoning_effort'])
    if (body[field] !== undefined) issues.push(`body.${field}: Extra inputs are not permitted`)
  const messages = listObjects(body['messages'])
  for (const [index, message] of messages.entries()) {
    if (message['role'] === 'user' && messages[index - 1]?.['role'] === 'tool')
      issues.push("Unexpected role 'user' after role 'tool'")
    if (message['reasoning_content'] !== undefined || message['reasoning'] !== undefined)
      issues.push(`body.messages.${index}.assistant.reasoning_content: Extra inputs are not permitted`)
    for (const { id } of listObjects(message['tool_calls']))
      if (typeof id !== 'string' || !/^[a-zA-Z0-9]{9}$/.test(id))
        issues.push(`Tool call id was ${JSON.stringify(id)} but must be a-z, A-Z, 0-9, with a length of 9.`)
  }
  const last = messages.at(-1)
  if (last?.['role'] === 'assistant' && last['prefix'] !== true)
    issues.push('Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant')
  return issues
}

/** As ollama/ollama#11131 and many others show it. */
function withoutTools({ model }: JsonObject): FakeOpenAiError {
  const message = `registry.ollama.ai/library/${typeof model === 'string' ? model : ''} does not support tools`
  return { status: 400, type: 'api_error', message }
}

function readRequest(body: JsonObject, index: number): FakeOpenAiRequest {
  const names = toolNames(body)
  return {
    body,
    index,
    isToolProbe: JSON.stringify(body['messages'] ?? '').includes('Call the tool repeat_word'),
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
  return listObjects(body['tools']).map((tool) => {
    const name = isJsonObject(tool['function']) ? tool['function']['name'] : undefined
    return typeof name === 'string' ? name : ''
  })
}

function listResults(body: JsonObject): readonly string[] {
  const messages = listObjects(body['messages'])
  const lastOther = messages.findLastIndex(({ role }) => role !== 'tool')
  return messages.slice(lastOther + 1).map(({ content }) => (typeof content === 'string' ? content : ''))
}

function sendError(response: ServerResponse, { status, message, type, code, headers }: FakeOpenAiError): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'req_fake', ...headers })
  response.end(
    JSON.stringify({ error: { message, type: type ?? 'invalid_request_error', param: null, code: code ?? null } }),
  )
}

function sendModels(response: ServerResponse, models: readonly string[]): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  const data = models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'fake' }))
  response.end(JSON.stringify({ object: 'list', data }))
}

interface Streaming {
  readonly request: FakeOpenAiRequest
  readonly dialect: FakeOpenAiDialect
}

/** False when the client went away before the end. */
async function sendStream(response: ServerResponse, answer: FakeOpenAiSaid, streaming: Streaming): Promise<boolean> {
  const { body, index } = streaming.request
  const unknown = (answer.calls ?? []).find((call) => !toolNames(body).includes(call.name))
  if (unknown) throw new Error(`the script calls "${unknown.name}", which the request does not offer`)
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': `req_${index}` })
  const chunks = listChunks(answer, { ...streaming.request, dialect: streaming.dialect })
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
    response.write(`data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`)
    // Each event in a packet of its own, as far as the network allows.
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
  return true
}
