// Answers to requests without a WebSocket: whether it lives, whether it takes sessions, and why a WebSocket
// would be refused.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Refusal } from './admission.ts'
import { parseUrl, PATH } from './admission.ts'

export interface Answers {
  readonly unreadyReason: () => Promise<string | undefined>
  /** In Prometheus' text format; absent: there is nothing at `/metrics`. */
  readonly metrics?: (() => string) | undefined
  /** Why a request for the metrics gets none. */
  readonly metricsRefusal: () => Refusal | undefined
  /** Why a request for the WebSocket's path gets none. */
  readonly refusal: () => Promise<Refusal>
}

const OWN_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics', PATH])

/** Whether a request is for an address of this front. */
export function isOwn(request: IncomingMessage): boolean {
  return OWN_PATHS.has(parseUrl(request).pathname)
}

export function answer(request: IncomingMessage, response: ServerResponse, answers: Answers): void {
  const { unreadyReason, refusal, metrics, metricsRefusal } = answers
  request.resume()
  // Kept for a next request, it would count among the sockets of its address that ask for nothing.
  response.shouldKeepAlive = false
  const tell = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    response.end(JSON.stringify(body))
  }
  const { pathname } = parseUrl(request)
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.writeHead(405, { allow: 'GET, HEAD' }).end()
    return
  }
  if (pathname === '/healthz') {
    tell(200, { status: 'ok' })
    return
  }
  if (pathname === '/readyz') {
    unreadyReason()
      .catch(() => 'unknown')
      .then((reason) =>
        reason === undefined ? tell(200, { status: 'ready' }) : tell(503, { status: 'not ready', reason }),
      )
      .catch(() => response.destroy())
    return
  }
  if (pathname === '/metrics' && metrics) {
    const refused = metricsRefusal()
    const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' }
    response.writeHead(refused ? Number.parseInt(refused.status, 10) : 200, headers)
    response.end(refused ? refused.message : metrics())
    return
  }
  if (pathname === PATH) {
    refusal()
      .then(({ status, message }) => {
        // Any page may read it: it says no more than a WebSocket that fails.
        response.writeHead(Number.parseInt(status, 10), {
          'content-type': 'text/plain',
          'cache-control': 'no-store',
          'access-control-allow-origin': '*',
        })
        response.end(message)
      })
      .catch(() => response.destroy())
    return
  }
  // A page whose WebSocket has the wrong address asks why.
  response.writeHead(404, { 'content-type': 'text/plain', 'access-control-allow-origin': '*' })
  response.end(`Connect a WebSocket to ${PATH}.\n`)
}
