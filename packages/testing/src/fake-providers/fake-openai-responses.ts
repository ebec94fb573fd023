// A fake OpenAI Responses API: streams in the format of recordings, and rejects what OpenAI would reject. Anything
// without a recording is handmade from OpenAI's types and marked as such.
import type { JsonObject } from '@baton/core'
import { findTooLarge } from './media-limits.ts'
import { validateOpenAiResponsesRequest } from '../wires/index.ts'
import { describeError, findKeyRefusal } from './fake-openai-chat.ts'
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

/** Models that always think send encrypted reasoning first, even without a summary. */
export interface FakeResponsesSaid extends FakeSaid {
  /** Handmade: `response.refusal.delta` and a part `refusal`. */
  readonly refusal?: string
  /** Handmade: the response ends as `response.incomplete` for this reason, in the middle of its last item. */
  readonly incomplete?: 'max_output_tokens' | 'content_filter'
}

/** Use its address as OPENAI_BASE_URL. */
export function startFakeOpenAiResponses(script: FakeScript<FakeResponsesSaid>): Promise<FakeServer> {
  /** Texts encrypted by this server: reasoning of other servers is not accepted. */
  const thoughts = new Map<string, string>()
  const encrypt = (request: FakeRequest): Streaming => {
    const { body, model, index } = request
    const asks = Array.isArray(body['include']) && body['include'].includes('reasoning.encrypted_content')
    const encrypted = thinks(body) && asks ? `gAAAAAB-fake-${index}` : undefined
    if (encrypted !== undefined) thoughts.set(encrypted, model)
    return { model, index, encrypted }
  }
  return startFakeServer<FakeResponsesSaid>(
    {
      path: '/v1',
      findRefusal: (asked) => findRefusal(asked, thoughts),
      listTools: (body) => listObjects(body['tools']).map(({ name }) => readText(name)),
      listResults,
      encodeError: (error) => ({ body: describeError(error), headers: describeDelay(error) }),
      encodeStream: (said, request) => ({
        type: 'text/event-stream; charset=utf-8',
        pieces: listEvents(said, encrypt(request)).map(
          (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`,
        ),
      }),
      encodeWhole: (said, request) => {
        const streaming = encrypt(request)
        const output = listItems(said, streaming).map(({ done }) => done)
        return describeResponse(streaming, 'completed', { output, usage: USAGE })
      },
      idHeader: 'x-request-id',
    },
    script,
  )
}

type Thoughts = ReadonlyMap<string, string>

function findRefusal(asked: FakeAsked, thoughts: Thoughts): FakeError | undefined {
  const { method, url, body = {} } = asked
  if (method !== 'POST' || url !== '/v1/responses') return { status: 404, message: `Invalid URL (${method} ${url})` }
  const refusedKey = findKeyRefusal(asked)
  if (refusedKey) return refusedKey
  const tooLarge = findTooLarge('openai', asked)
  if (tooLarge) return tooLarge
  const issue = findJsonIssue(asked)
  if (issue !== undefined) return { status: 400, message: issue }
  const issues = [joinIssues(validateOpenAiResponsesRequest(body)) ?? [], fieldIssues(body)].flat()
  if (issues.length > 0) return { status: 400, message: issues.join('; ') }
  const strange = strangeThought(body, thoughts)
  if (strange !== undefined) {
    const message = `The encrypted content ${strange} could not be verified.`
    return { status: 400, code: 'invalid_encrypted_content', message }
  }
  return body['stream'] === true ? undefined : { status: 400, message: 'this server only supports streaming' }
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
  'top_p',
  'service_tier',
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

/** Reasoning of other servers or of another model. */
function strangeThought(body: JsonObject, thoughts: Thoughts): string | undefined {
  for (const item of listObjects(body['input'])) {
    const encrypted = item['encrypted_content']
    if (item['type'] !== 'reasoning' || typeof encrypted !== 'string') continue
    if (thoughts.get(encrypted) !== body['model']) return encrypted.slice(0, 8)
  }
  return undefined
}

function listResults(body: JsonObject): readonly string[] {
  const items = listObjects(body['input'])
  const lastOther = items.findLastIndex(({ type }) => type !== 'function_call_output')
  return items.slice(lastOther + 1).map(({ output }) => (typeof output === 'string' ? output : JSON.stringify(output)))
}

interface Streaming {
  readonly model: string
  readonly index: number
  /** Encrypted reasoning of this answer; absent if the model does not think or it was not requested. */
  readonly encrypted: string | undefined
}

type FakeEvent = JsonObject & { readonly type: string }

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 120,
}

interface FakeItem {
  readonly begun: JsonObject
  readonly done: JsonObject
  /** Its pieces, without the item's place. */
  readonly pieces: readonly FakeEvent[]
}

function listEvents(answer: FakeResponsesSaid, init: Streaming): readonly FakeEvent[] {
  const items = listItems(answer, init)
  const response = (status: string, more?: JsonObject) => describeResponse(init, status, more)
  const said = items.flatMap((item, index) => itemEvents(item, index, answer.incomplete && index === items.length - 1))
  const events: readonly FakeEvent[] = [
    { type: 'response.created', response: response('in_progress') },
    { type: 'response.in_progress', response: response('in_progress') },
    ...said,
    ...buildEnd(answer, response, items),
  ]
  return events.map((event, number) => ({ ...event, sequence_number: number }))
}

function describeResponse({ index, model }: Streaming, status: string, more: JsonObject = {}): JsonObject {
  const head = { id: `resp_fake_${index}`, object: 'response', created_at: 0, status, model }
  return { ...head, output: [], usage: null, error: null, incomplete_details: null, ...more }
}

function buildEnd(
  { fails, incomplete }: FakeResponsesSaid,
  response: (status: string, more?: JsonObject) => JsonObject,
  items: readonly FakeItem[],
): readonly FakeEvent[] {
  if (fails) {
    const error = { code: fails.code ?? null, message: fails.message }
    return [
      { type: 'error', ...error, param: null },
      { type: 'response.failed', response: response('failed', { error }) },
    ]
  }
  const output = items.map(({ done }, index) =>
    incomplete && index === items.length - 1 ? { ...done, status: 'incomplete' } : done,
  )
  const status = incomplete ? 'incomplete' : 'completed'
  const more = { output, usage: USAGE, ...(incomplete && { incomplete_details: { reason: incomplete } }) }
  return [{ type: `response.${status}`, response: response(status, more) }]
}

/** An item cut off by the end of the response has no end event, and only the first half of its pieces. */
function itemEvents(
  { begun, done, pieces }: FakeItem,
  index: number,
  isCut: boolean | undefined,
): readonly FakeEvent[] {
  const item_id = begun['id'] ?? null
  const kept = isCut ? pieces.slice(0, Math.ceil(pieces.length / 2)) : pieces
  return [
    { type: 'response.output_item.added', output_index: index, item: begun },
    ...kept.map((piece) => ({ ...piece, item_id, output_index: index })),
    ...(isCut ? [] : [{ type: 'response.output_item.done', output_index: index, item: done }]),
  ]
}

function listItems(answer: FakeResponsesSaid, init: Streaming): readonly FakeItem[] {
  const { reasoning = '', text = '', refusal = '', calls = [] } = answer
  return [
    ...(init.encrypted === undefined && reasoning === '' ? [] : [thought(reasoning, init)]),
    ...(text === '' ? [] : [message(text, init)]),
    ...(refusal === '' ? [] : [refused(refusal, init)]),
    ...calls.map((call, number) => functionCall(call, number, init)),
  ]
}

function thought(text: string, { index, encrypted }: Streaming): FakeItem {
  const id = `rs_fake_${index}`
  const summary = text === '' ? [] : [{ type: 'summary_text', text }]
  const part = { summary_index: 0 }
  return {
    begun: { id, type: 'reasoning', summary: [] },
    done: { id, type: 'reasoning', summary, ...(encrypted !== undefined && { encrypted_content: encrypted }) },
    pieces:
      text === ''
        ? []
        : [
            { type: 'response.reasoning_summary_part.added', ...part, part: { type: 'summary_text', text: '' } },
            ...splitPieces(text).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...part, delta })),
            { type: 'response.reasoning_summary_text.done', ...part, text },
          ],
  }
}

function message(text: string, { index }: Streaming): FakeItem {
  const head = { id: `msg_fake_${index}`, type: 'message', role: 'assistant' }
  const part = { type: 'output_text', annotations: [], text }
  return {
    begun: { ...head, status: 'in_progress', content: [] },
    done: { ...head, status: 'completed', content: [part] },
    pieces: [
      { type: 'response.content_part.added', content_index: 0, part: { ...part, text: '' } },
      ...splitPieces(text).map((delta) => ({
        type: 'response.output_text.delta',
        content_index: 0,
        delta,
        obfuscation: 'aX9',
      })),
      { type: 'response.output_text.done', content_index: 0, text },
      { type: 'response.content_part.done', content_index: 0, part },
    ],
  }
}

/** Handmade from ResponseRefusalDeltaEvent and ResponseOutputRefusal of openai 7.57. */
function refused(refusal: string, { index }: Streaming): FakeItem {
  const head = { id: `msg_refusal_${index}`, type: 'message', role: 'assistant' }
  const part = { type: 'refusal', refusal }
  return {
    begun: { ...head, status: 'in_progress', content: [] },
    done: { ...head, status: 'completed', content: [part] },
    pieces: [
      { type: 'response.content_part.added', content_index: 0, part: { ...part, refusal: '' } },
      ...splitPieces(refusal).map((delta) => ({ type: 'response.refusal.delta', content_index: 0, delta })),
      { type: 'response.refusal.done', content_index: 0, refusal },
    ],
  }
}

function functionCall({ name, input }: FakeCall, number: number, { index }: Streaming): FakeItem {
  const json = JSON.stringify(input)
  const head = {
    id: `fc_fake_${index}_${number}`,
    type: 'function_call',
    call_id: `call_fake_${index}_${number}`,
    name,
  }
  return {
    begun: { ...head, status: 'in_progress', arguments: '' },
    done: { ...head, status: 'completed', arguments: json },
    pieces: [
      ...splitPieces(json).map((delta) => ({ type: 'response.function_call_arguments.delta', delta })),
      { type: 'response.function_call_arguments.done', arguments: json },
    ],
  }
}
