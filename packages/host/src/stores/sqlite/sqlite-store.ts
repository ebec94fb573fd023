// A store in one SQLite file: durable, for one process. All writes go through one queue; a worker thread reads.
import { resolve } from 'node:path'
import type {
  DueSession,
  FoundEntry,
  FoundRow,
  ListOptions,
  OutdatedEntry,
  OwnedLogStore,
  StoredSession,
} from '@baton/core/internal'
import { BatonError, checkFields, checkKinds, checkName, findDueChange } from '@baton/core/internal'
import type { SessionRecord, Snapshot } from '@baton/core/machine'
import { checkRecords, checkWholeLog } from '@baton/core/machine'
import { checkNames } from '../child-checks.ts'
import type { LeaseOptions } from '../lease-book.ts'
import { checkLeft, LeaseBook } from '../lease-book.ts'
import type { PutOutcome } from '../put-by-position.ts'
import { checkText } from '../legal-text.ts'
import { ReadPace } from '../read-pace.ts'
import type { AcquiredUnder, AddedRows, AppendOutcome, RestoreOutcome } from './acts.ts'
import type { ReadRows } from './record-rows.ts'
import type { ListedSession } from './session-rows.ts'
import { findHealth } from './store-health.ts'
import { checkPath } from './store-file.ts'
import type { StoreThread } from './store-thread.ts'
import { startStoreThread } from './store-thread.ts'
import type { FoundSnapshot } from './text-rows.ts'

/**
 * Options of a SQLite store. Leases only matter between hosts of this process and end with it; the file's lock keeps
 * every other process out.
 */
export interface SqliteStoreOptions extends LeaseOptions {
  /** Opens the file for reading only, even if another process owns it, as for a list or an export; writes fail. */
  readonly readOnly?: boolean
  /**
   * Maximum bytes of the file. Beyond it, appends are refused with `store_failed` and existing data is kept. No limit
   * by default.
   */
  readonly maxBytes?: number
  /** Bytes of the write-ahead log above which commits wait for a checkpoint. Default: 33,554,432 (32 MiB). */
  readonly logBytes?: number
  /**
   * Called with a warning that is not a failure: file permissions that were too wide, a damaged snapshot, a log that
   * another program keeps from shrinking. Default: `process.emitWarning`.
   */
  readonly onWarning?: (message: string) => void
}

/**
 * A store in a SQLite file. `await using store = …` closes it at the end of the block. An open store does not keep the
 * process alive.
 */
export interface SqliteStore extends OwnedLogStore, AsyncDisposable {}

/** Records, or listed sessions, per request to the worker. */
const ROWS = 256
const LOG_BYTES = 33_554_432
const KINDS = {
  readOnly: 'true or false',
  maxBytes: undefined,
  logBytes: undefined,
  onWarning: 'a function',
  leaseMs: undefined,
  clock: 'an object',
} as const
const FIELDS = new Set(Object.keys(KINDS))

/**
 * Opens or creates the file. Its write-ahead log (`-wal`, `-shm`) and its lock (`.lock`) are created next to it; all
 * are accessible to their owner only. Every session is free at first, because the hosts that held sessions in earlier
 * openings are dead.
 * @throws BatonError `store_locked` (another process has it open, or it has several names), `store_failed` (it cannot
 * be opened or written, or has a newer format), `log_damaged` (it is not a database, or its list of sessions is
 * damaged), `invalid_option`
 */
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<SqliteStore> {
  checkFields(options, { what: 'openSqliteStore', code: 'invalid_option', fields: FIELDS })
  checkKinds(options, { what: 'openSqliteStore', code: 'invalid_option', kinds: KINDS })
  const { store } = await openSqliteFile(path, options)
  return store
}

/** An ownership that outlived the opened store in which it was acquired. */
export interface FormerLease {
  readonly session: string
  readonly owner: string
  readonly epoch: number
  readonly address?: string
  readonly isResting?: boolean
}

export interface SqliteFile {
  readonly store: SqliteStore
  /**
   * Restores the owner's lease, unless the session has a newer epoch or another owner. @throws BatonError
   * `store_failed`
   */
  resume(lease: FormerLease): Promise<boolean>
}

/** @throws BatonError as openSqliteStore */
export async function openSqliteFile(path: string, options: SqliteStoreOptions = {}): Promise<SqliteFile> {
  const { readOnly = false, maxBytes, logBytes = LOG_BYTES } = options
  const warn = options.onWarning ?? ((message: string): void => process.emitWarning(message, 'BatonStoreWarning'))
  checkPath(path)
  const leases = new LeaseBook(options)
  const thread = await startStoreThread({ path: resolve(path), readOnly, maxBytes, logBytes, warn })
  return createSqliteFile(thread, { path, readOnly, warn, leases })
}

export interface SqliteFileOptions {
  readonly path: string
  readonly readOnly: boolean
  readonly warn: (message: string) => void
  readonly leases: LeaseBook
}

/** Creates the store of an open file. */
export function createSqliteFile(thread: StoreThread, { path, readOnly, warn, leases }: SqliteFileOptions): SqliteFile {
  const { write, read } = thread
  const store: SqliteStore = {
    ...openLogs(thread, path, leases),
    ...openOwnership(thread, leases),
    snapshots: {
      put: async (session, snapshot) => {
        checkName('a session’s id', session)
        const { pos } = snapshot.state
        await write({
          type: 'put-snapshot',
          session,
          pos: Number.isSafeInteger(pos) ? pos : -1,
          body: JSON.stringify(snapshot),
        })
      },
      latest: async (session) => {
        checkText('a session’s id', session)
        const { body, damage } = await read<FoundSnapshot>({ type: 'snapshot', session })
        if (damage !== undefined) warn(`${path}: ${damage}; the whole log is read instead`)
        return body === undefined ? undefined : (JSON.parse(body) as Snapshot) // as put wrote it, verified by its hash
      },
    },
    blobs: {
      put: async (session, name, text) => {
        checkName('a session’s id', session)
        checkName('a blob’s name', name)
        await write({ type: 'put-blob', session, name, body: text })
      },
      get: async (session, name) => {
        checkText('a session’s id', session)
        checkText('a blob’s name', name)
        return await read<string | undefined>({ type: 'blob', session, name })
      },
      names: async (session) => {
        checkText('a session’s id', session)
        return await read<readonly string[]>({ type: 'blob-names', session })
      },
    },
    entries: openEntries(thread),
    outbox: {
      get: (session, name) => read<string | undefined>({ type: 'outbox-row', session, name }),
      swap: (session, name, was, row) => write<boolean>({ type: 'swap-outbox', session, name, was, row }),
      find: (query) => read<readonly FoundRow[]>({ type: 'outbox', query }),
    },
    health: () => findHealth(thread, readOnly),
    heartbeat: {
      read: () => read<string | undefined>({ type: 'blob', session: HEARTBEAT, name: HEARTBEAT }),
      write: async (text) => {
        await write({ type: 'put-blob', session: HEARTBEAT, name: HEARTBEAT, body: text })
      },
    },
    close: thread.close,
    [Symbol.asyncDispose]: thread.close,
  }
  return { store, resume: (lease) => resume(thread, leases, lease) }
}

/** Leases the session before reading the file, as `acquire` does. */
async function resume({ read }: StoreThread, leases: LeaseBook, former: FormerLease): Promise<boolean> {
  const { session, owner, epoch, address, isResting = false } = former
  const holder = leases.holder(session)
  if (holder) return holder.owner === owner
  const lease = leases.give(session, owner, address)
  if (lease.type === 'held') return false
  const isNewest = await read<number | undefined>({ type: 'epoch', session }).then(
    (newest) => newest === epoch,
    (cause: unknown) => {
      leases.end(session, lease)
      throw cause
    },
  )
  lease.epoch = epoch
  lease.isResting = isResting
  if (!isNewest) leases.end(session, lease)
  return isNewest
}

/** Not a session's name: it has no records and is in no list. */
const HEARTBEAT = '\0heartbeat'

type Logs = Omit<
  OwnedLogStore,
  keyof Ownership | 'snapshots' | 'blobs' | 'entries' | 'outbox' | 'health' | 'heartbeat' | 'close'
>

function openLogs({ read, write }: StoreThread, path: string, leases: LeaseBook): Logs {
  const pace = new ReadPace()
  const listAll = async function* (
    { after: first = '' }: ListOptions = {},
    root?: string,
  ): AsyncGenerator<StoredSession> {
    if (root !== undefined) checkText('a root’s id', root)
    for (let after = first; ;) {
      const asked = root === undefined ? ({ type: 'list' } as const) : ({ type: 'children', root } as const)
      const sessions = await read<readonly ListedSession[]>({ ...asked, after, rows: ROWS })
      for (const one of sessions) {
        const holder = leases.holder(root ?? one.session)
        // The row learns of a rest when the session is released, since a commit for each rest would cost too much.
        yield { ...one, isOwned: one.isOwned && !leases.isResting(one.session), ...(holder && { holder }) }
      }
      if (sessions.length < ROWS) return
      after = sessions.at(-1)?.session ?? ''
    }
  }
  return {
    put: async (session, records, under) => {
      checkNames(session, under)
      checkRecords(records)
      const positions = records.map(({ pos }) => pos)
      const restAgain = leases.endRest(session)
      const heldBy = leases.holder(under?.root ?? session)?.owner
      const request = { session, under, positions, heldBy, epoch: records.at(-1)?.epoch ?? 0, ...buildRows(records) }
      const outcome = await write<PutOutcome>({ type: 'put', ...request })
      if (outcome.type !== 'added') restAgain()
      if (outcome.type === 'conflict') throw new BatonError({ code: 'store_conflict', message: outcome.message })
    },
    read: async function* (session, fromPos) {
      checkText('a session’s id', session)
      for (let next = Math.max(0, fromPos); ;) {
        const found = await read<ReadRows>({ type: 'read', session, fromPos: next, rows: ROWS })
        for (const body of found.bodies) {
          const turn = pace.takeTurn(body.length)
          if (turn) await turn
          yield recordIn(body, { session, pos: next, path })
          next += 1
        }
        if (found.damage) throw createDamageError({ session, pos: found.damage.pos, path }, found.damage.why)
        if (found.isEnd) return
      }
    },
    list: (options) => listAll(options),
    children: (root, options) => listAll(options, root),
    listRecoverable: async function* () {
      for await (const one of listAll()) if (one.isOwned && !one.holder) yield one
    },
    listDue: (after) => read<readonly DueSession[]>({ type: 'due', after }),
    restore: async (session, records, under) => {
      checkNames(session, under)
      checkWholeLog(records)
      const rows = { session, under, epoch: records.at(-1)?.epoch ?? 0, ...buildRows(records) }
      const lease = leases.leaseOf(session)
      const existing = await write<RestoreOutcome>({ type: 'restore', ...rows })
      if (existing !== undefined)
        throw new BatonError({ code: 'session_exists', message: `session ${existing} already exists in ${path}` })
      leases.end(session, lease)
    },
    remove: async (session, owner) => {
      checkText('a session’s id', session)
      leases.checkFree(session, owner)
      const lease = leases.leaseOf(session)
      await write({ type: 'remove', session })
      leases.end(session, lease)
    },
  }
}

function openEntries({ read, write }: StoreThread): OwnedLogStore['entries'] {
  return {
    find: (query) => read<readonly FoundEntry[]>({ type: 'entries', query }),
    get: (session) => read<string | undefined>({ type: 'entry', session }),
    outdated: async function* ({ after: first = '' } = {}) {
      for (let after = first; ;) {
        const found = await read<readonly OutdatedEntry[]>({ type: 'outdated', after, rows: ROWS })
        yield* found
        if (found.length < ROWS) return
        after = found.at(-1)?.session ?? ''
      }
    },
    put: async (session, pos, entry) => {
      await write({ type: 'put-entry', session, pos, entry })
    },
  }
}

type Ownership = Pick<
  OwnedLogStore,
  'leaseMs' | 'acquire' | 'append' | 'renew' | 'release' | 'rest' | 'resume' | 'requestHandover'
>

/** The lease is granted before the file is asked, so that one of two simultaneous requests is refused. */
function openOwnership({ write, check }: StoreThread, leases: LeaseBook): Ownership {
  return {
    leaseMs: leases.leaseMs,
    acquire: async (session, owner, address, under) => {
      checkNames(session, under)
      if (under) {
        const former = leases.leaseOf(session) // of a session of this name that had no record
        const child = await write<AcquiredUnder>({ type: 'acquire-under', session, under })
        if (!child) return { type: 'not-the-root' }
        leases.end(session, former)
        return { type: 'acquired', ...child, leaseUntilMs: leases.endOf(under.root) }
      }
      const lease = leases.give(session, owner, address)
      if (lease.type === 'held') return lease
      try {
        const log = await write<{ epoch: number; pos: number }>({ type: 'acquire', session, owner })
        lease.epoch = log.epoch
        return { type: 'acquired', epoch: log.epoch, pos: log.pos, leaseUntilMs: lease.untilMs }
      } catch (cause) {
        leases.end(session, lease)
        throw cause
      }
    },
    append: async (session, epoch, afterPos, records) => {
      checkText('a session’s id', session)
      const rows = { session, epoch, afterPos, entry: records.entry, ...buildRows(records) }
      const outcome = await write<AppendOutcome>({ type: 'append', ...rows })
      if ('conflict' in outcome) throw new BatonError({ code: 'store_conflict', message: outcome.conflict })
      return outcome.pos
    },
    renew: async (owner) => {
      check()
      return leases.renew(owner)
    },
    release: async (session, epoch, left = 'nothing') => {
      checkLeft(left)
      const lease = leases.leaseOf(session)
      // If it was acquired again meanwhile, it has a new lease, which stays.
      if (await write<boolean>({ type: 'release', session, epoch, left })) leases.end(session, lease)
    },
    rest: async (session, epoch) => leases.rest(session, epoch),
    resume: async (resting) => {
      check()
      return leases.resume(resting)
    },
    requestHandover: async (session, owner) => leases.requestHandover(session, owner),
  }
}

function buildRows(records: readonly SessionRecord[]): AddedRows {
  const last = records.at(-1)
  const bodies = records.map((record) => JSON.stringify(record))
  return { bodies, lastMs: last?.wallMs ?? last?.nowMs ?? 0, dueMs: findDueChange(records) }
}

interface Place {
  readonly session: string
  readonly pos: number
  readonly path: string
}

/** @throws BatonError `log_damaged` */
function recordIn(body: string, place: Place): SessionRecord {
  try {
    return JSON.parse(body) as SessionRecord // as append wrote it; followRecord checks it
  } catch (cause) {
    throw createDamageError(place, 'it is not JSON', cause)
  }
}

function createDamageError({ session, pos, path }: Place, why: string, cause?: unknown): BatonError {
  return new BatonError({
    code: 'log_damaged',
    message: `${path}: session ${session} is damaged at record ${pos}: ${why}`,
    hint: 'Other sessions are not affected. Run "baton store check", and restore this one from a backup.',
    data: { session, pos },
    ...(cause !== undefined && { cause }),
  })
}
