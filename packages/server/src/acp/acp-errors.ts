// Maps Baton's errors to JSON-RPC errors: the JSON-RPC code says which side is at fault, and `data` has Baton's own
// code and a hint.
import { RequestError } from '@agentclientprotocol/sdk'
import type { ErrorCode, Logger } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import { isJsonObject } from '@baton/core/internal'
import { describeThrown } from '@baton/runtime'
import { tellAppError } from '../shared/app-errors.ts'

const INVALID_PARAMS = -32_602
const INTERNAL = -32_603
const AUTH_REQUIRED = -32_000
const NOT_FOUND = -32_002
const CANCELLED = -32_800

const CODES: Partial<Record<ErrorCode, number>> = {
  invalid_event: INVALID_PARAMS,
  invalid_option: INVALID_PARAMS,
  invalid_mcp_server: INVALID_PARAMS,
  input_too_large: INVALID_PARAMS,
  unknown_model: INVALID_PARAMS,
  unknown_input: INVALID_PARAMS,
  unknown_session: NOT_FOUND,
  unauthorized: NOT_FOUND,
  model_not_configured: AUTH_REQUIRED,
  model_auth_failed: AUTH_REQUIRED,
  cancelled: CANCELLED,
}

/**
 * `isLocal`: the client belongs to this user and runs on this machine, so it may see details meant for the person
 * running the agent.
 */
export function toRequestError(cause: unknown, { log, isLocal }: { readonly log: Logger; readonly isLocal: boolean }) {
  if (cause instanceof RequestError) return cause
  if (!isBatonError(cause)) {
    log.warn('a request failed', { cause: describeThrown(cause) })
    return new RequestError(INTERNAL, 'the agent failed', { code: 'internal' })
  }
  const { code, message, hint } = isLocal ? cause : { hint: '', ...tellAppError(cause, log) }
  return new RequestError(CODES[cause.code] ?? INTERNAL, message, { code, ...(hint !== '' && { hint }) })
}

/** The error of a failed turn. */
export function createTurnError({ code, message }: { readonly code: string; readonly message: string }): BatonError {
  return new BatonError({ code: code as ErrorCode, message }) // from a turn's own error
}

/** Describes a client's error. The SDK sends what a handler threw as `details`, with a generic message. */
export function describeRefusal({ message, data }: RequestError): string {
  const details = isJsonObject(data) ? data['details'] : undefined
  return typeof details === 'string' ? `${message}: ${details}` : message
}
