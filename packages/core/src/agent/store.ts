// Stores for session logs. A `LogStore` keeps them; an `OwnedLogStore` also decides which host may write to which. A
// session may be the root of children, which are written under it and removed with it. One contract suite (core/testing)
// runs over every implementation.
import type { ErrorCode } from '../errors.ts'
import type { SessionRecord, Snapshot } from '../machine/record.ts'

export interface LogStore {
  /**
   * Writes records at their positions, all or none, durably; for a log that is written elsewhere and copied here. A record
   * that already exists is fine. The first record of a log has position 0; the next owner's epoch exceeds those of its records.
   * A child needs a root that has a log, so a late copy cannot restore part of a removed tree.
   * @throws BatonError `store_conflict` (a position has another record; a position would be skipped; a host holds the
   * session, or its root, and alone may append; the root has no log), `illegal_input` (a child without its root, or under
   * another one), `log_damaged` (a record is invalid), `log_version_unknown`, `store_failed`
   */
  put(session: string, records: readonly SessionRecord[], under?: ChildOf): Promise<void>
  /**
   * The records from `fromPos` on, in order. If the store notices that one was altered, it yields those before it first.
   * @throws BatonError `log_damaged` (with the position), `store_failed`
   */
  read(session: string, fromPos: number): AsyncIterable<SessionRecord>
  /**
   * Every session that has a record, without children, in a fixed order chosen by the store. `after`: only sessions after
   * this name in that order, even if it was removed.
   */
  list(options?: ListOptions): AsyncIterable<StoredSession>
  /**
   * The children of a root at every depth of its tree, with or without records, in the order of `list`; read in pages. Each
   * has the holder of the root, and is never owned. A child has no children here: name its root.
   * @throws BatonError `store_failed`
   */
  children(root: string, options?: ListOptions): AsyncIterable<StoredSession>
  /**
   * Stores a whole log as read from a store; the next owner's epoch exceeds those of its records. The session then counts
   * as recoverable: it may have outstanding work. To restore a tree, restore its children under the root, then the root,
   * which makes the tree recoverable; if that fails midway, `remove` of the root removes the restored children.
   * @throws BatonError `session_exists` (it has records, or the root of a child has), `illegal_input` (a child without its
   * root, or under another one), `log_damaged` (a record is invalid, or in the place of another), `log_version_unknown`,
   * `store_failed`
   */
  restore(session: string, records: readonly SessionRecord[], under?: ChildOf): Promise<void>
  /**
   * Removes a session and everything that belongs to it, with all its children, in one transaction; afterwards, appends
   * of their former owners are refused. `owner` removes it: a session held by another owner stays. A child is removed with
   * its root.
   * @throws BatonError `session_held`, `illegal_input` (a child; the message names its root), `store_failed`
   */
  remove(session: string, owner?: string): Promise<void>
  readonly snapshots: SnapshotStore
  readonly blobs: BlobStore
  readonly entries: EntryStore
  readonly outbox: OutboxStore
  /** Whether it can store data, found out by writing where possible. Never rejects. */
  health(): Promise<StoreHealth>
  /** Absent if the store cannot tell a new host what former hosts knew of the clock. */
  readonly heartbeat?: Heartbeat
  /** May be called twice. */
  close(): Promise<void>
}

/**
 * A store in which each session has at most one owner. An owner holds the session until its lease ends, and renews it
 * before that; the epoch of each ownership locks out an owner that did not notice the end. Time is the store's own: no
 * caller passes one.
 */
export interface OwnedLogStore extends LogStore {
  /** Milliseconds that a lease lasts once granted or renewed. Infinity if there can be no other owner. */
  readonly leaseMs: number
  /**
   * Makes `owner` the session's only writer unless another owner holds it; afterwards, every earlier epoch is refused.
   * The same owner gets a new epoch. `address` tells others how to reach the owner.
   *
   * With `under`, the session is a child: it is created if it is new, and taken from its former owner, in the transaction
   * that compares `rootEpoch` with the newest epoch of the root. If they differ, or the root was removed, the answer is
   * `not-the-root` and nothing changes. An owner that lost the root therefore acquires none of its children; it may append
   * to a child that it acquired earlier until the next owner of the root acquires that child. Children have no lease: the
   * lease of the root covers all of them.
   * @throws BatonError `illegal_input` (a child without its root, or under another one; a session that has records and is
   * no child, under a root; the message says which), `store_failed`
   */
  acquire(session: string, owner: string, address?: string, under?: Under): Promise<Acquired | HeldByOther | NotTheRoot>
  /**
   * Appends records after `afterPos`, all or none, durably, and returns the new last position. The epoch decides, not the
   * lease: an owner whose lease has ended may append until another acquires the session.
   *
   * Their `entry` is stored in the same transaction. Without one, the session's entry is outdated until a host puts it.
   * A child has none.
   * @throws BatonError `store_conflict` (another epoch or position), `store_failed`
   */
  append(session: string, epoch: number, afterPos: number, records: AppendedRecords): Promise<number>
  /**
   * Extends every lease of the owner, including expired leases if no other owner has acquired the session. Renewing a
   * root is enough for its children. @throws BatonError `store_failed`
   */
  renew(owner: string): Promise<Renewal>
  /**
   * Ends an ownership. `nothing` left (the default) means no outstanding work: a starting host can skip the session.
   * With `work` left, it can be recovered at once. Does nothing for another epoch, or for a child: it is recovered
   * with its root.
   */
  release(session: string, epoch: number, left?: LeftBehind): Promise<void>
  /**
   * Lets others have a session at rest while its owner keeps it in memory. Like `release` with nothing left, but the owner
   * may take it back with `resume`. Does nothing for another epoch, or for a child. The two methods come together; without
   * them a host closes each session as soon as it rests.
   */
  rest?(session: string, epoch: number): Promise<void>
  /**
   * Takes back a session that `rest` let go, with a new lease under the same epoch. Returns whether nothing happened to it
   * meanwhile: no other owner acquired it, and it was neither written nor removed. False for a child, which is acquired
   * again under its root. @throws BatonError `store_failed`
   */
  resume?(resting: RestingSession): Promise<boolean>
  /**
   * Asks the session's holder to release it once it rests; `owner` asks. The holder's next `renew` reports it. Does
   * nothing for a child: ask for its root.
   */
  requestHandover(session: string, owner: string): Promise<void>
  /** Sessions of `list`, so no children, without a holder that were not released with nothing left. */
  listRecoverable(): AsyncIterable<StoredSession>
  /**
   * Returns a page of the sessions that a host has to open without a request: their newest `dueMs` in a record is a time. The
   * earliest is first; `after` continues a list. The store reads no clock. @throws BatonError `store_failed`
   */
  listDue(after?: DueSession): Promise<readonly DueSession[]>
}

export interface DueSession {
  readonly session: string
  /** By the wall clock, in milliseconds since 1970. */
  readonly dueMs: number
}

/** Most sessions of a page of `listDue`. */
export const DUE_ROWS = 256

/** The newest `dueMs` of these records; undefined if they do not change it. */
export function findDueChange(records: readonly SessionRecord[]): number | null | undefined {
  return records.findLast(({ dueMs }) => dueMs !== undefined)?.dueMs
}

export interface ListOptions {
  readonly after?: string
}

/** The root of a child. It is listed, recovered and removed for its whole tree. */
export interface ChildOf {
  readonly root: string
}

/** The root of a child, and the proof that the caller owns it. */
export interface Under extends ChildOf {
  /** Epoch that the caller got when it acquired the root. */
  readonly rootEpoch: number
}

/** One short text shared by all sessions, in which hosts note until when they lived. The newest one wins. */
export interface Heartbeat {
  read(): Promise<string | undefined>
  write(text: string): Promise<void>
}

/** A store for everything that a host keeps of its sessions. */
export interface Store extends OwnedLogStore {}

export interface Acquired {
  readonly type: 'acquired'
  readonly epoch: number
  /** Position of the last record; -1 for a new session. */
  readonly pos: number
  /** End of the lease; for a child, of its root's, and 0 if that was released. */
  readonly leaseUntilMs: number
}

/**
 * The caller does not own the root: another owner acquired it, or it was removed. An answer and not an error, because
 * takeovers are normal. The caller stops its work on the whole tree; trying again with the same epoch cannot succeed.
 */
export interface NotTheRoot {
  readonly type: 'not-the-root'
}

export interface HeldByOther extends Holder {
  readonly type: 'held'
}

export interface Holder {
  readonly owner: string
  /** Store time, in milliseconds since 1970. */
  readonly leaseUntilMs: number
  readonly address?: string
}

/** A session as its owner left it when it came to rest. */
export interface RestingSession {
  readonly session: string
  readonly owner: string
  readonly epoch: number
  /** Position of the last record. */
  readonly pos: number
  readonly address?: string
}

export interface Renewal {
  readonly leaseUntilMs: number
  /** Sessions of this owner that another owner asks for. */
  readonly handovers: readonly string[]
}

export type LeftBehind = 'nothing' | 'work'

/** `hint`: what the operator of the server can do. */
export type StoreHealth =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string; readonly hint: string }

export interface StoredSession {
  readonly session: string
  readonly records: number
  /** Wall-clock time of its last record. */
  readonly lastMs: number
  /** Its owner did not finish with it: it may have outstanding work. */
  readonly isOwned: boolean
  /**
   * Present if the store's notes about it were altered, so that it is not touched; a description for the operator of
   * the server.
   */
  readonly damage?: string
  /** Its current holder. Unknown to a store that only reads another process's file. */
  readonly holder?: Holder
}

/** Snapshots only save time: a lost or altered one is folded again from the log. */
export interface SnapshotStore {
  put(session: string, snapshot: Snapshot): Promise<void>
  latest(session: string): Promise<Snapshot | undefined>
}

/** Names of texts that a host derives from a log begin like this: copies, exports and imports leave them out. */
export const DERIVED_BLOBS = 'derived.'

/** Records to append. A store that passes the list on to another store passes the entry on too. */
export interface AppendedRecords extends ReadonlyArray<SessionRecord> {
  /** The session's entry after them; `same`: lists show what they showed before. */
  readonly entry?: SessionEntry | 'same'
}

/** The part of a session that lists show. Its host derives it from the state; the store does not know what it says. */
export interface SessionEntry {
  /** JSON text. */
  readonly body: string
  /** Lists that have it, and the time at which each has it. No two are equal. */
  readonly places: readonly EntryPlace[]
}

export interface EntryPlace {
  /** Name of the list. */
  readonly list: string
  /** Milliseconds, a whole number. */
  readonly atMs: number
  /** Number of the entry's part that this list shows, from 0 on. */
  readonly item: number
}

/**
 * Entries of sessions, without children, in lists by time. An entry that misses records of its log is outdated:
 * after `put` and `restore`, after an append without one, and in a store from before entries.
 */
export interface EntryStore {
  /** A page of a list. Reading it costs the page, however many entries there are. @throws BatonError `store_failed` */
  find(query: EntryQuery): Promise<readonly FoundEntry[]>
  /** The session's entry, which may be outdated; undefined if it has none. @throws BatonError `store_failed` */
  get(session: string): Promise<string | undefined>
  /** Sessions with records whose entries are outdated, in the order of `list`. @throws BatonError `store_failed` */
  outdated(options?: ListOptions): AsyncIterable<OutdatedEntry>
  /**
   * Replaces an entry that is outdated or was altered by that of the log up to `pos`, and does nothing to another one.
   * It stays outdated if the log continues. @throws BatonError `store_failed`
   */
  put(session: string, pos: number, entry: SessionEntry): Promise<void>
}

export interface EntryQuery {
  readonly list: string
  readonly order: 'newest' | 'oldest'
  /** Only entries after this place in that order, which the store named; the entry itself may be gone. */
  readonly after?: string
  /** Only entries at this time or later. */
  readonly sinceMs?: number
  /** 1 to 1,000. */
  readonly limit: number
}

export interface FoundEntry {
  readonly session: string
  /** Its place in the list, for `after`. */
  readonly place: string
  readonly atMs: number
  readonly item: number
  /** Absent if the store noticed that it was altered. */
  readonly body?: string
}

export type OutdatedEntry = Pick<StoredSession, 'session' | 'records' | 'lastMs'>

/** Large texts by session and name. */
export interface BlobStore {
  put(session: string, name: string, text: string): Promise<void>
  get(session: string, name: string): Promise<string | undefined>
  /** Names of a session's texts, sorted. */
  names(session: string): Promise<readonly string[]>
}

/**
 * Rows that hosts keep next to the logs, for messages that still have to be sent. A row has a name within its
 * session, and goes with it when that is removed. Copies, exports and imports leave rows out.
 */
export interface OutboxStore {
  /** @throws BatonError `store_failed` */
  get(session: string, name: string): Promise<string | undefined>
  /**
   * Replaces a row if its body is `was`; undefined: if there is none. Without `row`, removes it. Resolves to whether it
   * did, so of two hosts one wins. False for a session without records, and for a child. @throws BatonError `store_failed`
   */
  swap(session: string, name: string, was: string | undefined, row?: OutboxRow): Promise<boolean>
  /** A page of the rows in a list, by time, then session and name. @throws BatonError `store_failed` */
  find(query: OutboxQuery): Promise<readonly FoundRow[]>
}

export interface OutboxRow {
  /** JSON text. */
  readonly body: string
  /** Name of the list that has it. */
  readonly list: string
  /** Milliseconds since 1970, a whole number. The store reads no clock. */
  readonly atMs: number
}

export interface OutboxQuery {
  readonly list: string
  /** Only rows after this one. */
  readonly after?: RowPlace
  /** 1 to 1,000. */
  readonly limit: number
}

export interface RowPlace extends Pick<OutboxRow, 'atMs'> {
  readonly session: string
  readonly name: string
}

export interface FoundRow extends RowPlace, Pick<OutboxRow, 'body'> {}
