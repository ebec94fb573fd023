// Decides who may open a connection, by the path, the state of the server, the page's origin and the token. It knows
// nothing of sessions.
import type { IncomingMessage } from 'node:http'
import { isIPv4 } from 'node:net'
import type { Duplex } from 'node:stream'
import { readBearerToken } from '../shared/bearer-token.ts'
import { isSameSecret } from '../shared/same-secret.ts'

export const PATH = '/ws'
/** WebSocket path of the AI SDK's chats; HTTP chats use the same address. */
export const CHAT_PATH = '/api/chat'
export const EDITOR_PATH = '/acp'

export interface Refusal {
  readonly status: string
  readonly message: string
  readonly headers?: readonly string[]
}

export interface Admission {
  /** Paths that accept WebSockets. */
  readonly paths: readonly string[]
  readonly draining: boolean
  readonly full: boolean
  /** Whether the server listens on this machine only. */
  readonly isLocal: boolean
  readonly origins?: readonly string[]
  readonly publicHosts?: readonly string[]
  readonly token?: string | readonly string[]
}

export function checkAdmission(request: IncomingMessage, admission: Admission): Refusal | undefined {
  if (!admission.paths.includes(parseUrl(request).pathname))
    return { status: '404 Not Found', message: `there is no WebSocket here; connect to ${PATH}` }
  if (!isOriginAllowed(request, admission))
    return { status: '403 Forbidden', message: 'pages from this origin may not connect (see --allow-origin)' }
  if (admission.token !== undefined && !hasToken(request, admission.token)) return UNAUTHORIZED
  if (admission.draining) return SHUTTING_DOWN
  if (admission.full) return TOO_MANY
  return undefined
}

/** Checks the token for metrics, if one is required. */
export function checkToken(request: IncomingMessage, token: Admission['token']): Refusal | undefined {
  return token === undefined || hasToken(request, token) ? undefined : UNAUTHORIZED
}

export function refuse(stream: Duplex, { status, message, headers = [] }: Refusal): void {
  // A client that never closes its side would keep the socket open, and so a server that is stopping.
  stream.once('finish', () => stream.destroy())
  const head = [`HTTP/1.1 ${status}`, 'connection: close', 'content-type: text/plain', ...headers]
  stream.end(`${[...head, `content-length: ${Buffer.byteLength(message)}`].join('\r\n')}\r\n\r\n${message}`)
}

const UNAUTHORIZED: Refusal = {
  status: '401 Unauthorized',
  message: 'a valid token is required: Authorization: Bearer <token>, or ?token=<token> in the address',
  headers: ['www-authenticate: Bearer'],
}

/** The reason a token was refused, without any part of it. */
export function createUnauthorized(message: string): Refusal {
  return { ...UNAUTHORIZED, message }
}

/** The keys to verify a token cannot be fetched. */
export const KEYS_UNAVAILABLE: Refusal = {
  status: '503 Service Unavailable',
  message: 'the server cannot verify your identity at the moment',
}

export const SHUTTING_DOWN: Refusal = { status: '503 Service Unavailable', message: 'the server is shutting down' }

export function createMethodRefusal(allow: string): Refusal {
  return { status: '405 Method Not Allowed', message: `only ${allow} is allowed here`, headers: [`allow: ${allow}`] }
}

export const TOO_MANY: Refusal = {
  status: '503 Service Unavailable',
  message: 'the server has too many connections',
}

export const UPGRADE_REQUIRED: Refusal = {
  status: '426 Upgrade Required',
  message: 'this address accepts only WebSockets; see docs/protocol.md',
}

/** For a server whose secret differs from this one's peers. */
export const NO_PEER: Refusal = {
  status: '401 Unauthorized',
  message: 'the caller is not a peer: servers that share a store need the same secret',
}

/** For a peer that does not identify its client in a known form; peers recognize it by its status. */
export const UNREADABLE_CLIENT: Refusal = {
  status: '422 Unprocessable Content',
  message: 'the header x-baton-client does not identify the client',
}

/** For a caller that the program does not know. */
export const UNKNOWN_PRINCIPAL: Refusal = {
  status: '401 Unauthorized',
  message: 'authentication failed',
}

/** RFC 6585, 4. */
export function createQuotaRefusal(why: string): Refusal {
  return { status: '429 Too Many Requests', message: `quota_exceeded: ${why}` }
}

/** Uses only the path and the query of the request; its host is never trusted. */
export function parseUrl({ url = '' }: IncomingMessage): URL {
  const whole = url.startsWith('/') ? null : URL.parse(url)
  const target = whole ? `${whole.pathname}${whole.search}` : url
  return URL.parse(`http://localhost${target}`) ?? new URL('http://localhost/')
}

/** Only browsers send an origin; other apps are let in. */
function isOriginAllowed(
  { headers: { origin } }: IncomingMessage,
  { origins, isLocal, publicHosts }: Admission,
): boolean {
  if (origin === undefined || publicHosts?.includes(URL.parse(origin)?.host ?? '')) return true
  if (origins) return origins.includes('*') || origins.includes(origin)
  const page = URL.parse(origin)
  return isLocal && page !== null && isLoopback(page.hostname)
}

function hasToken(request: IncomingMessage, token: string | readonly string[]): boolean {
  const given = readBearerToken(request.headers.authorization, parseUrl(request).searchParams)
  return given !== undefined && [token].flat().some((each) => isSameSecret(given, each))
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '::1', '[::1]'])

/** Whether a name is an address or host name of this machine that no other machine can reach. */
export function isLoopback(name: string): boolean {
  return LOOPBACK.has(name.toLowerCase()) || (isIPv4(name) && name.startsWith('127.'))
}
