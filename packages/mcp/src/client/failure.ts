// Maps failures between this client and an MCP server to Baton's error codes.
import type { ErrorCode } from '@baton/core/internal'
import { BatonError, hasNeverConnected, isBatonError, readStatusCode } from '@baton/core/internal'
import {
  InsufficientScopeError,
  OAuthClientFlowError,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { UNREADABLE } from './lenient-messages.ts'
import { STREAM_ENDED } from './stream-ends.ts'

/** Maximum characters quoted from a server in an error. */
const WORDS = 500

/** Never throws. A BatonError inside another error is kept. */
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
  if (UnauthorizedError.isInstance(thrown)) return fail('api_unauthorized', 'requires a login', GIVE_TOKEN)
  if (InsufficientScopeError.isInstance(thrown))
    return fail('api_unauthorized', `requires a wider scope: ${thrown.requiredScope ?? told}`, GIVE_TOKEN)
  if (thrown instanceof OAuthClientFlowError)
    return fail('api_unauthorized', `requires a login but offers no way to log in: ${told}`, GIVE_TOKEN)
  if (SdkHttpError.isInstance(thrown))
    return fail(readStatusCode(thrown.status), `answered ${thrown.status}: ${told}`, HINTS[thrown.status])
  const missing = findMissingProgram(thrown)
  if (missing !== undefined)
    return fail(
      'api_unavailable',
      `cannot be started: there is no program "${missing.slice(0, WORDS)}", or its "cwd" is not a folder`,
      /\s/.test(missing)
        ? 'Put only the program into "command", and each of its arguments into "args".'
        : 'Install the program, or give its full path.',
    )
  if (SdkError.isInstance(thrown))
    return fail(
      CODES[thrown.code] ?? 'api_malformed',
      `${VERBS[thrown.code] ?? 'sent an invalid response'}: ${told}`,
      thrown.code === SdkErrorCode.ConnectionClosed ? RUN_ALONE : undefined,
    )
  if (ProtocolError.isInstance(thrown)) {
    if (thrown.data === STREAM_ENDED) return fail('api_unavailable', `ended its response early: ${told}`)
    if (thrown.data === UNREADABLE) return fail('api_malformed', `sent an invalid response: ${told}`)
    const isArguments = thrown.code === -32_602
    const said = `answered with error ${thrown.code}: ${told}${tellData(thrown.data, told)}`
    return fail(isArguments ? 'api_refused' : 'api_failed', said)
  }
  return fail('api_unavailable', `cannot be reached: ${told}${tellCause(thrown)}`)
}

/**
 * A failed call. If the connection ended after the request was sent, or the response cannot be read, the tool may or
 * may not have done its work. The message says so, because the model may call again.
 */
export function describeCallFailure(server: string, thrown: unknown): BatonError {
  const failure = describeMcpFailure(server, thrown)
  const { code, data } = failure
  const hasNotRun =
    (SdkHttpError.isInstance(thrown) && thrown.status < 400) || // a redirect, which is not followed
    data?.[WAITS] === true ||
    data?.[UNREAD] === true
  const isLost = MAY_HAVE_RUN.has(code) && !hasNotRun && !hasNeverConnected(thrown)
  return isLost && data?.[LOST] === undefined ? addLoss(failure) : failure
}

/**
 * A failure while following a task. The server has accepted the call, so its outcome is unknown whatever the failure.
 */
export function describeTaskLoss(server: string, thrown: unknown): BatonError {
  return addLoss(describeMcpFailure(server, thrown))
}

function addLoss({ code, message, hint, retryable, data, cause }: BatonError): BatonError {
  const also = { ...data, [LOST]: message }
  return new BatonError({ code, message: `${message}; ${MAY_BE_DONE}`, hint, retryable, data: also, cause })
}

/** The connection was closed before the request was sent. The SDK gives a plain error for it. */
export function isUnsent(thrown: unknown): boolean {
  if (SdkError.isInstance(thrown)) return thrown.code === SdkErrorCode.NotConnected
  return thrown instanceof Error && thrown.message === 'Not connected'
}

/**
 * A call that the server has not read: it no longer knows the session, as after a restart, or the call was not sent.
 */
export function describeUnread(server: string, thrown: unknown): BatonError {
  const { code, message, hint, retryable, data, cause } = describeMcpFailure(server, thrown)
  return new BatonError({ code, message, hint, retryable, data: { ...data, [UNREAD]: true }, cause })
}

/** Whether the server did not read the failed call, so it may be sent again over another connection. */
export function wasUnread(failure: unknown): boolean {
  return isBatonError(failure) && failure.data?.[UNREAD] === true
}

/**
 * The same failure for a tool that must not run twice: the call ends as `unknown`, never as an error that invites a
 * retry.
 */
export function describeLoss(thrown: unknown): unknown {
  const message = isBatonError(thrown) ? thrown.data?.[LOST] : undefined
  return typeof message === 'string' ? new BatonError({ code: 'tool_result_unknown', message, cause: thrown }) : thrown
}

/** Field of an error that says the server is waiting for an answer, so the call has not run. */
export const WAITS = 'waits'

/** Field of an error that says the server has not read the call. */
const UNREAD = 'unread'

const MAY_BE_DONE = 'the call may have taken effect'
/** Field of an error with its original message, if the call may have taken effect. */
const LOST = 'lost'
const MAY_HAVE_RUN: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['api_unavailable', 'api_malformed'])

/** The error for a server that sends nothing before the deadline. */
export function describeSilence(server: string, afterMs: number): BatonError {
  return new BatonError({
    code: 'api_unavailable',
    message: `MCP server "${server}" did not answer within ${afterMs} ms of its start`,
    hint: 'Check that its command or address works without Baton. If npx downloads the package first, raise limits.connectMs.',
  })
}

const RUN_ALONE = 'Run its command by itself: an MCP server waits for requests on standard input and does not exit.'

const GIVE_TOKEN = 'Give a token that the server accepts: headers: { Authorization: "Bearer …" }, or "auth".'

const HINTS: Readonly<Record<number, string>> = {
  401: GIVE_TOKEN,
  404: 'Give the full address of the MCP endpoint, such as https://mcp.example.com/mcp.',
  405: 'Give the full address of the MCP endpoint, such as https://mcp.example.com/mcp.',
}

/** The command that the system could not find, or `undefined` for any other failure. */
function findMissingProgram(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { code, syscall = '', path }: NodeJS.ErrnoException = thrown
  return code === 'ENOENT' && syscall.startsWith('spawn') ? path : undefined
}

/** Codes of the guarded fetch. Its messages name an address but no server. */
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
  [SdkErrorCode.EraNegotiationFailed]: 'supports no common protocol version',
}

/** Adds the data of a server's error to its message: the model can often act on it. */
function tellData(data: unknown, told: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data)
  return text === undefined || text === '' || told.includes(text.slice(0, WORDS)) ? '' : ` (${text.slice(0, WORDS)})`
}

/** The message `fetch failed` gives no reason. Its cause does. */
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
