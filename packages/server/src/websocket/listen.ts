// Binds the server to its address, and explains failures in plain words.
import { BatonError } from '@baton/core'
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { ConnectionLimits } from './limits.ts'

export interface TlsFiles {
  /** The server's certificate in PEM, followed by its chain. */
  readonly cert: string
  /** Its private key in PEM, without a passphrase. */
  readonly key: string
}

/** @throws BatonError `invalid_option` when certificate and key are unusable or do not match */
export function createServer(
  tls: TlsFiles | undefined,
  { startMs, connections }: Pick<ConnectionLimits, 'startMs' | 'connections'>,
  answer: RequestListener,
): Server {
  // A socket without a request is closed like a connection without a session.
  const deadlines = {
    headersTimeout: startMs,
    requestTimeout: startMs,
    connectionsCheckingInterval: Math.min(startMs, CHECK_MS),
    handshakeTimeout: startMs,
  }
  const server = createPlainServer(tls, deadlines, answer)
  server.maxConnections = connections * SOCKETS_PER_CONNECTION
  return server
}

/** Milliseconds between checks for sockets past their deadline. */
const CHECK_MS = 5000
/** Open sockets allowed per connection, to include health checks and sockets without a request yet. */
export const SOCKETS_PER_CONNECTION = 2

/** Deadlines of HTTP and TLS. */
type Deadlines = ServerOptions & { readonly handshakeTimeout: number }

function createPlainServer(tls: TlsFiles | undefined, deadlines: Deadlines, answer: RequestListener): Server {
  if (!tls) return createHttpServer(deadlines, answer)
  try {
    return createHttpsServer({ ...deadlines, cert: tls.cert, key: tls.key }, answer)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const message = `the TLS certificate and key cannot be used: ${why}`
    throw new BatonError({ code: 'invalid_option', message, cause })
  }
}

export interface Place {
  readonly address: string
  readonly port: number
  /** `ws` or `wss`. */
  readonly scheme: string
  readonly path: string
}

/** @throws BatonError `invalid_option` when the port is in use, or the address is empty or not this machine's */
export function listen(http: Server, { address, port, scheme, path }: Place): Promise<{ url: string; port: number }> {
  return new Promise((resolve, reject) => {
    // Node would listen on every address of the machine.
    if (address.trim() === '')
      throw new BatonError({ code: 'invalid_option', message: 'the address to listen on is empty' })
    http.once('error', (cause: NodeJS.ErrnoException) => reject(createListenError(cause, address, port)))
    http.listen(port, address, () => {
      const bound = http.address()
      const actual = typeof bound === 'object' && bound ? bound.port : port
      const name = address.includes(':') ? `[${address}]` : address
      resolve({ url: `${scheme}://${name}:${actual}${path}`, port: actual })
    })
  })
}

function createListenError(cause: NodeJS.ErrnoException, address: string, port: number): BatonError {
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${address} is in use; choose another one, or 0 for a free one`,
    EACCES: `this process has no permission to use port ${port}; choose one above 1023`,
    EADDRNOTAVAIL: `${address} is not an address of this machine`,
    ENOTFOUND: `${address} is not an address of this machine`,
  }
  const message = why[cause.code ?? ''] ?? `the server cannot listen on ${address}, port ${port}: ${cause.message}`
  return new BatonError({ code: 'invalid_option', message, cause })
}
