// Checks the file of a SQLite store, also while a server uses it: its pages, and for each session the hash chain of its
// records, whether they can be folded, its snapshot and its blobs.
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { BatonError, isBatonError } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { applyRecord, followRecord, initialState } from '@baton/core/machine'
import type { SessionRow } from './hashes.ts'
import { hashRow } from './hashes.ts'
import { prepareDueRows } from './due-rows.ts'
import { prepareEntryRows } from './entry-rows.ts'
import { prepareRecordRows } from './record-rows.ts'
import { FILE_VERSION, POSITIONS_MAX, readFormat } from './schema.ts'
import { prepareSessionRows } from './session-rows.ts'
import { describeFailure } from './sqlite-errors.ts'
import { checkFiles, findRealPath } from './store-file.ts'
import { prepareTextRows } from './text-rows.ts'
import { inOneMoment } from './transaction.ts'

export interface StoreFinding {
  /** Absent for a finding about the whole file. */
  readonly session?: string
  readonly message: string
}

/** Counts and findings of `checkStoreFile`. */
export interface StoreReport {
  readonly sessions: number
  readonly records: number
  /** Records of older versions, which have no hash. */
  readonly unchained: number
  readonly blobs: number
  /** Faults found, at most 1,000; empty for a sound store. */
  readonly findings: readonly StoreFinding[]
}

const FINDINGS_MAX = 1000
const ROWS = 256

interface Look {
  sessions: number
  records: number
  unchained: number
  blobs: number
  readonly findings: StoreFinding[]
}

/**
 * Reads the whole file, in this thread, without changing it.
 * @throws BatonError `store_failed` when the file is missing or has another format, `log_damaged` when it is not a
 * database
 */
export function checkStoreFile(path: string): StoreReport {
  const real = findRealPath(path)
  if (!existsSync(real)) throw new BatonError({ code: 'store_failed', message: `there is no store at ${path}` })
  checkFiles(real)
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(real, { readOnly: true })
    db.exec('PRAGMA busy_timeout=5000')
    if (readFormat(db, path) !== FILE_VERSION)
      throw new BatonError({
        code: 'store_failed',
        message: `the store ${path} has the format of an older version of Baton`,
        hint: 'Open it once for writing, as "baton serve" does, then check it again.',
      })
    return look(db, path)
  } catch (cause) {
    throw new BatonError({ ...describeFailure(path, cause), cause })
  } finally {
    db?.close()
  }
}

function look(db: DatabaseSync, path: string): StoreReport {
  const report: Look = { sessions: 0, records: 0, unchained: 0, blobs: 0, findings: [] }
  const note = (cause: unknown, session?: string): void => {
    if (report.findings.length >= FINDINGS_MAX) return
    const { message } = isBatonError(cause) ? cause : describeFailure(path, cause)
    report.findings.push({ message, ...(session !== undefined && { session }) })
  }
  const attempt = (act: () => void, session?: string): void => {
    try {
      act()
    } catch (cause) {
      note(cause, session)
    }
  }
  inOneMoment(db, () => {
    attempt(() => {
      for (const row of db.prepare(`PRAGMA integrity_check(${ROWS})`).all()) {
        const said = String(row['integrity_check'])
        if (said !== 'ok') note(damaged(`its pages are damaged (SQLite: ${said})`))
      }
    })
    attempt(() => lookAtWhole(db))
    attempt(() => {
      const look = prepareLook(db, report)
      for (const row of db.prepare('SELECT * FROM sessions NOT INDEXED ORDER BY key').iterate())
        look(row as unknown as SessionRow, attempt)
    })
  })
  return report
}

/** @throws BatonError `log_damaged` */
function lookAtWhole(db: DatabaseSync): void {
  const count = (sql: string): number => Number(db.prepare(sql).get()?.['n'])
  const records = count(
    `SELECT count(*) AS n FROM records WHERE id / ${POSITIONS_MAX} NOT IN (SELECT key FROM sessions)`,
  )
  if (records > 0) throw damaged(`${records} records belong to no session`)
  const blobs = count('SELECT count(*) AS n FROM blobs NOT INDEXED WHERE session NOT IN (SELECT key FROM sessions)')
  if (blobs > 0) throw damaged(`${blobs} large texts belong to no session`)
  const epochs = count('SELECT count(*) AS n FROM epochs WHERE last < (SELECT coalesce(max(epoch), 0) FROM sessions)')
  if (epochs > 0) throw damaged('its epoch counter is behind the epoch of a session')
}

type Attempt = (act: () => void, session?: string) => void

function prepareLook(db: DatabaseSync, report: Look): (row: SessionRow, attempt: Attempt) => void {
  const sessions = prepareSessionRows(db)
  const entries = prepareEntryRows(db, sessions)
  const records = prepareRecordRows(db, sessions, { due: prepareDueRows(db), entries })
  const texts = prepareTextRows(db, sessions, records)
  const unchained = db.prepare('SELECT count(*) AS n FROM records WHERE id >= ? AND id < ? AND hash IS NULL')
  return (row, attempt) => {
    const session = String(row.id)
    report.sessions += 1
    attempt(() => {
      if (row.sum !== hashRow(row)) throw damaged('its row in the store does not match its hash')
      foldAll(session, records.read, () => (report.records += 1))
      report.unchained += Number(unchained.get(row.key * POSITIONS_MAX, (row.key + 1) * POSITIONS_MAX)?.['n'])
    }, session)
    attempt(() => {
      const issue = entries.findIssue(row)
      if (issue !== undefined) throw damaged(issue)
    }, session)
    attempt(() => {
      const { damage } = texts.snapshot(session)
      if (damage !== undefined) throw damaged(`${damage} (the whole log is read instead)`)
    }, session)
    attempt(() => {
      for (const name of texts.blobNames(session)) {
        attempt(() => void texts.blob(session, name), session)
        report.blobs += 1
      }
    }, session)
  }
}

/** @throws BatonError `log_damaged`, `log_version_unknown` */
function foldAll(session: string, read: ReturnType<typeof prepareRecordRows>['read'], onRecord: () => void): void {
  let state = initialState(session)
  for (;;) {
    const { bodies, damage, isEnd } = read(session, state.pos + 1, ROWS)
    for (const body of bodies) {
      const record = JSON.parse(body) as SessionRecord // checked by followRecord
      followRecord(state, record)
      state = applyRecord(state, record)
      onRecord()
    }
    if (damage) throw damaged(`record ${damage.pos}: ${damage.why}`)
    if (isEnd) return
  }
}

function damaged(message: string): BatonError {
  return new BatonError({ code: 'log_damaged', message })
}
