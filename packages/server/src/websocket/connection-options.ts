// Options of the front, and dependencies of an app's connection for both protocol versions.
import type { TlsFiles } from './listen.ts'
import type { Identity, PeerOptions, PeerWarnings } from '../shared/peer-identity.ts'
import type { ServerWorld } from '../shared/server-world.ts'
import type { HostWithSessions } from '../shared/check-options.ts'
import type { AllowedSettings } from '../shared/allowed-settings.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ClientModel, Clock, Host, Logger, Principal, Timers } from '@baton/core/internal'
import type { FrontConnection, Socket } from '../shared/socket.ts'
import type { ConnectionRates, Quotas, ConnectionLimits } from './limits.ts'
import type { connectToPeer } from './connect-to-peer.ts'
import type { SessionStarts } from './session-starts.ts'

export interface AppConnectionOptions {
  readonly socket: Socket
  /** Its name among the session's clients, unique across all connections ever made. */
  readonly connection: string
  readonly host: Host
  readonly principal: Principal
  readonly clock: Clock
  readonly timers: Timers
  readonly newId: () => string
  readonly log: Logger
  readonly limits: ConnectionLimits
  /** Whether the server is shutting down, so that no new turn may start. */
  readonly isDraining: () => boolean
  /** Shared by a server's connections; without them nothing is counted. */
  readonly rates?: ConnectionRates
  /** The address that `rates` and `quotas` count for this connection. Default: empty. */
  readonly address?: string
  readonly peers?: PeerOptions
  /** Connects to a peer. Default: over a WebSocket. */
  readonly reachPeer?: typeof connectToPeer
  /** Shared by a server's connections. */
  readonly peerWarnings?: PeerWarnings
  /** The app's network address, as passed on to a peer. */
  readonly client?: string
  /** Whether a peer passed this connection on; it is not passed on again. */
  readonly isFromPeer?: boolean
  /** Shared by a server's connections; without them nothing is counted. */
  readonly quotas?: Quotas
  /**
   * Whether the host has a session of this name. With it, the first message creates a session, so that an app which
   * only connects leaves none; without it, `session.start` does. `starts` is shared by a server's connections.
   */
  readonly hasSession?: (session: string) => Promise<boolean>
  readonly starts?: SessionStarts
  /** Whether `quotas` count by principal too. */
  readonly countsPrincipal?: boolean
  /** Log for lines that strangers can cause. Default: `log`. */
  readonly strangersLog?: Logger
}

/** Options of `createWebSocketFront`. Set `authenticate` before strangers can reach the server. */
export interface WebSocketFrontOptions extends Partial<ServerWorld> {
  readonly limits?: Partial<ConnectionLimits>
  /** Default: `127.0.0.1`. */
  readonly address?: string
  /** Default: 8080. 0 chooses a free port. */
  readonly port?: number
  /**
   * Web pages whose scripts may connect, such as `https://app.example`, or `*` for all. Default: pages of this machine
   * if the server only listens on this machine, otherwise none. The name that a page used for the server never
   * counts: any page a person visits could reach a server on that person's machine or network through its own domain
   * name resolving to it.
   */
  readonly origins?: readonly string[]
  /**
   * Host names that a proxy uses for this server, such as `chat.example`, with the port if it is not the default; their
   * pages may connect too, regardless of `origins`.
   */
  readonly publicHosts?: readonly string[]
  /**
   * Identifies the principal of a connection, and optionally until when that holds: the connection is then closed with
   * 1008. Default: `anonymous`. If it returns `undefined` or throws, the connection gets 401, with the message of an
   * `unauthorized` error. A promise has 10 seconds.
   */
  readonly authenticate?: (request: IncomingMessage) => Found | Promise<Found>
  /**
   * Tokens. Every connection must present one as `Authorization: Bearer` or `?token=`; others get 401. Without
   * it no token is required, so the address must only be reachable by trusted clients.
   */
  readonly token?: string | readonly string[]
  /**
   * Whether the host's store has a session of this name. With it, an app that only connects creates no session; its
   * first message does. Use it only if all access to the sessions goes through this front.
   */
  readonly hasSession?: (session: string) => Promise<boolean>
  /** Enables TLS: `wss`. */
  readonly tls?: TlsFiles
  /**
   * Number of trusted proxies in front of the server, whose X-Forwarded-For names the client that limits count.
   * Default: 0.
   */
  readonly trustedProxies?: number
  /**
   * Other servers over the same store: a connection whose session is held by one of them is passed on to it. Without
   * it, such a connection waits until the session is free.
   */
  readonly peers?: PeerOptions
  /**
   * Returns the answer of `/metrics` in Prometheus' text format, for requests with a `metricsToken`. Without it: 404.
   */
  readonly metrics?: () => string
  /** Tokens for `/metrics`. Default: those of `token`. Set this if only `authenticate` checks tokens. */
  readonly metricsToken?: string | readonly string[]
  /**
   * Accepts WebSockets at `/api/chat`, for chats of the AI SDK: `createChatSocket` of @baton/server/http. Without it:
   * 404.
   */
  readonly chats?: (socket: Socket, principal: Principal, address: string) => FrontConnection
  /** Accepts WebSockets at `/acp`, for editors: `createAcpSocket` of @baton/server/acp. Without it: 404. */
  readonly editors?: (socket: Socket, principal: Principal) => FrontConnection
  /** Answers all other HTTP requests on the same port: see `createNodeListener`. Without it: 404. */
  readonly requests?: (request: IncomingMessage, response: ServerResponse) => void
  /** Settings that apps of version 2 may choose for their turns. Default: none. */
  readonly allow?: AllowedSettings
  /** Models that run in apps (`clientModel` of @baton/models/client): an app of version 2 names those it runs. */
  readonly clientModels?: readonly ClientModel[]
  /**
   * For `/readyz`: returns briefly why the server cannot accept sessions now, or `undefined` if it can. Draining is
   * reported automatically.
   */
  readonly unreadyReason?: () => string | undefined | Promise<string | undefined>
}

type Found = Principal | Identity | undefined

export type WebSocketServerOptions = WebSocketFrontOptions & ServerWorld & { readonly host: HostWithSessions }
