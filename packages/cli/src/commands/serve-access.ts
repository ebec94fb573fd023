// Access to `baton serve`, over WebSockets and HTTP alike: clients with the server's token or a JWT of a trusted
// issuer, or everyone.
import type { Logger, Principal } from '@baton/core'
import type { Identity, TokenRequest } from '@baton/server/internal'
import { createTokenVerifier } from '@baton/server/auth'
import { readBearerToken } from '@baton/server/internal'
import type { HandlerOptions } from '@baton/server/http'
import type { WebSocketFrontOptions } from '@baton/server/websocket'
import { isLoopback, isSameSecret } from '@baton/server/internal'
import type { ServeOptions } from './serve-options.ts'

export interface ServeAccess {
  readonly front: Pick<WebSocketFrontOptions, 'authenticate' | 'token' | 'metricsToken' | 'publicHosts'>
  readonly handler: Pick<HandlerOptions, 'authenticate' | 'origins' | 'hosts'>
  /** Whether everyone is let in. */
  readonly isOpen: boolean
  /** Fetches keys before the first token arrives, so that a wrong address is logged at once. Never rejects. */
  prepare(): Promise<void>
}

type Access = Pick<ServeOptions, 'server' | 'origins' | 'host'>

const ANONYMOUS: Principal = { id: 'anonymous' }

/**
 * `localToken` is for chats of the same user on this machine; it is accepted like any other token.
 * @throws BatonError `invalid_option` if the issuer is not a URL
 */
export function createAccess(options: Access, localToken: string, log: Logger): ServeAccess {
  const { token, jwt, publicHosts } = options.server
  const tokens = token === undefined ? [localToken] : [token, localToken]
  const isOpen = token === undefined && jwt === undefined
  const showsToken = ({ headers, url }: TokenRequest): boolean => {
    const authorization = headers instanceof Headers ? headers.get('authorization') : headers['authorization']
    const query = URL.parse(url ?? '', 'http://localhost')?.searchParams ?? new URLSearchParams()
    const given = readBearerToken(typeof authorization === 'string' ? authorization : undefined, query)
    return given !== undefined && tokens.some((each) => isSameSecret(given, each))
  }
  const verifier = jwt && createTokenVerifier({ ...jwt, log })
  const authenticate = verifier
    ? (request: TokenRequest): Principal | Promise<Identity> =>
        showsToken(request) ? ANONYMOUS : verifier.authenticate(request)
    : (request: TokenRequest): Principal | undefined => (showsToken(request) ? ANONYMOUS : undefined)
  return {
    front: {
      publicHosts,
      ...(verifier ? { authenticate, metricsToken: tokens } : token !== undefined && { token: tokens }),
    },
    handler: { ...describePages(options, isOpen), ...(!isOpen && { authenticate }) },
    isOpen,
    prepare: async () => {
      try {
        await verifier?.prepare()
      } catch {
        // It was logged. Tokens get 503 until the keys can be fetched.
      }
    },
  }
}

/**
 * The pages that may send requests, and the host names accepted: as for WebSockets, plus the server's own pages if a
 * token is required.
 */
function describePages(
  { origins, host: address, server }: Access,
  isOpen: boolean,
): Pick<HandlerOptions, 'origins' | 'hosts'> {
  const names = server.publicHosts.map((host) => new URL(`http://${host}`).hostname)
  return {
    origins: (origin, { url }) => {
      const page = URL.parse(origin)
      if (page && server.publicHosts.includes(page.host)) return true
      if (!isOpen && page?.host === new URL(url).host) return true
      if (origins) return origins.includes('*') || origins.includes(origin)
      return isLoopback(address) && page !== null && isLoopback(page.hostname)
    },
    // No token is required, so a page must not reach this machine through its own domain name.
    ...(isLoopback(address) && isOpen && { hosts: ['localhost', '127.0.0.1', '[::1]', address, ...names] }),
  }
}
