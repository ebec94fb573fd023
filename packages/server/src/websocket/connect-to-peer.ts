// Passes a connection on to the peer that holds its session and runs its turns.
import type { Timers } from '@baton/core/internal'
import { WebSocket } from 'ws'
import { PATH } from './admission.ts'
import type { ConnectionLimits } from './limits.ts'
import type { NoLink, PeerClient } from '../shared/peer-identity.ts'
import { BAD_ADDRESS, CONNECT_MS, createPeerHeaders, describeRefusal, findAtPeer } from '../shared/peer-identity.ts'
import type { Socket } from '../shared/socket.ts'
import { CLOSE_CODES } from '../shared/socket.ts'
import { decodeText, Heart } from './ws-socket.ts'

export interface PeerLinkOptions extends PeerClient {
  /** Address of the peer that holds the session. */
  readonly address: string
  readonly secret: string
  /** The client's connection. Closed when the peer closes. */
  readonly socket: Socket
  readonly limits: Pick<ConnectionLimits, 'outgoingBytes'>
  readonly timers: Timers
  /** The subprotocol for the peer; version 1 if absent. */
  readonly protocol?: string
  /** Filters the peer's frames for the client; all by default. */
  readonly isPassed?: (text: string) => boolean
}

export interface PeerLink {
  /** Passes a client's frame on. */
  send(text: string): void
  /** Closes the link when the client has disconnected or left the session; the client's own connection stays open. */
  close(): void
}

/** The peer has 3 s to accept the connection. */
export function connectToPeer(init: PeerLinkOptions): Promise<PeerLink | NoLink> {
  const { address, secret, limits, protocol } = init
  const url = findAtPeer(PATH, address)
  if (!url) return Promise.resolve(BAD_ADDRESS)
  const peer = new WebSocket(url, protocol ?? [], {
    handshakeTimeout: CONNECT_MS,
    maxPayload: limits.outgoingBytes,
    perMessageDeflate: false,
    headers: createPeerHeaders(secret, init),
  })
  return new Promise((resolve) => {
    peer.on('error', (cause) => resolve({ why: cause.message, problem: 'address' })) // `close` follows
    peer.once('unexpected-response', (request, { statusCode }) => {
      resolve(describeRefusal(statusCode))
      request.destroy()
    })
    peer.once('open', () => resolve(joinSockets(peer, init)))
  })
}

/** Milliseconds between pings to a peer; a peer that has not answered the previous ping is disconnected. */
const PEER_LIVES_MS = 4000

function joinSockets(peer: WebSocket, { socket, limits, timers, isPassed }: PeerLinkOptions): PeerLink {
  const heart = new Heart(peer, timers, { everyMs: PEER_LIVES_MS, isBackground: true })
  let isLeft = false
  peer.once('close', () => heart.stop())
  peer.on('message', (data, isBinary) => {
    if (isBinary || isLeft) return
    const text = decodeText(data)
    if (isPassed && !isPassed(text)) return
    socket.send(text)
    if (socket.bufferedBytes() <= limits.outgoingBytes) return
    socket.close(CLOSE_CODES.tooSlow, 'too many bytes are waiting to be sent')
    peer.close()
  })
  // Codes that are never sent (1005, 1006) mean that the peer died: the app reconnects, to another one.
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
