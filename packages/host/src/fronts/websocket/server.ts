// The WebSocket server: `ws` and node:http around the connections of version 1. `/ws` is the front, `/healthz` says
// whether new sessions are taken.
import type { Clock, Host, Logger, Principal, Timers } from '@baton/core'
import { BatonError } from '@baton/core'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import type { V1Limits } from './limits.ts'
import { DEFAULT_V1_LIMITS } from './limits.ts'
import type { Socket } from './socket.ts'
import { CLOSE_CODES } from './socket.ts'
import type { V1Connection } from './v1-session.ts'
import { openV1Connection } from './v1-session.ts'

export interface WebSocketServerInit {
  readonly host: Host
  readonly clock: Clock
  readonly timers: Timers
  readonly newId: () => string
  readonly log: Logger
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
  /** Who is behind a connection; `anonymous` by default. */
  readonly principalOf?: (request: IncomingMessage) => Principal
}

export interface WebSocketFront {
  /**
   * Resolves when connections are taken.
   * @throws BatonError `invalid_option` when the port is in use, the address is empty or not this machine's
   */
  listen(): Promise<{ readonly url: string; readonly port: number }>
  /** Takes no new connections and no new turns; the turns that run go on. */
  drain(): void
  /** Closes every connection, after `drain`. */
  close(): Promise<void>
}

export const PATH = '/ws'
/** Milliseconds that an app has to answer a close. */
const CLOSING_MS = 2000

export function createWebSocketFront(init: WebSocketServerInit): WebSocketFront {
  const limits = { ...DEFAULT_V1_LIMITS, ...init.limits }
  const address = init.address ?? '127.0.0.1'
  const open = new Map<WebSocket, V1Connection>()
  let draining = false

  const sockets = new WebSocketServer({ noServer: true, maxPayload: limits.socketBytes })
  const http = createServer((request, response) => answer(request, response, draining))
  http.on('upgrade', (request, stream, head) => {
    stream.on('error', () => stream.destroy())
    const isLocal = isLoopback(address)
    const refusal = refusalOf(request, { ...init, draining, isLocal, full: open.size >= limits.connections })
    if (refusal) refuse(stream, refusal)
    else sockets.handleUpgrade(request, stream, head, (socket) => accept(socket, request))
  })

  const accept = (socket: WebSocket, request: IncomingMessage): void => {
    const stopHeart = watchHeart(socket, init.timers, limits.heartbeatMs)
    socket.on('close', () => {
      stopHeart()
      open.delete(socket)
    })
    const connection = openV1Connection({
      ...init,
      socket: socketOf(socket),
      connection: `ws-${init.newId()}`,
      principal: init.principalOf?.(request) ?? { id: 'anonymous' },
      limits,
      isDraining: () => draining,
    })
    open.set(socket, connection)
  }

  const close = async (): Promise<void> => {
    draining = true
    const ended = new Promise<void>((resolve) => http.close(() => resolve()))
    for (const connection of open.values()) connection.close(CLOSE_CODES.goingAway, 'the server is shutting down')
    const stopWaiting = init.timers.start(CLOSING_MS, () => {
      for (const socket of open.keys()) socket.terminate()
      http.closeAllConnections()
    })
    if (open.size === 0) http.closeAllConnections()
    await ended
    stopWaiting()
    sockets.close()
  }

  return {
    listen: () => listen(http, address, init.port ?? 8080),
    drain: () => {
      draining = true
    },
    close,
  }
}

function answer(request: IncomingMessage, response: ServerResponse, draining: boolean): void {
  request.resume()
  if (request.url === '/healthz') {
    response.writeHead(draining ? 503 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ status: draining ? 'draining' : 'ok' }))
    return
  }
  response.writeHead(404, { 'content-type': 'text/plain' })
  response.end(`Connect a WebSocket to ${PATH}.\n`)
}

interface Refusal {
  readonly status: string
  readonly message: string
}

interface Admission {
  readonly draining: boolean
  readonly full: boolean
  /** The server listens on this machine only. */
  readonly isLocal: boolean
  readonly origins?: readonly string[]
}

function refusalOf(request: IncomingMessage, admission: Admission): Refusal | undefined {
  if (pathOf(request) !== PATH) return { status: '404 Not Found', message: `the WebSocket is at ${PATH}` }
  if (admission.draining) return { status: '503 Service Unavailable', message: 'the server is shutting down' }
  if (admission.full) return { status: '503 Service Unavailable', message: 'the server has too many connections' }
  if (isAllowed(request, admission)) return undefined
  return { status: '403 Forbidden', message: 'pages of this origin may not connect (see --allow-origin)' }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0] ?? ''
}

/** Only browsers send an origin; apps outside of one are let in. */
function isAllowed({ headers: { origin } }: IncomingMessage, { origins, isLocal }: Admission): boolean {
  if (origin === undefined) return true
  if (origins) return origins.includes('*') || origins.includes(origin)
  const page = URL.parse(origin)
  return isLocal && page !== null && isLoopback(page.hostname)
}

const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '[::1]'])

/** An address, or the name of a page's host, that is this machine and nobody else can reach. */
export function isLoopback(name: string): boolean {
  return LOOPBACK.has(name.toLowerCase())
}

/** A peer that vanished without a word would hold its session's calls for ever. */
function watchHeart(socket: WebSocket, timers: Timers, heartbeatMs: number): () => void {
  let lives = true
  let stop = (): void => {}
  const beat = (): void => {
    if (!lives) {
      socket.terminate()
      return
    }
    lives = false
    socket.ping(() => {})
    stop = timers.start(heartbeatMs, beat)
  }
  socket.on('pong', () => {
    lives = true
  })
  stop = timers.start(heartbeatMs, beat)
  return () => stop()
}

function refuse(stream: Duplex, { status, message }: Refusal): void {
  const head = [`HTTP/1.1 ${status}`, 'connection: close', 'content-type: text/plain']
  stream.end(`${[...head, `content-length: ${Buffer.byteLength(message)}`].join('\r\n')}\r\n\r\n${message}`)
}

function socketOf(socket: WebSocket): Socket {
  // Its end follows, with a close code; without a listener the error would end the process.
  socket.on('error', () => {})
  return {
    send: (text) => {
      if (socket.readyState !== socket.OPEN) return false
      socket.send(text, () => {})
      return true
    },
    close: (code, reason) => socket.close(code, reason),
    bufferedBytes: () => socket.bufferedAmount,
    onMessage: (listener) => {
      socket.on('message', (data, isBinary) => listener(isBinary ? undefined : textOf(data)))
    },
    onClose: (listener) => {
      socket.once('close', listener)
    },
  }
}

/** `ws` checks that text is UTF-8 before it hands it out. */
function textOf(data: RawData): string {
  return Array.isArray(data) ? Buffer.concat(data).toString() : Buffer.from(data as Buffer).toString()
}

function listen(http: Server, address: string, port: number): Promise<{ url: string; port: number }> {
  return new Promise((resolve, reject) => {
    // Node would listen on every address of the machine.
    if (address.trim() === '')
      throw new BatonError({ code: 'invalid_option', message: 'the address to listen on is empty' })
    http.once('error', (cause: NodeJS.ErrnoException) => reject(listenError(cause, address, port)))
    http.listen(port, address, () => {
      const bound = http.address()
      const actual = typeof bound === 'object' && bound ? bound.port : port
      const name = address.includes(':') ? `[${address}]` : address
      resolve({ url: `ws://${name}:${actual}${PATH}`, port: actual })
    })
  })
}

function listenError(cause: NodeJS.ErrnoException, address: string, port: number): BatonError {
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} of ${address} is in use; choose another one, or 0 for a free one`,
    EACCES: `port ${port} needs rights that this process does not have; choose one above 1023`,
    EADDRNOTAVAIL: `${address} is no address of this machine`,
    ENOTFOUND: `${address} is no address of this machine`,
  }
  const message = why[cause.code ?? ''] ?? `the server cannot listen on ${address}, port ${port}: ${cause.message}`
  return new BatonError({ code: 'invalid_option', message, cause })
}
