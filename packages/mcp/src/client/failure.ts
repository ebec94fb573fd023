// What went wrong between this client and an MCP server, in the codes of Baton.
import type { ErrorCode } from '@baton/core'
import { BatonError, isBatonError, readStatusCode } from '@baton/core'
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, UnauthorizedError } from '@modelcontextprotocol/client'

/** Characters of a server's words in an error. */
const WORDS = 500

/** Never throws. A BatonError, also one that an answer's body failed with, stays as it is. */
export function describeMcpFailure(server: string, thrown: unknown): BatonError {
  const own = findBatonError(thrown)
  if (own) return own.message.includes('MCP server') || !FETCHED.has(own.code) ? own : nameServer(server, own)
  const told = (thrown instanceof Error ? thrown.message : String(thrown)).slice(0, WORDS)
  const fail = (code: ErrorCode, message: string, hint?: string): BatonError =>
    new BatonError({
      code,
      message: `MCP server "${server}" ${message}`,
      ...(hint !== undefined && { hint }),
      cause: thrown,
    })
  if (UnauthorizedError.isInstance(thrown))
    return fail('api_unauthorized', 'wants a login', 'Give the server an "auth".')
  if (SdkHttpError.isInstance(thrown)) return fail(readStatusCode(thrown.status), `answered ${thrown.status}: ${told}`)
  if (SdkError.isInstance(thrown))
    return fail(CODES[thrown.code] ?? 'api_malformed', `${VERBS[thrown.code] ?? 'sent a wrong answer'}: ${told}`)
  if (ProtocolError.isInstance(thrown)) {
    const isArguments = thrown.code === -32_602
    return fail(isArguments ? 'api_refused' : 'api_failed', `answered with error ${thrown.code}: ${told}`)
  }
  return fail('api_unavailable', `cannot be reached: ${told}${tellCause(thrown)}`)
}

/** Codes of the fetch, which knows an address and no server. */
const FETCHED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['url_refused', 'api_unavailable', 'api_malformed'])

function nameServer(server: string, { code, message, hint, retryable, data, cause }: BatonError): BatonError {
  return new BatonError({ code, message: `MCP server "${server}": ${message}`, hint, retryable, data, cause })
}

const CODES: Partial<Record<SdkErrorCode, ErrorCode>> = {
  [SdkErrorCode.NotConnected]: 'api_unavailable',
  [SdkErrorCode.ConnectionClosed]: 'api_unavailable',
  [SdkErrorCode.SendFailed]: 'api_unavailable',
  [SdkErrorCode.RequestTimeout]: 'api_unavailable',
  [SdkErrorCode.EraNegotiationFailed]: 'api_unavailable',
  [SdkErrorCode.CapabilityNotSupported]: 'api_refused',
  [SdkErrorCode.MethodNotSupportedByProtocolVersion]: 'api_refused',
}

const VERBS: Partial<Record<SdkErrorCode, string>> = {
  [SdkErrorCode.NotConnected]: 'is not connected',
  [SdkErrorCode.ConnectionClosed]: 'ended the connection',
  [SdkErrorCode.SendFailed]: 'cannot be reached',
  [SdkErrorCode.RequestTimeout]: 'did not answer in time',
  [SdkErrorCode.EraNegotiationFailed]: 'speaks no version that both know',
}

/** `fetch failed` says nothing; its cause does. */
function tellCause(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined
  return cause instanceof Error && cause.message !== '' ? ` (${cause.message.slice(0, WORDS)})` : ''
}

function findBatonError(thrown: unknown): BatonError | undefined {
  let current = thrown
  for (let depth = 0; depth < 4 && current instanceof Error; depth += 1) {
    if (isBatonError(current)) return current
    current = current.cause
  }
  return undefined
}
