// Context that the parts of an opened session share.
import type { ClientError } from '../client-error.ts'
import type { Listeners } from '../listeners.ts'
import type { OutboxPlace } from '../outbox/outbox.ts'
import type { Wire } from '../wire.ts'
import type { World } from '../world.ts'
import type { SessionClientEvents } from './session-client.ts'
import type { SessionView } from './session-view.ts'

export interface SessionContext {
  readonly world: World
  readonly listeners: Listeners<SessionClientEvents & { readonly change: undefined }>
  readonly view: SessionView
  readonly place: OutboxPlace
  /**
   * The session is followed, and missed events have been read: waiting messages are sent, and calls have their current
   * state.
   */
  readonly isLive: boolean
  readonly isClosed: boolean
  readonly ask: Wire['ask']
  /** Called when the shown state has changed. */
  publish(): void
  /** Whether it is kept until the connection is back, or for the time that the server names; then `again` is called. */
  putOff(retried: Retried, error: ClientError, again: () => void): boolean
  /** Reports an error outside a request. */
  complain(error: ClientError): void
}

export interface Retried {
  retries: number
  stopTimer?: () => void
}
