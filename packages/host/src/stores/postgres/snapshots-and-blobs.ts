// Snapshots and blobs of a PostgreSQL store.
import type { BlobStore, SnapshotStore } from '@baton/core/internal'
import { checkName } from '@baton/core/internal'
import type { Snapshot } from '@baton/core/machine'
import { checkText } from '../legal-text.ts'
import { encodeJson } from '../memory-store.ts'
import type { PostgresConnections } from './connections.ts'

export function openSnapshots(connections: PostgresConnections): SnapshotStore {
  const { schema } = connections
  return {
    put: async (session, snapshot) => {
      checkName('a session’s id', session)
      const body = encodeJson(session, snapshot)
      await connections.query(
        `WITH s AS (INSERT INTO ${schema}.sessions AS known (id) VALUES ($1)
           ON CONFLICT (id) DO UPDATE SET id = known.id RETURNING key)
         INSERT INTO ${schema}.snapshots (session, body) SELECT key, $2::json FROM s
         ON CONFLICT (session) DO UPDATE SET body = excluded.body`,
        [session, body],
      )
    },
    latest: async (session) => {
      checkText('a session’s id', session)
      const [row] = await connections.query<{ body: string }>(
        `SELECT t.body::text AS body FROM ${schema}.snapshots t JOIN ${schema}.sessions s ON s.key = t.session WHERE s.id = $1`,
        [session],
      )
      return row && (JSON.parse(row.body) as Snapshot) // written by put; the reader checks its version
    },
  }
}

export function openBlobs(connections: PostgresConnections): BlobStore {
  const { schema } = connections
  return {
    put: async (session, name, text) => {
      checkName('a session’s id', session)
      checkName('a blob’s name', name)
      // UTF-8 cannot hold lone surrogates, so such text is stored as UTF-16.
      const isUtf16 = !text.isWellFormed()
      await connections.query(
        `WITH s AS (INSERT INTO ${schema}.sessions AS known (id) VALUES ($1)
           ON CONFLICT (id) DO UPDATE SET id = known.id RETURNING key)
         INSERT INTO ${schema}.blobs (session, name, body, is_utf16) SELECT key, $2, $3, $4 FROM s
         ON CONFLICT (session, name) DO UPDATE SET body = excluded.body, is_utf16 = excluded.is_utf16`,
        [session, name, Buffer.from(text, isUtf16 ? 'utf16le' : 'utf8'), isUtf16],
      )
    },
    get: async (session, name) => {
      checkText('a session’s id', session)
      checkText('a blob’s name', name)
      const [row] = await connections.query<{ body: Buffer; is_utf16: boolean }>(
        `SELECT b.body, b.is_utf16 FROM ${schema}.blobs b JOIN ${schema}.sessions s ON s.key = b.session
         WHERE s.id = $1 AND b.name = $2`,
        [session, name],
      )
      return row?.body.toString(row.is_utf16 ? 'utf16le' : 'utf8')
    },
    names: async (session) => {
      checkText('a session’s id', session)
      const rows = await connections.query<{ name: string }>(
        `SELECT b.name FROM ${schema}.blobs b JOIN ${schema}.sessions s ON s.key = b.session WHERE s.id = $1 ORDER BY b.name`,
        [session],
      )
      return rows.map(({ name }) => name)
    },
  }
}
