// How an answer ended and what it cost, in neutral words.
import type { FinishReason, JsonObject, JsonValue, Usage } from '@baton/core'
import { readCount } from '../json-fields.ts'

/** StopReason of client-bedrock-runtime 3.1163; a reason that we do not know is `other`. */
const FINISH: Readonly<Record<string, FinishReason>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  tool_use: 'tool-calls',
  max_tokens: 'max-tokens',
  model_context_window_exceeded: 'context-full',
  guardrail_intervened: 'refusal',
  content_filtered: 'refusal',
  malformed_tool_use: 'malformed-call',
  malformed_model_output: 'malformed-call',
}

export function readFinish(reason: JsonValue | undefined): FinishReason {
  return typeof reason === 'string' && Object.hasOwn(FINISH, reason) ? (FINISH[reason] ?? 'other') : 'other'
}

/**
 * `inputTokens` excludes what was read from and written to the cache (recorded: 10 beside 7351 read, `totalTokens` has
 * both); the neutral count includes both. Reasoning is part of `outputTokens` and not counted apart.
 */
export function readUsage(usage: JsonObject): Usage {
  const input = readCount(usage, 'inputTokens')
  const cacheRead = readCount(usage, 'cacheReadInputTokens')
  const cacheWrite = readCount(usage, 'cacheWriteInputTokens')
  const output = readCount(usage, 'outputTokens')
  const total = readCount(usage, 'totalTokens')
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  // Gateways put the cache into the input already: their total says so.
  const isIn = input !== undefined && total !== undefined && input + cached + (output ?? 0) > total
  return {
    ...(input !== undefined && { inputTokens: isIn && input >= cached ? input : input + cached }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(output !== undefined && { outputTokens: output }),
  }
}
