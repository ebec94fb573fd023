// Reads sessions from OpenCode's database, `opencode.db`, with Node's SQLite and without taking a lock that OpenCode
// would notice. Knows the tables session, message and part.
import { lstat } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { wrapOpenCodeRecord } from './opencode.ts'
import { openPlain } from './plain-files.ts'
import { LINE_BYTES_MAX } from './session-lines.ts'
import type { SessionLine } from './session-lines.ts'
import type { SessionFile } from './session-events.ts'

const TABLES = ['session', 'message', 'part']
const BUSY_MS = 100
export const OPENCODE_ID = /^ses_[A-Za-z0-9]{1,90}$/

type Row = Readonly<Record<string, SQLOutputValue>>

/** Returns `undefined` if the database does not exist or cannot be read here. */
export async function openOpenCodeDatabase(path: string): Promise<DatabaseSync | undefined> {
  const handle = await openPlain(path)
  if (!handle) return undefined
  await handle.close()
  let database: DatabaseSync | undefined
  try {
    const sqlite = await import('node:sqlite') // runtimes other than Node may lack it
    const isOpenElsewhere = await lstat(`${path}-wal`).then(Boolean, () => false)
    const url = pathToFileURL(path)
    // Without it, reading would leave files next to a database that no process has open.
    if (!isOpenElsewhere) url.searchParams.set('immutable', '1')
    database = new sqlite.DatabaseSync(url, { readOnly: true, timeout: BUSY_MS })
    database.exec('PRAGMA trusted_schema = OFF')
    // A view or virtual table with one of these names could run a query that never ends.
    const rows = database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' AND name IN (?, ?, ?)")
      .all(...TABLES)
    if (rows.length === TABLES.length) return database
  } catch {
    // not a database, locked, or damaged
  }
  closeQuietly(database)
  return undefined
}

export function closeQuietly(database: DatabaseSync | undefined): void {
  try {
    database?.close()
  } catch {
    // already closed, or cannot be closed
  }
}

/** Lists sessions, newest first. */
export async function listOpenCodeDatabase(path: string, sessionsMax: number): Promise<readonly SessionFile[]> {
  const database = await openOpenCodeDatabase(path)
  if (!database) return []
  try {
    const rows: readonly Row[] = database
      .prepare(
        'SELECT id, substr(directory, 1, 4096) AS cwd, time_updated FROM session ORDER BY time_updated DESC LIMIT ?',
      )
      .all(sessionsMax)
    return rows.flatMap(({ id, cwd, time_updated: updatedMs }): readonly SessionFile[] => {
      if (typeof id !== 'string' || !OPENCODE_ID.test(id) || typeof cwd !== 'string' || cwd === '') return []
      const ms = typeof updatedMs === 'number' ? updatedMs : 0
      return [{ id, provider: 'opencode', form: 'rows', path, updatedMs: ms, cwd }]
    })
  } catch {
    return []
  } finally {
    closeQuietly(database)
  }
}

/** Overlong rows are not read. */
const DATA = `CASE WHEN octet_length(data) > ${LINE_BYTES_MAX} THEN NULL ELSE CAST(data AS TEXT) END AS data`
const SESSION = `SELECT json_object('directory', substr(directory, 1, 4096), 'title', substr(title, 1, 4096), 'version', substr(version, 1, 100),
  'parentID', parent_id, 'time', json_object('created', time_created)) AS data FROM session WHERE id = ?`
/** Placeholder for rows that the database could not return: invalid JSON, so it counts as broken. */
const DAMAGED = 'damaged'

/** Yields the session, then its messages in order, each before its parts. */
export function* readOpenCodeRows(database: DatabaseSync, session: string): Generator<SessionLine> {
  let number = 1
  const line = (
    kind: 'session' | 'message' | 'part',
    id: SQLOutputValue | undefined,
    data: SQLOutputValue | undefined,
  ) => ({
    number: number++,
    text: typeof data === 'string' ? wrapOpenCodeRecord(kind, String(id), data) : undefined,
  })
  try {
    const own: Row | undefined = database.prepare(SESSION).get(session)
    if (own) yield line('session', session, own['data'])
    const messages = database.prepare(`SELECT id, ${DATA} FROM message WHERE session_id = ? ORDER BY time_created, id`)
    const parts = database.prepare(`SELECT id, ${DATA} FROM part WHERE message_id = ? ORDER BY id`)
    for (const { id, data } of messages.iterate(session)) {
      yield line('message', id, data)
      if (typeof id !== 'string') continue
      for (const part of parts.iterate(id)) yield line('part', part['id'], part['data'])
    }
  } catch {
    yield { number, text: DAMAGED }
  }
}
