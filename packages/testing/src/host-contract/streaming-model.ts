// A model that streams every kind of piece in its first step, for tests of what readers of frames and events receive.
import type { Model, ModelEvent } from '@baton/core'

/** Each is preceded by a pause. */
export const SAID: readonly ModelEvent[] = [
  { type: 'reasoning-delta', text: 'Let me ' },
  { type: 'reasoning-delta', text: 'think.' },
  { type: 'text-delta', text: 'I look ' },
  { type: 'text-delta', text: 'at it.' },
  { type: 'call-start', index: 0, name: 'act' },
  { type: 'call-delta', index: 0, text: '{"a"' },
  { type: 'call-start', index: 1, name: 'act' },
  { type: 'call-delta', index: 1, text: '{"b":2}' },
  { type: 'call-delta', index: 0, text: ':1}' },
]

/** Two calls of `act`, then an answer. */
export function createStreamingModel(pause: () => Promise<void>): Model {
  let asked = 0
  const run: Model['run'] = async (_, sink) => {
    asked += 1
    if (asked > 1) return { parts: [{ type: 'text', text: 'done' }], finish: 'end', usage: {}, model: 'm' }
    for (const event of SAID) {
      await pause()
      sink(event)
    }
    const call = (text: string) => ({ type: 'call', name: 'act', arguments: text }) as const
    const parts = [
      { type: 'reasoning', text: 'Let me think.' },
      { type: 'text', text: 'I look at it.' },
      call('{"a":1}'),
      call('{"b":2}'),
    ] as const
    return { parts, finish: 'tool-calls', usage: { inputTokens: 10, outputTokens: 5 }, model: 'm' }
  }
  return { id: 'streaming/model', provider: 'streaming', capabilities: { tools: 'native', images: true }, run }
}
