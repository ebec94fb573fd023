// The measured provider's Anthropic Messages, with the events and fields of the real API (documentation of November
// 2026).
import type { Wire } from './wire.ts'
import { argumentPieces, serverSentEvent } from './wire.ts'

const USAGE = { input_tokens: 25, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 1 }

export const messages: Wire = {
  name: 'messages',
  open: () => [
    messageStart('msg_1'),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    serverSentEvent({ type: 'ping' }),
  ],
  delta: (text) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  close: (_text, count) => [event('content_block_stop', { index: 0 }), ...messageEnd('end_turn', count)],
  calls: (round, parallel) => [
    messageStart(`msg_calls_${round}`),
    ...Array.from({ length: parallel }, (_, call) => callEvents(round, call)).flat(),
    ...messageEnd('tool_use', 40),
  ],
  resultsIn: (body) => {
    let results = 0
    for (const message of (body as MessagesBody).messages.toReversed()) {
      if (message.role !== 'user') continue
      const parts = typeof message.content === 'string' ? [] : message.content
      const own = parts.filter(({ type }) => type === 'tool_result').length
      if (own === 0) break
      results += own
    }
    return results
  },
}

interface MessagesBody {
  readonly messages: readonly {
    readonly role: string
    readonly content: string | readonly { readonly type: string }[]
  }[]
}

function event(type: string, fields: object): string {
  return serverSentEvent({ type, ...fields })
}

function messageStart(id: string): string {
  const message = { id, type: 'message', role: 'assistant', model: 'mock-model', content: [] }
  return event('message_start', { message: { ...message, stop_reason: null, stop_sequence: null, usage: USAGE } })
}

function callEvents(round: number, index: number): readonly string[] {
  const call = { type: 'tool_use', id: `toolu_r${round}_${index}`, name: 'echo', input: {} }
  return [
    event('content_block_start', { index, content_block: call }),
    ...argumentPieces(round, index).map((partial_json) =>
      event('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json } }),
    ),
    event('content_block_stop', { index }),
  ]
}

function messageEnd(stopReason: string, tokens: number): readonly string[] {
  const delta = { stop_reason: stopReason, stop_sequence: null }
  return [event('message_delta', { delta, usage: { ...USAGE, output_tokens: tokens } }), event('message_stop', {})]
}
