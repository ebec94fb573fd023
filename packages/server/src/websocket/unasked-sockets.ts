// Sockets on which nobody has asked for a WebSocket yet. A network address has a bound of them too: they cost a place among the
// server's sockets like others, and nothing else counts them.
import type { Logger } from '@baton/core'
import type { Socket } from 'node:net'
import { BoundedMap } from './bounded-map.ts'
import { readAddress } from '../shared/client-address.ts'
import { deriveLimitKey } from '../shared/limit-key.ts'

export interface UnaskedSocketsInit {
  /** At once, of one address. */
  readonly most: number
  readonly log: Logger
}

/** Peers that are remembered. */
const PEERS_MAX = 1000

export class UnaskedSockets {
  readonly #init: UnaskedSocketsInit
  /** By address; of each socket the port of its other end. */
  readonly #sockets = new Map<string, Set<number | undefined>>()
  readonly #peers = new BoundedMap<true>(PEERS_MAX)

  constructor(init: UnaskedSocketsInit) {
    this.#init = init
  }

  /** Counts a socket, or ends it where its address has too many. */
  open(socket: Socket): void {
    const address = findKey(socket)
    const { most, log } = this.#init
    const sockets = this.#sockets.get(address) ?? new Set()
    if (sockets.size >= most && !this.#peers.get(address)) {
      log.info('a socket was closed: its address has too many that ask for nothing', { address, most })
      socket.destroy()
      return
    }
    const { remotePort } = socket
    sockets.add(remotePort)
    this.#sockets.set(address, sockets)
    socket.once('close', () => this.#end(address, remotePort))
  }

  /** It became a WebSocket, which is counted as a connection. With TLS it is another object than the one that was opened. */
  noteAsked(socket: Socket): void {
    this.#end(findKey(socket), socket.remotePort)
  }

  /** Apps that a peer passes on come from its address, in any number. */
  notePeer(socket: Socket): void {
    this.#peers.set(findKey(socket), true)
  }

  #end(address: string, port: number | undefined): void {
    const sockets = this.#sockets.get(address)
    sockets?.delete(port)
    if (sockets?.size === 0) this.#sockets.delete(address)
  }
}

function findKey({ remoteAddress = '' }: Socket): string {
  return deriveLimitKey(readAddress(remoteAddress))
}
