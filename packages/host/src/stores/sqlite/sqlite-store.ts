// A store in one SQLite file: durable, for one process. All work on the file is done in worker threads.
import { resolve } from 'node:path'
import type { Store, StoredSession } from '@baton/core'
import { BatonError } from '@baton/core'
import type { SessionRecord, Snapshot } from '@baton/core/machine'
import type { AppendOutcome } from './database.ts'
import type { StoreThread } from './store-thread.ts'
import { startStoreThread } from './store-thread.ts'

export interface SqliteStoreOptions {
  /** Looks at a file that another process may own, as for a list or an export; every writing fails. */
  readonly readOnly?: boolean
  /** Bytes of the file; over them what is appended is refused with `store_failed`, and what is there is kept. No bound by default. */
  readonly maxBytes?: number
}

/** Records, and sessions of a list, that one request brings over from the worker. */
const ROWS = 256

/**
 * Opens or makes the file. Beside it stand its write-ahead log (`-wal`, `-shm`) and its lock (`.lock`).
 * @throws BatonError `store_locked` (another process has it), `store_failed` (it cannot be opened or written, or is of a
 * newer format), `log_damaged` (it is no database)
 */
export async function openSqliteStore(path: string, options: SqliteStoreOptions = {}): Promise<Store> {
  const { readOnly = false, maxBytes } = options
  const thread = await startStoreThread({ path: resolve(path), readOnly, maxBytes })
  const { ask } = thread
  return {
    ...logsOver(thread, path),
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
    close: thread.close,
  }
}

function logsOver({ ask }: StoreThread, path: string): Omit<Store, 'snapshots' | 'blobs' | 'close'> {
  return {
    acquire: (session, owner) => ask<{ epoch: number; pos: number }>({ type: 'acquire', session, owner }),
    append: async (session, epoch, afterPos, records) => {
      const rows = { session, epoch, afterPos, ...rowsOf(records) }
      const outcome = await ask<AppendOutcome>({ type: 'append', rows })
      if ('conflict' in outcome) throw new BatonError({ code: 'store_conflict', message: outcome.conflict })
      return outcome.pos
    },
    release: async (session, epoch) => {
      await ask({ type: 'release', session, epoch })
    },
    read: async function* (session, fromPos) {
      for (let next = Math.max(0, fromPos); ; next += ROWS) {
        const bodies = await ask<readonly string[]>({ type: 'read', session, fromPos: next, rows: ROWS })
        for (const [index, body] of bodies.entries()) yield recordIn(body, `${session}, record ${next + index}`, path)
        if (bodies.length < ROWS) return
      }
    },
    list: async function* () {
      for (let after = ''; ;) {
        const sessions = await ask<readonly StoredSession[]>({ type: 'list', after, rows: ROWS })
        yield* sessions
        if (sessions.length < ROWS) return
        after = sessions.at(-1)?.session ?? ''
      }
    },
    restore: async (session, records) => {
      const rows = { session, epoch: records.at(-1)?.epoch ?? 0, ...rowsOf(records) }
      if (await ask<boolean>({ type: 'restore', rows })) return
      throw new BatonError({ code: 'session_exists', message: `session ${session} exists in ${path}` })
    },
    remove: async (session) => {
      await ask({ type: 'remove', session })
    },
  }
}

function rowsOf(records: readonly SessionRecord[]): { readonly bodies: readonly string[]; readonly lastMs: number } {
  return { bodies: records.map((record) => JSON.stringify(record)), lastMs: records.at(-1)?.nowMs ?? 0 }
}

/** @throws BatonError `log_damaged` */
function recordIn(body: string, where: string, path: string): SessionRecord {
  try {
    return JSON.parse(body) as SessionRecord // written by append; the reader checks its version
  } catch (cause) {
    throw new BatonError({ code: 'log_damaged', message: `${path}: session ${where} is no JSON`, cause })
  }
}
