// One session's log in memory: the folded state, the history with its bodies, and how both are read back from a store.
import type { Store } from '@baton/core'
import { BatonError } from '@baton/core'
import type { History, SessionRecord, State } from '@baton/core/machine'
import { applyRecord, createHistory, followRecord, initialState } from '@baton/core/machine'

export interface SessionLog {
  readonly state: State
  readonly history: History
  /** Time of the last record; 0 for a new session. */
  readonly lastMs: number
}

/**
 * Folds a session's log. Snapshots hold no bodies, so the records are read all the same: the history needs them.
 * @throws BatonError `log_version_unknown`, `log_damaged`
 */
export async function readLog(store: Store, session: string): Promise<SessionLog> {
  let state = initialState(session)
  const history = createHistory({ keepAll: true })
  for await (const record of store.read(session, 0)) {
    followRecord(state, record)
    state = applyRecord(state, record)
    history.fold(record)
  }
  return { state, history, lastMs: state.nowMs }
}

export interface Append {
  readonly session: string
  readonly epoch: number
  readonly afterPos: number
  readonly records: readonly SessionRecord[]
}

/** Tries of an append whose store failed without saying whether it had stored the records. */
const APPEND_TRIES = 3

/**
 * Appends, and where the store failed in between looks whether the records are there after all: an input that was
 * committed must not be refused, and must not be committed twice.
 * @throws BatonError `store_conflict`, `store_failed`
 */
export async function appendSurely(
  store: Store,
  append: Append,
  pause: (tries: number) => Promise<void>,
): Promise<void> {
  const { session, epoch, afterPos, records } = append
  for (let tries = 1; ; tries++) {
    try {
      await store.append(session, epoch, afterPos, records)
      return
    } catch (cause) {
      if (tries > 1 && (await isStored(store, append))) return
      const conflict = (cause as { code?: unknown }).code === 'store_conflict'
      if (conflict || tries === APPEND_TRIES) throw asStoreError(session, cause)
      await pause(tries)
    }
  }
}

async function isStored(store: Store, { session, epoch, afterPos, records }: Append): Promise<boolean> {
  let expected = 0
  for await (const record of store.read(session, afterPos + 1)) {
    if (record.epoch !== epoch || record.pos !== records[expected]?.pos) return false
    expected += 1
    if (expected === records.length) return true
  }
  return false
}

function asStoreError(session: string, cause: unknown): BatonError {
  const known = cause as { code?: unknown; message?: string }
  const code = known.code === 'store_conflict' ? 'store_conflict' : 'store_failed'
  return new BatonError({ code, message: `session ${session}: ${known.message ?? String(cause)}`, cause })
}
