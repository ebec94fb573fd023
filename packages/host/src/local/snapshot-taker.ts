// Snapshots of one session, so that it is opened again without reading its whole log.
import type { Logger, Store } from '@baton/core'
import type { History, State } from '@baton/core/machine'
import { takeSnapshot } from '@baton/core/machine'
import { messageOf } from './thrown-message.ts'

export interface SnapshotTaker {
  /** Called after each commit. */
  onCommit(state: State, history: History): void
  /** A snapshot up to this position exists. */
  startAfter(pos: number): void
  /** Takes the last one, where it is worth it, when a session comes to rest; ends when every snapshot is stored. */
  finish(state: State, history: History): Promise<void>
  /** Ends when every snapshot that was taken is stored. */
  settled(): Promise<void>
}

export interface SnapshotTakerInit {
  readonly store: Store
  readonly session: string
  readonly log: Logger
  /** Records between two snapshots of a session that is busy. */
  readonly everyRecords: number
}

export const SNAPSHOT_RECORDS = 256
/** Records that are worth a snapshot when a session comes to rest: one in so many of those of a busy one. */
const REST_PART = 8

export function createSnapshotTaker({ store, session, log, everyRecords }: SnapshotTakerInit): SnapshotTaker {
  let lastPos = -1
  let stored: Promise<void> = Promise.resolve()
  const take = (state: State, history: History, worthRecords: number): void => {
    if (state.pos - lastPos < worthRecords) return
    lastPos = state.pos
    const snapshot = takeSnapshot(state, history)
    // Nothing is lost with a snapshot: the log has what it has.
    const warn = (cause: unknown): void =>
      log.warn('a snapshot could not be stored', { session, cause: messageOf(cause) })
    stored = stored.then(() => store.snapshots.put(session, snapshot)).catch(warn)
  }
  return {
    onCommit: (state, history) => take(state, history, everyRecords),
    startAfter: (pos) => {
      lastPos = Math.max(lastPos, pos)
    },
    finish: (state, history) => {
      take(state, history, Math.ceil(everyRecords / REST_PART))
      return stored
    },
    settled: () => stored,
  }
}
