// Maps failures between a request and its response to Baton's error codes.
import type { ErrorCode } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'

/** Maximum characters of the platform's message in an error. */
const WORDS = 200

export interface FailedRequest {
  readonly signal: AbortSignal
  readonly place: () => string
}

/** Returns the caller's own reason if the caller aborted, otherwise a BatonError. Never throws. */
export function describeFetchFailure(thrown: unknown, { signal, place }: FailedRequest): unknown {
  if (signal.aborted) return signal.reason
  const chain = listCauses(thrown)
  const own = chain.find(isBatonError)
  if (own) return own
  const codes = chain.map((cause) => String(Reflect.get(cause, 'code') ?? ''))
  const fail = (code: ErrorCode, message: string): BatonError => new BatonError({ code, message, cause: thrown })
  if (codes.includes('UND_ERR_HEADERS_OVERFLOW'))
    return fail('api_malformed', `${place()} sent headers that are too large`)
  if (codes.includes('ERR_SSL_WRONG_VERSION_NUMBER') || codes.includes('ERR_SSL_PACKET_LENGTH_TOO_LONG'))
    return fail('api_malformed', `${place()} does not speak https; it may be an http server`)
  const said = chain.findLast(({ message }) => message !== '')?.message ?? String(thrown)
  // Errors of the parser, and of gzip, brotli and zstd.
  const isMalformed =
    chain.some(({ name }) => name === 'HTTPParserError') || codes.some((code) => /^(Z_|ERR_|ZSTD_)/.test(code))
  if (isMalformed) return fail('api_malformed', `${place()} sent a malformed response: ${said.slice(0, WORDS)}`)
  return fail('api_unavailable', `${place()} could not be reached: ${said.slice(0, WORDS)}`)
}

/** `fetch failed` says nothing; its causes do. */
function listCauses(thrown: unknown): readonly Error[] {
  const chain: Error[] = []
  for (let current = thrown; current instanceof Error && chain.length < 8; current = current.cause) chain.push(current)
  const last = chain.at(-1)
  // The failures of several addresses.
  return last instanceof AggregateError && last.errors[0] instanceof Error ? [...chain, last.errors[0]] : chain
}
