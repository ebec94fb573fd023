// Binds the server to its address and says in plain words why that fails.
import { BatonError } from '@baton/core'
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener, Server, ServerOptions } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { ConnectionLimits } from './limits.ts'

export interface TlsFiles {
  /** PEM text: the certificate of the server, then those that vouch for it. */
  readonly cert: string
  /** PEM text of its private key, without a passphrase. */
  readonly key: string
}

/** @throws BatonError `invalid_option` when certificate and key cannot be used, or do not belong together */
export function createServer(
  tls: TlsFiles | undefined,
  { startMs, connections }: Pick<ConnectionLimits, 'startMs' | 'connections'>,
  answer: RequestListener,
): Server {
  // A socket that does not even say what it wants is closed like one that starts no session.
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

/** Milliseconds between two looks at sockets that are late. */
const CHECK_MS = 5000
/** Sockets that may be open for each connection: health checks, and those that have not said what they want. */
export const SOCKETS_PER_CONNECTION = 2

/** Deadlines of HTTP, and of TLS. */
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

/** @throws BatonError `invalid_option` when the port is in use, the address is empty or not this machine's */
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
    EACCES: `port ${port} needs rights that this process does not have; choose one above 1023`,
    EADDRNOTAVAIL: `${address} is not an address of this machine`,
    ENOTFOUND: `${address} is not an address of this machine`,
  }
  const message = why[cause.code ?? ''] ?? `the server cannot listen on ${address}, port ${port}: ${cause.message}`
  return new BatonError({ code: 'invalid_option', message, cause })
}
