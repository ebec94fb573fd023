// What one connection of a version 1 app is made of, and how its app is told what went wrong.
import type { Clock, Host, Logger, Principal, Refused, Timers } from '@baton/core'
import { isBatonError } from '@baton/core'
import type { ClientFrame } from '@baton/protocol'
import { describeThrown } from '@baton/runtime'
import type { V1Limits } from './limits.ts'
import type { PeerWarnings } from './peer-warnings.ts'
import type { PeerLink, PeerOptions } from './peers.ts'
import type { Quotas } from './quotas.ts'
import type { SessionStarts } from './session-starts.ts'
import type { Socket } from '../shared/socket.ts'
import type { SessionFollower } from './v1-follower.ts'
import type { V1Rates } from './v1-rates.ts'
import type { V1Writer } from './v1-writer.ts'

export interface V1ConnectionInit {
  readonly socket: Socket
  /** Its name among the session's clients; unique for every connection there ever was. */
  readonly connection: string
  readonly host: Host
  readonly principal: Principal
  readonly clock: Clock
  readonly timers: Timers
  readonly newId: () => string
  readonly log: Logger
  readonly limits: V1Limits
  /** While true no new turn may start: the server is shutting down. */
  readonly isDraining: () => boolean
  /** Shared by the connections of a server; without them nothing is counted. */
  readonly rates?: V1Rates
  /** What `rates` and `quotas` count as the address of this connection; empty by default. */
  readonly address?: string
  readonly peers?: PeerOptions
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

/** The frames of one kind. */
export type FrameOf<Type extends ClientFrame['type']> = Extract<ClientFrame, { readonly type: Type }>

export interface ConnectionState {
  readonly init: V1ConnectionInit
  readonly writer: V1Writer
  /** Ends the wait for the first `session.start`. */
  readonly stopWaiting: () => void
  /** The app is gone. */
  readonly isGone: () => boolean
  follower: SessionFollower | undefined
  /** A peer has the session; its turns, and how long it may be idle, are the peer’s affair. */
  link: PeerLink | undefined
  /** Frames in a row that were refused unparsed. */
  refused: number
  /** The frame that began the session. */
  startText: string
  /** Set by the first `session.start`; the connection is its session's from then on. */
  sessionId: string | undefined
  /** Called when another connection has opened the session. */
  readonly wake: () => void
  /** Ends the wait for that. */
  forget: () => void
}

export function reportFailure(state: ConnectionState, cause: unknown, sessionId?: string): void {
  const { log, connection, strangersLog = log } = state.init
  const code = isBatonError(cause) ? cause.code : 'internal'
  strangersLog.warn('a frame could not be taken in', { connection, code, cause: describeThrown(cause) })
  sendError(state, code, isBatonError(cause) ? cause.message : 'the server failed', sessionId)
}

/** Errors of a turn have ids of their records; these have new ones, for no record speaks of them. */
export function sendError(state: ConnectionState, code: Refused['code'], message: string, sessionId?: string): void {
  state.writer.write(
    state.init.newId(),
    { type: 'error', payload: { code, message } },
    state.sessionId ?? sessionId ?? 'none',
  )
}
