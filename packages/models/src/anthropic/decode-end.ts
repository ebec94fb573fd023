// How an answer ended and what it cost, in neutral words.
import type { FinishReason, JsonObject, JsonValue, Usage } from '@baton/core'
import { isJsonObject } from '@baton/core'
import { readCount } from '../json-fields.ts'

/** StopReason of SDK 1.12; a reason that we do not know is `other`. */
const FINISH: Readonly<Record<string, FinishReason>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  tool_use: 'tool-calls',
  max_tokens: 'max-tokens',
  refusal: 'refusal',
  pause_turn: 'pause',
  model_context_window_exceeded: 'context-full',
}

export function readFinish(reason: JsonValue | undefined): FinishReason {
  return typeof reason === 'string' && Object.hasOwn(FINISH, reason) ? (FINISH[reason] ?? 'other') : 'other'
}

/** message_delta repeats fields of message_start, counts cumulatively: what is given overwrites, absent or null stays. */
export function overlay(before: JsonObject, now: JsonObject): JsonObject {
  if (!Object.values(now).includes(null)) return { ...before, ...now }
  return { ...before, ...Object.fromEntries(Object.entries(now).filter(([, value]) => value !== null)) }
}

/** Anthropic's `input_tokens` excludes what was read from and written to the cache; the neutral count includes both. */
export function readUsage(usage: JsonObject): Usage {
  const input = readCount(usage, 'input_tokens')
  const cacheRead = readCount(usage, 'cache_read_input_tokens')
  const cacheWrite = readCount(usage, 'cache_creation_input_tokens')
  const output = readCount(usage, 'output_tokens')
  const details = usage['output_tokens_details']
  const reasoning = isJsonObject(details) ? readCount(details, 'thinking_tokens') : undefined
  return {
    ...(input !== undefined && { inputTokens: input + (cacheRead ?? 0) + (cacheWrite ?? 0) }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(output !== undefined && { outputTokens: output }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}
