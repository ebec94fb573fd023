// A server of our own that speaks Anthropic Messages over real HTTP: streams in the grammar of recorded ones, with pings
// and padding, and refuses with 400 whatever the strict wire reports. What it says is scripted by a function of the request.
import type { JsonObject } from '@baton/core'
import { isJsonObject, parseJson } from '@baton/core'
import { validateAnthropicRequest } from '@baton/core/testing'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An answer, or an error in place of one. */
export type FakeAnswer =
  | {
      /** Thoughts with a signature come first, where the request asks for them. */
      readonly reasoning?: string
      readonly text?: string
      readonly calls?: readonly FakeCall[]
      readonly stopReason?: string
      /** The connection breaks after so many events. */
      readonly cutAfterEvents?: number
      /** The stream stands still after so many events, until the client goes away. */
      readonly stallAfterEvents?: number
    }
  | WireError

export interface FakeCall {
  /** As it stands on the wire: one of the request's tools. */
  readonly name: string
  readonly input: JsonObject
}

export interface FakeRequest {
  readonly body: JsonObject
  /** Number of this request, from 0; refused ones do not count. */
  readonly index: number
  /** The wire name of the only tool whose name matches. @throws when none or several do */
  toolLike(pattern: RegExp): string
  /** Texts of the tool results in the last message, in their order. */
  readonly results: readonly string[]
}

export interface FakeRefusal {
  readonly status: number
  readonly message: string
}

export interface FakeAnthropic {
  /** For ANTHROPIC_BASE_URL. */
  readonly url: string
  readonly requests: readonly FakeRequest[]
  /** What was refused although the script would have answered it. */
  readonly refusals: readonly FakeRefusal[]
  /** Connections that the client closed before their answer had ended. */
  readonly aborted: () => number
  close(): Promise<void>
}

const BODY_BYTES_MAX = 32 * 1024 * 1024

export async function startFakeAnthropic(script: (request: FakeRequest) => FakeAnswer): Promise<FakeAnthropic> {
  const requests: FakeRequest[] = []
  const refusals: FakeRefusal[] = []
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
    const request = readRequest(body, requests.length)
    requests.push(request)
    const answer = script(request)
    if ('status' in answer) sendError(response, answer)
    else if (!(await sendStream(response, answer, { body, index: request.index }))) aborted++
  }
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((cause: unknown) => {
      // A script that fails is a fault of the test: it must not look like a model.
      refusals.push({ status: 500, message: String(cause) })
      if (response.headersSent) response.destroy()
      else sendError(response, { status: 500, errorType: 'api_error', message: String(cause) })
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

interface WireError {
  readonly status: number
  readonly errorType: string
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

function findRefusal({ method, url, headers }: IncomingMessage, text: string): WireError | undefined {
  if (method !== 'POST' || url !== '/v1/messages')
    return { status: 404, errorType: 'not_found_error', message: `Not found: ${method} ${url}` }
  if ((headers['x-api-key'] ?? '') === '')
    return { status: 401, errorType: 'authentication_error', message: 'x-api-key header is required' }
  const invalid = (message: string): WireError => ({ status: 400, errorType: 'invalid_request_error', message })
  if (headers['anthropic-version'] === undefined) return invalid('anthropic-version: header is required')
  if (headers['content-type'] !== 'application/json') return invalid('Content type must be application/json')
  const parsed = parseJson(text)
  if (!parsed.ok) return invalid('The request body is not valid JSON')
  const issues = validateAnthropicRequest(parsed.value)
  if (issues.length > 0) return invalid(issues.map(({ path, message }) => `${path}: ${message}`).join('; '))
  return isJsonObject(parsed.value) && parsed.value['stream'] === true
    ? undefined
    : invalid('this server answers streams only')
}

function readRequest(body: JsonObject, index: number): FakeRequest {
  return {
    body,
    index,
    toolLike: (pattern) => {
      const found = toolNames(body).filter((name) => pattern.test(name))
      const [only] = found
      if (only === undefined || found.length > 1)
        throw new Error(`${found.length} tools match ${pattern}: ${toolNames(body).join(', ')}`)
      return only
    },
    results: listResults(body),
  }
}

function listObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : []
}

function toolNames(body: JsonObject): readonly string[] {
  return listObjects(body['tools']).map(({ name }) => (typeof name === 'string' ? name : ''))
}

function listResults(body: JsonObject): readonly string[] {
  const last = listObjects(body['messages']).at(-1)
  return listObjects(last?.['content'])
    .filter((block) => block['type'] === 'tool_result')
    .map(({ content }) =>
      typeof content === 'string'
        ? content
        : listObjects(content)
            .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
            .join(''),
    )
}

function sendError(response: ServerResponse, { status, errorType, message, headers }: WireError): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_fake', ...headers })
  const error = { type: errorType, message }
  response.end(JSON.stringify({ type: 'error', error, request_id: 'req_fake' }))
}

/** Characters of one delta: small, so that every answer comes in several. */
const DELTA_CHARS = 7

type Event = { readonly type: string } & JsonObject

/** False when the client went away before the end. */
async function sendStream(
  response: ServerResponse,
  answer: Extract<FakeAnswer, { readonly text?: string }>,
  request: { readonly body: JsonObject; readonly index: number },
): Promise<boolean> {
  const unknown = (answer.calls ?? []).find((call) => !toolNames(request.body).includes(call.name))
  if (unknown) throw new Error(`the script calls "${unknown.name}", which the request does not offer`)
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'request-id': `req_${request.index}` })
  for (const [index, event] of listEvents(answer, request).entries()) {
    if (response.destroyed) return false
    if (index === answer.stallAfterEvents) {
      await new Promise((resolve) => response.on('close', resolve))
      return false
    }
    if (index === answer.cutAfterEvents) {
      response.destroy()
      return true
    }
    response.write(encodeEvent(event, index))
    // Each event in a packet of its own, as far as the network allows.
    await new Promise((resolve) => setImmediate(resolve))
  }
  response.end()
  return true
}

/** The real API pads the JSON with spaces, so that its length says nothing about the text. */
function encodeEvent(event: Event, index: number): string {
  const json = JSON.stringify(event)
  return `event: ${event.type}\ndata: ${json.slice(0, -1)}${' '.repeat((index * 7) % 15)}}\n\n`
}

function listEvents(
  { reasoning = '', text = '', calls = [], stopReason }: Extract<FakeAnswer, { readonly text?: string }>,
  { body, index }: { readonly body: JsonObject; readonly index: number },
): readonly Event[] {
  const usage = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }
  const message = {
    model: body['model'] ?? null,
    id: `msg_fake_${index}`,
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
  const thinks = isJsonObject(body['thinking']) && body['thinking']['type'] !== 'disabled'
  const blocks = [
    ...(thinks && reasoning !== '' ? [thinkingBlock(reasoning, `signed-${index}`)] : []),
    ...(text === '' ? [] : [textBlock(text)]),
    ...calls.map((call, number) => callBlock(call, `toolu_fake_${index}_${number}`)),
  ]
  const [first = [], ...others] = blocks.map((block, number) => block.map((event) => ({ ...event, index: number })))
  const reason = stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
  return [
    { type: 'message_start', message },
    ...first.slice(0, 1),
    { type: 'ping' },
    ...first.slice(1),
    ...others.flat(),
    {
      type: 'message_delta',
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { ...usage, output_tokens: 20 },
    },
    { type: 'message_stop' },
  ]
}

function thinkingBlock(thinking: string, signature: string): readonly Event[] {
  return [
    { type: 'content_block_start', content_block: { type: 'thinking', thinking: '', signature: '' } },
    ...pieces(thinking).map((piece) => ({
      type: 'content_block_delta',
      delta: { type: 'thinking_delta', thinking: piece },
    })),
    { type: 'content_block_delta', delta: { type: 'signature_delta', signature } },
    { type: 'content_block_stop' },
  ]
}

function textBlock(text: string): readonly Event[] {
  return [
    { type: 'content_block_start', content_block: { type: 'text', text: '' } },
    ...pieces(text).map((piece) => ({ type: 'content_block_delta', delta: { type: 'text_delta', text: piece } })),
    { type: 'content_block_stop' },
  ]
}

function callBlock({ name, input }: FakeCall, id: string): readonly Event[] {
  const json = Object.keys(input).length === 0 ? '' : JSON.stringify(input)
  return [
    { type: 'content_block_start', content_block: { type: 'tool_use', id, name, input: {} } },
    // The first delta of a call's input is always empty in recorded streams.
    ...['', ...pieces(json)].map((piece) => ({
      type: 'content_block_delta',
      delta: { type: 'input_json_delta', partial_json: piece },
    })),
    { type: 'content_block_stop' },
  ]
}

function pieces(text: string): readonly string[] {
  const characters = Array.from(text)
  const count = Math.ceil(characters.length / DELTA_CHARS)
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * DELTA_CHARS, (index + 1) * DELTA_CHARS).join(''),
  )
}
