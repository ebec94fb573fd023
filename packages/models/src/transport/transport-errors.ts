// The errors that every transport reports in the same way.
import type { AbortSignalLike, HttpRequest } from '@baton/core'
import { BatonError } from '@baton/core'
import { placeOf, reasonOf, redact, safeCause, secretsOf } from './redact.ts'

export function cancelledError(signal: AbortSignalLike): BatonError {
  return new BatonError({ code: 'cancelled', message: 'the model call was cancelled', cause: signal.reason })
}

/** The connection could not be made, or ended before the answer did. */
export function networkError(request: HttpRequest, cause: unknown): BatonError {
  const secrets = secretsOf(request)
  return new BatonError({
    code: 'model_network_failed',
    message: redact(`the request to ${placeOf(request.url)} failed: ${reasonOf(cause)}`, secrets),
    cause: safeCause(cause, secrets),
  })
}
