// Maps finish reasons and usage to neutral values.
import type { FinishReason, JsonObject, JsonValue, Usage } from '@baton/core/internal'
import { readFinishWord, readGivenReason } from '../finish-words.ts'
import { isCount, readCount } from '../json-fields.ts'

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
  const finish = (Object.hasOwn(FINISH, reason) ? FINISH[reason] : readFinishWord(reason)) ?? 'other'
  return finish === 'end' || finish === 'tool-calls' ? (hasCalls ? 'tool-calls' : 'end') : finish
}

/** Numbers of the enumeration (google.ai.generativelanguage.v1beta.Candidate.FinishReason), in some proxies' JSON. */
const REASON_OF_NUMBER: readonly string[] = ['', 'STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'OTHER']

/** The reason that a candidate gives; `undefined` if it gives none yet. */
export function readReason(value: JsonValue | undefined): string | undefined {
  return readGivenReason(typeof value === 'number' ? (REASON_OF_NUMBER[value] ?? String(value)) : value)
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
 * Every chunk carries counts, which grow. Numbers overwrite, but no zero a count; anything else is ignored. Returns
 * whether any count but the total changed.
 */
export function updateCounts(counts: Counts, given: JsonObject): boolean {
  let hasChanged = false
  for (const name of COUNT_NAMES) {
    const value = readCount(given, name)
    if (value === undefined || value === counts[name] || (value === 0 && isCount(counts[name]))) continue
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
  const { thoughtsTokenCount: thought = 0, cachedContentTokenCount: cached = 0, totalTokenCount: total } = counts
  const prompt = addCounts(counts.promptTokenCount, counts.toolUsePromptTokenCount) ?? findRest(counts)
  const answer =
    counts.candidatesTokenCount ?? (prompt === counts.totalTokenCount ? undefined : findRest(counts, prompt))
  // More was cached than the prompt has: some gateways count the cache separately.
  const isBeside = prompt !== undefined && cached > prompt && prompt + cached + (answer ?? 0) === (total ?? 0) - thought
  const input = isBeside ? prompt + cached : prompt
  const isIncluded =
    answer !== undefined &&
    answer >= thought &&
    total !== undefined &&
    (input ?? 0) + answer <= total &&
    (input ?? 0) + answer + thought > total
  const output = isIncluded ? answer : addCounts(answer, counts.thoughtsTokenCount)
  if (input !== undefined) usage.inputTokens = input
  if (counts.cachedContentTokenCount !== undefined) usage.cacheReadTokens = counts.cachedContentTokenCount
  if (output !== undefined) usage.outputTokens = output
  if (counts.thoughtsTokenCount !== undefined) usage.reasoningTokens = counts.thoughtsTokenCount
  return usage
}

/** Tokens of the total that no known count includes; `undefined` without a total or without a rest. */
function findRest(
  { totalTokenCount: total, candidatesTokenCount: answer, thoughtsTokenCount: thought }: Counts,
  prompt = 0,
) {
  const rest = (total ?? 0) - prompt - (answer ?? 0) - (thought ?? 0)
  return rest > 0 ? rest : undefined
}

/** Returns `undefined` if neither is known. */
function addCounts(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined ? other : one + (other ?? 0)
}
