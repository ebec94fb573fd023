// Records of all sessions as rows, each with a hash that chains it to the one before. Reads verify the chain; where it
// breaks, the log is damaged and the position is reported.
import type { DatabaseSync } from 'node:sqlite'
import type { PutOutcome } from '../put-by-position.ts'
import { planPut } from '../put-by-position.ts'
import type { AddedRows, AppendOutcome, AppendRows, PutRequest, RestoreOutcome, RestoreRows } from './acts.ts'
import type { DueRows } from './due-rows.ts'
import type { EntryRows } from './entry-rows.ts'
import type { SessionRow } from './hashes.ts'
import { hashRecord } from './hashes.ts'
import { POSITIONS_MAX } from './schema.ts'
import type { SessionRows } from './session-rows.ts'
import { prepareStatements } from './statements.ts'
import { inOneMoment } from './transaction.ts'

export interface ReadRows {
  /** The sound records, as JSON text. */
  readonly bodies: readonly string[]
  /** Whether the log ends after them, or is damaged there. */
  readonly isEnd: boolean
  /** Why the next record is not sound, if it is not. */
  readonly damage?: { readonly pos: number; readonly why: string }
}

interface RecordRow {
  readonly id: number
  readonly body: string
  /** Null in rows of older versions. */
  readonly hash: string | null
}

export type RecordRows = ReturnType<typeof prepareRecordRows>

/** Rows that change with the records of a session. */
interface RowsBeside {
  readonly due: DueRows
  readonly entries: Pick<EntryRows, 'note'>
}

export function prepareRecordRows(db: DatabaseSync, sessions: SessionRows, { due, entries }: RowsBeside) {
  const rows = prepareStatements(db, {
    insert: 'INSERT INTO records (id, body, hash) VALUES (?, ?, ?)',
    read: 'SELECT id, body, hash FROM records WHERE id >= ? AND id < ? ORDER BY id LIMIT ?',
    one: 'SELECT id, body, hash FROM records WHERE id = ?',
    remove: 'DELETE FROM records WHERE id >= ? AND id < ?',
  })
  const one = (row: SessionRow, pos: number): RecordRow | undefined =>
    rows.one.get(makeRowId(row.key, pos)) as RecordRow | undefined
  const insert = (row: SessionRow, { bodies, lastMs, dueMs }: AddedRows): number => {
    let { pos, head } = row
    for (const body of bodies) {
      pos += 1
      head = hashRecord(head, row.id, pos, body)
      rows.insert.run(makeRowId(row.key, pos), body, head)
    }
    sessions.save({ ...row, pos, head, last_ms: Math.floor(lastMs) })
    due.set(row.key, dueMs)
    return pos
  }
  return {
    insert,
    hashAt: (row: SessionRow | undefined, pos: number): string | null =>
      (row && pos >= 0 && pos < POSITIONS_MAX && one(row, pos)?.hash) || null,
    append: ({ session, epoch, afterPos, entry, ...added }: AppendRows): AppendOutcome => {
      const row = sessions.find(session)
      if (row && row.epoch === epoch && row.pos === afterPos) {
        entries.note(row, entry)
        return { pos: insert(row, added) }
      }
      const is = `epoch ${row?.epoch ?? 0}, position ${row?.pos ?? -1}`
      return { conflict: `session ${session} is at ${is}, not at ${epoch}, ${afterPos}` }
    },
    put: ({ session, epoch, heldBy, under, positions, bodies, ...times }: PutRequest): PutOutcome => {
      const known = sessions.findFor(session, under)
      const plan = planPut({ session, positions, bodies }, describeLog(sessions, known, { heldBy, under, one }))
      if (plan.type === 'conflict') return plan
      if (plan.bodies.length === 0) return { type: 'same' }
      const row = sessions.makeFor(session, under)
      entries.note(row, undefined)
      sessions.raiseEpochs(epoch)
      insert(known ? row : { ...row, epoch: sessions.nextEpoch() }, { bodies: plan.bodies, ...times })
      return { type: 'added' }
    },
    restore: ({ session, epoch, under, ...added }: RestoreRows): RestoreOutcome => {
      const known = sessions.findFor(session, under)
      if (known && known.pos >= 0) return session
      if (under && sessions.hasLog(under.root)) return under.root
      const row = sessions.makeFor(session, under)
      entries.note(row, undefined)
      sessions.raiseEpochs(epoch)
      insert({ ...row, epoch: sessions.nextEpoch(), owner: under ? '' : 'restored' }, added) // an epoch without an owner
      return undefined
    },
    read: (session: string, fromPos: number, limit: number): ReadRows =>
      inOneMoment(db, () => {
        const row = sessions.findSound(session)
        const from = Math.max(0, fromPos)
        if (!row || from > row.pos) return { bodies: [], isEnd: true }
        // The record before is read too, because the chain starts from its hash.
        const first = Math.max(0, from - 1)
        const found = rows.read.all(makeRowId(row.key, first), makeRowId(row.key + 1, 0), limit + from - first)
        return followChain(row, found as unknown as readonly RecordRow[], { from, first })
      }),
    remove: (row: SessionRow): void => {
      rows.remove.run(makeRowId(row.key, 0), makeRowId(row.key + 1, 0))
      due.set(row.key, null)
    },
  }
}

interface KnownLog extends Pick<PutRequest, 'heldBy' | 'under'> {
  readonly one: (row: SessionRow, pos: number) => RecordRow | undefined
}

/** The log that records are put into, as the file has it. */
function describeLog(sessions: SessionRows, known: SessionRow | undefined, { heldBy, under, one }: KnownLog) {
  const bodyAt = (pos: number): string | undefined => known && one(known, pos)?.body
  const missingRoot = under && !sessions.hasLog(under.root) ? under.root : undefined
  return { lastPos: known?.pos ?? -1, heldBy, missingRoot, bodyAt }
}

interface ChainPlace {
  readonly from: number
  /** `from`, or the position before it. */
  readonly first: number
}

function followChain(row: SessionRow, found: readonly RecordRow[], { from, first }: ChainPlace): ReadRows {
  const bodies: string[] = []
  let head: string | null = null
  let pos = first - 1
  const broken = (at: number, why: string): ReadRows => ({ bodies, isEnd: true, damage: { pos: at, why } })
  for (const record of found) {
    pos += 1
    if (record.id !== makeRowId(row.key, pos)) return broken(pos, 'it is missing')
    const isBefore = pos < from
    const isChained = record.hash !== null || head !== null
    if (!isBefore && isChained && record.hash !== hashRecord(head, row.id, pos, record.body))
      return broken(pos, 'it was changed, or does not follow the record before it')
    head = record.hash
    if (!isBefore) bodies.push(record.body)
  }
  if (pos > row.pos) return broken(pos, `the log ended at record ${row.pos}`)
  if (pos === row.pos) return head === row.head ? { bodies, isEnd: true } : broken(pos, 'the log did not end with it')
  return bodies.length === 0 ? broken(pos + 1, 'it is missing') : { bodies, isEnd: false }
}

function makeRowId(key: number, pos: number): number {
  if (pos >= POSITIONS_MAX) throw new RangeError(`a session has at most ${POSITIONS_MAX} records`)
  return key * POSITIONS_MAX + pos
}
