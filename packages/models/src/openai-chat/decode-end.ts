// Maps finish reasons and usage to neutral values.
import type { FinishReason, JsonObject, Usage } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { readFinishWord } from '../finish-words.ts'
import { overlayCounts, readCount, readObject } from '../json-fields.ts'

/** Finish reasons that mean the answer failed. */
const FAILURES: ReadonlySet<string> = new Set(['error', 'network_error', 'insufficient_system_resource'])

export function isFailure(reason: string): boolean {
  return FAILURES.has(reason.toLowerCase())
}

export interface EndOfAnswer {
  readonly reason: string
  readonly hasCalls: boolean
  /** Whether the JSON of all calls' arguments is closed. */
  readonly areClosed: boolean
  readonly isRefused: boolean
  /** As counted by the server, without corrections from the total. */
  readonly outputTokens: number | undefined
  /** The request's limit. */
  readonly maxTokens: number | undefined
}

/** The finish reason alone is unreliable: servers say "stop" with calls, and "tool_calls" without any (vllm#53255). */
export function readFinish({
  reason,
  hasCalls,
  areClosed,
  isRefused,
  outputTokens,
  maxTokens,
}: EndOfAnswer): FinishReason {
  if (isRefused) return 'refusal'
  const finish = readFinishWord(reason) ?? 'other'
  if (finish === 'tool-calls' && !hasCalls) return 'end'
  if (!hasCalls || (finish !== 'end' && finish !== 'tool-calls')) return finish
  // Not every server enforces the limit: a closed call in an answer that ended for calls was not cut off.
  if (finish === 'tool-calls' && areClosed) return 'tool-calls'
  // vLLM also says "tool_calls" for a call cut off by the limit (vllm#53269).
  const isUsedUp = maxTokens !== undefined && (outputTokens ?? 0) >= maxTokens
  return isUsedUp ? 'max-tokens' : 'tool-calls'
}

/** Whether this finish reason means that the model wants calls to run. */
export function isForCalls(reason: string): boolean {
  return readFinishWord(reason) === 'tool-calls'
}

/** Counts sent in every chunk are cumulative. */
export function overlay(before: JsonObject, now: JsonObject): JsonObject {
  return overlayCounts(before, inOwnWords(now))
}

/** Counts in the words of the AI SDK, which gateways built on it pass through. */
const SNAKE_CASE: ReadonlyMap<string, string> = new Map([
  ['promptTokens', 'prompt_tokens'],
  ['completionTokens', 'completion_tokens'],
  ['totalTokens', 'total_tokens'],
])

function inSnakeCase(usage: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(usage).map(([name, value]) => [SNAKE_CASE.get(name) ?? name, value]))
}

/**
 * Normalizes the counts of the Responses API and Anthropic, which gateways pass through. Anthropic counts the cache
 * separately from the input.
 */
function inOwnWords(given: JsonObject): JsonObject {
  const usage = inSnakeCase(given)
  const input = readCount(usage, 'input_tokens')
  const output = readCount(usage, 'output_tokens')
  if ('prompt_tokens' in usage || 'completion_tokens' in usage || (input === undefined && output === undefined))
    return usage
  const { input_tokens_details: prompt, output_tokens_details: completion, ...rest } = usage
  const beside =
    (readCount(usage, 'cache_read_input_tokens') ?? 0) + (readCount(usage, 'cache_creation_input_tokens') ?? 0)
  return {
    ...rest,
    ...(input !== undefined && { prompt_tokens: input + beside }),
    ...(output !== undefined && { completion_tokens: output }),
    ...(isJsonObject(prompt) && { prompt_tokens_details: prompt }),
    ...(isJsonObject(completion) && { completion_tokens_details: completion }),
  }
}

/**
 * `prompt_tokens` includes cache reads. DeepSeek has its own fields for them (recorded), Moonshot puts `cached_tokens`
 * next to the others, and gateways to Claude use Anthropic's.
 */
export function readUsage(usage: JsonObject): Usage {
  const promptDetails = readObject(usage, 'prompt_tokens_details')
  const { input, completion } = countPromptAndCompletion(usage)
  const cacheRead =
    readCount(promptDetails, 'cached_tokens') ??
    readCount(usage, 'prompt_cache_hit_tokens') ??
    readCount(usage, 'cached_tokens') ??
    readCount(usage, 'cache_read_input_tokens')
  const cacheWrite =
    readCount(promptDetails, 'cache_write_tokens') ??
    readCount(promptDetails, 'cache_creation_input_tokens') ??
    readCount(usage, 'cache_creation_input_tokens')
  const thinking = readCount(readObject(usage, 'completion_tokens_details'), 'reasoning_tokens')
  const hidden = countHidden(usage, { input, completion, thinking, cacheRead, cacheWrite })
  const output = completion === undefined ? undefined : completion + hidden
  const reasoning = thinking ?? (hidden > 0 ? hidden : undefined)
  return {
    ...(input !== undefined && { inputTokens: input + countBesideInput(usage, { input, cacheRead, cacheWrite }) }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(output !== undefined && { outputTokens: output }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}

/** Derives a missing count from the total. A total alone counts as input, so that limits apply to it. */
function countPromptAndCompletion(usage: JsonObject): Readonly<Record<'input' | 'completion', number | undefined>> {
  const input = readCount(usage, 'prompt_tokens')
  const completion = readCount(usage, 'completion_tokens')
  const total = readCount(usage, 'total_tokens')
  if (total === undefined || (input === undefined) === (completion === undefined))
    return input === undefined && completion === undefined ? { input: total, completion } : { input, completion }
  const rest = total - (input ?? completion ?? 0)
  return { input: input ?? Math.max(0, rest), completion: completion ?? (rest > 0 ? rest : undefined) }
}

interface Counts {
  readonly input: number | undefined
  readonly cacheRead: number | undefined
  readonly cacheWrite: number | undefined
}

/** Cached tokens missing from `prompt_tokens`, which shows when more were read than the whole prompt supposedly has. */
function countBesideInput(usage: JsonObject, { input, cacheRead = 0, cacheWrite = 0 }: Counts): number {
  const total = readCount(usage, 'total_tokens') ?? 0
  const output = readCount(usage, 'completion_tokens') ?? 0
  const cached = cacheRead + cacheWrite
  if (input === undefined || cacheRead <= input) return 0
  return total === 0 ? cached : Math.min(cached, Math.max(0, total - input - output))
}

/**
 * Reasoning that the total includes but `completion_tokens` does not, as with Gemini and xAI (recorded: 35 + 12, total
 * 109). If the total counts the cache separately from the prompt, nothing can be inferred.
 */
function countHidden(
  usage: JsonObject,
  {
    input,
    cacheRead = 0,
    cacheWrite = 0,
    completion,
    thinking,
  }: Counts & Readonly<Record<'completion' | 'thinking', number | undefined>>,
): number {
  const total = readCount(usage, 'total_tokens')
  if (input === undefined || completion === undefined || total === undefined) return 0
  const beside = countBesideInput(usage, { input, cacheRead, cacheWrite })
  const rest = Math.max(0, total - input - beside - completion)
  if (thinking !== undefined) return rest >= thinking ? thinking : 0
  return [cacheRead, cacheWrite, cacheRead + cacheWrite].includes(rest) ? 0 : rest
}
