// Due times of sessions, in a separate table: derived from the records, in their transaction.
import type { DatabaseSync } from 'node:sqlite'
import type { DueSession } from '@baton/core/internal'
import { DUE_ROWS } from '@baton/core/internal'
import { prepareStatements } from './statements.ts'

/** A file of an earlier version gets it when it is opened for writing. */
export const DUE_TABLE = `CREATE TABLE IF NOT EXISTS due (session INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS due_at ON due (at_ms);`

export interface DueRows {
  /** Null: no time. Undefined: as before. */
  set(key: number, dueMs: number | null | undefined): void
  list(after: DueSession | undefined): readonly DueSession[]
}

export function prepareDueRows(db: DatabaseSync): DueRows {
  const isThere = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'due'").get() !== undefined
  if (!isThere) return { set: () => {}, list: () => [] } // of an earlier version, opened for reading
  const rows = prepareStatements(db, {
    set: 'INSERT INTO due (session, at_ms) VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET at_ms = excluded.at_ms',
    remove: 'DELETE FROM due WHERE session = ?',
    list: `SELECT s.id AS session, d.at_ms AS dueMs FROM due d JOIN sessions s ON s.key = d.session
      WHERE s.root IS NULL AND (d.at_ms, s.id) > (?, ?) ORDER BY d.at_ms, s.id LIMIT ${DUE_ROWS}`,
  })
  return {
    set: (key, dueMs) => {
      if (dueMs === null) rows.remove.run(key)
      else if (dueMs !== undefined) rows.set.run(key, dueMs)
    },
    list: (after) => {
      const from = after ?? { session: '', dueMs: Number.MIN_SAFE_INTEGER }
      return rows.list.all(from.dueMs, from.session) as unknown as readonly DueSession[] // its columns
    },
  }
}
