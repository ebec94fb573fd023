// Maps stop reasons and usage to neutral values.
import type { FinishReason, JsonObject, JsonValue, Usage } from '@baton/core/internal'
import { readCount } from '../json-fields.ts'

/** StopReason of client-bedrock-runtime 3.1163. Unknown reasons map to `other`. */
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
 * `inputTokens` excludes cache reads and writes (recorded: 10 alongside 7351 read; `totalTokens` has both); the neutral
 * count includes both. Reasoning is part of `outputTokens` and not counted separately.
 */
export function readUsage(usage: JsonObject): Usage {
  const input = readCount(usage, 'inputTokens')
  const cacheRead = readCount(usage, 'cacheReadInputTokens')
  const cacheWrite = readCount(usage, 'cacheWriteInputTokens')
  const output = readCount(usage, 'outputTokens')
  const total = readCount(usage, 'totalTokens')
  const cached = (cacheRead ?? 0) + (cacheWrite ?? 0)
  // Some gateways already include the cache in the input, as their total shows.
  const isIn = input !== undefined && total !== undefined && input + cached + (output ?? 0) > total
  return {
    ...(input !== undefined && { inputTokens: isIn && input >= cached ? input : input + cached }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(output !== undefined && { outputTokens: output }),
  }
}
