// A store in one SQLite file: durable, for one process. All work on the file is done in worker threads.
import { resolve } from 'node:path'
import type { ListOptions, OwnedLogStore, StoredSession } from '@baton/core'
import { BatonError } from '@baton/core'
import type { SessionRecord, Snapshot } from '@baton/core/machine'
import type { LeaseOptions } from '../lease-book.ts'
import { checkLeft, LeaseBook } from '../lease-book.ts'
import type { PutConflict } from '../put-by-position.ts'
import type { AppendOutcome, SessionRows } from './database.ts'
import type { StoreThread } from './store-thread.ts'
import { startStoreThread } from './store-thread.ts'

/** Leases hold between hosts of this process: they end with it, and the file's lock keeps every other process out. */
export interface SqliteStoreOptions extends LeaseOptions {
  /** Looks at a file that another process may own, as for a list or an export; every writing fails. */
  readonly readOnly?: boolean
  /** Bytes of the file; over them what is appended is refused with `store_failed`, and what is there is kept. No bound by default. */
  readonly maxBytes?: number
}

/** Records, and sessions of a list, that one request brings over from the worker. */
const ROWS = 256

/**
 * Opens or makes the file. Beside it stand its write-ahead log (`-wal`, `-shm`) and its lock (`.lock`).
 * Whoever held a session when it was last open is dead, so every session is free.
 * @throws BatonError `store_locked` (another process has it), `store_failed` (it cannot be opened or written, or is of a
 * newer format), `log_damaged` (it is no database), `invalid_option`
 */
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<OwnedLogStore> {
  const { readOnly = false, maxBytes } = options
  const leases = new LeaseBook(options)
  const thread = await startStoreThread({ path: resolve(path), readOnly, maxBytes })
  const { ask } = thread
  return {
    ...openLogs(thread, path, leases),
    ...openOwnership(thread, leases),
    snapshots: {
      put: async (session, snapshot) => {
        await ask({ type: 'put-snapshot', session, body: JSON.stringify(snapshot) })
      },
      latest: async (session) => {
        const body = await ask<string | undefined>({ type: 'snapshot', session })
        return body === undefined ? undefined : (JSON.parse(body) as Snapshot) // written by put; checkVersion comes next
      },
    },
    blobs: {
      put: async (session, name, text) => {
        await ask({ type: 'put-blob', session, name, body: text })
      },
      get: (session, name) => ask<string | undefined>({ type: 'blob', session, name }),
      names: (session) => ask<readonly string[]>({ type: 'blob-names', session }),
    },
    heartbeat: {
      read: () => ask<string | undefined>({ type: 'blob', session: HEARTBEAT, name: HEARTBEAT }),
      write: async (text) => {
        await ask({ type: 'put-blob', session: HEARTBEAT, name: HEARTBEAT, body: text })
      },
    },
    close: thread.close,
  }
}

/** No session's name: it has no record, and stands in no list. */
const HEARTBEAT = '\0heartbeat'

type Logs = Omit<OwnedLogStore, keyof Ownership | 'snapshots' | 'blobs' | 'close'>

function openLogs({ ask }: StoreThread, path: string, leases: LeaseBook): Logs {
  const listAll = async function* (options: ListOptions = {}): AsyncGenerator<StoredSession> {
    for (let { after = '' } = options; ;) {
      const sessions = await ask<readonly SessionRows[]>({ type: 'list', after, rows: ROWS })
      for (const one of sessions) {
        const holder = leases.holder(one.session)
        yield { ...one, ...(holder && { holder }) }
      }
      if (sessions.length < ROWS) return
      after = sessions.at(-1)?.session ?? ''
    }
  }
  return {
    put: async (session, records) => {
      const positions = records.map(({ pos }) => pos)
      const heldBy = leases.holder(session)?.owner
      const request = { session, positions, heldBy, epoch: records.at(-1)?.epoch ?? 0, ...buildRows(records) }
      const conflict = await ask<PutConflict | undefined>({ type: 'put', request })
      if (conflict) throw new BatonError({ code: 'store_conflict', message: conflict.message })
    },
    read: async function* (session, fromPos) {
      for (let next = Math.max(0, fromPos); ; next += ROWS) {
        const bodies = await ask<readonly string[]>({ type: 'read', session, fromPos: next, rows: ROWS })
        for (const [index, body] of bodies.entries()) yield recordIn(body, `${session}, record ${next + index}`, path)
        if (bodies.length < ROWS) return
      }
    },
    list: listAll,
    listRecoverable: async function* () {
      for await (const one of listAll()) if (one.isOwned && !one.holder) yield one
    },
    restore: async (session, records) => {
      const rows = { session, epoch: records.at(-1)?.epoch ?? 0, ...buildRows(records) }
      const lease = leases.leaseOf(session)
      if (!(await ask<boolean>({ type: 'restore', rows })))
        throw new BatonError({ code: 'session_exists', message: `session ${session} exists in ${path}` })
      leases.end(session, lease)
    },
    remove: async (session, owner) => {
      leases.checkFree(session, owner)
      const lease = leases.leaseOf(session)
      await ask({ type: 'remove', session })
      leases.end(session, lease)
    },
  }
}

type Ownership = Pick<OwnedLogStore, 'leaseMs' | 'acquire' | 'append' | 'renew' | 'release' | 'requestHandover'>

/** A lease is given before the file is asked, so that of two who ask in the same moment one is refused. */
function openOwnership({ ask, check }: StoreThread, leases: LeaseBook): Ownership {
  return {
    leaseMs: leases.leaseMs,
    acquire: async (session, owner, address) => {
      const lease = leases.give(session, owner, address)
      if (lease.type === 'held') return lease
      try {
        const log = await ask<{ epoch: number; pos: number }>({ type: 'acquire', session, owner })
        return { type: 'acquired', epoch: log.epoch, pos: log.pos, leaseUntilMs: lease.untilMs }
      } catch (cause) {
        leases.end(session, lease)
        throw cause
      }
    },
    append: async (session, epoch, afterPos, records) => {
      const rows = { session, epoch, afterPos, ...buildRows(records) }
      const outcome = await ask<AppendOutcome>({ type: 'append', rows })
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
      // Acquired again in the meantime, it has another lease, which stays.
      if (await ask<boolean>({ type: 'release', session, epoch, left })) leases.end(session, lease)
    },
    requestHandover: async (session, owner) => leases.requestHandover(session, owner),
  }
}

function buildRows(records: readonly SessionRecord[]): { readonly bodies: readonly string[]; readonly lastMs: number } {
  const last = records.at(-1)
  return { bodies: records.map((record) => JSON.stringify(record)), lastMs: last?.wallMs ?? last?.nowMs ?? 0 }
}

/** @throws BatonError `log_damaged` */
function recordIn(body: string, where: string, path: string): SessionRecord {
  try {
    return JSON.parse(body) as SessionRecord // written by append; the reader checks its version
  } catch (cause) {
    throw new BatonError({ code: 'log_damaged', message: `${path}: session ${where} is no JSON`, cause })
  }
}
