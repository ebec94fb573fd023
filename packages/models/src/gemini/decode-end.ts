// Maps finish reasons and usage to neutral values.
import type { FinishReason, JsonObject, Usage } from '@baton/core/internal'

/** FinishReason of genai.d.ts, plus reasons that Vertex was seen to send. Unknown reasons map to `other`. */
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

export function readFinish(reason: string, hasCalls: boolean): FinishReason {
  // IMAGE_SAFETY, IMAGE_PROHIBITED_CONTENT, IMAGE_RECITATION and future ones; IMAGE_OTHER is unspecific.
  if (reason.startsWith('IMAGE_') && reason !== 'IMAGE_OTHER') return 'refusal'
  const finish = Object.hasOwn(FINISH, reason) ? (FINISH[reason] ?? 'other') : 'other'
  return finish === 'end' && hasCalls ? 'tool-calls' : finish
}

/** Counts of `usageMetadata`; `undefined` until received. */
export interface Counts {
  promptTokenCount: number | undefined
  toolUsePromptTokenCount: number | undefined
  cachedContentTokenCount: number | undefined
  candidatesTokenCount: number | undefined
  thoughtsTokenCount: number | undefined
  totalTokenCount: number | undefined
}

export function createCounts(): Counts {
  return {
    promptTokenCount: undefined,
    toolUsePromptTokenCount: undefined,
    cachedContentTokenCount: undefined,
    candidatesTokenCount: undefined,
    thoughtsTokenCount: undefined,
    totalTokenCount: undefined,
  }
}

const COUNT_NAMES = Object.keys(createCounts()) as readonly (keyof Counts)[] // the keys are its own

/**
 * Every chunk carries counts, which grow. Numbers overwrite; anything else is ignored. Returns whether any count but
 * the total changed.
 */
export function updateCounts(counts: Counts, given: JsonObject): boolean {
  let hasChanged = false
  for (const name of COUNT_NAMES) {
    const value = given[name]
    if (typeof value !== 'number' || value < 0 || value === counts[name]) continue
    counts[name] = value
    hasChanged ||= name !== 'totalTokenCount'
  }
  return hasChanged
}

/**
 * `promptTokenCount` includes cached tokens; `candidatesTokenCount` excludes thinking (recorded: 9622 + 35 + 136 =
 * 9793). Some gateways include thinking in both, as their total shows.
 */
export function readUsage(counts: Counts): Usage {
  const usage: { -readonly [Name in keyof Usage]: Usage[Name] } = {}
  const input = addCounts(counts.promptTokenCount, counts.toolUsePromptTokenCount)
  const { candidatesTokenCount: said, thoughtsTokenCount: thought = 0, totalTokenCount: total } = counts
  const isIn =
    said !== undefined &&
    said >= thought &&
    total !== undefined &&
    (input ?? 0) + said <= total &&
    (input ?? 0) + said + thought > total
  const output = isIn ? said : addCounts(said, counts.thoughtsTokenCount)
  if (input !== undefined) usage.inputTokens = input
  if (counts.cachedContentTokenCount !== undefined) usage.cacheReadTokens = counts.cachedContentTokenCount
  if (output !== undefined) usage.outputTokens = output
  if (counts.thoughtsTokenCount !== undefined) usage.reasoningTokens = counts.thoughtsTokenCount
  return usage
}

/** Returns `undefined` if neither is known. */
function addCounts(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0)
}
