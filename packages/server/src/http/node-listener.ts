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
  // Whoever left while it was made hears nothing of it, and the listeners below would come too late.
  if (outgoing.destroyed || outgoing.closed) {
    await response.body?.cancel()
    return
  }
  // What is left of a body that was refused stands between this request and the next one of its connection.
  outgoing.once('finish', () => void incoming.resume())
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

/** Read as the handler asks for it. A handler that stops leaves the connection as it is: its response comes over it. */
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
