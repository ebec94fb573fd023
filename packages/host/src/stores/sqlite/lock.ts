// One process owns a SQLite store. The lock is a transaction on a file beside it: the system releases it when the process dies.
import { existsSync, realpathSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { BatonError } from '@baton/core'

/** @throws BatonError `store_locked` when another process holds it; Error of SQLite when the folder cannot be written to */
export function lockStore(path: string): () => void {
  // A link to a file is the same file.
  const lock = new DatabaseSync(`${existsSync(path) ? realpathSync(path) : path}.lock`)
  try {
    lock.exec('PRAGMA busy_timeout=0; PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE')
  } catch (cause) {
    lock.close()
    const locked = String(cause).includes('locked')
    throw locked ? lockedError(path, cause) : cause
  }
  return () => lock.close()
}

function lockedError(path: string, cause: unknown): BatonError {
  const message = `another process uses the store ${path}; stop it, or choose another file`
  return new BatonError({ code: 'store_locked', message, cause })
}
