// Refusals and failures as HTTP answers: a status, and JSON that says what happened and what to do.
import type { JsonValue, Logger } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describeThrown } from '@baton/runtime'
import { encodeAppError } from '../shared/app-errors.ts'
import type { Writer } from './operator-powers.ts'

const STATUSES: Readonly<Record<string, number>> = {
  unauthorized: 403,
  unknown_input: 404,
  unknown_exchange: 404,
  unknown_session: 404,
  request_in_flight: 409,
  idempotency_key_reused: 422,
  turn_in_progress: 409,
  approval_refused: 409,
  question_refused: 409,
  call_over: 409,
  call_not_offered: 409,
  session_closed: 409,
  session_stopped: 409,
  input_too_large: 413,
  rate_limited: 429,
  quota_exceeded: 429,
  queue_full: 429,
  session_held: 503,
  host_stopped: 503,
  server_draining: 503,
  keys_unavailable: 503,
  store_failed: 503,
  store_conflict: 503,
}

const INVALID: ReadonlySet<string> = new Set([
  'invalid_event',
  'invalid_option',
  'invalid_arguments',
  'illegal_input',
  'unknown_model',
  'not_permitted',
  'model_not_configured',
])

export function answerJson(status: number, body: JsonValue, headers: Readonly<Record<string, string>> = {}): Response {
  return answerJsonText(status, JSON.stringify(body), headers)
}

export function answerJsonText(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  })
}

/** Answers with a view as its caller may see it. */
export function answerView({ write }: Pick<Writer, 'write'>, view: object): Response {
  return answerJsonText(200, write(view))
}

/** Milliseconds to wait before a retry, by code, for transient errors. */
const RETRY_MS: Readonly<Record<string, number>> = { session_held: 1000 }

/** `error.message` is written for the app; details for operators go to the log. */
export function answerError(cause: unknown, log: Logger): Response {
  const { status, code, message, hint } = tellError(cause, log)
  const response = answerRefusal(status, code, message, hint)
  const waitMs = isBatonError(cause) ? (cause.data['retryAfterMs'] ?? RETRY_MS[cause.code]) : undefined
  if (typeof waitMs === 'number') response.headers.set('retry-after', `${Math.ceil(waitMs / 1000)}`)
  return response
}

interface ToldError {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly hint?: string | undefined
}

const SEE_LOG = 'The log of the server says why (its option log).'

function tellError(cause: unknown, log: Logger): ToldError {
  if (!isBatonError(cause)) {
    log.warn('a request failed', { cause: describeThrown(cause) })
    return { status: 500, code: 'internal', message: 'the server failed', hint: SEE_LOG }
  }
  const status = STATUSES[cause.code] ?? (INVALID.has(cause.code) ? 400 : 500)
  if (status >= 500) log.warn('a request failed', { code: cause.code, cause: cause.message })
  if (INVALID.has(cause.code) || cause.code === 'unknown_input') {
    const { code, message, hint } = cause
    return { status, code, message, hint }
  }
  const { code, message } = encodeAppError(cause)
  // A hint is kept from the app if its message is.
  const hint = message === cause.message ? cause.hint : code === 'internal' ? SEE_LOG : undefined
  return { status, code, message, ...(hint !== undefined && { hint }) }
}

/** The message of a failure, for a wire without codes. */
export function describeError(cause: unknown, log: Logger): string {
  return tellError(cause, log).message
}

/** Turns a refusal into plain text for `useChat`, whose error message is the whole body. */
export async function asPlainText(response: Response): Promise<Response> {
  const { error } = (await response.json()) as { readonly error: { readonly code: string; readonly message: string } } // written below
  const headers = new Headers(response.headers)
  headers.set('content-type', 'text/plain; charset=utf-8')
  headers.set('x-baton-error', error.code)
  return new Response(error.message, { status: response.status, headers })
}

/** RFC 9110, 15.5.6. */
export function answerMethod(method: string, allowed: readonly string[]): Response {
  const allow = allowed.join(', ')
  const response = answerRefusal(405, 'invalid_event', `${method.slice(0, 40)} is not allowed here; use ${allow}`)
  response.headers.set('allow', allow)
  return response
}

export function answerRefusal(status: number, code: string, message: string, hint?: string): Response {
  return answerJson(status, { error: { code, message, ...(hint !== undefined && { hint }) } })
}
