// Entries of sessions in PostgreSQL, and their places in lists. Appends write them; this reads them, and replaces outdated
// ones.
import type { EntryStore } from '@baton/core/internal'
import { BatonError, describeValue } from '@baton/core/internal'
import { readPlace, writePlace } from '../entry-index.ts'
import { checkText } from '../legal-text.ts'
import { writePlaces } from './append-queue.ts'
import type { PostgresConnections } from './connections.ts'

/** Outdated sessions per query. */
const ROWS = 256
/** Digits of a session's key in the name of a place, so that names sort as the keys do. */
const KEY_DIGITS = 19

/** A place that the server can read. @throws BatonError `invalid_option`: a client may have forged its cursor */
function readKnownPlace(after: string): ReturnType<typeof readPlace> {
  if (/^-?\d{1,16}\.\d{1,9}\.0?\d{1,18}$/.test(after)) return readPlace(after)
  throw new BatonError({
    code: 'invalid_option',
    message: `no list of this store has the place ${describeValue(after)}`,
    hint: 'Pass the cursor of the page before, or none for the first page.',
  })
}

export function openEntries(connections: PostgresConnections): EntryStore {
  const { schema } = connections
  return {
    find: async ({ list, order, after, sinceMs, limit }) => {
      const [beyond, sort] = order === 'newest' ? ['<', 'DESC'] : ['>', 'ASC']
      const place = after === undefined ? undefined : readKnownPlace(after)
      const rows = await connections.query<PlacedRow>(
        `SELECT p.at_ms, p.item, p.session, s.id, e.body
         FROM ${schema}.places p JOIN ${schema}.sessions s ON s.key = p.session
         JOIN ${schema}.entries e ON e.session = p.session
         WHERE p.list = $1 AND p.at_ms >= $2 ${place ? `AND (p.at_ms, p.item, p.session) ${beyond} ($4, $5, $6)` : ''}
         ORDER BY p.at_ms ${sort}, p.item ${sort}, p.session ${sort} LIMIT $3`,
        [
          list,
          Math.ceil(sinceMs ?? -Number.MAX_SAFE_INTEGER),
          limit,
          ...(place ? [place.atMs, place.item, place.session] : []),
        ],
      )
      return rows.map((row) => ({
        session: row.id,
        atMs: Number(row.at_ms),
        item: row.item,
        place: writePlace(Number(row.at_ms), row.item, row.session.padStart(KEY_DIGITS, '0')),
        body: row.body,
      }))
    },
    get: async (session) => {
      checkText('a session’s id', session)
      const [row] = await connections.query<{ body: string }>(
        `SELECT e.body FROM ${schema}.entries e JOIN ${schema}.sessions s ON s.key = e.session WHERE s.id = $1`,
        [session],
      )
      return row?.body
    },
    outdated: async function* ({ after: first = '' } = {}) {
      for (let after = first; ;) {
        const rows = await connections.query<{ id: string; pos: string; last_ms: string }>(
          `SELECT s.id, s.pos, s.last_ms FROM ${schema}.sessions s
           WHERE s.key = ANY(ARRAY(SELECT session FROM ${schema}.outdated)) AND s.id > $1 AND s.root IS NULL AND s.pos >= 0
           ORDER BY s.id LIMIT ${ROWS}`,
          [after],
        )
        for (const { id, pos, last_ms } of rows)
          yield { session: id, records: Number(pos) + 1, lastMs: Number(last_ms) }
        if (rows.length < ROWS) return
        after = rows.at(-1)?.id ?? ''
      }
    },
    put: async (session, pos, entry) => {
      checkText('a session’s id', session)
      await connections.transact(async (query) => {
        const [row] = await query<{ key: string; pos: string }>(
          `SELECT s.key, s.pos FROM ${schema}.sessions s JOIN ${schema}.outdated o ON o.session = s.key
           WHERE s.id = $1 AND s.root IS NULL FOR UPDATE OF s`,
          [session],
        )
        if (!row) return
        await query(`SELECT ${schema}.enter($1, $2, $3)`, [row.key, entry.body, writePlaces(entry)])
        if (pos < Number(row.pos)) await query(`INSERT INTO ${schema}.outdated VALUES ($1)`, [row.key])
      })
    },
  }
}

interface PlacedRow {
  readonly id: string
  readonly session: string
  readonly at_ms: string
  readonly item: number
  readonly body: string
}
