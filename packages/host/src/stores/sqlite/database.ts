// The file of a SQLite store: tables, settings, and what an append or a read does to them. It runs in the worker thread.
import type { StatementSync } from 'node:sqlite'
import { DatabaseSync } from 'node:sqlite'
import type { LeftBehind } from '@baton/core'
import type { PutConflict, PutRows } from '../put-by-position.ts'
import { planPut } from '../put-by-position.ts'

/** A record's row id is its session's key and its position in one integer, so a log lies together in one table. */
const POSITIONS_MAX = 2 ** 26

const SCHEMA = `
CREATE TABLE IF NOT EXISTS format (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS epochs (last INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
  key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL, owner TEXT NOT NULL, pos INTEGER NOT NULL,
  last_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS records (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS snapshots (session INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS blobs (session INTEGER NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (session, name));
`
/** Of the tables, not of the records in them, which carry their own. */
const FILE_VERSION = 1

export interface DatabaseInit {
  readonly path: string
  /** Looks at a file that another process may own; every writing fails. */
  readonly readOnly: boolean
  /** Bytes of the file, after which it takes no more. */
  readonly maxBytes: number | undefined
}

export interface AppendRows {
  readonly session: string
  readonly epoch: number
  readonly afterPos: number
  readonly lastMs: number
  /** Records as JSON text. */
  readonly bodies: readonly string[]
}

export type AppendOutcome = { readonly pos: number } | { readonly conflict: string }

export interface PutRequest extends PutRows {
  /** Of the last record. */
  readonly epoch: number
  readonly lastMs: number
  /** Who holds the session, and alone may add to it. */
  readonly heldBy: string | undefined
}

export interface RestoreRows {
  readonly session: string
  readonly epoch: number
  readonly lastMs: number
  readonly bodies: readonly string[]
}

export interface SessionRows {
  readonly session: string
  readonly records: number
  readonly lastMs: number
  readonly isOwned: boolean
}

export interface Database {
  acquire(session: string, owner: string): { readonly epoch: number; readonly pos: number }
  /** All in one transaction; each append by itself is taken or refused. Durable when it returns. */
  appendAll(appends: readonly AppendRows[]): readonly AppendOutcome[]
  /** True when the epoch is that of the session's owner; only one that is not to be looked after loses its owner. */
  release(session: string, epoch: number, left: LeftBehind): boolean
  put(request: PutRequest): PutConflict | undefined
  read(session: string, fromPos: number, rows: number): readonly string[]
  /** The sessions whose names come after this one. */
  list(after: string, rows: number): readonly SessionRows[]
  /** False when the session has records. */
  restore(rows: RestoreRows): boolean
  remove(session: string): void
  putSnapshot(session: string, body: string): void
  snapshot(session: string): string | undefined
  putBlob(session: string, name: string, body: string): void
  blob(session: string, name: string): string | undefined
  blobNames(session: string): readonly string[]
  close(): void
}

/** @throws Error of SQLite (`code` ERR_SQLITE_ERROR) when the file cannot be opened or is not of this format */
export function openDatabase(init: DatabaseInit): Database {
  const db = new DatabaseSync(init.path, { readOnly: init.readOnly })
  prepareFile(db, init)
  const sessions = prepareSessions(db)
  const { find, findKey } = sessions
  const logs = prepareLogs(db, sessions)
  const texts = statements(db, {
    putSnapshot: 'INSERT OR REPLACE INTO snapshots (session, body) VALUES (?, ?)',
    snapshot: 'SELECT body FROM snapshots WHERE session = ?',
    putBlob: 'INSERT OR REPLACE INTO blobs (session, name, body) VALUES (?, ?, ?)',
    blob: 'SELECT body FROM blobs WHERE session = ? AND name = ?',
    blobNames: 'SELECT name FROM blobs WHERE session = ? ORDER BY name',
  })
  return {
    ...logs,
    acquire: sessions.acquire,
    release: sessions.release,
    list: sessions.list,
    putSnapshot: (session, body) => void texts.putSnapshot.run(findKey(session), body),
    snapshot: (session) => textIn(texts.snapshot.get(find(session)?.key ?? 0)),
    putBlob: (session, name, body) => void texts.putBlob.run(findKey(session), name, body),
    blob: (session, name) => textIn(texts.blob.get(find(session)?.key ?? 0, name)),
    blobNames: (session) => texts.blobNames.all(find(session)?.key ?? 0).map((row) => String(row['name'])),
    close: () => db.close(),
  }
}

function prepareFile(db: DatabaseSync, { readOnly, maxBytes }: DatabaseInit): void {
  db.exec('PRAGMA busy_timeout=5000')
  if (!readOnly) {
    // Automatic checkpoints stall the committing thread for 5 to 15 ms; another thread does them (see checkpointer.ts).
    // What is removed is overwritten: a conversation that was deleted must not stand in free pages.
    db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=ON')
    db.exec(SCHEMA)
    if (maxBytes !== undefined) db.exec(`PRAGMA max_page_count=${Math.max(1, Math.floor(maxBytes / pageBytes(db)))}`)
  }
  checkFormat(db)
}

function pageBytes(db: DatabaseSync): number {
  return Number(db.prepare('PRAGMA page_size').get()?.['page_size'])
}

type Sessions = ReturnType<typeof prepareSessions>

function prepareSessions(db: DatabaseSync) {
  const rows = statements(db, {
    find: 'SELECT key, epoch, pos FROM sessions WHERE id = ?',
    insert: "INSERT OR IGNORE INTO sessions (id, epoch, owner, pos, last_ms) VALUES (?, 0, '', -1, 0)",
    // One count for all sessions: the owner of one that was removed must not be taken for that of its successor.
    nextEpoch: 'UPDATE epochs SET last = last + 1 RETURNING last',
    own: 'UPDATE sessions SET epoch = ?, owner = ? WHERE id = ? RETURNING epoch, pos',
    release: "UPDATE sessions SET owner = '' WHERE id = ?",
    list: 'SELECT id, pos, last_ms, owner FROM sessions WHERE id > ? AND pos >= 0 ORDER BY id LIMIT ?',
  })
  const find = (session: string): SessionRow | undefined => rows.find.get(session) as SessionRow | undefined
  return {
    find,
    findKey: (session: string): number => {
      rows.insert.run(session)
      return find(session)?.key ?? 0
    },
    acquire: (session: string, owner: string) =>
      inTransaction(db, () => {
        rows.insert.run(session)
        const epoch = Number(rows.nextEpoch.get()?.['last'])
        return rows.own.get(epoch, owner, session) as { epoch: number; pos: number } // of the row that was just made
      }),
    release: (session: string, epoch: number, left: LeftBehind): boolean => {
      if (find(session)?.epoch !== epoch) return false
      if (left === 'nothing') rows.release.run(session)
      return true
    },
    list: (after: string, limit: number): readonly SessionRows[] =>
      rows.list.all(after, limit).map((row) => ({
        session: String(row['id']),
        records: Number(row['pos']) + 1,
        lastMs: Number(row['last_ms']),
        isOwned: row['owner'] !== '',
      })),
  }
}

function prepareLogs(db: DatabaseSync, { find, findKey }: Sessions) {
  const rows = statements(db, {
    advance: 'UPDATE sessions SET pos = ?, last_ms = ? WHERE key = ?',
    insert: 'INSERT INTO records (id, body) VALUES (?, ?)',
    read: 'SELECT body FROM records WHERE id >= ? AND id < ? ORDER BY id LIMIT ?',
    one: 'SELECT body FROM records WHERE id = ?',
    raiseEpochs: 'UPDATE epochs SET last = max(last, ?)',
    restored: "UPDATE sessions SET epoch = ?, owner = 'restored' WHERE key = ?",
    removeRecords: 'DELETE FROM records WHERE id >= ? AND id < ?',
    removeSnapshot: 'DELETE FROM snapshots WHERE session = ?',
    removeBlobs: 'DELETE FROM blobs WHERE session = ?',
    removeSession: 'DELETE FROM sessions WHERE key = ?',
  })
  const insert = (row: SessionRow, bodies: readonly string[], lastMs: number): number => {
    let { pos } = row
    for (const body of bodies) {
      pos += 1
      rows.insert.run(rowId(row.key, pos), body)
    }
    rows.advance.run(pos, lastMs, row.key)
    return pos
  }
  const append = ({ session, epoch, afterPos, bodies, lastMs }: AppendRows): AppendOutcome => {
    const row = find(session)
    if (row && row.epoch === epoch && row.pos === afterPos) return { pos: insert(row, bodies, lastMs) }
    const is = `epoch ${row?.epoch ?? 0}, position ${row?.pos ?? -1}`
    return { conflict: `session ${session} is at ${is}; not at ${epoch}, ${afterPos}` }
  }
  return {
    appendAll: (appends: readonly AppendRows[]) => inTransaction(db, () => appends.map(append)),
    read: (session: string, fromPos: number, limit: number): readonly string[] => {
      const row = find(session)
      if (!row) return []
      const found = rows.read.all(rowId(row.key, Math.max(0, fromPos)), rowId(row.key + 1, 0), limit)
      return found.map((record) => String(record['body']))
    },
    put: ({ session, epoch, lastMs, heldBy, ...given }: PutRequest): PutConflict | undefined =>
      inTransaction(db, () => {
        const known = find(session)
        const bodyAt = (pos: number): string | undefined => known && textIn(rows.one.get(rowId(known.key, pos)))
        const plan = planPut({ session, ...given }, { lastPos: known?.pos ?? -1, heldBy, bodyAt })
        if (plan.type === 'conflict') return plan
        if (plan.bodies.length === 0) return undefined
        insert(known ?? { key: findKey(session), epoch, pos: -1 }, plan.bodies, lastMs)
        rows.raiseEpochs.run(epoch)
        return undefined
      }),
    restore: ({ session, epoch, bodies, lastMs }: RestoreRows) =>
      inTransaction(db, () => {
        const key = findKey(session)
        if ((find(session)?.pos ?? -1) >= 0) return false
        insert({ key, epoch, pos: -1 }, bodies, lastMs)
        rows.raiseEpochs.run(epoch)
        rows.restored.run(epoch, key)
        return true
      }),
    remove: (session: string): void => {
      const row = find(session)
      if (!row) return
      inTransaction(db, () => {
        rows.removeRecords.run(rowId(row.key, 0), rowId(row.key + 1, 0))
        for (const part of [rows.removeSnapshot, rows.removeBlobs, rows.removeSession]) part.run(row.key)
      })
    },
  }
}

function statements<Name extends string>(
  db: DatabaseSync,
  texts: Readonly<Record<Name, string>>,
): Readonly<Record<Name, StatementSync>> {
  const prepared = Object.entries<string>(texts).map(([name, text]) => [name, db.prepare(text)])
  return Object.fromEntries(prepared) as Record<Name, StatementSync> // the same names
}

interface SessionRow {
  readonly key: number
  readonly epoch: number
  readonly pos: number
}

function rowId(key: number, pos: number): number {
  if (pos >= POSITIONS_MAX) throw new RangeError(`a session has at most ${POSITIONS_MAX} records`)
  return key * POSITIONS_MAX + pos
}

function inTransaction<Value>(db: DatabaseSync, act: () => Value): Value {
  db.exec('BEGIN IMMEDIATE')
  try {
    const value = act()
    db.exec('COMMIT')
    return value
  } catch (cause) {
    // A failed commit (a full disk) may have ended the transaction already.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw cause
  }
}

function textIn(row: Record<string, unknown> | undefined): string | undefined {
  return row === undefined ? undefined : String(row['body'])
}

function checkFormat(db: DatabaseSync): void {
  const row = db.prepare('SELECT version FROM format').get()
  if (row === undefined) {
    db.prepare('INSERT INTO format (version) VALUES (?)').run(FILE_VERSION)
    db.exec('INSERT INTO epochs (last) VALUES (0)')
  } else if (row['version'] !== FILE_VERSION)
    throw new Error(`the file has format ${String(row['version'])}; this Baton reads format ${FILE_VERSION}`)
}
