// Mounts a web-standard handler in a server of node:http.
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'

/** What Express adds: the address before the path of a mount was cut off, and the body that a parser has read already. */
type Incoming = IncomingMessage & { readonly originalUrl?: string; readonly body?: unknown }

/** The address of a request is made of its `Host` header: check it with `hosts` where that matters. */
export function createNodeListener(handler: (request: Request) => Promise<Response>): RequestListener {
  return (incoming, outgoing) => {
    serve(handler, incoming, outgoing).catch(() => outgoing.destroy())
  }
}

async function serve(
  handler: (request: Request) => Promise<Response>,
  incoming: Incoming,
  outgoing: ServerResponse,
): Promise<void> {
  const { method = 'GET' } = incoming
  const url = incoming.originalUrl ?? incoming.url ?? '/'
  const base = URL.parse(`http://${incoming.headers.host ?? 'localhost'}`) ?? new URL('http://localhost')
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers))
    for (const one of [value ?? []].flat()) headers.append(name, one)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const request = new Request(new URL(url.startsWith('/') ? `${base.origin}${url}` : base), {
    method,
    headers,
    ...(hasBody && { body: readBody(incoming), duplex: 'half' }),
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

function readBody(incoming: Incoming): string | ReadableStream {
  if (incoming.readableEnded && incoming.body !== undefined) return JSON.stringify(incoming.body)
  return Readable.toWeb(incoming) as ReadableStream
}
