// The measured provider's text stream for Bedrock's ConverseStream: frames with checksums, with the padding of the real
// API.
import { encodeFrame } from '@baton/models/internal'
import type { TextWire } from './wire.ts'

export const converse: TextWire = {
  name: 'converse',
  contentType: 'application/vnd.amazon.eventstream',
  open: () => [frame('messageStart', { role: 'assistant' })],
  delta: (text, index) => frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text } }, index),
  close: (_text, count) => [
    frame('contentBlockStop', { contentBlockIndex: 0 }),
    frame('messageStop', { stopReason: 'end_turn' }),
    frame('metadata', {
      metrics: { latencyMs: 500 },
      usage: { inputTokens: 25, outputTokens: count, totalTokens: 25 + count },
    }),
  ],
}

const PADDING = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

function frame(type: string, payload: object, index = 0): Uint8Array {
  const headers = { ':event-type': type, ':content-type': 'application/json', ':message-type': 'event' }
  const padded = { ...payload, p: PADDING.slice(0, 1 + ((index * 7) % PADDING.length)) }
  return encodeFrame({ headers, body: Buffer.from(JSON.stringify(padded)) })
}
