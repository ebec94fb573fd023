// The thread that owns the file: locks and opens it, reads, and makes commits that would block the caller's thread.
import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import { BatonError } from '@baton/core'
import type { Database } from './database.ts'
import { answerRead, openDatabase } from './database.ts'
import { lockStore } from './lock.ts'
import type { Opening, StoreReply, StoreRequest, StoreValue, WorkerData } from './protocol.ts'
import { checkSessionList, isEmpty, prepareTables, readFormat } from './schema.ts'
import { describeFailure } from './sqlite-errors.ts'
import { checkFiles, findRealPath, keepFromOthers, makeFile, OpenedFile } from './store-file.ts'

/** Milliseconds a write waits for another program's. */
const BUSY_MS = 5000
/** Commits made when the file is opened, to learn whether it is writable and how fast. */
const PROBES = 3

interface Opened {
  readonly database: Database
  readonly opening: Opening
  /** Absent for a store opened read-only, which has nothing to lose. */
  readonly file?: OpenedFile
  readonly unlock: () => void
}

function serve(): void {
  const port = parentPort
  if (!port) return
  const reply = (message: StoreReply): void => port.postMessage(message)
  const init = workerData as WorkerData // passed by openSqliteStore
  let opened: Opened
  try {
    opened = open(init, (message) => reply({ type: 'warning', message }))
  } catch (cause) {
    reply({ type: 'refused', failure: describeFailure(init.path, cause) })
    return
  }
  const { database, opening, file, unlock } = opened
  port.on('message', (request: StoreRequest) => {
    const { id } = request
    try {
      // A commit checks by itself, and a deleted file can still be closed.
      if (request.type !== 'commit' && request.type !== 'close') file?.check()
      reply({ id, type: 'done', value: answer(database, request) })
    } catch (cause) {
      reply({ id, type: 'failed', failure: describeFailure(init.path, cause) })
    }
    if (request.type === 'close') {
      unlock()
      port.unref() // this was all that kept the thread alive; Deno's port has no `close`
    }
  })
  reply({ type: 'ready', opening })
}

/** @throws BatonError, Error of SQLite or of the file system */
function open({ path: given, readOnly, maxBytes }: WorkerData, warn: (message: string) => void): Opened {
  const path = findRealPath(given)
  checkFiles(path)
  if (readOnly) {
    const database = openDatabase({ path, maxBytes, busyMs: BUSY_MS, owner: undefined })
    return { database, opening: { path, token: undefined, commitMs: Infinity }, unlock: () => {} }
  }
  checkUnlocked(path)
  const unlock = lockStore(path)
  try {
    makeFile(path)
    const token = randomUUID()
    const taker = takeFile(path, token)
    keepFromOthers(path, warn)
    const owner = { token, file: new OpenedFile(path) }
    const database = openDatabase({ path, maxBytes, busyMs: BUSY_MS, owner })
    taker.close() // the last connection to close would remove the write-ahead log
    return { database, opening: { path, token, commitMs: probe(database) }, file: owner.file, unlock }
  } catch (cause) {
    unlock()
    throw cause
  }
}

/**
 * Checks a file that has never been a store before anything is created next to it.
 * @throws BatonError as prepareTables; Error of SQLite
 */
function checkUnlocked(path: string): void {
  if (existsSync(`${path}.lock`) || (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) return
  // Opened for writing: a read-only connection would leave files next to a database with a write-ahead log.
  const db = new DatabaseSync(path)
  try {
    db.exec(`PRAGMA busy_timeout=${BUSY_MS}; PRAGMA query_only=ON`)
    if (!isEmpty(db)) readFormat(db, path)
  } finally {
    db.close()
  }
}

/** Creates or migrates the tables, and writes the token of this opening. */
function takeFile(path: string, token: string): DatabaseSync {
  const db = new DatabaseSync(path)
  try {
    db.exec(`PRAGMA busy_timeout=${BUSY_MS}; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON`)
    prepareTables(db, path)
    db.exec('PRAGMA journal_mode=WAL')
    checkSessionList(db, path)
    db.exec('UPDATE epochs SET last = max(last, (SELECT coalesce(max(epoch), 0) FROM sessions))')
    db.prepare('UPDATE opening SET token = ?').run(token)
    return db
  } catch (cause) {
    db.close()
    throw cause
  }
}

/** @throws Error of SQLite when the file cannot be written */
function probe(database: Database): number {
  const times = Array.from({ length: PROBES }, () => {
    const startMs = performance.now()
    const [outcome] = database.commit([{ type: 'probe', session: '' }])
    if (outcome?.type === 'failed') throw new BatonError(outcome.failure)
    return performance.now() - startMs
  })
  return times.toSorted((one, other) => one - other)[Math.floor(PROBES / 2)] ?? Infinity
}

function answer(database: Database, request: StoreRequest): StoreValue {
  if (request.type === 'close') return database.close() as undefined
  if (request.type !== 'commit') return answerRead(database, request)
  const startMs = performance.now()
  const outcomes = database.commit(request.acts)
  return { outcomes, tookMs: performance.now() - startMs }
}

serve()
