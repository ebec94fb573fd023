// Sockets that have not requested a WebSocket yet. Their number per network address is limited: they take up places
// among the server's sockets, and nothing else counts them.
import type { Logger } from '@baton/core'
import type { Socket } from 'node:net'
import { BoundedMap } from './bounded-map.ts'
import { readAddress } from '../shared/client-address.ts'
import { deriveLimitKey } from '../shared/rate-limit.ts'

export interface UnaskedSocketsOptions {
  /** Maximum number at a time per address. */
  readonly most: number
  readonly log: Logger
}

/** Peers to remember. */
const PEERS_MAX = 1000

export class UnaskedSockets {
  readonly #init: UnaskedSocketsOptions
  /** Remote ports of open sockets, by address. */
  readonly #sockets = new Map<string, Set<number | undefined>>()
  readonly #peers = new BoundedMap<true>(PEERS_MAX)

  constructor(init: UnaskedSocketsOptions) {
    this.#init = init
  }

  /** Counts a socket, or closes it if its address has too many. */
  open(socket: Socket): void {
    const address = findKey(socket)
    const { most, log } = this.#init
    const sockets = this.#sockets.get(address) ?? new Set()
    if (sockets.size >= most && !this.#peers.get(address)) {
      log.info('a socket was closed: its address has too many idle sockets', { address, most })
      socket.destroy()
      return
    }
    const { remotePort } = socket
    sockets.add(remotePort)
    this.#sockets.set(address, sockets)
    socket.once('close', () => this.#end(address, remotePort))
  }

  /**
   * Called when it became a WebSocket, which is counted as a connection. With TLS this is a different object from the
   * opened one.
   */
  noteAsked(socket: Socket): void {
    this.#end(findKey(socket), socket.remotePort)
  }

  /** Exempts a peer: any number of apps passed on by it come from its address. */
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
