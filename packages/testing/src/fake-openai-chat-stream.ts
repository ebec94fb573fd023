// The chunks of a fake answer, in the grammar that the recordings show for each kind of server.
import type { JsonObject } from '@baton/core'

/**
 * `openai`: calls in pieces, usage in a chunk of its own. `mistral`: whole calls without an index, ids of 9 characters, usage
 * with the end. `sloppy`: what servers have been seen to get wrong, all in one: calls without index and id, arguments as an
 * object, "stop" with calls, the role never, nulls everywhere, no [DONE].
 */
export type FakeOpenAiDialect = 'openai' | 'mistral' | 'sloppy'

export interface FakeOpenAiSaid {
  readonly reasoning?: string
  readonly text?: string
  readonly refusal?: string
  readonly calls?: readonly { readonly name: string; readonly input: JsonObject }[]
  readonly finishReason?: string
  /** The connection breaks after so many chunks. */
  readonly cutAfterChunks?: number
  /** The stream stands still after so many chunks, until the client goes away. */
  readonly stallAfterChunks?: number
  /** Said inside of the stream, in place of its end. */
  readonly errorInStream?: JsonObject
}

export interface FakeStreamInit {
  readonly body: JsonObject
  readonly index: number
  readonly dialect: FakeOpenAiDialect
}

const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
/** Characters of one delta: small, so that every answer comes in several. */
const DELTA_CHARS = 7

/** The last one is the text `[DONE]`, where there is one. */
export function listChunks(answer: FakeOpenAiSaid, init: FakeStreamInit): readonly (JsonObject | string)[] {
  const { dialect } = init
  const wrap = (delta: JsonObject, more: JsonObject = {}) =>
    chunk(init, [{ index: 0, delta, finish_reason: null }], more)
  const deltas = [
    ...(dialect === 'sloppy' ? [] : [{ role: 'assistant', content: '' }]),
    ...pieces(answer.reasoning ?? '').map((text) => ({ content: null, reasoning_content: text })),
    ...pieces(answer.text ?? '').map((text) => (dialect === 'sloppy' ? sloppyText(text) : { content: text })),
    ...pieces(answer.refusal ?? '').map((text) => ({ refusal: text })),
    ...(answer.calls ?? []).flatMap((call, number) => callDeltas(call, number, init)),
  ]
  const said = deltas.map((delta) => wrap(delta, dialect === 'openai' ? { usage: null } : {}))
  if (answer.errorInStream) return [...said, { error: answer.errorInStream }]
  return [...said, ...buildEnd(answer, init)]
}

function buildEnd(answer: FakeOpenAiSaid, init: FakeStreamInit): readonly (JsonObject | string)[] {
  const hasCalls = (answer.calls ?? []).length > 0
  const honest = hasCalls ? 'tool_calls' : 'stop'
  const reason = answer.finishReason ?? (init.dialect === 'sloppy' ? 'stop' : honest)
  const choices = [{ index: 0, delta: {}, finish_reason: reason }]
  if (init.dialect === 'sloppy') return [chunk(init, choices, { usage: null })]
  if (init.dialect === 'mistral') return [chunk(init, choices, { usage: USAGE, p: 'abcdef' }), '[DONE]']
  const asked = init.body['stream_options'] !== undefined
  return [
    chunk(init, choices, { usage: null }),
    ...(asked ? [chunk(init, [], { usage: USAGE, obfuscation: 'x' })] : []),
    '[DONE]',
  ]
}

function callDeltas(
  call: { readonly name: string; readonly input: JsonObject },
  number: number,
  { dialect, index }: FakeStreamInit,
): readonly JsonObject[] {
  const { name, input } = call
  const json = JSON.stringify(input)
  if (dialect === 'sloppy') return [{ content: null, tool_calls: [{ id: null, function: { name, arguments: input } }] }]
  if (dialect === 'mistral') {
    const id = `f${index}c${number}`.padEnd(9, '0')
    return [{ tool_calls: [{ id, type: 'function', function: { name, arguments: json } }] }]
  }
  const id = `call_fake_${index}_${number}`
  return [
    { tool_calls: [{ index: number, id, type: 'function', function: { name, arguments: '' } }] },
    ...pieces(json).map((text) => ({ tool_calls: [{ index: number, function: { arguments: text } }] })),
  ]
}

function sloppyText(text: string): JsonObject {
  return { content: [{ type: 'text', text }], tool_calls: [], reasoning_content: null, refusal: null }
}

function chunk({ body, index }: FakeStreamInit, choices: readonly JsonObject[], more: JsonObject): JsonObject {
  const head = {
    id: `chatcmpl-fake-${index}`,
    object: 'chat.completion.chunk',
    created: 0,
    model: body['model'] ?? null,
  }
  return { ...head, choices, ...more }
}

function pieces(text: string): readonly string[] {
  const characters = Array.from(text)
  const count = Math.ceil(characters.length / DELTA_CHARS)
  return Array.from({ length: count }, (_, index) =>
    characters.slice(index * DELTA_CHARS, (index + 1) * DELTA_CHARS).join(''),
  )
}
