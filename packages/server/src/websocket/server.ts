// The WebSocket server: connects `ws` and node:http to the connections of both versions. `/ws` is the front; `/healthz`
// reports liveness, `/readyz` readiness, `/metrics` metrics.
import type { ClientModel, Logger, Principal } from '@baton/core/internal'
import { readMonotonicMs } from '@baton/core/internal'
import { CLOSE_CODES_2, SUBPROTOCOL } from '@baton/protocol'
import type { Duplex } from 'node:stream'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import type { Refusal } from './admission.ts'
import {
  checkToken,
  CHAT_PATH,
  createMethodRefusal,
  EDITOR_PATH,
  parseUrl,
  PATH,
  refuse,
  UPGRADE_REQUIRED,
} from './admission.ts'
import type { Admitted, Asked } from './admit.ts'
import { admit, checkRoom } from './admit.ts'
import { deriveLimitKey } from '../shared/limit-key.ts'
import { Heart } from './heart.ts'
import { answer, isOwn } from './http-answers.ts'
import type { ConnectionLimits } from './limits.ts'
import { PeerWarnings } from '../shared/peer-warnings.ts'
import type { PeerOptions } from '../shared/peer-identity.ts'
import { checkPeers, readPeer } from '../shared/peer-identity.ts'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import type { TlsFiles } from './listen.ts'
import { createServer, listen, SOCKETS_PER_CONNECTION } from './listen.ts'
import { Quotas } from './quotas.ts'
import { sampleLog } from '../shared/sampled-log.ts'
import type { AllowedSettings } from '../shared/allowed-settings.ts'
import type { HostWithSessions } from '../shared/host-with-sessions.ts'
import type { ServerWorld } from '../shared/server-world.ts'
import { createServerWorld } from '../shared/server-world.ts'
import { checkOptions, demandHost } from '../shared/check-options.ts'
import { startExpiry } from '../shared/expiry.ts'
import type { Identity } from '../shared/identity.ts'
import { SessionStarts } from './session-starts.ts'
import type { Socket } from '../shared/socket.ts'
import { CLOSE_CODES } from '../shared/socket.ts'
import { UnaskedSockets } from './unasked-sockets.ts'
import { CLOSING_MS, WsSocket } from './ws-socket.ts'
import type { ConnectionRates } from './connection-rates.ts'
import { createConnectionRates } from './connection-rates.ts'
import { openV2Connection } from './v2-connection.ts'
import { DeviceNames } from './v2-device-names.ts'
import type { V2ConnectionOptions } from './v2-state.ts'
import { openV1Connection } from './v1-session.ts'

export interface WebSocketFrontOptions extends Partial<ServerWorld> {
  /** The host. If it can list sessions, apps get the list, its changes and titles. */
  readonly host: HostWithSessions
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

const OPTIONS = [
  'host',
  'limits',
  'address',
  'port',
  'origins',
  'publicHosts',
  'authenticate',
  'token',
  'hasSession',
  'tls',
  'trustedProxies',
  'peers',
  'metrics',
  'metricsToken',
  'chats',
  'editors',
  'requests',
  'allow',
  'clientModels',
  'unreadyReason',
]

type Found = Principal | Identity | undefined

export type WebSocketServerOptions = WebSocketFrontOptions & ServerWorld

/** The front's view of a connection, whatever its protocol. */
export interface FrontConnection {
  /** Whether a turn is running, or the app has not received all of it. */
  isBusy(): boolean
  /** The session in which a turn is running. */
  busySession(): string | undefined
  close(code: number, reason: string): void
}

export interface WebSocketFront {
  /**
   * Resolves when connections are accepted.
   * @throws BatonError `invalid_option` when the port is in use, or the address is empty or does not belong to this
   * machine
   */
  listen(): Promise<{ readonly url: string; readonly port: number }>
  /**
   * Accepts no new connections and no new turns. Resolves when the running turns have ended and their apps know it, at
   * the latest after `withinMs` (default: 0).
   */
  drain(options?: { readonly withinMs?: number }): Promise<void>
  /** Closes every connection. Call it after `drain`. */
  close(): Promise<void>
}

const LOCAL = '127.0.0.1'
/** Milliseconds between checks for whether the running turns have ended. */
const DRAIN_LOOK_MS = 20

/**
 * Creates the front. Clock, timers and ids default to Node's; without a `log` nothing is logged.
 * @throws BatonError `invalid_option` when the TLS certificate and key cannot be used
 */
export function createWebSocketFront(options: WebSocketFrontOptions): WebSocketFront {
  demandHost(options?.host, 'createWebSocketFront({ host })')
  checkOptions(options, { what: 'createWebSocketFront', names: OPTIONS, limits: DEFAULT_CONNECTION_LIMITS })
  const init: WebSocketServerOptions = { ...createServerWorld(), ...options }
  const { timers, tls, address = LOCAL } = init
  const open = new Map<WebSocket, FrontConnection>()
  let draining = false
  const shared = createShared(init, { open, isDraining: () => draining })
  const { limits, unasked } = shared

  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: limits.socketBytes,
    handleProtocols: chooseProtocol,
  })
  const unreadyReason = async (): Promise<string | undefined> => (draining ? 'draining' : await init.unreadyReason?.())
  const http = createServer(tls, limits, (request, response) => {
    // A client without a WebSocket learns why one would be refused.
    const refusal = async (): Promise<Refusal> => {
      const { admitted } = await admit(shared, request)
      return 'principal' in admitted ? UPGRADE_REQUIRED : admitted
    }
    const metricsRefusal = (): Refusal | undefined => checkToken(request, init.metricsToken ?? init.token)
    if (init.requests && !isOwn(request)) {
      unasked.noteAsked(request.socket)
      if (init.peers && typeof readPeer((name) => request.headers[name], init.peers) === 'object')
        unasked.notePeer(request.socket)
      init.requests(request, response)
    } else answer(request, response, { unreadyReason, refusal, metrics: init.metrics, metricsRefusal })
  })
  // Behind proxies, all sockets belong to the proxies, and reveal nothing about clients.
  if (!init.trustedProxies) http.on('connection', (socket) => unasked.open(socket))
  const waiting = takeUpgrades(shared, http, sockets)
  http.on('connect', (_request, stream) => {
    stream.on('error', destroyBroken)
    refuse(stream, createMethodRefusal('GET, POST, PATCH, DELETE, OPTIONS'))
  })

  const close = async (): Promise<void> => {
    draining = true
    for (const stream of waiting) stream.destroy()
    const ended = new Promise<void>((resolve) => http.close(() => resolve()))
    for (const connection of open.values()) connection.close(CLOSE_CODES.goingAway, 'the server is shutting down')
    const stopWaiting = timers.start(CLOSING_MS, () => {
      for (const socket of open.keys()) socket.terminate()
      http.closeAllConnections()
    })
    if (open.size === 0) http.closeAllConnections()
    await ended
    stopWaiting()
    sockets.close()
  }

  return {
    listen: () => listen(http, { address, port: init.port ?? 8080, scheme: tls ? 'wss' : 'ws', path: PATH }),
    drain: async ({ withinMs = 0 } = {}) => {
      draining = true
      await waitForRest([...open.values()], init, withinMs)
    },
    close,
  }
}

/** State shared by a server's connections. */
interface Shared {
  readonly init: WebSocketServerOptions
  readonly limits: ConnectionLimits
  readonly open: Map<WebSocket, FrontConnection>
  readonly isDraining: () => boolean
  readonly rates: ConnectionRates
  readonly quotas: Quotas
  readonly starts: SessionStarts
  readonly unasked: UnaskedSockets
  readonly peerWarnings: PeerWarnings
  readonly deviceNames: DeviceNames
  readonly strangersLog: Logger
}

function createShared(init: WebSocketServerOptions, own: Pick<Shared, 'open' | 'isDraining'>): Shared {
  const { clock, log, peers, hasSession, timers } = init
  if (peers) checkPeers(peers)
  const strangersLog = sampleLog(log, clock)
  const limits = { ...DEFAULT_CONNECTION_LIMITS, ...init.limits }
  return {
    ...own,
    init,
    limits,
    rates: createConnectionRates(limits, clock),
    quotas: new Quotas(limits, clock),
    starts: new SessionStarts(peers && hasSession && { hasSession, timers, log: strangersLog }),
    unasked: new UnaskedSockets({ most: limits.addressConnections * SOCKETS_PER_CONNECTION, log: strangersLog }),
    peerWarnings: new PeerWarnings(strangersLog, clock),
    deviceNames: new DeviceNames(),
    strangersLog,
  }
}

/**
 * Returns streams whose client is still being authenticated. They are not read: incoming data stays buffered, up to
 * their limit.
 */
function takeUpgrades(shared: Shared, http: Server, sockets: WebSocketServer): ReadonlySet<Duplex> {
  const waiting = new Set<Duplex>()
  http.on('upgrade', (request, stream, head) => {
    stream.on('error', destroyBroken)
    const begin = ({ client, admitted }: Asked): void => {
      const refusal = 'principal' in admitted ? checkLate(shared, client, admitted) : admitted
      if ('principal' in admitted && !refusal) {
        shared.unasked.noteAsked(request.socket)
        const upgrade = { client, ...admitted, stream, path: parseUrl(request).pathname }
        sockets.handleUpgrade(request, stream, head, (socket) => accept(shared, socket, upgrade))
      } else if (refusal) {
        // Never the requested address: it may contain a token.
        const { status, message } = refusal // a page cannot read the message
        shared.strangersLog.info('a connection was refused', { address: client, status, why: message })
        refuse(stream, refusal)
      }
    }
    const asked = admit(shared, request)
    if ('client' in asked) {
      begin(asked)
      return
    }
    waiting.add(stream)
    asked
      .then(begin)
      .catch(() => stream.destroy())
      .finally(() => waiting.delete(stream))
  })
  return waiting
}

function accept(shared: Shared, socket: WebSocket, upgrade: Upgrade): void {
  const { principal, stream, client } = upgrade
  const { init, limits, open, quotas, strangersLog } = shared
  const { timers } = init
  const countsPrincipal = init.authenticate !== undefined
  const heart = new Heart(socket, timers, limits)
  // Copied into a flat string: V8 would keep the pieces of a joined one as long as the connection.
  const name = Buffer.from(`ws-${init.newId()}`, 'latin1').toString('latin1')
  strangersLog.info('a connection was opened', { connection: name, address: client })
  const address = deriveLimitKey(client)
  socket.on('close', (code) => {
    heart.stop()
    stopExpiry()
    open.delete(socket)
    leave()
    strangersLog.info('a connection was closed', { connection: name, code })
  })
  const wire = new WsSocket(socket, stream, timers)
  const isOwn = !upgrade.isFromPeer
  const connection: FrontConnection =
    init.chats && isOwn && upgrade.path === CHAT_PATH
      ? init.chats(wire, principal, client)
      : init.editors && isOwn && upgrade.path === EDITOR_PATH
        ? init.editors(wire, principal)
        : openConnection(socket.protocol, {
            ...init,
            ...upgrade,
            ...shared,
            allow: init.allow ?? {},
            socket: wire,
            connection: name,
            address,
            countsPrincipal,
          })
  open.set(socket, connection)
  const stopExpiry = startExpiry(init, upgrade.expiresAtMs, () =>
    connection.close(
      socket.protocol === SUBPROTOCOL ? CLOSE_CODES_2.unauthorized : CLOSE_CODES.policy,
      'the token has expired',
    ),
  )
  const leave = quotas.open({ address, principal: countsPrincipal ? principal.id : undefined }, connection)
}

function openConnection(protocol: string, init: V2ConnectionOptions): FrontConnection {
  return protocol === SUBPROTOCOL ? openV2Connection(init) : openV1Connection(init)
}

/** As `ws` does by itself, but for apps that offer several versions. */
function chooseProtocol(offered: ReadonlySet<string>): string | false {
  return offered.has(SUBPROTOCOL) ? SUBPROTOCOL : ([...offered][0] ?? false)
}

/** A peer's connections were counted where they arrived. */
function checkLate(shared: Shared, client: string, admitted: Admitted): Refusal | undefined {
  return admitted.isFromPeer ? undefined : checkRoom(shared, client, admitted)
}

/** Later connections start no turn, so they are not waited for. */
async function waitForRest(
  connections: readonly FrontConnection[],
  { clock, timers }: Pick<WebSocketServerOptions, 'clock' | 'timers'>,
  withinMs: number,
): Promise<void> {
  const untilMs = readMonotonicMs(clock) + withinMs
  while (connections.some((connection) => connection.isBusy()) && readMonotonicMs(clock) < untilMs)
    await new Promise<void>((resolve) => void timers.start(DRAIN_LOOK_MS, resolve))
}

interface Upgrade extends Admitted {
  /** The stream that `ws` writes to. */
  readonly stream: Duplex
  readonly client: string
  readonly path: string
}

/** Not a closure, which would retain the whole request for the lifetime of the connection. */
function destroyBroken(this: Duplex): void {
  this.destroy()
}
