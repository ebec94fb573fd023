// Ensures that one process owns a SQLite store. The lock is a transaction on a file next to it, which the system
// releases when the process dies. A store has one name (see store-file.ts), so the lock next to that name covers the
// file.
import { closeSync, existsSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { BatonError } from '@baton/core'
import { readProcesses } from '../shared/store-processes.ts'

/**
 * `path` must have its links resolved (see `findRealPath`).
 * @throws BatonError `store_locked` when another process holds it; SQLite's Error when the folder is not writable
 */
export function lockStore(path: string): () => void {
  const file = `${path}.lock`
  if (!existsSync(file)) makeLockFile(file)
  const lock = new DatabaseSync(file)
  try {
    lock.exec('PRAGMA busy_timeout=0; PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    const locked = String(cause).includes('locked')
    throw locked ? lockedError(path, cause) : cause
  }
  return () => lock.close()
}

/** Readable by its owner only. If another process creates it at the same moment, that file is used. */
function makeLockFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch {
    // SQLite will report the problem with the folder.
  }
}

function lockedError(path: string, cause: unknown): BatonError {
  const { holder } = readProcesses(path)
  const who = holder ? `process ${holder.pid}` : 'another process'
  const message = `${who} is using the store ${path}; stop it, or choose another file (--store FILE on the command line)`
  // Processes that share a store write who they are; others do not.
  if (holder) return new BatonError({ code: 'store_locked', message, cause })
  const hint =
    'If this process has opened it before, open it once and pass the store on; see also openSharedSqliteStore.'
  return new BatonError({ code: 'store_locked', message, hint, cause })
}
