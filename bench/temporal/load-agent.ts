// The agent of the load test: its model begins to speak at once, with 20 pieces in 400 ms, so the time to the first
// piece is the overhead of the host and its wire. When asked to use its tool, it calls the tool first.
import type { Agent, Model, ModelAnswer } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { setTimeout as wait } from 'node:timers/promises'

/** Text that asks for a tool call. */
export const WITH_TOOL = 'with the tool'
export const PIECES = 20
const PIECE_MS = 20
const PIECE = 'some words of it '

const model: Model = {
  id: 'load',
  provider: 'load',
  capabilities: { tools: 'native', images: false },
  run: async ({ messages }, sink, signal): Promise<ModelAnswer> => {
    const told = messages.at(-1)
    const usage = { inputTokens: 100, outputTokens: 40 }
    if (told?.role === 'user' && JSON.stringify(told).includes(WITH_TOOL))
      return {
        parts: [{ type: 'call', name: 'add', arguments: '{"a":1,"b":2}' }],
        finish: 'tool-calls',
        usage,
        model: 'load',
      }
    for (let piece = 0; piece < PIECES && !signal.aborted; piece++) {
      sink({ type: 'text-delta', text: PIECE })
      await wait(PIECE_MS)
    }
    return { parts: [{ type: 'text', text: PIECE.repeat(PIECES) }], finish: 'end', usage, model: 'load' }
  },
}

export function createLoadAgent(): Agent {
  const add = tool({ name: 'add', description: 'adds', input: { type: 'object' }, effect: 'pure', execute: () => 3 })
  return defineAgent({ name: 'load', model, tools: [add] })
}
