// Errors as an app of version 1 sees them. Some messages address the server's operator: they name files,
// addresses and programs of its machine, or repeat text from a database or a provider. For these, an app gets the code
// and one plain sentence.
import type { ErrorCode, EventError, Logger } from '@baton/core/internal'
import { ERROR_CODES, isBatonError } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'

/**
 * Codes whose messages only concern the app's input, its session and limits. Messages of other codes are not sent to
 * apps until the code is listed here.
 */
const TOLD: ReadonlySet<string> = new Set<ErrorCode>([
  'invalid_event',
  'invalid_transcript',
  'input_too_large',
  'queue_full',
  'session_mismatch',
  'session_stopped',
  'session_closed',
  'turn_in_progress',
  'illegal_input',
  'unknown_exchange',
  'unknown_session',
  'rate_limited',
  'quota_exceeded',
  'request_in_flight',
  'idempotency_key_reused',
  'approval_refused',
  'question_refused',
  'call_over',
  'call_not_offered',
  'tool_round_limit_exceeded',
  'empty_answer',
  'turn_time_exceeded',
  'turn_tokens_exceeded',
  'turn_cost_exceeded',
  'recovery_exhausted',
  'model_refused',
  'idle_timeout',
  'server_draining',
  'unauthorized',
])

export interface AppError {
  readonly code: string
  readonly message: string
}

/** Codes for invalid requests, whose messages name a field or an id of the request. */
const REQUEST_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'invalid_event',
  'invalid_option',
  'invalid_arguments',
  'invalid_schema',
  'illegal_input',
  'unknown_input',
  'unknown_model',
  'not_permitted',
  'model_not_configured',
])

export interface ToldError extends AppError {
  readonly hint?: string
  readonly retryable?: true
  /** Milliseconds to wait before retrying the same request, if known. */
  readonly retryAfterMs?: number
}

const GOING_AWAY: ToldError = {
  code: 'server_draining',
  message: 'the server is shutting down, or the session was closed there',
  hint: 'Connect again in a moment, and send the same request again.',
  retryable: true,
}

/** The error for the app whose request failed. Details for operators go to the log. */
export function tellAppError(cause: unknown, log: Logger): ToldError {
  if (!isBatonError(cause)) {
    log.warn('a request failed', { cause: describeThrown(cause) })
    return { code: 'internal', message: 'the server failed' }
  }
  // The original hint is for the operator; an app reconnects.
  if (cause.code === 'host_stopped' || cause.code === 'session_closed') return GOING_AWAY
  const told = REQUEST_CODES.has(cause.code) ? cause : encodeAppError(cause)
  const { code, message } = told
  const isWhole = message === cause.message
  const { retryAfterMs } = cause.data
  if (!isWhole) log.warn('a request failed', { code: cause.code, cause: cause.message })
  // A hint is kept from the app if its message is.
  return {
    code,
    message,
    ...(isWhole && cause.hint !== '' && { hint: cause.hint }),
    ...(cause.retryable && { retryable: true }),
    ...(cause.retryable && typeof retryAfterMs === 'number' && { retryAfterMs: Math.ceil(retryAfterMs) }),
  }
}

/** Returns an event or a message with its error as an app may see it. */
export function encodeAppView<View extends object>(view: View): View {
  const { error } = view as { readonly error?: EventError }
  return error ? { ...view, error: encodeAppError(error) } : view
}

/** Returns the code and message for the app. The original error must be logged as well. */
export function encodeAppError({ code, message }: AppError): AppError {
  if (TOLD.has(code)) return { code, message }
  const plain = isKnown(code) && code !== 'internal' ? ERROR_CODES[code].meaning : 'the server failed'
  // Version 1 has a single code for all failures between the server and a model.
  return { code: code.startsWith('model_') ? 'model_provider_failed' : code, message: plain }
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_CODES, code)
}
