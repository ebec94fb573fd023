// Entries of sessions as rows: each with its places in lists, which a list reads in order. Altered and outdated entries are
// reported, so that a host derives them from their logs again.
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { EntryPlace, EntryQuery, FoundEntry, OutdatedEntry, SessionEntry } from '@baton/core/internal'
import { readPlace, writePlace } from '../entry-index.ts'
import type { SessionRow } from './hashes.ts'
import { hashEntry } from './hashes.ts'
import type { SessionRows } from './session-rows.ts'
import { prepareStatements } from './statements.ts'

interface EntryRow {
  readonly body: string
  /** JSON text. */
  readonly places: string
  readonly hash: string
}

interface PlacedRow extends EntryRow {
  readonly id: string
  readonly session: number
  readonly at_ms: number
  readonly item: number
}

/** Digits of a session's key in the name of a place, so that names sort as the keys do. */
const KEY_DIGITS = 9

export type EntryRows = ReturnType<typeof prepareEntryRows>

const page = (order: 'ASC' | 'DESC', beyond: '<' | '>'): string =>
  `SELECT p.at_ms, p.item, p.session, s.id, e.body, e.places, e.hash
   FROM places p CROSS JOIN sessions s ON s.key = p.session CROSS JOIN entries e ON e.session = p.session
   WHERE p.list = ? AND p.at_ms >= ? AND (p.at_ms, p.item, p.session) ${beyond} (?, ?, ?)
   ORDER BY p.at_ms ${order}, p.item ${order}, p.session ${order} LIMIT ?`

const STATEMENTS = {
  newest: page('DESC', '<'),
  oldest: page('ASC', '>'),
  entry: 'SELECT body, places, hash FROM entries WHERE session = ?',
  save: 'INSERT OR REPLACE INTO entries (session, body, places, hash) VALUES (?, ?, ?, ?)',
  remove: 'DELETE FROM entries WHERE session = ?',
  place: 'INSERT OR REPLACE INTO places (list, at_ms, item, session) VALUES (?, ?, ?, ?)',
  move: 'UPDATE places SET at_ms = ? WHERE list = ? AND at_ms = ? AND item = ? AND session = ?',
  unplace: 'DELETE FROM places WHERE list = ? AND at_ms = ? AND item = ? AND session = ?',
  unplaceAll: 'DELETE FROM places WHERE session = ?',
  placed: 'SELECT count(*) AS n FROM places WHERE list = ? AND at_ms = ? AND item = ? AND session = ?',
  isOutdated: 'SELECT 1 FROM outdated WHERE session = ?',
  outdate: 'INSERT OR IGNORE INTO outdated (session) VALUES (?)',
  renew: 'DELETE FROM outdated WHERE session = ?',
  // A cross join reads the tables in this order: the short one outside.
  outdated: `SELECT s.id, s.pos, s.last_ms FROM outdated o CROSS JOIN sessions s ON s.key = o.session
    WHERE s.root IS NULL AND s.pos >= 0 AND s.id > ? ORDER BY s.id LIMIT ?`,
}

type Statements = Readonly<Record<keyof typeof STATEMENTS, StatementSync>>

export function prepareEntryRows(db: DatabaseSync, sessions: SessionRows) {
  const rows: Statements = prepareStatements(db, STATEMENTS)
  const { find, save, clear } = createEntries(rows)
  return {
    /** Notes what new records make of the entry: a new one, the same, or an outdated one. */
    note: (row: SessionRow, entry: SessionEntry | 'same' | undefined): void => {
      if (entry === 'same' || row.root !== null) return
      if (entry) save(row, entry)
      rows[entry ? 'renew' : 'outdate'].run(row.key)
    },
    put: (session: string, pos: number, entry: SessionEntry): void => {
      const row = sessions.find(session)
      if (!row || row.root !== null || row.pos < 0) return
      const known = find(row)
      if (!rows.isOutdated.get(row.key) && known && isSound(row.id, known)) return
      save(row, entry)
      if (pos >= row.pos) rows.renew.run(row.key)
    },
    remove: (row: SessionRow): void => {
      clear(row)
      rows.remove.run(row.key)
      rows.renew.run(row.key)
    },
    find: ({ list, order, after, sinceMs = -Number.MAX_SAFE_INTEGER, limit }: EntryQuery): readonly FoundEntry[] => {
      const { atMs, item, session } = after === undefined ? ENDS[order] : readPlace(after)
      const found = rows[order].all(list, Math.ceil(sinceMs), atMs, item, Number(session), limit)
      return (found as unknown as readonly PlacedRow[]).map((row) => ({
        session: row.id,
        atMs: row.at_ms,
        item: row.item,
        place: writePlace(row.at_ms, row.item, String(row.session).padStart(KEY_DIGITS, '0')),
        ...(isSound(row.id, row) && { body: row.body }),
      }))
    },
    get: (session: string): string | undefined => {
      const row = sessions.find(session)
      const found = row && find(row)
      return found && isSound(session, found) ? found.body : undefined
    },
    outdated: (after: string, limit: number): readonly OutdatedEntry[] =>
      rows.outdated.all(after, limit).map(({ id, pos, last_ms: lastMs }) => ({
        session: String(id),
        records: Number(pos) + 1,
        lastMs: Number(lastMs),
      })),
    /** Finds what is wrong with a session's entry; undefined if it is sound, or outdated. */
    findIssue: (row: SessionRow): string | undefined => {
      if (row.root !== null || row.pos < 0 || rows.isOutdated.get(row.key)) return undefined
      const found = find(row)
      if (!found) return 'its entry in the lists is missing'
      if (!isSound(row.id, found)) return 'its entry in the lists was changed'
      const isPlaced = readPlaces(found).every(
        ({ list, atMs, item }) => rows.placed.get(list, atMs, item, row.key)?.['n'] === 1,
      )
      return isPlaced ? undefined : 'it is missing in a list'
    },
  }
}

/** Single entries: found, saved and cleared, with their places. */
function createEntries(rows: Statements) {
  const find = (row: SessionRow): EntryRow | undefined => rows.entry.get(row.key) as EntryRow | undefined
  const clear = (row: SessionRow): void => {
    const known = find(row)
    if (!known) return
    if (!isSound(row.id, known)) rows.unplaceAll.run(row.key)
    else for (const { list, atMs, item } of readPlaces(known)) rows.unplace.run(list, atMs, item, row.key)
  }
  const save = (row: SessionRow, { body, places }: SessionEntry): void => {
    const known = find(row)
    const isKnown = known !== undefined && isSound(row.id, known)
    if (!isKnown) clear(row)
    // Most entries move within their lists.
    const former = new Map((isKnown ? readPlaces(known) : []).map((one) => [`${one.item} ${one.list}`, one]))
    const text = JSON.stringify(places)
    rows.save.run(row.key, body, text, hashEntry(row.id, text, body))
    for (const { list, atMs, item } of places) {
      const from = former.get(`${item} ${list}`)
      former.delete(`${item} ${list}`)
      if (from?.atMs === atMs) continue
      const moved = from && rows.move.run(atMs, list, from.atMs, item, row.key).changes
      if (!moved) rows.place.run(list, atMs, item, row.key)
    }
    for (const { list, atMs, item } of former.values()) rows.unplace.run(list, atMs, item, row.key)
  }
  return { find, save, clear }
}

function isSound(id: string, { body, places, hash }: EntryRow): boolean {
  return hash === hashEntry(id, places, body)
}

function readPlaces({ places }: EntryRow): readonly EntryPlace[] {
  return JSON.parse(places) as readonly EntryPlace[] // as save wrote them, verified by their hash
}

/** Places before the first entry of each order. */
const ENDS = {
  newest: { atMs: Number.MAX_SAFE_INTEGER, item: 0, session: '0' },
  oldest: { atMs: -Number.MAX_SAFE_INTEGER, item: 0, session: '0' },
} as const
