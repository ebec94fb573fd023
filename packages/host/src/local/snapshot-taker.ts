// Snapshots of one session, so that it can be opened without reading its whole log.
import type { Logger } from '@baton/core'
import type { History, Snapshot, State } from '@baton/core/machine'
import { takeSnapshot } from '@baton/core/machine'
import { describeThrown } from '@baton/runtime'
import type { LimitedStore } from './store-in-time.ts'

export interface SnapshotTakerOptions {
  readonly store: LimitedStore
  readonly session: string
  readonly log: Logger
  /** Records between two snapshots of a busy session. */
  readonly snapshotRecords: number
}

export const SNAPSHOT_RECORDS = 256
/** A session at rest is worth a snapshot after this fraction of a busy session's records. */
const REST_PART = 8

export class SnapshotTaker {
  /** Position of the first commit that makes a busy session worth a snapshot. */
  dueAtPos: number
  readonly #init: SnapshotTakerOptions
  #lastPos = -1
  /** The newest write; it ends after all earlier ones. */
  #storing: Promise<void> | undefined

  constructor(init: SnapshotTakerOptions) {
    this.#init = init
    this.dueAtPos = init.snapshotRecords - 1
  }

  /** Notes that a snapshot up to this position exists. */
  startAfter(pos: number): void {
    this.#noteTaken(Math.max(this.#lastPos, pos))
  }

  /** Takes a last snapshot if it is worth it, when a session comes to rest. Resolves when every snapshot is stored. */
  finish(state: State, history: History): Promise<void> {
    if (this.isWorth(state.pos)) this.take(state, history)
    return this.settled()
  }

  /** Whether a session that rests at this position is worth a snapshot. */
  isWorth(pos: number): boolean {
    return pos - this.#lastPos >= Math.ceil(this.#init.snapshotRecords / REST_PART)
  }

  /** Resolves when every snapshot is stored. */
  async settled(): Promise<void> {
    await this.#storing
  }

  take(state: State, history: History): void {
    this.#noteTaken(state.pos)
    this.#storing = this.#store(takeSnapshot(state, history), this.#storing)
  }

  #noteTaken(pos: number): void {
    this.#lastPos = pos
    this.dueAtPos = pos + this.#init.snapshotRecords
  }

  /** Stores a snapshot. A lost one does no harm: the log has everything. */
  async #store(snapshot: Snapshot, earlier: Promise<void> | undefined): Promise<void> {
    const { store, session, log } = this.#init
    try {
      await earlier
      await store.snapshots.put(session, snapshot)
    } catch (cause) {
      log.warn('a snapshot could not be stored', { session, cause: describeThrown(cause) })
    }
  }
}
