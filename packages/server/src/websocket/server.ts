// The WebSocket server: connects `ws` and node:http to the connections of both versions. `/ws` is the front; `/healthz`
// reports liveness, `/readyz` readiness, `/metrics` metrics.
import type { WebSocketFrontOptions, WebSocketServerOptions } from './connection-options.ts'
import type { Logger } from '@baton/core/internal'
import { CLOSE_CODES_2, SUBPROTOCOL } from '@baton/protocol'
import { waitForTurns } from '@baton/runtime'
import type { Duplex } from 'node:stream'
import type { Server } from 'node:http'
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
import { deriveLimitKey, sampleLog } from '../shared/rate-limit.ts'
import { answer, isOwn } from './http-answers.ts'
import type { ConnectionLimits, ConnectionRates } from './limits.ts'
import { PeerWarnings, checkPeers, readPeer } from '../shared/peer-identity.ts'
import { DEFAULT_CONNECTION_LIMITS, Quotas, createConnectionRates } from './limits.ts'
import { createServer, listen, SOCKETS_PER_CONNECTION } from './listen.ts'
import type { HostWithSessions } from '../shared/check-options.ts'
import { createServerWorld, startExpiry } from '../shared/server-world.ts'
import { checkOptions, demandHost } from '../shared/check-options.ts'
import { SessionStarts } from './session-starts.ts'
import type { FrontConnection } from '../shared/socket.ts'
import { CLOSE_CODES } from '../shared/socket.ts'
import { UnaskedSockets } from './unasked-sockets.ts'
import { CLOSING_MS, Heart, WsSocket } from './ws-socket.ts'
import { openV2Connection } from './v2-connection.ts'
import { DeviceNames } from './v2-device.ts'
import type { V2ConnectionOptions } from './v2-state.ts'
import { openV1Connection } from './v1-session.ts'

const OPTIONS =
  'limits address port origins publicHosts authenticate token hasSession tls trustedProxies peers metrics metricsToken chats editors requests allow clientModels unreadyReason'.split(
    ' ',
  )

/** A front of `createWebSocketFront`. `const { url } = await front.listen()`. */
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

/**
 * Creates the front of a host. If the host can list sessions, apps get the list, its changes and titles. Clock, timers
 * and ids default to Node's; without a `log` nothing is logged.
 * @throws BatonError `invalid_option` when the TLS certificate and key cannot be used
 */
export function createWebSocketFront(host: HostWithSessions, options: WebSocketFrontOptions = {}): WebSocketFront {
  demandHost(host, 'createWebSocketFront(host, options)')
  checkOptions(options, { what: 'createWebSocketFront', names: OPTIONS, limits: DEFAULT_CONNECTION_LIMITS })
  const init: WebSocketServerOptions = { ...createServerWorld(), ...options, host }
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
      const connections = [...open.values()] // later ones start no turn
      await waitForTurns(init, withinMs, () => connections.some((connection) => connection.isBusy()))
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
  const heart = new Heart(socket, timers, { everyMs: limits.heartbeatMs })
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
