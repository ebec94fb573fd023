// Parts of an app's connection, whatever version it speaks.
import type { Clock, Host, Logger, Principal, Timers } from '@baton/core'
import type { Socket } from '../shared/socket.ts'
import type { ConnectionRates } from './connection-rates.ts'
import type { ConnectionLimits } from './limits.ts'
import type { PeerOptions } from '../shared/peer-identity.ts'
import type { PeerWarnings } from '../shared/peer-warnings.ts'
import type { connectToPeer } from './connect-to-peer.ts'
import type { Quotas } from './quotas.ts'
import type { SessionStarts } from './session-starts.ts'

export interface AppConnectionInit {
  readonly socket: Socket
  /** Its name among the session's clients; unique for every connection there ever was. */
  readonly connection: string
  readonly host: Host
  readonly principal: Principal
  readonly clock: Clock
  readonly timers: Timers
  readonly newId: () => string
  readonly log: Logger
  readonly limits: ConnectionLimits
  /** While true no new turn may start: the server is shutting down. */
  readonly isDraining: () => boolean
  /** Shared by the connections of a server; without them nothing is counted. */
  readonly rates?: ConnectionRates
  /** The address as which `rates` and `quotas` count this connection; empty by default. */
  readonly address?: string
  readonly peers?: PeerOptions
  /** Connects to a peer; over a WebSocket by default. */
  readonly reachPeer?: typeof connectToPeer
  /** Shared by the connections of a server. */
  readonly peerWarnings?: PeerWarnings
  /** The network address of the app; told to a peer. */
  readonly client?: string
  /** A peer passed this connection on; it is not passed on again. */
  readonly isFromPeer?: boolean
  /** Shared by the connections of a server; without them nothing is counted. */
  readonly quotas?: Quotas
  /**
   * Whether the host has a session of this name. With it a session is made by the first thing that is said, so that an app
   * which only connects leaves none; without it, by `session.start`. `starts` is shared by the connections of a server.
   */
  readonly hasSession?: (session: string) => Promise<boolean>
  readonly starts?: SessionStarts
  /** Whether `quotas` count by the principal too. */
  readonly countsPrincipal?: boolean
  /** For lines that strangers cause; `log` by default. */
  readonly strangersLog?: Logger
}
