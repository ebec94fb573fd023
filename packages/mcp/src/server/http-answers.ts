// Responses sent before a request reaches a client: refusals as JSON-RPC errors, and CORS for web pages.
import type { McpHttpOptions } from './options.ts'

export function answerError(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}

/** RFC 9110, 11.6.1: a 401 names an authentication scheme. */
export function answerUnauthorized(message: string): Response {
  const response = answerError(401, -32_000, message)
  response.headers.set('www-authenticate', 'Bearer')
  return response
}

const LOCAL: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** Why the request is refused before it is authenticated, or `undefined` if it is allowed. */
export function refusePage(request: Request, options: McpHttpOptions): string | undefined {
  const { hosts, authenticate } = options
  const url = new URL(request.url)
  // The host as written by the client, if the server passes it on: a page can make its own domain name resolve to this
  // machine.
  const { hostname, host } = URL.parse(`http://${request.headers.get('host') ?? url.host}`) ?? url
  const names = hosts ?? (authenticate ? undefined : LOCAL)
  if (names && !names.includes(hostname))
    return `the server does not accept requests for the host ${hostname.slice(0, 200)}`
  const origin = request.headers.get('origin')
  if (origin === null || isAllowed(origin, request, options)) return undefined
  if (URL.parse(origin)?.host === host) return undefined
  return `pages from the origin ${origin.slice(0, 200)} may not send requests to this server`
}

function isAllowed(origin: string, request: Request, { origins, authenticate }: McpHttpOptions): boolean {
  if (typeof origins === 'function') return origins(origin, request)
  if (origins) return origins.includes('*') || origins.includes(origin)
  return !authenticate && LOCAL.includes(URL.parse(origin)?.hostname ?? '')
}

/** Call it only for an allowed page. */
export function addCors(request: Request, response: Response): Response {
  const origin = request.headers.get('origin')
  if (origin === null) return response
  const headers = new Headers(response.headers)
  headers.set('access-control-allow-origin', origin)
  headers.append('vary', 'origin')
  headers.set('access-control-allow-methods', 'GET, POST, DELETE')
  headers.set(
    'access-control-allow-headers',
    'content-type, accept, authorization, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id',
  )
  headers.set('access-control-expose-headers', 'mcp-session-id, www-authenticate')
  return new Response(response.body, { status: response.status, statusText: response.statusText, headers })
}
