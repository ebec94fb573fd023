// The measured provider's text stream for OpenAI Chat Completions, with the chunks and fields of the real API
// (documentation of November 2026).
import type { TextWire } from './wire.ts'

export const chat: TextWire = {
  name: 'chat',
  open: () => [chunk([{ index: 0, delta: { role: 'assistant', content: '', refusal: null }, ...OPEN_END }])],
  delta: (content) => chunk([{ index: 0, delta: { content }, ...OPEN_END }]),
  close: (_text, count) => [
    chunk([{ index: 0, delta: {}, logprobs: null, finish_reason: 'stop' }]),
    chunk([], { prompt_tokens: 25, completion_tokens: count, total_tokens: 25 + count }),
    'data: [DONE]\n\n',
  ],
}

const OPEN_END = { logprobs: null, finish_reason: null }
const FIXED = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_750_000_000, model: 'mock-model' }

function chunk(choices: readonly object[], usage: object | null = null): string {
  return `data: ${JSON.stringify({ ...FIXED, service_tier: 'default', system_fingerprint: 'fp_1', choices, usage })}\n\n`
}
