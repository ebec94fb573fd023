// Mounts a web-standard handler in a node:http server.
import { BatonError, describeValue } from '@baton/core/internal'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'

import { checkProxies, refuseMisspelt } from '../shared/check-options.ts'
import { findClientAddress } from '../shared/client-address.ts'
import { findEventSource } from './event-response.ts'
import type { RequestSource } from './handler.ts'

/**
 * Fields added by Express: the original address including the mount path, and the body if a parser has already read it.
 */
type Incoming = IncomingMessage & { readonly originalUrl?: string; readonly body?: unknown }

type Handler = (request: Request, source: RequestSource) => Promise<Response>

export interface NodeListenerOptions {
  /**
   * Number of trusted proxies in front of the server, whose X-Forwarded-For names the client that limits count.
   * Default: 0.
   */
  readonly trustedProxies?: number
}

/**
 * Creates a listener. A request's address is built from its `Host` header; check it with `hosts` if that matters. The
 * request's `signal` aborts when the client leaves before it has the whole response.
 * @throws BatonError `invalid_option` without a handler, for a misspelt option, or for an invalid `trustedProxies`
 */
export function createNodeListener(handler: Handler, options: NodeListenerOptions = {}): RequestListener {
  if (typeof handler !== 'function')
    throw new BatonError({
      code: 'invalid_option',
      message: `createNodeListener needs the function of createHandler, not ${describeValue(handler)}`,
      hint: 'Write createNodeListener(createHandler(host)).',
    })
  refuseMisspelt(options, 'createNodeListener', ['trustedProxies'])
  const { trustedProxies = 0 } = options
  checkProxies(trustedProxies, 'createNodeListener')
  return (incoming, outgoing) => {
    const source = { address: findClientAddress(incoming, trustedProxies) }
    serve((request) => handler(request, source), incoming, outgoing).catch(() => outgoing.destroy())
  }
}

async function serve(
  handler: (request: Request) => Promise<Response>,
  incoming: Incoming,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = 'GET' } = incoming
  // The web's `Request` does not support these.
  if (FORBIDDEN.has(method.toUpperCase())) {
    outgoing.writeHead(405, { allow: 'GET, POST, PATCH, DELETE, OPTIONS' }).end()
    incoming.resume()
    return
  }
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers))
    for (const one of [value ?? []].flat()) headers.append(name, one)
  const left = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) left.abort()
  })
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const request = new Request(findAddress(incoming), {
    method,
    headers,
    signal: left.signal,
    ...(hasBody && { body: readBody(incoming), duplex: 'half' }),
  })
  const response = await handler(request)
  // The client left while the response was made, so the listeners below would be too late.
  if (outgoing.destroyed || outgoing.closed) {
    await response.body?.cancel()
    return
  }
  // The rest of a refused body precedes the connection's next request.
  outgoing.once('finish', () => void incoming.resume())
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (!response.body) {
    outgoing.end()
    return
  }
  const start = findEventSource(response)
  if (start) {
    pipeEvents(start, outgoing)
    return
  }
  // A peer's stream may be silent at first; sending the headers shows the client that it is connected.
  if (response.headers.get('content-type') === 'text/event-stream') outgoing.flushHeaders()
  const body = Readable.fromWeb(response.body as NodeReadableStream)
  outgoing.on('close', () => body.destroy())
  body.on('error', () => outgoing.destroy())
  body.pipe(outgoing)
}

function pipeEvents(start: NonNullable<ReturnType<typeof findEventSource>>, outgoing: ServerResponse): void {
  let hasBegun = false
  const source = start({
    write: (text) => {
      hasBegun = true
      outgoing.write(text)
    },
    afterTurn: (callback) => void setImmediate(callback),
    waitingBytes: () => outgoing.writableLength,
    close: () => void outgoing.end(),
    fail: () => void outgoing.destroy(),
  })
  outgoing.on('drain', () => source.onRoom())
  // The first event may be far off, so sending the headers shows the reader that it is connected.
  setImmediate(() => {
    if (!hasBegun) outgoing.flushHeaders()
  })
  outgoing.on('close', () => source.onLeave())
}

const FORBIDDEN: ReadonlySet<string> = new Set(['TRACE', 'TRACK', 'CONNECT'])

/** RFC 9112, 3.2: a path, completed by the Host header, or an absolute address, as clients of proxies send it. */
function findAddress({ originalUrl, url, headers }: Incoming): URL {
  const target = originalUrl ?? url ?? '/'
  const base = URL.parse(`http://${headers.host ?? 'localhost'}`) ?? new URL('http://localhost')
  if (target.startsWith('/')) return new URL(`${base.origin}${target}`)
  const whole = URL.parse(target)
  // Drops any user name and password in it.
  return whole && /^https?:$/.test(whole.protocol)
    ? new URL(`${whole.origin}${whole.pathname}${whole.search}`)
    : new URL(base.origin)
}

/** Reads the body as the handler pulls it. If the handler stops, the connection stays open for its response. */
function readBody(incoming: Incoming): string | ReadableStream<Uint8Array> {
  if (incoming.readableEnded && incoming.body !== undefined) return JSON.stringify(incoming.body)
  const pieces = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Uint8Array, undefined> // no encoding was set
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await pieces.next()
        if (piece.done === true) controller.close()
        else controller.enqueue(piece.value)
      },
      async cancel() {
        await pieces.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
