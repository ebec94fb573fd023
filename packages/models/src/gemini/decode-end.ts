// How an answer ended and what it cost, in neutral words.
import type { FinishReason, JsonObject, Usage } from '@baton/core'

/** FinishReason of genai.d.ts, and what Vertex was seen to say beside it; a reason that we do not know is `other`. */
const FINISH: Readonly<Record<string, FinishReason>> = {
  STOP: 'end',
  MAX_TOKENS: 'max-tokens',
  SAFETY: 'refusal',
  RECITATION: 'refusal',
  BLOCKLIST: 'refusal',
  PROHIBITED_CONTENT: 'refusal',
  SPII: 'refusal',
  LANGUAGE: 'refusal',
  MODEL_ARMOR: 'refusal',
  MALFORMED_FUNCTION_CALL: 'malformed-call',
  UNEXPECTED_TOOL_CALL: 'malformed-call',
  TOO_MANY_TOOL_CALLS: 'malformed-call',
  MALFORMED_RESPONSE: 'malformed-call',
  CONTINUATION: 'pause',
}

export function finishOf(reason: string, hasCalls: boolean): FinishReason {
  // IMAGE_SAFETY, IMAGE_PROHIBITED_CONTENT, IMAGE_RECITATION and what may come; IMAGE_OTHER says nothing.
  if (reason.startsWith('IMAGE_') && reason !== 'IMAGE_OTHER') return 'refusal'
  const finish = Object.hasOwn(FINISH, reason) ? (FINISH[reason] ?? 'other') : 'other'
  return finish === 'end' && hasCalls ? 'tool-calls' : finish
}

/** Counts stand in every chunk and grow: what is given overwrites, absent or null stays. */
export function overlay(before: JsonObject, now: JsonObject): JsonObject {
  return { ...before, ...Object.fromEntries(Object.entries(now).filter(([, value]) => value !== null)) }
}

/** `promptTokenCount` includes what was cached; thoughts are not in `candidatesTokenCount` (recorded: 9622 + 35 + 136 = 9793). */
export function usageOf(usage: JsonObject): Usage {
  const input = sumOf(usage, ['promptTokenCount', 'toolUsePromptTokenCount'])
  const output = sumOf(usage, ['candidatesTokenCount', 'thoughtsTokenCount'])
  const cacheRead = sumOf(usage, ['cachedContentTokenCount'])
  const reasoning = sumOf(usage, ['thoughtsTokenCount'])
  return {
    ...(input !== undefined && { inputTokens: input }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(output !== undefined && { outputTokens: output }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}

function sumOf(usage: JsonObject, keys: readonly string[]): number | undefined {
  const counts = keys.flatMap((key) => {
    const value = usage[key]
    return typeof value === 'number' && value >= 0 ? [value] : []
  })
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0)
}
