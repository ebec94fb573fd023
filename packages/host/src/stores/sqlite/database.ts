// One connection to the file of a SQLite store, for transactions and reads. The worker thread has one, and the caller's
// thread another for quick commits; only one of them writes at a time (see write-queue.ts).
import type { StatementSync } from 'node:sqlite'
import { DatabaseSync } from 'node:sqlite'
import type { DueSession } from '@baton/core/internal'
import { BatonError, isBatonError } from '@baton/core'
import type { EntryQuery, FoundEntry, FoundRow, OutboxQuery, OutdatedEntry } from '@baton/core/internal'
import type { Act, ActOutcome, ActValue } from './acts.ts'
import type { StoreRequestBody, StoreValue } from './protocol.ts'
import type { ReadRows } from './record-rows.ts'
import { prepareDueRows } from './due-rows.ts'
import { prepareEntryRows } from './entry-rows.ts'
import { prepareOutboxRows } from './outbox-rows.ts'
import { prepareRecordRows } from './record-rows.ts'
import { FILE_VERSION, readFormat } from './schema.ts'
import type { ListedSession } from './session-rows.ts'
import { prepareSessionRows } from './session-rows.ts'
import { describeFailure, isBusy } from './sqlite-errors.ts'
import type { OpenedFile } from './store-file.ts'
import type { FoundSnapshot } from './text-rows.ts'
import { prepareTextRows } from './text-rows.ts'

export interface DatabaseOptions {
  readonly path: string
  /** Maximum bytes of the file. */
  readonly maxBytes: number | undefined
  /** Milliseconds a write waits for another program's. */
  readonly busyMs: number
  /** Owner of the file; present on a connection that writes. */
  readonly owner: FileOwner | undefined
}

export interface FileOwner {
  /** Token stored in the file when it was opened. */
  readonly token: string
  readonly file: OpenedFile
}

export interface Database {
  /**
   * Commits all acts in one transaction, durable on return. Each act succeeds or is refused independently.
   * @throws SQLite's busy error (see `isBusy`) when another program writes for longer than `busyMs`; nothing is written
   * then
   */
  commit(acts: readonly Act[]): readonly ActOutcome[]
  /** @throws BatonError `log_damaged` when the session's row does not match its hash */
  read(session: string, fromPos: number, rows: number): ReadRows
  list(after: string, rows: number): readonly ListedSession[]
  children(root: string, after: string, rows: number): readonly ListedSession[]
  due(after: DueSession | undefined): readonly DueSession[]
  entries(query: EntryQuery): readonly FoundEntry[]
  entry(session: string): string | undefined
  outdated(after: string, rows: number): readonly OutdatedEntry[]
  outboxRow(session: string, name: string): string | undefined
  outbox(query: OutboxQuery): readonly FoundRow[]
  /** Epoch of the session's newest owner; `undefined` if there is no such session. */
  epoch(session: string): number | undefined
  snapshot(session: string): FoundSnapshot
  blob(session: string, name: string): string | undefined
  blobNames(session: string): readonly string[]
  close(): void
}

/**
 * @throws BatonError, or SQLite's Error (`code` ERR_SQLITE_ERROR), when the file cannot be opened or has another format
 */
export function openDatabase(init: DatabaseOptions): Database {
  const db = new DatabaseSync(init.path, { readOnly: init.owner === undefined })
  db.exec(`PRAGMA busy_timeout=${init.busyMs}`)
  if (init.owner) setUpWriting(db, init.maxBytes)
  if (readFormat(db, init.path) !== FILE_VERSION) throw createFormerError(init.path)
  const sessions = prepareSessionRows(db)
  const due = prepareDueRows(db)
  const entries = prepareEntryRows(db, sessions)
  const outbox = prepareOutboxRows(db, sessions)
  const records = prepareRecordRows(db, sessions, { due, entries })
  const texts = prepareTextRows(db, sessions, records)
  const apply = (act: Act): ActValue => {
    switch (act.type) {
      case 'append':
        return records.append(act)
      case 'acquire':
        return sessions.acquire(act.session, act.owner)
      case 'acquire-under':
        return sessions.acquireUnder(act.session, act.under)
      case 'release':
        return sessions.release(act.session, act.epoch, act.left)
      case 'put':
        return records.put(act)
      case 'restore':
        return records.restore(act)
      case 'remove':
        for (const row of sessions.tree(act.session)) {
          records.remove(row)
          texts.remove(row)
          entries.remove(row)
          outbox.remove(row)
          sessions.remove(row)
        }
        return undefined
      case 'put-entry':
        entries.put(act.session, act.pos, act.entry)
        return undefined
      case 'swap-outbox':
        return outbox.swap(act)
      case 'put-snapshot':
        texts.putSnapshot(act.session, act.pos, act.body)
        return undefined
      case 'put-blob':
        texts.putBlob(act.session, act.name, act.body)
        return undefined
      case 'probe':
        db.exec('UPDATE opening SET probes = probes + 1')
        return undefined
      default:
        return act satisfies never
    }
  }
  return {
    commit: init.owner ? createCommitter(db, init.owner, apply) : refuseToWrite(init.path),
    read: records.read,
    list: sessions.list,
    children: sessions.children,
    due: due.list,
    entries: entries.find,
    entry: entries.get,
    outdated: entries.outdated,
    outboxRow: outbox.get,
    outbox: outbox.find,
    epoch: (session) => sessions.find(session)?.epoch,
    snapshot: texts.snapshot,
    blob: texts.blob,
    blobNames: texts.blobNames,
    close: () => db.close(),
  }
}

/** Settings of every connection that writes. */
function setUpWriting(db: DatabaseSync, maxBytes: number | undefined): void {
  // Automatic checkpoints stall the committing thread for 5 to 15 ms, so another thread runs them (see
  // checkpointer.ts). Removed data is overwritten: a deleted conversation must not remain in free pages.
  db.exec('PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA secure_delete=ON')
  if (maxBytes === undefined) return
  const pageBytes = Number(db.prepare('PRAGMA page_size').get()?.['page_size'])
  db.exec(`PRAGMA max_page_count=${Math.max(1, Math.floor(maxBytes / pageBytes))}`)
}

function createCommitter(
  db: DatabaseSync,
  { token, file }: FileOwner,
  apply: (act: Act) => ActValue,
): Database['commit'] {
  const begin = db.prepare('BEGIN IMMEDIATE')
  const end = db.prepare('COMMIT')
  const owner = db.prepare('SELECT token FROM opening')
  const commitTogether = (acts: readonly Act[]): readonly ActOutcome[] => {
    if (file.gone) throw file.gone
    begin.run()
    try {
      if (!isOwn(owner, token)) throw createTakenError(file.path)
      const outcomes = acts.map((act): ActOutcome => ({ type: 'done', value: apply(act) }))
      end.run()
      file.check()
      return outcomes
    } catch (cause) {
      // A failed commit (a full disk) may have ended the transaction already.
      if (db.isTransaction) db.exec('ROLLBACK')
      file.check() // reports a deleted file as the cause
      throw cause
    }
  }
  /** Never throws: those before it are written. */
  const commitAlone = (act: Act): readonly ActOutcome[] => {
    try {
      return commit([act])
    } catch (cause) {
      return [{ type: 'failed', failure: describeFailure(file.path, cause) }]
    }
  }
  const commit: Database['commit'] = (acts) => {
    try {
      return commitTogether(acts)
    } catch (cause) {
      if (isBusy(cause)) throw cause
      // One act's failure does not fail the others.
      if (acts.length > 1 && !isGone(cause)) return acts.flatMap((act) => commitAlone(act))
      const failure = describeFailure(file.path, cause)
      return acts.map(() => ({ type: 'failed', failure }))
    }
  }
  return commit
}

function isOwn(owner: StatementSync, token: string): boolean {
  return owner.get()?.['token'] === token
}

function isGone(cause: unknown): boolean {
  return isBatonError(cause) && cause.code === 'store_gone'
}

function createTakenError(path: string): BatonError {
  const message = `another process has taken over the store ${path}, so this one can no longer write to it`
  return new BatonError({ code: 'store_gone', message })
}

function createFormerError(path: string): BatonError {
  const message = `the store ${path} has the format of an older version of Baton and can only be upgraded by opening it for writing`
  const hint = 'Open it once for writing, as "baton serve" does; nothing in it is lost.'
  return new BatonError({ code: 'store_failed', message, hint })
}

function refuseToWrite(path: string): Database['commit'] {
  const message = `the store ${path} was opened read-only`
  return (acts) => acts.map(() => ({ type: 'failed', failure: { code: 'store_failed', message } }))
}

type ReadRequest = Exclude<StoreRequestBody, { readonly type: 'commit' | 'close' }>

/** Performs a read request. @throws BatonError, Error of SQLite */
export function answerRead(database: Database, request: ReadRequest): StoreValue {
  switch (request.type) {
    case 'read':
      return database.read(request.session, request.fromPos, request.rows)
    case 'list':
      return database.list(request.after, request.rows)
    case 'children':
      return database.children(request.root, request.after, request.rows)
    case 'due':
      return database.due(request.after)
    case 'entries':
      return database.entries(request.query)
    case 'entry':
      return database.entry(request.session)
    case 'outdated':
      return database.outdated(request.after, request.rows)
    case 'outbox-row':
      return database.outboxRow(request.session, request.name)
    case 'outbox':
      return database.outbox(request.query)
    case 'epoch':
      return database.epoch(request.session)
    case 'snapshot':
      return database.snapshot(request.session)
    case 'blob':
      return database.blob(request.session, request.name)
    case 'blob-names':
      return database.blobNames(request.session)
    default:
      return request satisfies never
  }
}
