// Mounts a web-standard handler in a server of node:http.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'

/** `origin` is what addresses of requests are read against; the host header is never believed. */
export function createNodeListener(
  handler: (request: Request) => Promise<Response>,
  origin = 'http://localhost',
): RequestListener {
  return (incoming, outgoing) => {
    serve(handler, { incoming, outgoing, origin }).catch(() => outgoing.destroy())
  }
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
  readonly origin: string
}

async function serve(
  handler: (request: Request) => Promise<Response>,
  { incoming, outgoing, origin }: Exchange,
): Promise<void> {
  const { method = 'GET', url = '/' } = incoming
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers))
    for (const one of [value ?? []].flat()) headers.append(name, one)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const request = new Request(new URL(url.startsWith('/') ? url : '/', origin), {
    method,
    headers,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }),
  })
  const response = await handler(request)
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (!response.body) {
    outgoing.end()
    return
  }
  const body = Readable.fromWeb(response.body as NodeReadableStream)
  outgoing.on('close', () => body.destroy())
  body.on('error', () => outgoing.destroy())
  body.pipe(outgoing)
}
