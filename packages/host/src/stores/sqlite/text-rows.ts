// Snapshots and blobs as rows. A changed snapshot is ignored, because it only saves time. A changed blob is damage, and
// so is a missing one that the session's row counts.
import type { DatabaseSync } from 'node:sqlite'
import { BatonError } from '@baton/core'
import type { SessionRow } from './hashes.ts'
import { hashBlob, hashSnapshot } from './hashes.ts'
import type { RecordRows } from './record-rows.ts'
import type { SessionRows } from './session-rows.ts'
import { prepareStatements } from './statements.ts'
import { inOneMoment } from './transaction.ts'

export interface FoundSnapshot {
  readonly body?: string
  /** Why it is ignored. */
  readonly damage?: string
}

interface BlobRow {
  readonly body: string
  /** Null in rows of older versions. */
  readonly hash: string | null
}

interface SnapshotRow extends BlobRow {
  readonly pos: number
}

export function prepareTextRows(db: DatabaseSync, sessions: SessionRows, records: RecordRows) {
  const rows = prepareStatements(db, {
    putSnapshot: 'INSERT OR REPLACE INTO snapshots (session, body, hash, pos) VALUES (?, ?, ?, ?)',
    snapshot: 'SELECT body, hash, pos FROM snapshots WHERE session = ?',
    removeSnapshot: 'DELETE FROM snapshots WHERE session = ?',
    hasBlob: 'SELECT 1 FROM blobs WHERE session = ? AND name = ?',
    putBlob: 'INSERT OR REPLACE INTO blobs (session, name, body, hash) VALUES (?, ?, ?, ?)',
    blob: 'SELECT body, hash FROM blobs WHERE session = ? AND name = ?',
    // The names in the table next to those in its index.
    names: `SELECT i.name AS name, t.name AS written, t.session AS session
      FROM blobs AS i JOIN blobs AS t NOT INDEXED ON t.rowid = i.rowid WHERE i.session = ? ORDER BY i.name`,
    removeBlobs: 'DELETE FROM blobs WHERE session = ?',
  })
  /** @throws BatonError `log_damaged` when the index, the table and the session's row disagree */
  const names = (row: SessionRow): readonly string[] => {
    const found = rows.names.all(row.key)
    if (
      found.length !== row.blobs ||
      found.some(({ name, written, session }) => name !== written || session !== row.key)
    )
      throw createTextError(row.id, 'the list of its blobs was changed')
    return found.map(({ name }) => String(name))
  }
  return {
    putSnapshot: (session: string, pos: number, body: string): void => {
      const row = sessions.findOrMake(session)
      rows.putSnapshot.run(row.key, body, hashSnapshot(session, records.hashAt(row, pos), body), pos)
    },
    snapshot: (session: string): FoundSnapshot =>
      inOneMoment(db, () => {
        const row = sessions.findSound(session)
        const found = row && (rows.snapshot.get(row.key) as SnapshotRow | undefined)
        if (!found) return {}
        const body = String(found.body)
        const isSound = found.hash === hashSnapshot(session, records.hashAt(row, Number(found.pos)), body)
        return isSound ? { body } : { damage: `the snapshot of session ${session} was changed` }
      }),
    putBlob: (session: string, name: string, body: string): void => {
      const row = sessions.findOrMake(session)
      const isNew = rows.hasBlob.get(row.key, name) === undefined
      rows.putBlob.run(row.key, name, body, hashBlob(session, name, body))
      if (isNew) sessions.save({ ...row, blobs: row.blobs + 1 })
    },
    blob: (session: string, name: string): string | undefined =>
      inOneMoment(db, () => {
        const row = sessions.findSound(session)
        const found = row && (rows.blob.get(row.key, name) as BlobRow | undefined)
        if (!found) {
          if (row) names(row)
          return undefined
        }
        const body = String(found.body)
        if (found.hash === null || found.hash === hashBlob(session, name, body)) return body
        throw createTextError(session, `its blob ${name} was changed`)
      }),
    blobNames: (session: string): readonly string[] =>
      inOneMoment(db, () => {
        const row = sessions.findSound(session)
        return row ? names(row) : []
      }),
    remove: (row: SessionRow): void => {
      rows.removeSnapshot.run(row.key)
      rows.removeBlobs.run(row.key)
    },
  }
}

function createTextError(session: string, why: string): BatonError {
  return new BatonError({ code: 'log_damaged', message: `session ${session} is damaged: ${why}`, data: { session } })
}
