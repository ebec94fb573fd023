// The measured provider's OpenAI Responses, with the events and fields of the real API (documentation of November
// 2026).
import type { Wire } from './wire.ts'
import { argumentPieces, serverSentEvent } from './wire.ts'

export const responses: Wire = {
  name: 'responses',
  open: () => [
    ...begin(),
    event('response.output_item.added', 2, { output_index: 0, item: textItem('', 'in_progress') }),
    event('response.content_part.added', 3, { ...TEXT_PLACE, part: outputText('') }),
  ],
  delta: (text, index) => event('response.output_text.delta', 4 + index, { ...TEXT_PLACE, delta: text, logprobs: [] }),
  close: (text, count) => [
    event('response.output_text.done', 4 + count, { ...TEXT_PLACE, text, logprobs: [] }),
    event('response.content_part.done', 5 + count, { ...TEXT_PLACE, part: outputText(text) }),
    event('response.output_item.done', 6 + count, { output_index: 0, item: textItem(text, 'completed') }),
    event('response.completed', 7 + count, { response: response('completed', [textItem(text, 'completed')], count) }),
  ],
  calls: (round, parallel) => {
    const items = Array.from({ length: parallel }, (_, call) => callItem(round, call))
    const events = items.flatMap(({ id, ...item }, call) => {
      const pieces = argumentPieces(round, call)
      const place = { item_id: id, output_index: call }
      return [
        {
          type: 'response.output_item.added',
          output_index: call,
          item: { id, ...item, status: 'in_progress', arguments: '' },
        },
        ...pieces.map((delta) => ({ type: 'response.function_call_arguments.delta', ...place, delta })),
        { type: 'response.function_call_arguments.done', ...place, name: 'echo', arguments: pieces.join('') },
        { type: 'response.output_item.done', output_index: call, item: { id, ...item } },
      ]
    })
    return [
      ...begin(),
      ...events.map((one, index) => serverSentEvent({ ...one, sequence_number: 2 + index })),
      event('response.completed', 2 + events.length, { response: response('completed', items, 40) }),
    ]
  },
  resultsIn: (body) => {
    const { input } = body as { readonly input: readonly { readonly type?: string; readonly role?: string }[] }
    const asked = input.findLastIndex(({ role }) => role === 'user')
    return input.slice(asked + 1).filter(({ type }) => type === 'function_call_output').length
  },
}

const TEXT_PLACE = { item_id: 'msg_1', output_index: 0, content_index: 0 }

function event(type: string, sequence: number, fields: object): string {
  return serverSentEvent({ type, sequence_number: sequence, ...fields })
}

function begin(): readonly string[] {
  const running = { response: response('in_progress', [], 0) }
  return [event('response.created', 0, running), event('response.in_progress', 1, running)]
}

function outputText(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

function textItem(text: string, status: 'in_progress' | 'completed'): object {
  const content = status === 'completed' ? [outputText(text)] : []
  return { id: 'msg_1', type: 'message', status, role: 'assistant', content }
}

function callItem(round: number, call: number) {
  const name = `r${round}_${call}`
  const text = argumentPieces(round, call).join('')
  return {
    id: `fc_${name}`,
    type: 'function_call',
    status: 'completed',
    arguments: text,
    call_id: `call_${name}`,
    name: 'echo',
  }
}

function response(status: string, output: readonly object[], tokens: number): object {
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } }
  const usage = { input_tokens: 25, ...details, output_tokens: tokens, total_tokens: 25 + tokens }
  const fixed = { created_at: 1_750_000_000, error: null, incomplete_details: null, instructions: null, metadata: {} }
  const settings = { parallel_tool_calls: true, temperature: 1, tool_choice: 'auto', tools: [], top_p: 1 }
  const kind = { id: 'resp_1', object: 'response', model: 'mock-model', status, output }
  return { ...kind, ...fixed, ...settings, usage: tokens > 0 ? usage : null }
}
