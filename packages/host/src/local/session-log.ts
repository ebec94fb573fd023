// One session's log in memory: the folded state, the history with its bodies and its snapshots, and how they are read.
import type { AppendedRecords, Logger, Store, Timers, Under } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core/internal'
import type { History, SessionRecord, State, Snapshot } from '@baton/core/machine'
import {
  applyRecord,
  createHistory,
  followRecord,
  initialState,
  isUsableSnapshot,
  takeSnapshot,
} from '@baton/core/machine'
import { describeThrown, hasWholeHistory, within } from '@baton/runtime'
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
  /** The store itself: each append attempt has its own deadline. */
  readonly disk: Pick<Store, 'append'>
  readonly leases: SessionLeases
  /** For a child: its root. */
  readonly under?: Under | undefined
  readonly timers: Timers
  /** Waits before an append is retried. */
  readonly pause: (tries: number) => Promise<void>
  readonly listener: LogListener
}

export interface LogListener {
  /** Called for every record in order: first those read at opening, then each commit (`isNew`). */
  onRecord(record: SessionRecord, isNew?: boolean): void
  /** Called when records up to this position were skipped at opening, because a snapshot covers them. */
  onSnapshot(pos: number): void
}

/** Milliseconds that reading a session's whole log may take. */
const READ_MS = 120_000

/**
 * Makes this host the session's only writer.
 * @throws BatonError `session_held`, `illegal_input` (a child of another session), `store_failed`
 */
export async function acquireLog({ leases, session, under }: LogAccess): Promise<OwnedLog> {
  try {
    return await (under ? leases.acquireChild(session, under) : leases.acquire(session))
  } catch (cause) {
    throw asStoreError(session, cause)
  }
}

/**
 * Takes back a log that this host let go when it rested, unless anything happened to it; see `SessionLeases.resume`.
 * @throws BatonError `store_failed`
 */
export async function resumeLog(
  { leases, session }: Pick<LogAccess, 'leases' | 'session'>,
  owned: OwnedLog,
  pos: number,
): Promise<boolean> {
  try {
    return await leases.resume(session, owned, pos)
  } catch (cause) {
    throw asStoreError(session, cause)
  }
}

/**
 * Folds a session's log, from its snapshot if it has one.
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
    message: `the log ends at record ${state.pos}, but its last record should be ${lastPos}`,
  })
}

/** Rebuilds the history from the whole log if a rewind reached behind the window, to messages it had dropped. */
export async function refillHistory(
  { store, session }: Pick<LogAccess, 'store' | 'session'>,
  { state, history }: Pick<SessionLog, 'state' | 'history'>,
): Promise<void> {
  if (hasWholeHistory(history, state.index)) return
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
 * Starts from the session's snapshot if it has a usable one; a snapshot only saves time. The record at its position is
 * compared: no two owners share an epoch, so a snapshot written late, over another session of this name, is detected.
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

/**
 * Folds a session that is not open; undefined if it has no records.
 * @throws BatonError `log_version_unknown`, `log_damaged`, `store_failed`
 */
export async function foldSession(
  store: Pick<LimitedStore, 'read' | 'snapshots'>,
  session: string,
): Promise<SessionLog | undefined> {
  const { history, records, state: begun } = await beginFold(store, session)
  let state = begun
  let lastMs = state.nowMs
  for await (const record of records) {
    followRecord(state, record)
    state = applyRecord(state, record)
    history.fold(record)
    lastMs = record.wallMs ?? record.nowMs
  }
  return state.pos < 0 ? undefined : { state, history, lastMs }
}

function inTime<Value>({ timers }: LogAccess, timeoutMs: number, work: Promise<Value>): Promise<Value> {
  const message = `the store did not answer in ${timeoutMs} ms`
  return within(timers, { timeoutMs, error: () => new BatonError({ code: 'store_failed', message }) }, work)
}

export interface Append {
  readonly session: string
  readonly owned: OwnedLog
  readonly afterPos: number
  readonly records: AppendedRecords
}

/** Attempts at an append whose store failed without saying whether it stored the records. */
const APPEND_TRIES = 3

/**
 * Appends. After a failure it checks whether the records were stored: a committed input must be neither refused nor
 * committed twice. Does not append without the lease, or retry a deleted or locked store.
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
      // A deleted file can still be read through an open handle, so finding the records in it would prove nothing.
      if (failure.code === 'store_gone' || failure.code === 'store_locked') throw failure
      if (tries > 1 && (await isStored(access, append))) return
      if (failure.code === 'store_conflict' || tries === APPEND_TRIES) throw failure
      await access.pause(tries)
    }
  }
}

/** @throws BatonError `store_failed` when that cannot be determined either */
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
    message: `session ${session}: this host no longer holds its lease`,
  })
}

/** Wraps anything a store throws in an error with one of these codes. */
function asStoreError(session: string, cause: unknown): BatonError {
  const known = STORE_CODES.find((code) => isBatonError(cause) && cause.code === code)
  if (isBatonError(cause) && (known === 'session_held' || known === 'illegal_input')) return cause
  return new BatonError({
    code: known ?? 'store_failed',
    message: `session ${session}: ${describeThrown(cause)}`,
    cause,
  })
}

const STORE_CODES = [
  'session_held',
  'illegal_input',
  'store_conflict',
  'store_locked',
  'store_gone',
  'log_damaged',
  'log_version_unknown',
] as const

interface SnapshotTakerOptions {
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
