// Ways in which a call fails, in all three layers, and what each means for the model, the user and the operator, for
// any kind of tool.
import type { ErrorCode, ErrorLayer } from '@baton/core/internal'

export interface FailureExpected {
  readonly code: ErrorCode
  readonly layer: ErrorLayer
  /** The party at fault, according to the operator's log. */
  readonly fault: string
  /** Text that the model must be able to read. */
  readonly says: RegExp
  /** False if the tool does not start and the log has nothing of it; true by default. */
  readonly begins?: boolean
}

export const FAILURES = {
  /** The service answers 401. */
  unauthorized: { code: 'api_unauthorized', layer: 'api', fault: 'caller', says: /401|login/ },
  /** 404. */
  refused: { code: 'api_refused', layer: 'api', fault: 'provider', says: /404/ },
  /** 429. */
  limited: { code: 'api_rate_limited', layer: 'api', fault: 'service', says: /429/ },
  /** 500. */
  broken: { code: 'api_failed', layer: 'api', fault: 'service', says: /500/ },
  /** 503. */
  away: { code: 'api_unavailable', layer: 'api', fault: 'service', says: /503/ },
  /** Nothing listens there, or the connection ends. */
  unreachable: { code: 'api_unavailable', layer: 'api', fault: 'service', says: /ECONNREFUSED|ended the connection/ },
  /** The service promises JSON and sends something else. */
  garbled: { code: 'api_malformed', layer: 'api', fault: 'service', says: /JSON|invalid answer|wrong answer|content/ },
  /** The tool's own error. */
  own: { code: 'tool_failed', layer: 'tool', fault: 'caller', says: /there is no order A-71/ },
  /** The model's arguments do not match; the tool does not start. */
  arguments: { code: 'invalid_arguments', layer: 'tool', fault: 'provider', says: /id|path/, begins: false },
  /** The result does not match the output schema. */
  wrong: { code: 'result_invalid', layer: 'processing', fault: 'caller', says: /the result of "wrong" is wrong/ },
  /** The result cannot be written as JSON. */
  cyclic: { code: 'result_invalid', layer: 'processing', fault: 'caller', says: /not JSON|circular/i },
  /** The result is larger than Baton keeps. */
  large: { code: 'result_too_large', layer: 'processing', fault: 'peer', says: /characters|bytes/ },
} as const satisfies Readonly<Record<string, FailureExpected>>

export type FailureName = keyof typeof FAILURES
export const FAILURE_NAMES = Object.keys(FAILURES) as readonly FailureName[] // the keys of the table above

/** The service's status, if the failure has one. */
export const STATUSES: Readonly<Partial<Record<FailureName, number>>> = {
  unauthorized: 401,
  refused: 404,
  limited: 429,
  broken: 500,
  away: 503,
}
/** Occurs in what services and tools say, and must never be shown. */
export const SECRET = 'sk-live-0123456789'
/** More than Baton keeps of a result. */
export const LARGE_CHARS = 9 * 1024 * 1024
