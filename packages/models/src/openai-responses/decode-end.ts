// Maps the end of a response and its usage to neutral values.
import type { FinishReason, JsonObject, JsonValue, Usage } from '@baton/core/internal'
import { isJsonObject } from '@baton/core/internal'
import { readCount, readObject } from '../json-fields.ts'

/** `incomplete_details.reason` of openai 7.57. `steered` occurs on WebSockets: the answer stopped between two items. */
const INCOMPLETE: Readonly<Record<string, FinishReason>> = {
  max_output_tokens: 'max-tokens',
  content_filter: 'refusal',
  steered: 'pause',
}

export interface EndOfAnswer {
  readonly status: 'completed' | 'incomplete'
  /** `incomplete_details`. */
  readonly details: JsonValue | undefined
  readonly hasCalls: boolean
  /** Whether a call's own status says that it is incomplete. */
  readonly hasBrokenCall: boolean
  readonly isRefused: boolean
}

/** The API has no finish reason for tool calls; the presence of a call is the only sign. */
export function readFinish({ status, details, hasCalls, hasBrokenCall, isRefused }: EndOfAnswer): FinishReason {
  if (status === 'incomplete') {
    const reason = incompleteReason(details) ?? ''
    const finish = Object.hasOwn(INCOMPLETE, reason) ? (INCOMPLETE[reason] ?? 'other') : 'other'
    // An answer with calls cannot be continued.
    return finish === 'pause' && hasCalls ? 'other' : finish
  }
  if (isRefused) return 'refusal'
  if (!hasCalls) return 'end'
  return hasBrokenCall ? 'malformed-call' : 'tool-calls'
}

export function incompleteReason(details: JsonValue | undefined): string | undefined {
  const reason = isJsonObject(details) ? details['reason'] : undefined
  return typeof reason === 'string' && reason !== '' ? reason : undefined
}

/** `input_tokens` includes cache reads, `output_tokens` includes reasoning. */
export function readUsage(usage: JsonObject): Usage {
  const input = readCount(usage, 'input_tokens')
  const cacheRead = readCount(readObject(usage, 'input_tokens_details'), 'cached_tokens')
  const cacheWrite = readCount(readObject(usage, 'input_tokens_details'), 'cache_write_tokens')
  const output = readCount(usage, 'output_tokens')
  const reasoning = readCount(readObject(usage, 'output_tokens_details'), 'reasoning_tokens')
  return {
    ...(input !== undefined && { inputTokens: input }),
    ...(cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(cacheWrite !== undefined && { cacheWriteTokens: cacheWrite }),
    ...(output !== undefined && { outputTokens: output }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
  }
}
