// Maps stop reasons and usage to neutral values.
import type { FinishReason, JsonObject, JsonValue, Usage } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { readCount } from '../json-fields.ts'

/**
 * StopReason of SDK 1.12, plus the Chat Completions reasons that gateways pass through. Unknown reasons map to `other`.
 */
const FINISH: Readonly<Record<string, FinishReason>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  tool_use: 'tool-calls',
  max_tokens: 'max-tokens',
  refusal: 'refusal',
  pause_turn: 'pause',
  model_context_window_exceeded: 'context-full',
  stop: 'end',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  length: 'max-tokens',
  content_filter: 'refusal',
}

export function readFinish(reason: JsonValue | undefined): FinishReason {
  return typeof reason === 'string' && Object.hasOwn(FINISH, reason) ? (FINISH[reason] ?? 'other') : 'other'
}

/**
 * message_delta repeats fields of message_start with cumulative counts. Present values overwrite; absent or null ones
 * do not.
 */
export function overlay(before: JsonObject, now: JsonObject): JsonObject {
  const after: Record<string, JsonValue> = { ...before }
  for (const name of Object.keys(now)) {
    const value = now[name]
    // Assigning `__proto__` would set the prototype.
    if (value !== undefined && value !== null && name !== '__proto__') after[name] = value
  }
  return after
}

/** Anthropic's `input_tokens` excludes cache reads and writes; the neutral count includes both. */
export function readUsage(usage: JsonObject): Usage {
  const input = readCount(usage, 'input_tokens')
  const cacheRead = readCount(usage, 'cache_read_input_tokens')
  const cacheWrite = readCount(usage, 'cache_creation_input_tokens')
  const output = readCount(usage, 'output_tokens')
  const details = usage['output_tokens_details']
  const reasoning = isJsonObject(details) ? readCount(details, 'thinking_tokens') : undefined
  const counts: { -readonly [Name in keyof Usage]: Usage[Name] } = {}
  if (input !== undefined) counts.inputTokens = input + (cacheRead ?? 0) + (cacheWrite ?? 0)
  if (cacheRead !== undefined) counts.cacheReadTokens = cacheRead
  if (cacheWrite !== undefined) counts.cacheWriteTokens = cacheWrite
  if (output !== undefined) counts.outputTokens = output
  if (reasoning !== undefined) counts.reasoningTokens = reasoning
  return counts
}
