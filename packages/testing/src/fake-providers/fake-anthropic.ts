// A fake Anthropic Messages server: streams in the format of recordings, with pings and padding, and rejects with 400
// whatever the strict wire reports.
import type { JsonObject } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { findTooLarge, TOO_LARGE } from './media-limits.ts'
import { validateAnthropicRequest } from '../wires/index.ts'
import type { FakeAsked, FakeCall, FakeError, FakeRequest, FakeSaid, FakeScript, FakeServer } from './fake-server.ts'
import {
  describeDelay,
  findJsonIssue,
  joinIssues,
  listObjects,
  readText,
  splitPieces,
  startFakeServer,
} from './fake-server.ts'

export type { FakeAnswer, FakeRequest, FakeServer } from './fake-server.ts'

export interface FakeAnthropicOptions {
  /** Whether to accept non-streaming requests too; Baton always streams. False by default. */
  readonly takesWhole?: boolean
  /** Maximum request bytes of a gateway in front of it; 32 MiB by default. */
  readonly bytesMax?: number
}

/** Use its address as ANTHROPIC_BASE_URL. */
export function startFakeAnthropic(
  script: FakeScript,
  { takesWhole = false, bytesMax = Infinity }: FakeAnthropicOptions = {},
): Promise<FakeServer> {
  return startFakeServer(
    {
      findRefusal: (asked) => (asked.bytes > bytesMax ? TOO_LARGE : findRefusal(asked, takesWhole)),
      listTools: (body) => listObjects(body['tools']).map(({ name }) => readText(name)),
      listResults,
      encodeError: (error) => ({
        body: { type: 'error', error: describeError(error), request_id: 'req_fake' },
        headers: describeDelay(error),
      }),
      encodeStream: (said, request) => ({
        type: 'text/event-stream; charset=utf-8',
        pieces: listEvents(said, request).map(encodeEvent),
      }),
      encodeWhole,
      idHeader: 'request-id',
    },
    script,
  )
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
}

function describeError({ status, type = TYPES[status] ?? 'api_error', message }: FakeError): JsonObject {
  return { type, message }
}

function findRefusal(asked: FakeAsked, takesWhole: boolean): FakeError | undefined {
  const { method, url, headers, body } = asked
  // Clients of beta features add a query, which the real API accepts for every request.
  if (method !== 'POST' || url.replace(/\?beta=true$/, '') !== '/v1/messages')
    return { status: 404, message: `Not found: ${method} ${url}` }
  const key = headers['x-api-key'] ?? ''
  if (key === '' || key === 'bad') return { status: 401, message: 'invalid x-api-key' }
  if (headers['anthropic-version'] === undefined)
    return { status: 400, message: 'anthropic-version: header is required' }
  const tooLarge = findTooLarge('anthropic', asked)
  if (tooLarge) return tooLarge
  const issue = findJsonIssue(asked) ?? joinIssues(validateAnthropicRequest(body ?? {}))
  if (issue !== undefined) return { status: 400, message: issue }
  return takesWhole || body?.['stream'] === true
    ? undefined
    : { status: 400, message: 'this server only supports streaming' }
}

function listResults(body: JsonObject): readonly string[] {
  return listObjects(listObjects(body['messages']).at(-1)?.['content'])
    .filter((block) => block['type'] === 'tool_result')
    .map(({ content, is_error: isError }) => {
      const parts = listObjects(content).map((part) => readText(part['text']))
      return `${isError === true ? 'error: ' : ''}${readText(content)}${parts.join('')}`
    })
}

type Event = { readonly type: string } & JsonObject

/** The real API pads the JSON with spaces, so that its length does not reveal the text. */
function encodeEvent(event: Event, index: number): string {
  const json = JSON.stringify(event)
  return `event: ${event.type}\ndata: ${json.slice(0, -1)}${' '.repeat((index * 7) % 15)}}\n\n`
}

const USAGE = { input_tokens: 100, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }

function describeMessage({ model, index }: FakeRequest): JsonObject {
  const head = { model, id: `msg_fake_${index}`, type: 'message', role: 'assistant' }
  return { ...head, content: [], stop_reason: null, stop_sequence: null, usage: USAGE }
}

function findStop({ stopReason, calls = [] }: FakeSaid): string {
  return stopReason ?? (calls.length > 0 ? 'tool_use' : 'end_turn')
}

function thinks({ body }: FakeRequest): boolean {
  return isJsonObject(body['thinking']) && body['thinking']['type'] !== 'disabled'
}

function encodeWhole(said: FakeSaid, request: FakeRequest): JsonObject {
  const { reasoning: thinking = '', text = '', calls = [] } = said
  const { index } = request
  const content = [
    ...(thinks(request) && thinking !== '' ? [{ type: 'thinking', thinking, signature: `signed-${index}` }] : []),
    ...(text === '' ? [] : [{ type: 'text', text }]),
    ...calls.map((call, number) => ({ type: 'tool_use', id: `toolu_fake_${index}_${number}`, ...call })),
  ]
  return { ...describeMessage(request), content, stop_reason: findStop(said) }
}

function listEvents(said: FakeSaid, request: FakeRequest): readonly Event[] {
  const { reasoning = '', text = '', calls = [] } = said
  const { index } = request
  const blocks = [
    ...(thinks(request) && reasoning !== '' ? [thinkingBlock(reasoning, `signed-${index}`)] : []),
    ...(text === '' ? [] : [textBlock(text)]),
    ...calls.map((call, number) => callBlock(call, `toolu_fake_${index}_${number}`)),
  ]
  const [first = [], ...others] = blocks.map((block, number) => block.map((event) => ({ ...event, index: number })))
  const stop = { stop_reason: findStop(said), stop_sequence: null }
  return [
    { type: 'message_start', message: describeMessage(request) },
    ...first.slice(0, 1),
    { type: 'ping' },
    ...first.slice(1),
    ...others.flat(),
    ...(said.fails
      ? [{ type: 'error', error: describeError(said.fails) }]
      : [{ type: 'message_delta', delta: stop, usage: { ...USAGE, output_tokens: 20 } }, { type: 'message_stop' }]),
  ]
}

function thinkingBlock(thinking: string, signature: string): readonly Event[] {
  return [
    { type: 'content_block_start', content_block: { type: 'thinking', thinking: '', signature: '' } },
    ...splitPieces(thinking).map((piece) => ({
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
    ...splitPieces(text).map((piece) => ({ type: 'content_block_delta', delta: { type: 'text_delta', text: piece } })),
    { type: 'content_block_stop' },
  ]
}

function callBlock({ name, input }: FakeCall, id: string): readonly Event[] {
  const json = Object.keys(input).length === 0 ? '' : JSON.stringify(input)
  return [
    { type: 'content_block_start', content_block: { type: 'tool_use', id, name, input: {} } },
    // The first delta of a call's input is always empty in recorded streams.
    ...['', ...splitPieces(json)].map((piece) => ({
      type: 'content_block_delta',
      delta: { type: 'input_json_delta', partial_json: piece },
    })),
    { type: 'content_block_stop' },
  ]
}
