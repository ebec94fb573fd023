// The tables of a SQLite store, and the migration of files in an older format. It does not know the content of records.
import type { DatabaseSync } from 'node:sqlite'
import { BatonError } from '@baton/core'
import { DUE_TABLE } from './due-rows.ts'
import type { SessionRow } from './hashes.ts'
import { hashRow } from './hashes.ts'
import { OUTBOX_TABLE } from './outbox-rows.ts'
import { inTransaction } from './transaction.ts'

/**
 * A record's row id combines its session's key and its position in one integer, so a log is contiguous in the table.
 */
export const POSITIONS_MAX = 2 ** 26
const KEYS_MAX = 2 ** 27 - 1
/** Maximum milliseconds since 1970 of a JavaScript date. */
const DATE_MS_MAX = 8_640_000_000_000_000

/**
 * Version of the tables. Records carry their own version. Format 1 has no hashes and no constraints, format 2 no roots,
 * format 3 no entries.
 */
export const FILE_VERSION = 4

const whole = (column: string, least: number, most: number): string =>
  `${column} INTEGER NOT NULL CHECK (typeof(${column}) = 'integer' AND ${column} BETWEEN ${least} AND ${most})`

const EPOCHS = `CREATE TABLE epochs (${whole('last', 0, Number.MAX_SAFE_INTEGER)});`
const SESSIONS = `CREATE TABLE sessions (
  key INTEGER PRIMARY KEY CHECK (key BETWEEN 1 AND ${KEYS_MAX}),
  id TEXT NOT NULL UNIQUE, ${whole('epoch', 0, Number.MAX_SAFE_INTEGER)}, owner TEXT NOT NULL,
  ${whole('pos', -1, POSITIONS_MAX - 1)}, ${whole('last_ms', -DATE_MS_MAX, DATE_MS_MAX)},
  ${whole('blobs', 0, Number.MAX_SAFE_INTEGER)}, head TEXT, sum TEXT NOT NULL, root TEXT
);`
/** Children are listed by their root, and are passed over where other sessions are listed. */
const SESSION_INDEXES = `CREATE INDEX sessions_under ON sessions (root, id) WHERE root IS NOT NULL;
CREATE INDEX sessions_alone ON sessions (id) WHERE root IS NULL;`
/** Entries of sessions in lists, their places there, and the sessions whose entries miss records. */
const ENTRIES = `
CREATE TABLE entries (session INTEGER PRIMARY KEY, body TEXT NOT NULL, places TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE places (list TEXT NOT NULL, at_ms INTEGER NOT NULL, item INTEGER NOT NULL, session INTEGER NOT NULL,
  PRIMARY KEY (list, at_ms, item, session)) WITHOUT ROWID;
CREATE TABLE outdated (session INTEGER PRIMARY KEY);`
/** A single row: the token of the current opening. */
const OPENING =
  "CREATE TABLE opening (token TEXT NOT NULL, probes INTEGER NOT NULL); INSERT INTO opening VALUES ('', 0);"

const TABLES = `
CREATE TABLE format (version INTEGER NOT NULL); INSERT INTO format (version) VALUES (${FILE_VERSION});
${EPOCHS} INSERT INTO epochs (last) VALUES (0);
${SESSIONS} ${SESSION_INDEXES} ${DUE_TABLE} ${OUTBOX_TABLE}
CREATE TABLE records (id INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT);
CREATE TABLE snapshots (session INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT, pos INTEGER);
CREATE TABLE blobs (session INTEGER NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, hash TEXT, UNIQUE (session, name));
${ENTRIES}
${OPENING}
`

type Format = 1 | 2 | 3 | 4

const FORMER_SESSIONS = ['key', 'id', 'epoch', 'owner', 'pos', 'last_ms']
const SESSION_COLUMNS = [...FORMER_SESSIONS, 'blobs', 'head', 'sum', 'root']
/** Tables since format 2, without that of the sessions. */
const LATER = {
  epochs: ['last'],
  records: ['id', 'body', 'hash'],
  snapshots: ['session', 'body', 'hash', 'pos'],
  blobs: ['session', 'name', 'body', 'hash'],
  opening: ['token', 'probes'],
}

/** The columns that a file of each format must have. */
const COLUMNS: Readonly<Record<Format, Readonly<Record<string, readonly string[]>>>> = {
  1: {
    epochs: ['last'],
    sessions: FORMER_SESSIONS,
    records: ['id', 'body'],
    snapshots: ['session', 'body'],
    blobs: ['session', 'name', 'body'],
  },
  2: { ...LATER, sessions: [...FORMER_SESSIONS, 'blobs', 'head', 'sum'] },
  3: { ...LATER, sessions: SESSION_COLUMNS },
  4: {
    ...LATER,
    sessions: SESSION_COLUMNS,
    entries: ['session', 'body', 'places', 'hash'],
    places: ['list', 'at_ms', 'item', 'session'],
    outdated: ['session'],
  },
}

/**
 * Creates or migrates the tables. Databases of other programs are never written to.
 * @throws BatonError `log_damaged` (a database of another program, or one with missing tables), `store_failed` (a newer
 * format); Error of SQLite
 */
export function prepareTables(db: DatabaseSync, path: string): void {
  // Only an empty file becomes a store: missing tables in any other file are damage, and are not recreated.
  if (isEmpty(db)) inTransaction(db, () => db.exec(TABLES))
  else if (readFormat(db, path) !== FILE_VERSION)
    inTransaction(db, () => {
      const former = readFormat(db, path)
      if (former === 1) migrate(db)
      if (former === 2) db.exec('ALTER TABLE sessions ADD COLUMN root TEXT')
      if (former < 3) db.exec(SESSION_INDEXES)
      // A list derives them from the logs.
      db.exec(`${ENTRIES} INSERT INTO outdated SELECT key FROM sessions WHERE root IS NULL AND pos >= 0;
        UPDATE format SET version = ${FILE_VERSION};`)
    })
  db.exec(`${DUE_TABLE} ${OUTBOX_TABLE}`)
}

/** Whether no program has stored anything in the file, or marked it as its own. */
export function isEmpty(db: DatabaseSync): boolean {
  const read = (sql: string): unknown => Object.values(db.prepare(sql).get() ?? {})[0]
  return ['SELECT count(*) FROM sqlite_master', 'PRAGMA user_version', 'PRAGMA application_id'].every(
    (sql) => read(sql) === 0,
  )
}

/** Whether the table with the format exists, in this version or another. @throws Error of SQLite */
export function isMadeByBaton(db: DatabaseSync): boolean {
  return listColumns(db).has('format version')
}

/** @throws BatonError as prepareTables; Error of SQLite */
export function readFormat(db: DatabaseSync, path: string): Format {
  const found = listColumns(db)
  const version: unknown = found.has('format version') && db.prepare('SELECT version FROM format').get()?.['version']
  if (typeof version !== 'number')
    throw new BatonError({
      code: 'log_damaged',
      message: `the store ${path} is not a Baton database; choose another file`,
      hint: 'Nothing in it was changed. Choose another file with --store sqlite:FILE.',
    })
  if (version !== FILE_VERSION && version !== 3 && version !== 2 && version !== 1)
    throw new BatonError({
      code: 'store_failed',
      message: `the store ${path} has format ${version}; this Baton reads format ${FILE_VERSION}`,
      hint: 'Use the version of Baton that wrote it, or a newer one.',
    })
  for (const [table, columns] of Object.entries(COLUMNS[version]))
    if (!columns.every((column) => found.has(`${table} ${column}`)))
      throw new BatonError({
        code: 'log_damaged',
        message: `the store ${path} lacks the table "${table}" as Baton creates it: it is damaged, or belongs to another program`,
        hint: 'Nothing in it was changed. Restore it from a backup ("baton store restore"), or name another file.',
      })
  return version
}

/** Columns as `table column`. */
function listColumns(db: DatabaseSync): ReadonlySet<string> {
  const rows = db
    .prepare(
      "SELECT t.name || ' ' || c.name AS name FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'",
    )
    .all()
  return new Set(rows.map(({ name }) => String(name)))
}

/** Migrates format 1. Existing records stay as they are; new ones are chained. Impossible numbers become 0. */
function migrate(db: DatabaseSync): void {
  db.exec(`
    ALTER TABLE records ADD COLUMN hash TEXT; ALTER TABLE blobs ADD COLUMN hash TEXT;
    DELETE FROM snapshots; ALTER TABLE snapshots ADD COLUMN hash TEXT; ALTER TABLE snapshots ADD COLUMN pos INTEGER;
    ALTER TABLE sessions RENAME TO former_sessions; ALTER TABLE epochs RENAME TO former_epochs;
    ${SESSIONS} ${EPOCHS} ${OPENING}
  `)
  const epoch = bounded('epoch', Number.MAX_SAFE_INTEGER - 1)
  const former =
    db.prepare(`SELECT key, id, ${epoch} AS epoch, owner, pos, ${bounded('last_ms', DATE_MS_MAX)} AS last_ms,
    (SELECT count(*) FROM blobs WHERE session = key) AS blobs, NULL AS head, NULL AS root FROM former_sessions`)
  const insert = db.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)')
  for (const one of former.iterate()) {
    const row = one as unknown as Omit<SessionRow, 'sum'> // the selected columns
    const { key, id, owner, pos, last_ms, blobs } = row
    insert.run(key, id, row.epoch, owner, pos, last_ms, blobs, null, hashRow(row))
  }
  db.exec(`
    INSERT INTO epochs SELECT max((SELECT coalesce(max(epoch), 0) FROM sessions),
      (SELECT coalesce(max(${bounded('last', Number.MAX_SAFE_INTEGER - 1)}), 0) FROM former_epochs));
    DROP TABLE former_sessions; DROP TABLE former_epochs;
  `)
}

/** The column, or 0 if it is not a whole number from 0 to `most`. */
function bounded(column: string, most: number): string {
  return `CASE WHEN typeof(${column}) = 'integer' AND ${column} BETWEEN 0 AND ${most} THEN ${column} ELSE 0 END`
}

/**
 * Checks the index of the sessions table, which decides what session a name finds.
 * @throws BatonError `log_damaged`
 */
export function checkSessionList(db: DatabaseSync, path: string): void {
  const [first] = db.prepare("PRAGMA integrity_check('sessions')").all()
  const said = String(first?.['integrity_check'])
  if (said === 'ok') return
  throw new BatonError({
    code: 'log_damaged',
    message: `the store ${path} is damaged: its list of sessions cannot be trusted (SQLite: ${said})`,
    hint: 'Inspect it with "baton store check", and restore it from a backup.',
  })
}
