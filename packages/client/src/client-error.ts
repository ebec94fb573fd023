// The errors of version 2: those that the server sends, and the client's own. They have the shape of a BatonError without its
// table of codes, which is longer than the client.
import type { ErrorFrame2 } from '@baton/protocol'

export type ClientErrorInit = Omit<ErrorFrame2, 'type' | 're' | 'retryable' | 'hint'> & {
  readonly hint?: string | undefined
  readonly retryable?: boolean
}

/** Branch on `code`, a word of docs/errors.md. A newer server may send codes that this client does not know. */
export class ClientError extends Error {
  declare readonly code: string
  declare readonly hint: string
  /** The server may take the same request later. */
  declare readonly retryable: boolean
  /** Milliseconds to wait before that, if the server said so. */
  declare readonly retryAfterMs: number | undefined

  constructor({ code, message, hint = '', retryable = false, retryAfterMs }: ClientErrorInit) {
    super(message)
    Object.assign(this, { name: 'BatonError', code, hint, retryable }, retryAfterMs && { retryAfterMs })
  }
}

/** An error that the client itself found; no server sent it. */
export function createError(code: string, message: string, hint?: string): ClientError {
  const retryable = code === 'connection_failed' || code === 'queue_full'
  return new ClientError({ code, message, hint, retryable })
}

/** The connection broke before the answer came. */
export function createLostError(): ClientError {
  return createError('connection_failed', 'the server did not answer')
}

export function createClosedError(): ClientError {
  return createError('session_closed', 'this client is closed')
}

export function createFullError(what: string): ClientError {
  return createError('queue_full', `${WAITING_MAX} ${what} wait for the server already`)
}

/** Inputs, results and requests of each kind that may wait for a server. */
export const WAITING_MAX = 100
