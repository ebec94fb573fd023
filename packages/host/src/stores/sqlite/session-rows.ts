// The row of each session: where its log ends, who owns it, and a checksum that reveals changes to the row.
import type { DatabaseSync } from 'node:sqlite'
import type { LeftBehind } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { SessionRow } from './hashes.ts'
import { hashRow } from './hashes.ts'
import { prepareStatements } from './statements.ts'

/** A session as listed. */
export interface ListedSession {
  readonly session: string
  readonly records: number
  readonly lastMs: number
  readonly isOwned: boolean
  /** Set if the row does not match its checksum. */
  readonly damage?: string
}

export type SessionRows = ReturnType<typeof prepareSessionRows>

const COLUMNS = 'key, id, epoch, owner, pos, last_ms, blobs, head, sum'

export function prepareSessionRows(db: DatabaseSync) {
  const rows = prepareStatements(db, {
    find: `SELECT ${COLUMNS} FROM sessions WHERE id = ?`,
    insert:
      'INSERT INTO sessions (id, epoch, owner, pos, last_ms, blobs, sum) VALUES (?, ?, ?, -1, 0, 0, ?) RETURNING key',
    save: 'UPDATE sessions SET epoch = ?, owner = ?, pos = ?, last_ms = ?, blobs = ?, head = ?, sum = ? WHERE key = ?',
    // One counter for all sessions: the owner of a removed session must not be mistaken for that of its successor.
    nextEpoch: 'UPDATE epochs SET last = last + 1 RETURNING last',
    raiseEpochs: 'UPDATE epochs SET last = max(last, ?)',
    remove: 'DELETE FROM sessions WHERE key = ?',
    list: `SELECT ${COLUMNS} FROM sessions WHERE id > ? AND pos >= 0 ORDER BY id LIMIT ?`,
  })
  const find = (session: string): SessionRow | undefined => rows.find.get(session) as SessionRow | undefined
  /** @throws BatonError `log_damaged` */
  const findSound = (session: string): SessionRow | undefined => {
    const row = find(session)
    if (row && row.sum !== hashRow(row)) throw createRowError(session)
    return row
  }
  const save = (row: SessionRow): void => {
    const { epoch, owner, pos, last_ms, blobs, head, key } = row
    rows.save.run(epoch, owner, pos, last_ms, blobs, head, hashRow(row), key)
  }
  const make = (session: string): SessionRow => {
    const row = { id: session, epoch: 0, owner: '', pos: -1, last_ms: 0, blobs: 0, head: null }
    const key = Number(rows.insert.get(session, 0, '', '')?.['key'])
    save({ ...row, key, sum: '' })
    return { ...row, key, sum: '' }
  }
  return {
    find,
    findSound,
    findOrMake: (session: string): SessionRow => findSound(session) ?? make(session),
    save,
    remove: (row: SessionRow): void => void rows.remove.run(row.key),
    raiseEpochs: (epoch: number): void => void rows.raiseEpochs.run(epoch),
    acquire: (session: string, owner: string): { readonly epoch: number; readonly pos: number } => {
      const row = findSound(session) ?? make(session)
      const epoch = Number(rows.nextEpoch.get()?.['last'])
      save({ ...row, epoch, owner })
      return { epoch, pos: row.pos }
    },
    /**
     * Returns whether the epoch is the current one. The row keeps its owner if work is left, so that the session is
     * recovered.
     */
    release: (session: string, epoch: number, left: LeftBehind): boolean => {
      const row = findSound(session)
      if (row?.epoch !== epoch) return false
      if (left === 'nothing') save({ ...row, owner: '' })
      return true
    },
    /** Sessions whose names sort after this one. A damaged one is reported without hiding the others. */
    list: (after: string, limit: number): readonly ListedSession[] =>
      (rows.list.all(after, limit) as unknown as readonly SessionRow[]).map((row) => ({
        session: String(row.id),
        records: Number(row.pos) + 1,
        lastMs: Number(row.last_ms),
        isOwned: row.owner !== '',
        ...(row.sum !== hashRow(row) && { damage: createRowError(row.id).message }),
      })),
  }
}

function createRowError(session: string): BatonError {
  const message = `session ${session} is damaged: its row in the store does not match its hash`
  return new BatonError({ code: 'log_damaged', message, data: { session } })
}
