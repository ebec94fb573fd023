// The WebSocket server: `ws` and node:http around the connections of version 1. `/ws` is the front; `/healthz` says that
// the process lives, `/readyz` whether it takes sessions, `/metrics` what it has done.
import type { Host, Logger, Principal, Timers } from '@baton/core'
import { readMonotonicMs } from '@baton/core'
import type { Duplex } from 'node:stream'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { describeThrown } from '@baton/runtime'
import type { Refusal } from './admission.ts'
import {
  checkAdmission,
  checkToken,
  CHAT_PATH,
  createQuotaRefusal,
  isLoopback,
  NO_PEER,
  parseUrl,
  PATH,
  refuse,
  TOO_MANY,
  UNKNOWN_PRINCIPAL,
  UNREADABLE_CLIENT,
  UPGRADE_REQUIRED,
} from './admission.ts'
import { deriveLimitKey, findClientAddress } from './client-address.ts'
import { Heart } from './heart.ts'
import { answer, isOwn } from './http-answers.ts'
import type { V1Limits } from './limits.ts'
import { PeerWarnings } from './peer-warnings.ts'
import type { PeerOptions } from './peers.ts'
import { checkPeers, claimsToBePeer, readPeer } from './peers.ts'
import { DEFAULT_V1_LIMITS } from './limits.ts'
import type { TlsFiles } from './listen.ts'
import { createServer, listen, SOCKETS_PER_CONNECTION } from './listen.ts'
import { Quotas } from './quotas.ts'
import { sampleLog } from './sampled-log.ts'
import type { ServerWorld } from '../shared/server-world.ts'
import { createServerWorld } from '../shared/server-world.ts'
import { SessionStarts } from './session-starts.ts'
import type { Socket } from '../shared/socket.ts'
import { countBytes, decodeText, encodeTextFrames } from './text-frames.ts'
import { CLOSE_CODES } from '../shared/socket.ts'
import { UnaskedSockets } from './unasked-sockets.ts'
import type { V1Rates } from './v1-rates.ts'
import { createV1Rates } from './v1-rates.ts'
import { openV1Connection } from './v1-session.ts'

export interface WebSocketFrontInit extends Partial<ServerWorld> {
  readonly host: Host
  readonly limits?: Partial<V1Limits>
  /** `127.0.0.1` by default. */
  readonly address?: string
  /** 8080 by default; 0 takes a free one. */
  readonly port?: number
  /**
   * Web pages whose scripts may connect, as `https://app.example`; `*` for all. By default those of this machine where the
   * server listens to this machine only, else none. Never by the name under which a page found the server: any page that a
   * person visits could reach a server on that person's machine or network by a name of its own that leads there.
   */
  readonly origins?: readonly string[]
  /** Who is behind a connection; `anonymous` by default. Who it throws for gets 401. */
  readonly authenticate?: (request: IncomingMessage) => Principal
  /**
   * What every connection must show, by `Authorization: Bearer` or `?token=`; others get 401. Of several tokens each opens. By
   * default none is asked for: then the address must be one that only friends can reach.
   */
  readonly token?: string | readonly string[]
  /**
   * Whether the host has a session of this name, as its store knows. With it an app that only connects leaves no session: the
   * first thing that is said makes it. Only where all that speaks to sessions comes over this front.
   */
  readonly hasSession?: (session: string) => Promise<boolean>
  /** Speaks TLS itself: `wss`. */
  readonly tls?: TlsFiles
  /** Trusted proxies in front of the server, whose X-Forwarded-For names the client that limits count. 0 by default. */
  readonly trustedProxies?: number
  /**
   * Other servers over the same store: a connection whose session one of them holds is passed on to it. Absent: such a
   * connection waits until the session is free.
   */
  readonly peers?: PeerOptions
  /** What `/metrics` answers, in Prometheus' text format, to who has the token; absent: 404. */
  readonly metrics?: () => string
  /** Takes WebSockets at `/api/chat`, for chats of the AI SDK: `createChatSocket` of @baton/server/http. Absent: 404. */
  readonly chats?: (socket: Socket, principal: Principal) => FrontConnection
  /** Answers requests for all addresses but those of this front, on the same port: see `createNodeListener`. Absent: 404. */
  readonly requests?: (request: IncomingMessage, response: ServerResponse) => void
  /** Why no session can be taken now, in a few words, for `/readyz`; undefined when it can. Draining need not be told. */
  readonly unreadyReason?: () => string | undefined | Promise<string | undefined>
}

export type WebSocketServerInit = WebSocketFrontInit & ServerWorld

/** What the front needs of a connection, whatever it speaks. */
export interface FrontConnection {
  /** A turn runs, or the app has not been told all of it. */
  isBusy(): boolean
  /** The session in which a turn runs. */
  busySession(): string | undefined
  close(code: number, reason: string): void
}

export interface WebSocketFront {
  /**
   * Resolves when connections are taken.
   * @throws BatonError `invalid_option` when the port is in use, the address is empty or not this machine's
   */
  listen(): Promise<{ readonly url: string; readonly port: number }>
  /**
   * Takes no new connections and no new turns. Resolves when the turns that run have ended and were told to their apps, at
   * the latest after `withinMs` (0 by default).
   */
  drain(options?: { readonly withinMs?: number }): Promise<void>
  /** Closes every connection, after `drain`. */
  close(): Promise<void>
}

/** Milliseconds that an app has to answer a close. */
const CLOSING_MS = 2000

const LOCAL = '127.0.0.1'
/** Milliseconds between two looks at whether the running turns have ended. */
const DRAIN_LOOK_MS = 20

/**
 * Clock, timers and ids are Node's by default; without a `log` nothing is logged.
 * @throws BatonError `invalid_option` when the TLS certificate and key cannot be used
 */
export function createWebSocketFront(options: WebSocketFrontInit): WebSocketFront {
  const init: WebSocketServerInit = { ...createServerWorld(), ...options }
  const { timers, tls, address = LOCAL } = init
  const open = new Map<WebSocket, FrontConnection>()
  let draining = false
  const shared = createShared(init, { open, isDraining: () => draining })
  const { limits, strangersLog, unasked } = shared

  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.socketBytes })
  const unreadyReason = async (): Promise<string | undefined> => (draining ? 'draining' : await init.unreadyReason?.())
  const http = createServer(tls, limits, (request, response) => {
    // To who asks without a WebSocket it says why one would be refused.
    const refusal = (): Refusal => {
      const { admitted } = admit(shared, request)
      return 'principal' in admitted ? UPGRADE_REQUIRED : admitted
    }
    const metricsRefusal = (): Refusal | undefined => checkToken(request, init.token)
    if (init.requests && !isOwn(request)) {
      unasked.noteAsked(request.socket)
      init.requests(request, response)
    } else answer(request, response, { unreadyReason, refusal, metrics: init.metrics, metricsRefusal })
  })
  // Behind proxies all sockets are theirs, and say nothing of who is behind them.
  if (!init.trustedProxies) http.on('connection', (socket) => unasked.open(socket))
  http.on('upgrade', (request, stream, head) => {
    stream.on('error', destroyBroken)
    const { client, admitted } = admit(shared, request)
    if ('principal' in admitted) {
      unasked.noteAsked(request.socket)
      const upgrade = { client, ...admitted, stream, path: parseUrl(request).pathname }
      sockets.handleUpgrade(request, stream, head, (socket) => accept(shared, socket, upgrade))
      return
    }
    // Never the address that was asked for: it may have a token in it.
    strangersLog.info('a connection was refused', { address: client, status: admitted.status })
    refuse(stream, admitted)
  })

  const close = async (): Promise<void> => {
    draining = true
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

/** What the connections of a server have in common. */
interface Shared {
  readonly init: WebSocketServerInit
  readonly limits: V1Limits
  readonly open: Map<WebSocket, FrontConnection>
  readonly isDraining: () => boolean
  readonly rates: V1Rates
  readonly quotas: Quotas
  readonly starts: SessionStarts
  readonly unasked: UnaskedSockets
  readonly peerWarnings: PeerWarnings
  readonly strangersLog: Logger
}

function createShared(init: WebSocketServerInit, own: Pick<Shared, 'open' | 'isDraining'>): Shared {
  const { clock, log, peers, hasSession, timers } = init
  if (peers) checkPeers(peers)
  const strangersLog = sampleLog(log, clock)
  const limits = { ...DEFAULT_V1_LIMITS, ...init.limits }
  return {
    ...own,
    init,
    limits,
    rates: createV1Rates(limits, clock),
    quotas: new Quotas(limits, clock),
    starts: new SessionStarts(peers && hasSession && { hasSession, timers, log: strangersLog }),
    unasked: new UnaskedSockets({ most: limits.addressConnections * SOCKETS_PER_CONNECTION, log: strangersLog }),
    peerWarnings: new PeerWarnings(strangersLog),
    strangersLog,
  }
}

function accept(shared: Shared, socket: WebSocket, upgrade: Upgrade): void {
  const { principal, stream, client } = upgrade
  const { init, limits, open, quotas, strangersLog } = shared
  const { timers } = init
  const countsPrincipal = init.authenticate !== undefined
  const heart = new Heart(socket, timers, limits)
  const name = `ws-${init.newId()}`
  strangersLog.info('a connection was opened', { connection: name, address: client })
  const address = deriveLimitKey(client)
  socket.on('close', (code) => {
    heart.stop()
    open.delete(socket)
    leave()
    strangersLog.info('a connection was closed', { connection: name, code })
  })
  const wire = new WsSocket(socket, stream, timers)
  const isChat = init.chats !== undefined && !upgrade.isFromPeer && upgrade.path === CHAT_PATH
  const connection: FrontConnection = isChat
    ? init.chats(wire, principal)
    : openV1Connection({
        ...init,
        ...upgrade,
        socket: wire,
        connection: name,
        limits,
        isDraining: shared.isDraining,
        rates: shared.rates,
        address,
        quotas,
        starts: shared.starts,
        peerWarnings: shared.peerWarnings,
        countsPrincipal,
        strangersLog,
      })
  open.set(socket, connection)
  const leave = quotas.open({ address, principal: countsPrincipal ? principal.id : undefined }, connection)
}

/** Who is behind a connection, or why it is refused. */
function admit(
  { init, limits, open, isDraining, quotas, strangersLog, peerWarnings, unasked }: Shared,
  request: IncomingMessage,
): { readonly client: string; readonly admitted: Admitted | Refusal } {
  const { authenticate, peers, address = LOCAL, trustedProxies = 0 } = init
  const client = findClientAddress(request, trustedProxies)
  const state = { draining: isDraining(), full: open.size >= limits.connections, isLocal: isLoopback(address) }
  // A peer has asked for the token already. Its clients' turns may run here while this server drains.
  const peer = peers && readPeer(request, peers)
  if (peer === 'unreadable') {
    peerWarnings.noteUnreadable(client)
    return { client, admitted: UNREADABLE_CLIENT }
  }
  if (peer) unasked.notePeer(request.socket)
  if (peer) return { client: peer.client, admitted: state.full ? TOO_MANY : { ...peer, isFromPeer: true } }
  // Taken for an app, it would be let in where no token is asked for, under another name.
  if (claimsToBePeer(request)) {
    peerWarnings.noteStranger(client)
    return { client, admitted: NO_PEER }
  }
  const paths = init.chats ? [PATH, CHAT_PATH] : [PATH]
  const refusal = checkAdmission(request, { ...init, ...state, paths })
  if (refusal) return { client, admitted: refusal }
  try {
    const principal = authenticate ? authenticate(request) : { id: 'anonymous' }
    const origin = { address: deriveLimitKey(client), principal: authenticate && principal.id }
    const tooMany = quotas.checkConnection(origin)
    return { client, admitted: tooMany === undefined ? { principal } : createQuotaRefusal(tooMany) }
  } catch (cause) {
    strangersLog.warn('nobody knows who is behind a connection', { cause: describeThrown(cause) })
    return { client, admitted: UNKNOWN_PRINCIPAL }
  }
}

/** Connections that come later take no new turn, so they need not be waited for. */
async function waitForRest(
  connections: readonly FrontConnection[],
  { clock, timers }: Pick<WebSocketServerInit, 'clock' | 'timers'>,
  withinMs: number,
): Promise<void> {
  const untilMs = readMonotonicMs(clock) + withinMs
  while (connections.some((connection) => connection.isBusy()) && readMonotonicMs(clock) < untilMs)
    await new Promise<void>((resolve) => void timers.start(DRAIN_LOOK_MS, resolve))
}

interface Admitted {
  readonly principal: Principal
  readonly isFromPeer?: boolean
}

interface Upgrade extends Admitted {
  /** What `ws` writes to. */
  readonly stream: Duplex
  readonly client: string
  readonly path: string
}

class WsSocket implements Socket {
  readonly #socket: WebSocket
  readonly #stream: Duplex
  readonly #timers: Timers
  /** What was sent in this turn of the event loop. */
  #waiting: string[] = []
  #waitingChars = 0

  constructor(socket: WebSocket, stream: Duplex, timers: Timers) {
    this.#socket = socket
    this.#stream = stream
    this.#timers = timers
    // Its end follows, with a close code; without a listener the error would end the process.
    socket.on('error', ignore)
  }

  send(text: string): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false
    if (this.#waiting.length === 0) setImmediate(() => this.#flush())
    this.#waiting.push(text)
    this.#waitingChars += text.length
    return true
  }

  close(code: number, reason: string): void {
    this.#flush()
    if (this.#socket.readyState !== this.#socket.OPEN) return
    this.#socket.close(code, reason)
    // One that does not answer would keep its place for half a minute.
    const stop = this.#timers.start(CLOSING_MS, () => this.#socket.terminate())
    this.#socket.once('close', stop)
  }

  bufferedBytes(): number {
    return this.#socket.bufferedAmount + this.#waitingChars
  }

  onMessage(listener: Parameters<Socket['onMessage']>[0]): void {
    this.#socket.on('message', (data, isBinary) => {
      if (isBinary) listener(undefined, countBytes(data))
      else listener(decodeText(data))
    })
  }

  onClose(listener: () => void): void {
    this.#socket.once('close', listener)
  }

  /**
   * Frames that are sent in one turn of the event loop are one buffer and one write: a turn's end has half a dozen of
   * them. What `ws` writes itself (pings, the close) is whole frames too, so neither gets into the other's.
   */
  #flush(): void {
    const texts = this.#waiting
    if (texts.length === 0) return
    this.#waiting = []
    this.#waitingChars = 0
    if (this.#socket.readyState === this.#socket.OPEN) this.#stream.write(encodeTextFrames(texts))
  }
}

/** Not a closure: it would keep the whole request for as long as the connection lasts. */
function destroyBroken(this: Duplex): void {
  this.destroy()
}

function ignore(): void {}
