// Dependencies of an app's connection, for both protocol versions.
import type { Clock, Host, Logger, Principal, Timers } from '@baton/core/internal'
import type { Socket } from '../shared/socket.ts'
import type { ConnectionRates } from './connection-rates.ts'
import type { ConnectionLimits } from './limits.ts'
import type { PeerOptions } from '../shared/peer-identity.ts'
import type { PeerWarnings } from '../shared/peer-warnings.ts'
import type { connectToPeer } from './connect-to-peer.ts'
import type { Quotas } from './quotas.ts'
import type { SessionStarts } from './session-starts.ts'

export interface AppConnectionOptions {
  readonly socket: Socket
  /** Its name among the session's clients, unique across all connections ever made. */
  readonly connection: string
  readonly host: Host
  readonly principal: Principal
  readonly clock: Clock
  readonly timers: Timers
  readonly newId: () => string
  readonly log: Logger
  readonly limits: ConnectionLimits
  /** Whether the server is shutting down, so that no new turn may start. */
  readonly isDraining: () => boolean
  /** Shared by a server's connections; without them nothing is counted. */
  readonly rates?: ConnectionRates
  /** The address that `rates` and `quotas` count for this connection. Default: empty. */
  readonly address?: string
  readonly peers?: PeerOptions
  /** Connects to a peer. Default: over a WebSocket. */
  readonly reachPeer?: typeof connectToPeer
  /** Shared by a server's connections. */
  readonly peerWarnings?: PeerWarnings
  /** The app's network address, as passed on to a peer. */
  readonly client?: string
  /** Whether a peer passed this connection on; it is not passed on again. */
  readonly isFromPeer?: boolean
  /** Shared by a server's connections; without them nothing is counted. */
  readonly quotas?: Quotas
  /**
   * Whether the host has a session of this name. With it, the first message creates a session, so that an app which
   * only connects leaves none; without it, `session.start` does. `starts` is shared by a server's connections.
   */
  readonly hasSession?: (session: string) => Promise<boolean>
  readonly starts?: SessionStarts
  /** Whether `quotas` count by principal too. */
  readonly countsPrincipal?: boolean
  /** Log for lines that strangers can cause. Default: `log`. */
  readonly strangersLog?: Logger
}
