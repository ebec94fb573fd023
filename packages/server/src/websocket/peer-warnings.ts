// What an operator of several servers is told when they do not find each other. Every app that comes fails in the same way, so
// each peer is told of once, until it can be reached again.
import type { Logger } from '@baton/core'
import { BoundedMap } from './bounded-map.ts'
import type { NoLink } from './peers.ts'

/** Peers of which it is remembered what was told. */
const PEERS_MAX = 1000

const CHECKS: Readonly<Record<NoLink['problem'], string>> = {
  address: 'the address that the peer publishes (--peer-address) must lead to it from this machine',
  secret: 'the secret of the peers (BATON_PEER_SECRET) must be the same on all servers of the store',
  client:
    'all servers of the store must run the same version, and nothing between them may change the header x-baton-client',
}

export class PeerWarnings {
  readonly #log: Logger
  readonly #told = new BoundedMap<string>(PEERS_MAX)

  constructor(log: Logger) {
    this.#log = log
  }

  /** No connection could be passed on to the peer at this address. */
  noteUnreachable(peer: string, { why, problem }: NoLink): void {
    this.#tell(`to ${peer}`, problem, () =>
      this.#log.warn('the server that holds a session cannot be reached', {
        peer,
        cause: why,
        check: CHECKS[problem],
      }),
    )
  }

  noteReached(peer: string): void {
    this.#told.take(`to ${peer}`)
  }

  /** A client at this address claims to be a peer but does not present the secret. */
  noteStranger(address: string): void {
    this.#tell(`from ${address}`, 'secret', () =>
      this.#log.warn('a server that is no peer of this one was refused', { address, check: CHECKS.secret }),
    )
  }

  /** A peer at this address does not say for whom it speaks in words that this server knows. */
  noteUnreadable(address: string): void {
    this.#tell(`from ${address}`, 'client', () =>
      this.#log.warn('a connection of a peer was refused, because it cannot be read whose it is', {
        address,
        check: CHECKS.client,
      }),
    )
  }

  #tell(key: string, what: string, write: () => void): void {
    if (this.#told.get(key) === what) return
    this.#told.set(key, what)
    write()
  }
}
