// Where a host keeps the logs of its sessions. One contract suite (core/testing) runs over every implementation.
import type { SessionRecord, Snapshot } from '../machine/record.ts'

export interface Store {
  /** Makes `owner` the session's only writer. Every earlier owner's appends are refused from now on. */
  acquire(session: string, owner: string): Promise<{ readonly epoch: number; readonly pos: number }>
  /**
   * Appends records after `afterPos`, all or none, durably, and gives the new last position.
   * @throws BatonError `store_conflict` (another epoch or position), `store_failed`
   */
  append(session: string, epoch: number, afterPos: number, records: readonly SessionRecord[]): Promise<number>
  /**
   * Says that nothing of the session is outstanding and its owner is done with it: a host that starts need not look at it.
   * Of another epoch it does nothing.
   */
  release(session: string, epoch: number): Promise<void>
  /** The records from `fromPos` on, in order. */
  read(session: string, fromPos: number): AsyncIterable<SessionRecord>
  /** Every session that has a record, in the order of their names. */
  list(): AsyncIterable<StoredSession>
  /**
   * Puts a whole log in place, as it was read from a store; the next owner's epoch is above those of its records.
   * @throws BatonError `session_exists`, `store_failed`
   */
  restore(session: string, records: readonly SessionRecord[]): Promise<void>
  /** Removes a session with all that belongs to it; its owner's appends are refused from now on. */
  remove(session: string): Promise<void>
  readonly snapshots: SnapshotStore
  readonly blobs: BlobStore
  close(): Promise<void>
}

export interface StoredSession {
  readonly session: string
  readonly records: number
  /** Time of its last record. */
  readonly lastMs: number
  /** Its owner was not done with it: something may be outstanding. */
  readonly isOwned: boolean
}

/** A snapshot only saves time: a lost one is folded again from the log. */
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
