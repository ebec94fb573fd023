// Answers to plain HTTP requests: liveness, readiness, metrics, and why a WebSocket would be refused.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Refusal } from './admission.ts'
import { parseUrl, PATH } from './admission.ts'

export interface Answers {
  readonly unreadyReason: () => Promise<string | undefined>
  /** Metrics in Prometheus' text format; without it, `/metrics` is 404. */
  readonly metrics?: (() => string) | undefined
  /** Why a request for metrics is refused. */
  readonly metricsRefusal: () => Refusal | undefined
  /** Why a plain request to the WebSocket's path is refused. */
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
  // Kept alive for a next request, it would count among its address's idle sockets.
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
        // Any page may read it: it reveals no more than a failing WebSocket.
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
  // Lets a page whose WebSocket has the wrong address find out why.
  response.writeHead(404, { 'content-type': 'text/plain', 'access-control-allow-origin': '*' })
  response.end(`Connect a WebSocket to ${PATH}.\n`)
}
