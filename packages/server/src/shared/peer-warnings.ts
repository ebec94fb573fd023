// Log messages for the operator of several servers that cannot reach each other. Every client fails in the same way, so
// each problem of a peer is logged at most once a minute.
import type { Clock, Logger } from '@baton/core/internal'
import type { NoLink, PeerProblem } from './peer-identity.ts'
import type { RateLimit } from './rate-limit.ts'
import { createRateLimit } from './rate-limit.ts'

/** Number of problems that the log limit remembers. */
const PEERS_MAX = 1000

const CHECKS: Readonly<Record<PeerProblem, string>> = {
  address: 'the address that the peer publishes (--peer-address) must lead to it from this machine',
  secret: 'the secret of the peers (BATON_PEER_SECRET) must be the same on all servers of the store',
  client:
    'all servers of the store must run the same version, and nothing between them may change the header x-baton-client',
}

export class PeerWarnings {
  readonly #log: Logger
  readonly #told: RateLimit

  constructor(log: Logger, clock: Clock) {
    this.#log = log
    this.#told = createRateLimit({ perMinute: 1, clock, keysMax: PEERS_MAX })
  }

  /** Logs that nothing could be passed on to the peer at this address. */
  noteUnreachable(peer: string, { why, problem }: NoLink): void {
    const data = { peer, cause: why, check: CHECKS[problem] }
    this.#tell(`to ${peer} ${problem}`, 'the server that holds a session cannot be reached', data)
  }

  /** Logs that a client at this address claimed to be a peer but did not present the secret. */
  noteStranger(address: string): void {
    const data = { address, check: CHECKS.secret }
    this.#tell(`from ${address} secret`, 'a server that is not a peer of this one was refused', data)
  }

  /** Logs that a peer at this address identified its client in a form that this server does not know. */
  noteUnreadable(address: string): void {
    const data = { address, check: CHECKS.client }
    this.#tell(`from ${address} client`, 'a peer was refused because its header for the client cannot be read', data)
  }

  #tell(key: string, message: string, data: object): void {
    if (this.#told.take(key) === 0) this.#log.warn(message, { ...data })
  }
}
