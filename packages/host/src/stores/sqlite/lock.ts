// One process owns a SQLite store. The lock is a transaction on a file beside it: the system releases it when the process dies.
// A file has one name (see store-file.ts), so the lock beside that name is the lock of the file.
import { closeSync, existsSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { BatonError } from '@baton/core'
import { readProcesses } from '../shared/store-processes.ts'

/**
 * `path` has no links in it (see `findRealPath`).
 * @throws BatonError `store_locked` when another process holds it; Error of SQLite when the folder cannot be written to
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

/** Its owner's alone. One that somebody else makes in the same moment is as good. */
function makeLockFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch {
    // SQLite says what is wrong with the folder.
  }
}

function lockedError(path: string, cause: unknown): BatonError {
  const { holder } = readProcesses(path)
  const who = holder ? `process ${holder.pid}` : 'another process'
  const message = `${who} uses the store ${path}; stop it, or choose another file (--store FILE on the command line)`
  return new BatonError({ code: 'store_locked', message, cause })
}
