// Errors of version 2, from the server or the client itself. They have the shape of a BatonError without its table of
// codes, which is larger than the client.
import type { V2ErrorFrame } from '@baton/protocol'

export type ClientErrorOptions = Omit<V2ErrorFrame, 'type' | 're' | 'retryable' | 'hint'> & {
  readonly hint?: string | undefined
  readonly retryable?: boolean
}

/** Branch on `code`, a word of docs/errors.md. A newer server may send unknown codes. */
export class ClientError extends Error {
  declare readonly code: string
  declare readonly hint: string
  /** The server may accept the same request later. */
  declare readonly retryable: boolean
  /** Milliseconds to wait before that, if the server said so. */
  declare readonly retryAfterMs: number | undefined

  constructor({ code, message, hint = '', retryable = false, retryAfterMs }: ClientErrorOptions) {
    super(message)
    Object.assign(this, { name: 'BatonError', code, hint, retryable }, retryAfterMs && { retryAfterMs })
  }
}

/** An error found by the client itself, not sent by a server. */
export function createError(code: string, message: string, hint?: string): ClientError {
  const retryable = code === 'connection_failed' || code === 'queue_full'
  return new ClientError({ code, message, hint, retryable })
}

/** The error for a connection that broke before the answer arrived. */
export function createLostError(): ClientError {
  return createError('connection_failed', 'the server did not answer')
}

export function createClosedError(): ClientError {
  return createError('session_closed', 'this client is closed')
}

export function createFullError(what: string): ClientError {
  return createError('queue_full', `${WAITING_MAX} ${what} are already waiting`)
}

/** Maximum waiting inputs, results and requests of each kind. */
export const WAITING_MAX = 100

/** `what` has no such name; the hint lists those that it has. */
export function createUnknownError(what: string, name: string, names: readonly string[]): ClientError {
  return createError('invalid_option', `${what} "${name}"`, `There are ${names.join(', ')}.`)
}
