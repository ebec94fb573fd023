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

export function readFinish(reason: string, hasCalls: boolean): FinishReason {
  // IMAGE_SAFETY, IMAGE_PROHIBITED_CONTENT, IMAGE_RECITATION and what may come; IMAGE_OTHER says nothing.
  if (reason.startsWith('IMAGE_') && reason !== 'IMAGE_OTHER') return 'refusal'
  const finish = Object.hasOwn(FINISH, reason) ? (FINISH[reason] ?? 'other') : 'other'
  return finish === 'end' && hasCalls ? 'tool-calls' : finish
}

/** Counts of `usageMetadata`; undefined until they are given. */
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

const COUNT_NAMES = Object.keys(createCounts()) as readonly (keyof Counts)[] // all of its own making

/** Counts stand in every chunk and grow: what is given overwrites, what is absent or no number stays. Says if any but the total changed. */
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
 * `promptTokenCount` includes what was cached; thoughts are not in `candidatesTokenCount` (recorded: 9622 + 35 + 136 = 9793). Gateways
 * put them into both: their total says so.
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

/** Undefined when neither is known. */
function addCounts(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0)
}
