// Errors that all transports report the same way.
import type { AbortSignalLike, HttpRequest } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { describePlace, describeReason, redact, safeCause, listSecrets } from './redact.ts'

export function cancelledError(signal: AbortSignalLike): BatonError {
  return new BatonError({ code: 'cancelled', message: 'the model call was cancelled', cause: signal.reason })
}

/** Error for a connection that failed, or that ended before the answer did. */
export function networkError(request: HttpRequest, cause: unknown): BatonError {
  const secrets = listSecrets(request)
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(URL.parse(request.url)?.hostname ?? '')
  return new BatonError({
    code: 'model_network_failed',
    message: redact(`the request to ${describePlace(request.url)} failed: ${describeReason(cause)}`, secrets),
    ...(isHere && { hint: 'Start the server, or correct its base address.' }),
    cause: safeCause(cause, secrets),
  })
}

/** Error for a package of the transport that could not be loaded, which may succeed later. */
export function loadError(name: string, cause: unknown): BatonError {
  return new BatonError({
    code: 'model_network_failed',
    message: `the package ${name} could not be loaded: ${describeReason(cause)}`,
    hint: 'Send the input again; if it fails again, install the packages of your program again.',
    cause,
  })
}

/** Error for a request to a transport that its program has closed. */
export function closedError(): BatonError {
  const hint = 'Close a transport only after its last request, or create a new one.'
  return new BatonError({ code: 'model_network_failed', message: 'the transport is closed', hint, retryable: false })
}

/**
 * Whether the text has only visible ASCII, tab, space and Latin-1: the characters allowed in a header value (RFC 9110,
 * 5.5).
 */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(text)
}

export function isHttpUrl(text: string): boolean {
  const protocol = URL.parse(text)?.protocol
  return protocol === 'http:' || protocol === 'https:'
}

export type CheckRequest = (request: HttpRequest) => BatonError | undefined

/**
 * Finds errors in a request before it is sent, which no retry can fix. A model always sends the same headers object, so
 * valid ones are not checked again.
 */
export function createRequestCheck(): CheckRequest {
  const rightUrls = new WeakMap<HttpRequest['headers'], string>()
  return (request) => {
    if (rightUrls.get(request.headers) === request.url) return undefined
    const error = findRequestError(request)
    if (!error) rightUrls.set(request.headers, request.url)
    return error
  }
}

/** Header values may be keys and are not shown. */
function findRequestError(request: HttpRequest): BatonError | undefined {
  const refuse = (message: string) => new BatonError({ code: 'model_invalid_request', message, retryable: false })
  if (!isHttpUrl(request.url)) {
    const place = redact(describePlace(request.url), listSecrets(request))
    return refuse(`"${place}" is not an http or https address`)
  }
  for (const [name, value] of Object.entries(request.headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)) return refuse(`"${name}" is not a valid header name`)
    if (!isHeaderValue(value)) return refuse(`the header ${name} contains a character that headers do not allow`)
  }
  return undefined
}
