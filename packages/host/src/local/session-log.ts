// One session's log in memory: the folded state, the history with its bodies, and how both are read back from a store.
import type { Store, Timers } from '@baton/core'
import { BatonError, isBatonError } from '@baton/core'
import type { History, SessionRecord, State } from '@baton/core/machine'
import { applyRecord, createHistory, followRecord, initialState, isUsableSnapshot } from '@baton/core/machine'
import { describeThrown, within } from '@baton/runtime'
import type { OwnedLog, SessionLeases } from './session-leases.ts'
import type { LimitedStore } from './store-in-time.ts'
import { STORE_ACT_MS } from './store-in-time.ts'

export interface SessionLog {
  readonly state: State
  readonly history: History
  /** Time of the last record; 0 for a new session. */
  readonly lastMs: number
}

export interface LogAccess {
  readonly session: string
  readonly store: LimitedStore
  /** The store itself: an append has a deadline for each of its tries. */
  readonly disk: Pick<Store, 'append'>
  readonly leases: SessionLeases
  readonly timers: Timers
  /** Waits before an append is tried again. */
  readonly pause: (tries: number) => Promise<void>
  readonly listener: LogListener
}

export interface LogListener {
  /** Every record of the log in order: those that were read when it was opened, then each that is committed (`isNew`). */
  onRecord(record: SessionRecord, isNew?: boolean): void
  /** The records up to this position were not read when it was opened: a snapshot has what they did. */
  onSnapshot(pos: number): void
}

/** Milliseconds that the whole log of a session may take to be read. */
const READ_MS = 120_000

/**
 * Makes this host the session's only writer.
 * @throws BatonError `session_held`, `store_failed`
 */
export async function acquireLog({ leases, session }: LogAccess): Promise<OwnedLog> {
  try {
    return await leases.acquire(session)
  } catch (cause) {
    throw asStoreError(session, cause)
  }
}

/**
 * Folds a session's log, from its snapshot where it has one.
 * @throws BatonError `log_version_unknown`, `log_damaged`, `store_failed`
 */
export async function readLog(access: LogAccess, { pos }: OwnedLog): Promise<SessionLog> {
  try {
    return await inTime(access, READ_MS, foldLog(access, pos))
  } catch (cause) {
    throw asStoreError(access.session, cause)
  }
}

async function foldLog(access: LogAccess, lastPos: number): Promise<SessionLog> {
  const { store, session, listener } = access
  const begun = await beginFold(store, session, lastPos)
  const { history, records } = begun
  let { state } = begun
  if (state.pos >= 0) listener.onSnapshot(state.pos)
  for await (const record of records) {
    followRecord(state, record)
    state = applyRecord(state, record)
    history.fold(record)
    listener.onRecord(record)
  }
  await refillHistory(access, { state, history })
  if (state.pos === lastPos) return { state, history, lastMs: state.nowMs }
  throw new BatonError({
    code: 'log_damaged',
    message: `the log ends at record ${state.pos}; its last one is ${lastPos}`,
  })
}

/** A rewind may reach behind the window, to what the history has let go: then it is folded again, from the whole log. */
export async function refillHistory(
  { store, session }: Pick<LogAccess, 'store' | 'session'>,
  { state, history }: Pick<SessionLog, 'state' | 'history'>,
): Promise<void> {
  if (history.has(state.index)) return
  const whole = createHistory({ keepAll: true })
  for await (const record of store.read(session, 0)) if (record.pos <= state.pos) whole.fold(record)
  history.takeOver(whole)
}

export interface BegunFold {
  readonly state: State
  readonly history: History
  /** The records after this state, not folded yet. */
  readonly records: AsyncIterable<SessionRecord>
}

/**
 * From the session's snapshot, where it has one that can be used: a snapshot only saves time. Its own record is looked at:
 * no two owners have one epoch, so a snapshot that was written late, over the log of another session of this name, is told.
 */
async function beginFold(
  store: Pick<LimitedStore, 'read' | 'snapshots'>,
  session: string,
  lastPos = Infinity,
): Promise<BegunFold> {
  const snapshot = await store.snapshots.latest(session).catch(() => undefined)
  if (isUsableSnapshot(snapshot, session, lastPos)) {
    const records = store.read(session, snapshot.state.pos)[Symbol.asyncIterator]()
    const { value } = await records.next()
    if (value?.pos === snapshot.state.pos && value.epoch === snapshot.state.epoch) {
      const history = createHistory({ snapshot: snapshot.history })
      return { state: snapshot.state, history, records: { [Symbol.asyncIterator]: () => records } }
    }
    await records.return?.()
  }
  return { state: initialState(session), history: createHistory(), records: store.read(session, 0) }
}

/** @throws BatonError `log_version_unknown`, `log_damaged`, `store_failed` */
export async function foldState(store: Pick<LimitedStore, 'read' | 'snapshots'>, session: string): Promise<State> {
  const begun = await beginFold(store, session)
  let { state } = begun
  for await (const record of begun.records) {
    followRecord(state, record)
    state = applyRecord(state, record)
  }
  return state
}

function inTime<Value>({ timers }: LogAccess, timeoutMs: number, work: Promise<Value>): Promise<Value> {
  const message = `the store did not answer in ${timeoutMs} ms`
  return within(timers, { timeoutMs, error: () => new BatonError({ code: 'store_failed', message }) }, work)
}

export interface Append {
  readonly session: string
  readonly owned: OwnedLog
  readonly afterPos: number
  readonly records: readonly SessionRecord[]
}

/** Tries of an append whose store failed without saying whether it had stored the records. */
const APPEND_TRIES = 3

/**
 * Appends, and where the store failed in between looks whether the records are there after all: an input that was
 * committed must not be refused, and must not be committed twice. Without the lease it does not append. A store that is
 * gone or locked is not asked again.
 * @throws BatonError `store_conflict`, `store_failed`, `store_gone`, `store_locked`
 */
export async function appendSurely(access: LogAccess, append: Append): Promise<void> {
  const { session, owned, afterPos, records } = append
  for (let tries = 1; ; tries++) {
    if (!owned.isHeld) throw notHeld(session)
    try {
      await inTime(access, STORE_ACT_MS, access.disk.append(session, owned.epoch, afterPos, records))
      return
    } catch (cause) {
      const failure = asStoreError(session, cause)
      // A file that is gone can still be read by who has it open: finding the records in it would prove nothing.
      if (failure.code === 'store_gone' || failure.code === 'store_locked') throw failure
      if (tries > 1 && (await isStored(access, append))) return
      if (failure.code === 'store_conflict' || tries === APPEND_TRIES) throw failure
      await access.pause(tries)
    }
  }
}

/** @throws BatonError `store_failed` when that cannot be known either */
async function isStored(access: LogAccess, append: Append): Promise<boolean> {
  try {
    return await inTime(access, STORE_ACT_MS, findRecords(access.store, append))
  } catch (cause) {
    throw asStoreError(append.session, cause)
  }
}

async function findRecords(store: LimitedStore, { session, owned, afterPos, records }: Append): Promise<boolean> {
  let expected = 0
  for await (const record of store.read(session, afterPos + 1)) {
    if (record.epoch !== owned.epoch || record.pos !== records[expected]?.pos) return false
    expected += 1
    if (expected === records.length) return true
  }
  return false
}

function notHeld(session: string): BatonError {
  return new BatonError({
    code: 'store_failed',
    message: `session ${session}: this host does not hold its lease any more`,
  })
}

/** Wraps whatever a store throws in an error with one of these codes. */
function asStoreError(session: string, cause: unknown): BatonError {
  const known = STORE_CODES.find((code) => isBatonError(cause) && cause.code === code)
  if (isBatonError(cause) && known === 'session_held') return cause
  return new BatonError({
    code: known ?? 'store_failed',
    message: `session ${session}: ${describeThrown(cause)}`,
    cause,
  })
}

const STORE_CODES = [
  'session_held',
  'store_conflict',
  'store_locked',
  'store_gone',
  'log_damaged',
  'log_version_unknown',
] as const
