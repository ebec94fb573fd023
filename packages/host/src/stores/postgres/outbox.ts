// The outbox in PostgreSQL: what of a session still has to be sent, in lists by time.
import type { OutboxStore } from '@baton/core/internal'
import { checkText } from '../legal-text.ts'
import type { PostgresConnections } from './connections.ts'

interface Row {
  readonly id: string
  readonly name: string
  readonly at_ms: string
  readonly body: string
}

export function openOutbox(connections: PostgresConnections): OutboxStore {
  const { schema } = connections
  const own = `(SELECT key FROM ${schema}.sessions WHERE id = $1 AND root IS NULL AND pos >= 0)`
  return {
    get: async (session, name) => {
      checkText('a session’s id', session)
      const [row] = await connections.query<Pick<Row, 'body'>>(
        `SELECT body FROM ${schema}.outbox WHERE session = ${own} AND name = $2`,
        [session, name],
      )
      return row?.body
    },
    swap: async (session, name, was, row) => {
      checkText('a session’s id', session)
      const isNew = was === undefined
      const given = row ? [row.list, row.atMs, row.body] : []
      const sql = !row
        ? isNew
          ? `SELECT 1 FROM ${own} AS s WHERE NOT EXISTS (SELECT 1 FROM ${schema}.outbox WHERE session = s.key AND name = $2)`
          : `DELETE FROM ${schema}.outbox WHERE session = ${own} AND name = $2 AND body = $3 RETURNING 1`
        : isNew
          ? `INSERT INTO ${schema}.outbox (session, name, list, at_ms, body)
             SELECT key, $2, $3, $4, $5 FROM ${own} AS s ON CONFLICT DO NOTHING RETURNING 1`
          : `UPDATE ${schema}.outbox SET list = $3, at_ms = $4, body = $5
             WHERE session = ${own} AND name = $2 AND body = $6 RETURNING 1`
      const rows = await connections.query(sql, [session, name, ...given, ...(isNew ? [] : [was])])
      return rows.length > 0
    },
    find: async ({ list, after, limit }) => {
      const from = after ?? { atMs: Number.MIN_SAFE_INTEGER, session: '', name: '' }
      const rows = await connections.query<Row>(
        `SELECT s.id, o.name, o.at_ms, o.body FROM ${schema}.outbox o JOIN ${schema}.sessions s ON s.key = o.session
         WHERE o.list = $1 AND o.at_ms >= $2 AND (o.at_ms, s.id, o.name) > ($2, $3, $4)
         ORDER BY o.at_ms, s.id, o.name LIMIT $5`,
        [list, from.atMs, from.session, from.name, limit],
      )
      return rows.map(({ id, name, at_ms, body }) => ({ session: id, name, atMs: Number(at_ms), body }))
    },
  }
}
