// Snapshots of one session, so that it is opened again without reading its whole log.
import type { Logger, Store } from '@baton/core'
import type { History, Snapshot, State } from '@baton/core/machine'
import { takeSnapshot } from '@baton/core/machine'
import { describeThrown } from '@baton/runtime'

export interface SnapshotTakerInit {
  readonly store: Store
  readonly session: string
  readonly log: Logger
  /** Records between two snapshots of a session that is busy. */
  readonly snapshotRecords: number
}

export const SNAPSHOT_RECORDS = 256
/** Records that are worth a snapshot when a session comes to rest: one in so many of those of a busy one. */
const REST_PART = 8

export class SnapshotTaker {
  readonly #init: SnapshotTakerInit
  #lastPos = -1
  /** The writing of the newest one; it ends after that of those before. */
  #storing: Promise<void> | undefined

  constructor(init: SnapshotTakerInit) {
    this.#init = init
  }

  /** A snapshot up to this position exists. */
  startAfter(pos: number): void {
    this.#lastPos = Math.max(this.#lastPos, pos)
  }

  /** Called after each commit. */
  onCommit(state: State, history: History): void {
    this.#take(state, history, this.#init.snapshotRecords)
  }

  /** Takes the last one, where it is worth it, when a session comes to rest; ends when every snapshot is stored. */
  finish(state: State, history: History): Promise<void> {
    this.#take(state, history, Math.ceil(this.#init.snapshotRecords / REST_PART))
    return this.settled()
  }

  /** Ends when every snapshot that was taken is stored. */
  async settled(): Promise<void> {
    await this.#storing
  }

  #take(state: State, history: History, worthRecords: number): void {
    if (state.pos - this.#lastPos < worthRecords) return
    this.#lastPos = state.pos
    this.#storing = this.#store(takeSnapshot(state, history), this.#storing)
  }

  /** Nothing is lost with a snapshot: the log has what it has. */
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
