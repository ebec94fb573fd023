// Compares a snapshot with a full fold of the log up to its position: a snapshot only saves time.
import type { SessionRecord, Snapshot } from '@baton/core/machine'
import { applyRecord, createHistory, initialState, takeSnapshot } from '@baton/core/machine'

/** @throws Error describing where they differ */
export function checkSnapshot(session: string, snapshot: Snapshot, records: readonly SessionRecord[]): void {
  let state = initialState(session)
  const history = createHistory()
  for (const record of records.slice(0, snapshot.state.pos + 1)) {
    state = applyRecord(state, record)
    history.fold(record)
  }
  const folded = takeSnapshot(state, history)
  for (const part of ['version', 'state', 'history'] as const) {
    const [had, has] = [JSON.stringify(snapshot[part]), JSON.stringify(folded[part])]
    if (had !== has) throw new Error(`the snapshot at ${snapshot.state.pos} differs in its ${part}:\n${had}\n${has}`)
  }
}
