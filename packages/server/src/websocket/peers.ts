// Servers that share a store are peers: a connection whose session a peer holds is passed on to that peer, which runs its
// turns. A secret that the peers share says that a connection comes from a peer; what a peer says of its client is believed.
import type { Principal, Timers } from '@baton/core'
import { BatonError, isJsonObject, parseJson } from '@baton/core'
import type { IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import { isSameSecret, PATH } from './admission.ts'
import type { ConnectionLimits } from './limits.ts'
import type { Socket } from '../shared/socket.ts'
import { CLOSE_CODES } from '../shared/socket.ts'
import { decodeText } from './text-frames.ts'

export interface PeerOptions {
  /** The address at which peers reach this server, without a path: `ws://10.0.0.5:8080`. Give the host the same `address`. */
  readonly address: string
  /** A secret of at least 16 characters that only the peers know. */
  readonly secret: string
}

/** Who a connection of a peer speaks for. */
export interface PeerClient {
  readonly principal: Principal
  /** The network address of the client, as the peer saw it. */
  readonly client: string
}

const SECRET_HEADER = 'x-baton-peer'
const CLIENT_HEADER = 'x-baton-client'
/** Characters that a secret has at least. */
const SECRET_CHARS = 16
/** The HTTP status that a peer with a different secret answers with. */
const UNAUTHORIZED = 401
/** The one of a peer that cannot read who is passed on: no app's first request is answered with it. */
const UNREADABLE = 422
/** Milliseconds that a peer has to take a connection. */
const CONNECT_MS = 3000

/** @throws BatonError `invalid_option` */
export function checkPeers({ address, secret }: PeerOptions): void {
  const url = URL.parse(address)
  if (!url || !/^wss?:$/.test(url.protocol) || url.username !== '' || url.pathname !== '/')
    throw new BatonError({
      code: 'invalid_option',
      message: `the address for peers must be like ws://10.0.0.5:8080, not ${JSON.stringify(address)}`,
    })
  if (secret.length < SECRET_CHARS || !/^[\x21-\x7e]+$/.test(secret))
    throw new BatonError({
      code: 'invalid_option',
      message: `the secret of the peers must have at least ${SECRET_CHARS} visible ASCII characters, not ${secret.length}`,
    })
}

/** Whether the other end says that it is a peer. */
export function claimsToBePeer({ headers }: IncomingMessage): boolean {
  return headers[SECRET_HEADER] !== undefined
}

/** Undefined for a connection that does not come from a peer; `unreadable` for a peer that does not tell who its client is. */
export function readPeer({ headers }: IncomingMessage, { secret }: PeerOptions): PeerClient | 'unreadable' | undefined {
  const given = headers[SECRET_HEADER]
  if (typeof given !== 'string' || !isSameSecret(given, secret)) return undefined
  const parsed = parseJson(Buffer.from(String(headers[CLIENT_HEADER]), 'base64url').toString())
  const { principal, client } = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {}
  if (!isJsonObject(principal) || typeof principal['id'] !== 'string' || typeof client !== 'string') return 'unreadable'
  return { principal: { ...principal, id: principal['id'] }, client }
}

export interface PeerLinkInit extends PeerClient {
  /** Of the peer that holds the session. */
  readonly address: string
  readonly secret: string
  /** The client's connection. Closed when the peer closes. */
  readonly socket: Socket
  readonly limits: Pick<ConnectionLimits, 'outgoingBytes'>
  readonly timers: Timers
  /** The subprotocol that the peer is to speak; absent: version 1. */
  readonly protocol?: string
  /** Which frames of the peer the client gets; all by default. */
  readonly isPassed?: (text: string) => boolean
}

export interface PeerLink {
  /** Passes a frame of the client on. */
  send(text: string): void
  /** The client is gone, or has left the session; its own connection stays as it is. */
  close(): void
}

/** Why there is no link to a peer. */
export interface NoLink {
  readonly why: string
  /** What is to be checked: `secret`: it was reached, and did not take this server for its peer; `client`: nor who is passed on. */
  readonly problem: 'address' | 'secret' | 'client'
}

/** The peer has 3 s to take the connection. */
export function connectToPeer(init: PeerLinkInit): Promise<PeerLink | NoLink> {
  const { address, secret, principal, client, limits, protocol } = init
  const about: PeerClient = { principal, client }
  // It was published by the other server, which may have checked less than this one.
  const url = URL.parse(PATH, address)
  if (!url || !/^wss?:$/.test(url.protocol))
    return Promise.resolve({ why: 'its address is none of a WebSocket', problem: 'address' })
  const peer = new WebSocket(url, protocol ?? [], {
    handshakeTimeout: CONNECT_MS,
    maxPayload: limits.outgoingBytes,
    perMessageDeflate: false,
    headers: {
      [SECRET_HEADER]: secret,
      [CLIENT_HEADER]: Buffer.from(JSON.stringify(about)).toString('base64url'),
    },
  })
  return new Promise((resolve) => {
    peer.on('error', (cause) => resolve({ why: cause.message, problem: 'address' })) // its close follows
    peer.once('unexpected-response', (request, { statusCode }) => {
      const problem = statusCode === UNAUTHORIZED ? 'secret' : statusCode === UNREADABLE ? 'client' : 'address'
      resolve({ why: `it answered with status ${statusCode}`, problem })
      request.destroy()
    })
    peer.once('open', () => resolve(joinSockets(peer, init)))
  })
}

/** Milliseconds between two questions whether a peer lives; one that has not answered the last one by then is left. */
const PEER_LIVES_MS = 4000

function joinSockets(peer: WebSocket, { socket, limits, timers, isPassed }: PeerLinkInit): PeerLink {
  let lives = true
  let isLeft = false
  const look = (): void => {
    if (!lives) {
      peer.terminate()
      return
    }
    lives = false
    peer.ping(() => {})
    stopLooking = timers.start(PEER_LIVES_MS, look, { isBackground: true })
  }
  let stopLooking = timers.start(PEER_LIVES_MS, look, { isBackground: true })
  peer.on('pong', () => {
    lives = true
  })
  peer.once('close', () => stopLooking())
  peer.on('message', (data, isBinary) => {
    if (isBinary || isLeft) return
    const text = decodeText(data)
    if (isPassed && !isPassed(text)) return
    socket.send(text)
    if (socket.bufferedBytes() <= limits.outgoingBytes) return
    socket.close(CLOSE_CODES.tooSlow, 'too much waits to be sent')
    peer.close()
  })
  // Codes that only an endpoint itself may see (1005, 1006) mean that the peer died: the app comes back, and to another one.
  peer.on('close', (code, reason) => {
    if (isLeft) return
    if (isSendable(code)) socket.close(code, String(reason))
    else socket.close(CLOSE_CODES.restarted, 'connect again')
  })
  return {
    send: (text) => {
      if (peer.readyState !== peer.OPEN) return
      if (peer.bufferedAmount > limits.outgoingBytes) peer.terminate()
      else peer.send(text)
    },
    close: () => {
      isLeft = true
      peer.close(CLOSE_CODES.goingAway)
    },
  }
}

/** RFC 6455 §7.4: 1004 to 1006 and 1015 are never sent. */
function isSendable(code: number): boolean {
  return (code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)) || code >= 3000
}
