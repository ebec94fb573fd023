// Messages and results that a server has not acknowledged yet, kept over connections and, if the storage allows, beyond
// the app's own end.
import type { CallOutcome, Requests } from '@baton/protocol'

/** Requests with their own id: sent again, they have no effect twice. */
export type InputRequest = {
  readonly [Type in 'input.send' | 'input.hear' | 'input.notify' | 'input.rewind']: {
    readonly type: Type
    readonly given: Requests[Type]['given']
  }
}['input.send' | 'input.hear' | 'input.notify' | 'input.rewind']

export type OutboxEntry = {
  /** Id of the input or the call. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly atMs: number
} & (
  | ({ readonly kind: 'input' } & InputRequest)
  /** `device`: the copy of the app that claimed the call. */
  | { readonly kind: 'result'; readonly outcome: CallOutcome; readonly device: string }
)

export interface OutboxOptions {
  /** The server and the session. Entries of other scopes belong to other sessions. */
  readonly scope: string
  /** Entries left by former copies of the app, oldest first. They now belong to this copy. */
  readonly onLeft: (entries: readonly OutboxEntry[]) => void
  /** The outbox no longer stores anything; the app continues without it. */
  readonly onBroken: (cause: unknown) => void
}

/** Storage of entries. None of its methods throws, and effects happen in the order of calls. */
export interface Outbox {
  /** Joins as one running copy of the app. */
  join(init: OutboxOptions): OutboxPlace
}

export interface OutboxPlace {
  /** Saves the entry, replacing an entry with the same kind and id. */
  save(entry: OutboxEntry): void
  remove(kind: OutboxEntry['kind'], id: string): void
  /** Ends this copy: another one takes over its entries. Settles when everything saved and removed is done. */
  leave(): Promise<void>
}
