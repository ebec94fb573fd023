// The only error class. Its codes are in error-codes.ts.
import type { ErrorCode } from './error-codes.ts'
import { API_ERROR_CODES, ERROR_CODES, TOOL_ERROR_CODES } from './error-codes.ts'
import type { JsonObject } from './json.ts'

export type { ErrorCode, Fault } from './error-codes.ts'
export { ERROR_CODES } from './error-codes.ts'

export interface BatonErrorOptions {
  readonly code: ErrorCode
  /** States what happened, and with which value. */
  readonly message: string
  /** Advice on what to do next; the table's by default. */
  readonly hint?: string
  readonly retryable?: boolean
  readonly data?: JsonObject
  readonly cause?: unknown
}

/** The error of all Baton APIs. Branch on `code`, never on `instanceof`: two copies of this class may be loaded. */
export class BatonError extends Error {
  readonly code: ErrorCode
  readonly hint: string
  readonly retryable: boolean
  readonly data: JsonObject

  constructor(init: BatonErrorOptions) {
    super(init.message, init.cause === undefined ? undefined : { cause: init.cause })
    this.name = 'BatonError'
    this.code = init.code
    this.hint = init.hint ?? ERROR_CODES[init.code].solve
    this.retryable = init.retryable ?? ERROR_CODES[init.code].retryable
    this.data = init.data ?? {}
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERROR_CODES, value)
}

/** Recognises a BatonError by its shape, from any copy of the class. Never throws. */
export function isBatonError(value: unknown): value is BatonError {
  try {
    return value instanceof Error && isErrorCode((value as { code?: unknown }).code)
  } catch {
    return false // a proxy may throw on any access
  }
}

/**
 * `api`: a service did not answer, or not as expected: an MCP server, an HTTP API, a model's provider. `tool`: the
 * tool, its arguments or its permission. `processing`: Baton's handling of a call or a result.
 */
export type ErrorLayer = 'api' | 'tool' | 'processing'

/** The layer in which an error arose: `api` (a model's service), `tool`, or `processing` (Baton or the program). */
export function readErrorLayer(code: ErrorCode): ErrorLayer {
  if (Object.hasOwn(API_ERROR_CODES, code) || code.startsWith('model_')) return 'api'
  if (code.startsWith('result_')) return 'processing'
  return Object.hasOwn(TOOL_ERROR_CODES, code) || code.startsWith('question_') ? 'tool' : 'processing'
}

/** Why an input was not accepted. */
export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
}
