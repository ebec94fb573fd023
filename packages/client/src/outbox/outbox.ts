// Messages and results of an app that a server has not acknowledged yet: kept until it has, over connections and, where the
// place allows, over the app's own end.
import type { CallOutcome, Requests } from '@baton/protocol'

/** Requests with an id of their own: if they are sent again, nothing happens twice. */
export type InputRequest = {
  readonly [Type in 'input.send' | 'input.hear' | 'input.notify' | 'input.rewind']: {
    readonly type: Type
    readonly given: Requests[Type]['given']
  }
}['input.send' | 'input.hear' | 'input.notify' | 'input.rewind']

export type OutboxEntry = {
  /** The input's id, or the call's. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly atMs: number
} & (
  | ({ readonly kind: 'input' } & InputRequest)
  /** `device`: which copy of the app claimed the call. */
  | { readonly kind: 'result'; readonly outcome: CallOutcome; readonly device: string }
)

export interface OutboxInit {
  /** The server and the session. Entries of other scopes belong to other sessions. */
  readonly scope: string
  /** Entries that former copies of the app have left, oldest first. From now on they belong to this copy. */
  readonly onLeft: (entries: readonly OutboxEntry[]) => void
  /** The outbox keeps nothing any more; the app continues without it. */
  readonly onBroken: (cause: unknown) => void
}

/** Storage of entries. None of its methods throws, and the order of calls is the order of effects. */
export interface Outbox {
  /** Joins as one running copy of the app. */
  join(init: OutboxInit): OutboxPlace
}

export interface OutboxPlace {
  /** Keeps the entry, and replaces one of the same kind and id. */
  save(entry: OutboxEntry): void
  remove(kind: OutboxEntry['kind'], id: string): void
  /** This copy is gone: another one takes over what it leaves. Settles when all that was saved and removed is done. */
  leave(): Promise<void>
}
