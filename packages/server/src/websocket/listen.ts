// Binds the server to its address and says in plain words why that fails.
import { BatonError } from '@baton/core'
import { createServer as createHttpServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'

export interface TlsFiles {
  /** PEM text: the certificate of the server, then those that vouch for it. */
  readonly cert: string
  /** PEM text of its private key, without a passphrase. */
  readonly key: string
}

/** @throws BatonError `invalid_option` when certificate and key cannot be used, or not with each other */
export function createServer(tls: TlsFiles | undefined, answer: RequestListener): Server {
  if (!tls) return createHttpServer(answer)
  try {
    return createHttpsServer({ cert: tls.cert, key: tls.key }, answer)
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
    EADDRNOTAVAIL: `${address} is no address of this machine`,
    ENOTFOUND: `${address} is no address of this machine`,
  }
  const message = why[cause.code ?? ''] ?? `the server cannot listen on ${address}, port ${port}: ${cause.message}`
  return new BatonError({ code: 'invalid_option', message, cause })
}
