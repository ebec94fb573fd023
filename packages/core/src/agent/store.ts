// Stores for the logs of sessions. A `LogStore` keeps them; an `OwnedLogStore` also says which host may write to which.
// One contract suite (core/testing) runs over every implementation.
import type { ErrorCode } from '../errors.ts'
import type { SessionRecord, Snapshot } from '../machine/record.ts'

export interface LogStore {
  /**
   * Puts records by their positions, all or none, durably; for a log that is written elsewhere and kept here. A record that
   * is there already is fine. The first one of a log has position 0; the next owner's epoch is above those of its records.
   * @throws BatonError `store_conflict` (another record stands at a position; a position would be left out; a host holds the
   * session, which alone may add to it), `log_damaged` (one is no record), `log_version_unknown`, `store_failed`
   */
  put(session: string, records: readonly SessionRecord[]): Promise<void>
  /**
   * The records from `fromPos` on, in order. Where the store notices that one is not what was written, it gives those before.
   * @throws BatonError `log_damaged` (with the position), `store_failed`
   */
  read(session: string, fromPos: number): AsyncIterable<SessionRecord>
  /**
   * Every session that has a record, in an order of the store's own that never changes. `after`: those that come after the
   * session of this name in that order, also where it is gone.
   */
  list(options?: ListOptions): AsyncIterable<StoredSession>
  /**
   * Puts a whole log in place, as it was read from a store; the next owner's epoch is above those of its records. It is
   * recoverable from then on: something may be outstanding in it.
   * @throws BatonError `session_exists`, `log_damaged` (one is no record), `log_version_unknown`, `store_failed`
   */
  restore(session: string, records: readonly SessionRecord[]): Promise<void>
  /**
   * Removes a session with all that belongs to it; every append of its former owners is refused from then on. `owner`
   * removes it: where somebody else holds the session, it stays.
   * @throws BatonError `session_held`, `store_failed`
   */
  remove(session: string, owner?: string): Promise<void>
  readonly snapshots: SnapshotStore
  readonly blobs: BlobStore
  /** Whether it can keep what it is given, found out by trying where that is possible. Never rejects. */
  health(): Promise<StoreHealth>
  /** Absent: whoever opens the store does not learn what its former hosts knew of the clock. */
  readonly heartbeat?: Heartbeat
  /** May be called twice. */
  close(): Promise<void>
}

/**
 * Each session has one owner at a time. It owns the session until its lease ends, and renews it before; the epoch of each
 * ownership keeps out whoever did not notice its end. Time is the store's own: no caller passes one.
 */
export interface OwnedLogStore extends LogStore {
  /** Milliseconds from the moment a lease is given or renewed to its end. Infinity where nobody else can own anything. */
  readonly leaseMs: number
  /**
   * Makes `owner` the session's only writer, where nobody else holds it; every earlier epoch is refused from then on. The
   * same owner gets a new epoch. `address` is where others reach the owner.
   * @throws BatonError `store_failed`
   */
  acquire(session: string, owner: string, address?: string): Promise<Acquired | HeldByOther>
  /**
   * Appends records after `afterPos`, all or none, durably, and gives the new last position. The epoch decides, not the
   * lease: an owner whose lease has ended may append until the next one acquires the session.
   * @throws BatonError `store_conflict` (another epoch or position), `store_failed`
   */
  append(session: string, epoch: number, afterPos: number, records: readonly SessionRecord[]): Promise<number>
  /**
   * Prolongs every lease of the owner, also one that has ended and whose session nobody has acquired since.
   * @throws BatonError `store_failed`
   */
  renew(owner: string): Promise<Renewal>
  /**
   * Ends an ownership. With `nothing` left, the default, nothing of the session is outstanding: a host that starts need not
   * look at it. With `work` left, it can be recovered at once. Of another epoch it does nothing.
   */
  release(session: string, epoch: number, left?: LeftBehind): Promise<void>
  /** Asks whoever holds the session to release it as soon as it rests; `owner` asks. Told by the holder's next `renew`. */
  requestHandover(session: string, owner: string): Promise<void>
  /** The sessions of `list` that were not released with nothing left, and that nobody holds. */
  listRecoverable(): AsyncIterable<StoredSession>
}

export interface ListOptions {
  readonly after?: string
}

/** One short text beside all sessions, in which hosts note until when they lived. The newest one stands. */
export interface Heartbeat {
  read(): Promise<string | undefined>
  write(text: string): Promise<void>
}

/** A store for all that a host keeps of its sessions. */
export type Store = OwnedLogStore

export interface Acquired {
  readonly type: 'acquired'
  readonly epoch: number
  /** Position of the last record; -1 for a new session. */
  readonly pos: number
  readonly leaseUntilMs: number
}

export interface HeldByOther extends Holder {
  readonly type: 'held'
}

export interface Holder {
  readonly owner: string
  /** By the store's clock: milliseconds since 1970. */
  readonly leaseUntilMs: number
  readonly address?: string
}

export interface Renewal {
  readonly leaseUntilMs: number
  /** Sessions of this owner that somebody else asks for. */
  readonly handovers: readonly string[]
}

export type LeftBehind = 'nothing' | 'work'

/** `hint`: what whoever runs the server can do. */
export type StoreHealth =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string; readonly hint: string }

export interface StoredSession {
  readonly session: string
  readonly records: number
  /** Time of its last record, by the wall clock. */
  readonly lastMs: number
  /** Its owner was not done with it: something may be outstanding. */
  readonly isOwned: boolean
  /** Present: what the store notes of it is not what was written, so it is left alone; in words for whoever runs the server. */
  readonly damage?: string
  /** Who holds it now. A store that only looks at another process's file does not know. */
  readonly holder?: Holder
}

/** A snapshot only saves time: a lost one, or one that is not what was put, is folded again from the log. */
export interface SnapshotStore {
  put(session: string, snapshot: Snapshot): Promise<void>
  latest(session: string): Promise<Snapshot | undefined>
}

/** Large texts under their session and name. */
export interface BlobStore {
  put(session: string, name: string, text: string): Promise<void>
  get(session: string, name: string): Promise<string | undefined>
  /** Names of a session's texts, sorted. */
  names(session: string): Promise<readonly string[]>
}
