// Shared by the tests of this decoder: stream chunks and the answer they become.
import type { JsonObject, ModelAnswer, ModelEvent } from '@baton/core'
import { BatonError } from '@baton/core'
import { createToolNames } from '../tool-names.ts'
import type { OpenAiChatDecoderOptions } from './decode-stream.ts'
import { createOpenAiChatDecoder } from './decode-stream.ts'

export const names = createToolNames(['agent.spawn', 'a', 'b'])
export type Chunk = JsonObject | '[DONE]'

export function decode(chunks: readonly Chunk[], more: Partial<OpenAiChatDecoderOptions> = {}) {
  const events: ModelEvent[] = []
  const sink = (event: ModelEvent) => events.push(event)
  const decoder = createOpenAiChatDecoder({ model: 'm', names, label: 'Groq', sink, ...more })
  for (const chunk of chunks) decoder.push({ data: typeof chunk === 'string' ? chunk : JSON.stringify(chunk) })
  decoder.finish()
  return { outcome: decoder.end(), events }
}

export function readAnswer(chunks: readonly Chunk[], more: Partial<OpenAiChatDecoderOptions> = {}): ModelAnswer {
  const { outcome } = decode(chunks, more)
  if (outcome instanceof BatonError) throw outcome
  return outcome
}

export const delta = (given: JsonObject, finish: string | null = null): JsonObject => ({
  choices: [{ index: 0, delta: given, finish_reason: finish }],
})
export const calls = (...pieces: JsonObject[]) => delta({ tool_calls: pieces })
export const made = (name: string | null, given: string | JsonObject | null) => ({
  function: { name, arguments: given },
})
export const CALLED = delta({}, 'tool_calls')
export const STOPPED = delta({}, 'stop')
