// A local server that answers with a function and keeps no state.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface LocalServer {
  /** Without a trailing slash. */
  readonly url: string
  close(): Promise<void>
}

export interface LocalRequest {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface LocalAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Strings and bytes are sent as is, anything else as JSON. */
  readonly body?: unknown
}

export async function startLocalServer(answer: (request: LocalRequest) => LocalAnswer): Promise<LocalServer> {
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer) // chunks are bytes
    const { method = '', url = '/', headers } = request
    const body = Buffer.concat(pieces).toString('utf8')
    const said = answer({ method, url: new URL(url, 'http://local'), headers, body })
    const isPlain = typeof said.body === 'string' || said.body instanceof Uint8Array
    response.writeHead(said.status ?? 200, {
      'content-type': isPlain ? 'text/html; charset=utf-8' : 'application/json; charset=UTF-8',
      ...said.headers,
    })
    response.end(isPlain ? said.body : JSON.stringify(said.body ?? null))
  }
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
