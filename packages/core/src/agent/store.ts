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
  /** The records from `fromPos` on, in order. */
  read(session: string, fromPos: number): AsyncIterable<SessionRecord>
  readonly snapshots: SnapshotStore
  readonly blobs: BlobStore
  close(): Promise<void>
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
}
