// The file of a SQLite store: tables, settings, and what an append or a read does to them. It runs in the worker thread.
import { DatabaseSync } from 'node:sqlite'

/** A record's row id is its session's key and its position in one integer, so a log lies together in one table. */
const POSITIONS_MAX = 2 ** 26

const SCHEMA = `
CREATE TABLE IF NOT EXISTS format (version INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
  key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL, owner TEXT NOT NULL, pos INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS records (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS snapshots (session INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS blobs (session INTEGER NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (session, name));
`
/** Of the tables, not of the records in them, which carry their own. */
const FILE_VERSION = 1

export interface AppendRows {
  readonly session: string
  readonly epoch: number
  readonly afterPos: number
  /** Records as JSON text. */
  readonly bodies: readonly string[]
}

export type AppendOutcome = { readonly pos: number } | { readonly conflict: string }

export interface Database {
  acquire(session: string, owner: string): { readonly epoch: number; readonly pos: number }
  /** All in one transaction; each append by itself is taken or refused. Durable when it returns. */
  appendAll(appends: readonly AppendRows[]): readonly AppendOutcome[]
  read(session: string, fromPos: number, rows: number): readonly string[]
  putSnapshot(session: string, body: string): void
  snapshot(session: string): string | undefined
  putBlob(session: string, name: string, body: string): void
  blob(session: string, name: string): string | undefined
  close(): void
}

/** @throws Error of SQLite (`code` ERR_SQLITE_ERROR) when the file cannot be opened or is not of this format */
export function openDatabase(path: string): Database {
  const db = new DatabaseSync(path)
  // Automatic checkpoints stall the committing thread for 5 to 15 ms; another thread does them (see checkpointer.ts).
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA busy_timeout=5000;')
  db.exec(SCHEMA)
  checkFormat(db)
  const rows = {
    session: db.prepare('SELECT key, epoch, pos FROM sessions WHERE id = ?'),
    insert: db.prepare("INSERT OR IGNORE INTO sessions (id, epoch, owner, pos) VALUES (?, 0, '', -1)"),
    own: db.prepare('UPDATE sessions SET epoch = epoch + 1, owner = ? WHERE id = ? RETURNING epoch, pos'),
    advance: db.prepare('UPDATE sessions SET pos = ? WHERE key = ?'),
    record: db.prepare('INSERT INTO records (id, body) VALUES (?, ?)'),
    read: db.prepare('SELECT body FROM records WHERE id >= ? AND id < ? ORDER BY id LIMIT ?'),
    putSnapshot: db.prepare('INSERT OR REPLACE INTO snapshots (session, body) VALUES (?, ?)'),
    snapshot: db.prepare('SELECT body FROM snapshots WHERE session = ?'),
    putBlob: db.prepare('INSERT OR REPLACE INTO blobs (session, name, body) VALUES (?, ?, ?)'),
    blob: db.prepare('SELECT body FROM blobs WHERE session = ? AND name = ?'),
  }
  const find = (session: string): SessionRow | undefined => rows.session.get(session) as SessionRow | undefined
  const keyOf = (session: string): number => {
    rows.insert.run(session)
    return find(session)?.key ?? 0
  }

  const append = ({ session, epoch, afterPos, bodies }: AppendRows): AppendOutcome => {
    const row = find(session)
    if (!row || row.epoch !== epoch || row.pos !== afterPos)
      return {
        conflict: `session ${session} is at epoch ${row?.epoch ?? 0}, position ${row?.pos ?? -1}; not at ${epoch}, ${afterPos}`,
      }
    let pos = afterPos
    for (const body of bodies) {
      pos += 1
      rows.record.run(rowId(row.key, pos), body)
    }
    rows.advance.run(pos, row.key)
    return { pos }
  }

  return {
    acquire: (session, owner) => {
      keyOf(session)
      return rows.own.get(owner, session) as { epoch: number; pos: number } // RETURNING gives the row that keyOf made
    },
    appendAll: (appends) => inTransaction(db, () => appends.map(append)),
    read: (session, fromPos, limit) => {
      const row = find(session)
      if (!row) return []
      const found = rows.read.all(rowId(row.key, Math.max(0, fromPos)), rowId(row.key + 1, 0), limit)
      return found.map((record) => String(record['body']))
    },
    putSnapshot: (session, body) => void rows.putSnapshot.run(keyOf(session), body),
    snapshot: (session) => textIn(rows.snapshot.get(find(session)?.key ?? 0)),
    putBlob: (session, name, body) => void rows.putBlob.run(keyOf(session), name, body),
    blob: (session, name) => textIn(rows.blob.get(find(session)?.key ?? 0, name)),
    close: () => db.close(),
  }
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
  if (row === undefined) db.prepare('INSERT INTO format (version) VALUES (?)').run(FILE_VERSION)
  else if (row['version'] !== FILE_VERSION)
    throw new Error(`the file has format ${String(row['version'])}; this Baton reads format ${FILE_VERSION}`)
}
