// Dependencies of a connection, for both protocol versions.
import type { Logger } from '@baton/core'
import type { HostWithSessions } from '../shared/host-with-sessions.ts'
import type { AcpParts } from './options.ts'

export interface ConnectionOptions {
  readonly host: HostWithSessions
  readonly parts: AcpParts
  /** Whether the client belongs to this user and runs on this machine. */
  readonly isLocal: boolean
  readonly log: Logger
}

/** An open connection, as its server sees it. */
export interface AcpConnection {
  /** Whether a prompt is being answered. */
  isBusy(): boolean
  /** The session in which a prompt is being answered. */
  busySession(): string | undefined
  /** Releases all sessions. Their turns continue. Never rejects. */
  leave(): Promise<void>
}

/** An SDK app for one connection. */
export interface AcpApp<App> {
  readonly app: App
  readonly connection: AcpConnection
}
