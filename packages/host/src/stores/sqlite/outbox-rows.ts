// Rows of the outbox: what of a session still has to be sent, in lists by time.
import type { DatabaseSync } from 'node:sqlite'
import type { FoundRow, OutboxQuery } from '@baton/core/internal'
import type { OutboxSwap } from './acts.ts'
import type { SessionRow } from './hashes.ts'
import type { SessionRows } from './session-rows.ts'
import { prepareStatements } from './statements.ts'

/** A file of an earlier version gets it when it is opened for writing. */
export const OUTBOX_TABLE = `CREATE TABLE IF NOT EXISTS outbox (session INTEGER NOT NULL, name TEXT NOT NULL,
  list TEXT NOT NULL, at_ms INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (session, name)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS outbox_at ON outbox (list, at_ms);`

export interface OutboxRows {
  get(session: string, name: string): string | undefined
  swap(swap: OutboxSwap): boolean
  find(query: OutboxQuery): readonly FoundRow[]
  remove(row: SessionRow): void
}

export function prepareOutboxRows(db: DatabaseSync, sessions: SessionRows): OutboxRows {
  const isThere = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'outbox'").get() !== undefined
  // A file of an earlier version, opened for reading.
  if (!isThere) return { get: () => undefined, swap: () => false, find: () => [], remove: () => {} }
  const rows = prepareStatements(db, {
    get: 'SELECT body FROM outbox WHERE session = ? AND name = ?',
    put: 'INSERT OR REPLACE INTO outbox (session, name, list, at_ms, body) VALUES (?, ?, ?, ?, ?)',
    remove: 'DELETE FROM outbox WHERE session = ? AND name = ?',
    removeAll: 'DELETE FROM outbox WHERE session = ?',
    find: `SELECT s.id AS session, o.name AS name, o.at_ms AS atMs, o.body AS body
      FROM outbox o JOIN sessions s ON s.key = o.session
      WHERE o.list = ? AND o.at_ms >= ? AND (o.at_ms, s.id, o.name) > (?, ?, ?) ORDER BY o.at_ms, s.id, o.name LIMIT ?`,
  })
  const get = (key: number, name: string): string | undefined => {
    const body = rows.get.get(key, name)?.['body']
    return typeof body === 'string' ? body : undefined
  }
  return {
    get: (session, name) => {
      const row = sessions.find(session)
      return row && get(row.key, name)
    },
    swap: ({ session, name, was, row }) => {
      const found = sessions.find(session)
      if (!found || found.root !== null || found.pos < 0 || get(found.key, name) !== was) return false
      if (row) rows.put.run(found.key, name, row.list, row.atMs, row.body)
      else rows.remove.run(found.key, name)
      return true
    },
    find: ({ list, after, limit }) => {
      const { atMs, session, name } = after ?? { atMs: Number.MIN_SAFE_INTEGER, session: '', name: '' }
      return rows.find.all(list, atMs, atMs, session, name, limit) as unknown as readonly FoundRow[] // its columns
    },
    remove: ({ key }) => void rows.removeAll.run(key),
  }
}
