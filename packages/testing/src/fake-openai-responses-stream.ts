// The events of a fake response, in the grammar that the recordings show. What no recording has is made by hand after
// OpenAI's types and is marked so: refusals, incomplete responses, an error event with the failed response behind it.
import type { JsonObject } from '@baton/core'

export interface FakeResponsesSaid {
  /** A summary of thoughts; with it, and for models that think in any case, an encrypted thought comes first. */
  readonly reasoning?: string
  readonly text?: string
  /** Hand-made: `response.refusal.delta` and a part `refusal`. */
  readonly refusal?: string
  readonly calls?: readonly { readonly name: string; readonly input: JsonObject }[]
  /** Hand-made: the response ends as `response.incomplete` for this reason; its last item with it, in its middle. */
  readonly incomplete?: 'max_output_tokens' | 'content_filter'
  /** Hand-made: an `error` event in place of the end, then `response.failed` with the same error. */
  readonly fails?: { readonly code: string; readonly message: string }
  /** The connection breaks after so many events. */
  readonly cutAfterEvents?: number
  /** The stream stands still after so many events, until the client goes away. */
  readonly stallAfterEvents?: number
}

export interface FakeEventsInit {
  readonly model: string
  readonly index: number
  /** What the thought of this answer is encrypted as; absent where the model does not think or nobody asked for it. */
  readonly encrypted: string | undefined
}

export type FakeEvent = JsonObject & { readonly type: string }

/** Characters of one delta: small, so that every answer comes in several. */
const DELTA_CHARS = 7
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
  /** Its pieces, without the place of the item. */
  readonly pieces: readonly FakeEvent[]
}

export function listEvents(answer: FakeResponsesSaid, init: FakeEventsInit): readonly FakeEvent[] {
  const items = listItems(answer, init)
  const response = (status: string, more: JsonObject = {}): JsonObject => ({
    id: `resp_fake_${init.index}`,
    object: 'response',
    created_at: 0,
    status,
    model: init.model,
    output: [],
    usage: null,
    error: null,
    incomplete_details: null,
    ...more,
  })
  const said = items.flatMap((item, index) => itemEvents(item, index, answer.incomplete && index === items.length - 1))
  const events: readonly FakeEvent[] = [
    { type: 'response.created', response: response('in_progress') },
    { type: 'response.in_progress', response: response('in_progress') },
    ...said,
    ...buildEnd(answer, response, items),
  ]
  return events.map((event, number) => ({ ...event, sequence_number: number }))
}

function buildEnd(
  { fails, incomplete }: FakeResponsesSaid,
  response: (status: string, more?: JsonObject) => JsonObject,
  items: readonly FakeItem[],
): readonly FakeEvent[] {
  if (fails)
    return [
      { type: 'error', ...fails, param: null },
      { type: 'response.failed', response: response('failed', { error: { ...fails } }) },
    ]
  const output = items.map(({ done }, index) =>
    incomplete && index === items.length - 1 ? { ...done, status: 'incomplete' } : done,
  )
  const status = incomplete ? 'incomplete' : 'completed'
  const more = { output, usage: USAGE, ...(incomplete && { incomplete_details: { reason: incomplete } }) }
  return [{ type: `response.${status}`, response: response(status, more) }]
}

/** An item that the end of the response cut has no end of its own, and only the first half of its pieces. */
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

function listItems(answer: FakeResponsesSaid, init: FakeEventsInit): readonly FakeItem[] {
  const { reasoning = '', text = '', refusal = '', calls = [] } = answer
  return [
    ...(init.encrypted === undefined && reasoning === '' ? [] : [thought(reasoning, init)]),
    ...(text === '' ? [] : [message(text, init)]),
    ...(refusal === '' ? [] : [refused(refusal, init)]),
    ...calls.map((call, number) => functionCall(call, number, init)),
  ]
}

function thought(text: string, { index, encrypted }: FakeEventsInit): FakeItem {
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

function message(text: string, { index }: FakeEventsInit): FakeItem {
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

/** Hand-made after ResponseRefusalDeltaEvent and ResponseOutputRefusal of openai 7.57. */
function refused(refusal: string, { index }: FakeEventsInit): FakeItem {
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

function functionCall(
  { name, input }: { readonly name: string; readonly input: JsonObject },
  number: number,
  { index }: FakeEventsInit,
): FakeItem {
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

function splitPieces(text: string): readonly string[] {
  const characters = Array.from(text)
  const count = Math.ceil(characters.length / DELTA_CHARS)
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * DELTA_CHARS, (index + 1) * DELTA_CHARS).join(''),
  )
}
