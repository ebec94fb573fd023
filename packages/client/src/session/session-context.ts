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
  /** The session is followed, and what was missed has been read: what waits is sent, and calls stand as they are now. */
  readonly isLive: boolean
  readonly isClosed: boolean
  readonly ask: Wire['ask']
  /** Called when the shown state has changed. */
  publish(): void
  /** Whether it stays: until there is a connection again, or for as long as the server says; then `again` is called. */
  putOff(retried: Retried, error: ClientError, again: () => void): boolean
  /** Tells what went wrong beside a request. */
  complain(error: ClientError): void
}

export interface Retried {
  retries: number
  stopTimer?: () => void
}
