// How an answer ended and what it cost, in neutral words.
import type { FinishReason, JsonObject, Usage } from '@baton/core'
import { readCount, readObject } from '../json-fields.ts'

/** Of OpenAI (ChatCompletion.Choice), Mistral (`model_length`), and of engines that pass their own words on. */
const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'end',
  end_turn: 'end',
  stop_sequence: 'end',
  eos: 'end',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  length: 'max-tokens',
  max_tokens: 'max-tokens',
  model_length: 'context-full',
  content_filter: 'refusal',
  refusal: 'refusal',
}

export interface EndOfAnswer {
  readonly reason: string
  readonly hasCalls: boolean
  readonly isRefused: boolean
  /** Output tokens that were used up and those that were allowed, where both are known. */
  readonly usage: Usage
  readonly maxTokens: number | undefined
}

/** The reason alone is not to be trusted: servers say "stop" with calls, and "tool_calls" without any (vllm#53255). */
export function readFinish({ reason, hasCalls, isRefused, usage, maxTokens }: EndOfAnswer): FinishReason {
  if (isRefused) return 'refusal'
  const finish = Object.hasOwn(FINISH, reason) ? (FINISH[reason] ?? 'other') : 'other'
  if (finish === 'tool-calls' && !hasCalls) return 'end'
  if (!hasCalls || (finish !== 'end' && finish !== 'tool-calls')) return finish
  // vLLM says "tool_calls" also for a call that the limit cut (vllm#53269).
  const isUsedUp = maxTokens !== undefined && (usage.outputTokens ?? 0) >= maxTokens
  return isUsedUp ? 'max-tokens' : 'tool-calls'
}

/** Counts are cumulative where they come in every chunk: what is given overwrites, absent or null stays. */
export function overlay(before: JsonObject, now: JsonObject): JsonObject {
  const given = Object.entries(now).filter(([, value]) => value !== null)
  return { ...before, ...Object.fromEntries(given) }
}

/** `prompt_tokens` includes what was read from the cache. DeepSeek has fields of its own for that (recorded). */
export function readUsage(usage: JsonObject): Usage {
  const promptDetails = readObject(usage, 'prompt_tokens_details')
  const input = readCount(usage, 'prompt_tokens')
  const cacheRead = readCount(promptDetails, 'cached_tokens') ?? readCount(usage, 'prompt_cache_hit_tokens')
  const cacheWrite = readCount(promptDetails, 'cache_write_tokens')
  const output = readOutput(usage, input)
  const told = readCount(usage, 'completion_tokens') ?? output
  const hidden = output !== undefined && told !== undefined && output > told ? output - told : undefined
  const reasoning = readCount(readObject(usage, 'completion_tokens_details'), 'reasoning_tokens') ?? hidden
  return {
    ...(input !== undefined && { inputTokens: input }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(output !== undefined && { outputTokens: output }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}

/** Gemini and xAI leave reasoning out of `completion_tokens`, not out of the total (recorded: 35 + 12, total 109). */
function readOutput(usage: JsonObject, input: number | undefined): number | undefined {
  const output = readCount(usage, 'completion_tokens')
  const total = readCount(usage, 'total_tokens')
  if (output === undefined || input === undefined || total === undefined) return output
  return Math.max(output, total - input)
}
