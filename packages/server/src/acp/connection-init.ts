// Parts that a connection of either version is given.
import type { Logger } from '@baton/core'
import type { HostWithSessions } from '../shared/host-with-sessions.ts'
import type { AcpParts } from './options.ts'

export interface ConnectionInit {
  readonly host: HostWithSessions
  readonly parts: AcpParts
  /** The client belongs to this user and runs on this machine. */
  readonly isLocal: boolean
  readonly log: Logger
}

/** An open connection, as its server sees it. */
export interface AcpConnection {
  /** A prompt is being answered. */
  isBusy(): boolean
  /** The session in which a prompt is being answered. */
  busySession(): string | undefined
  /** Lets go of all sessions. Their turns go on. Never rejects. */
  leave(): Promise<void>
}

/** An app of the SDK for one connection. */
export interface AcpApp<App> {
  readonly app: App
  readonly connection: AcpConnection
}
