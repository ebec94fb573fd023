// Copies of the file of a SQLite store: one is taken while a server is at work on it, and is put in its place again when
// nobody is. Every copy is whole, on the disk and its owner's alone before it has its name.
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BatonError } from '@baton/core'
import type { StoreReport } from './check-file.ts'
import { checkStoreFile } from './check-file.ts'
import { lockStore } from './lock.ts'
import { describeFailure } from './sqlite-errors.ts'
import { createLinkError, findRealPath } from './store-file.ts'

/**
 * Copies the store as it is at one moment, in this thread; a server that has it open goes on. Returns what the copy holds:
 * what is damaged in the store is damaged in it too.
 * @throws BatonError `invalid_option` when `target` exists, `store_failed`, `log_damaged`
 */
export function backUpStoreFile(path: string, target: string): StoreReport {
  if (existsSync(target)) throw createExistsError(target, 'name another file for the backup')
  const source = findRealPath(path)
  if (!existsSync(source)) throw new BatonError({ code: 'store_failed', message: `there is no store at ${path}` })
  const report = copyFile(source, target, `${target}.partial`)
  renameSync(`${target}.partial`, target)
  syncFolder(target)
  return report
}

export interface RestoreOptions {
  /** Puts the backup in the place of a store that is there, which is kept beside it. False by default. */
  readonly replace?: boolean
}

/**
 * Puts a sound backup in the place of a store that nobody has open. Gives the name under which the former one is kept, or
 * where only logs were left of it, the name of the first of these. The store is checked again where it stands then.
 * @throws BatonError `store_locked`, `invalid_option` (a store is there already), `log_damaged` (the backup is), `store_failed`
 */
export function restoreStoreFile(
  backup: string,
  path: string,
  { replace = false }: RestoreOptions = {},
): { readonly former: string | undefined } {
  const real = findRealPath(path)
  const unlock = lock(real)
  try {
    const exists = existsSync(real)
    if (exists && !replace)
      throw createExistsError(path, 'name another file, or say that it is to be replaced (--replace); it is kept then')
    const links = exists ? statSync(real).nlink : 1
    if (links > 1) throw createLinkError(real, links)
    const { findings } = copyFile(findRealPath(backup), real, `${real}.restoring`)
    const [first] = findings
    if (first) {
      rmSync(`${real}.restoring`)
      const where = first.session === undefined ? '' : `session ${first.session}: `
      throw new BatonError({
        code: 'log_damaged',
        message: `the backup ${backup} is damaged (${findings.length} findings): ${where}${first.message}`,
      })
    }
    const former = moveAside(real)
    renameSync(`${real}.restoring`, real)
    syncFolder(real)
    const [wrong] = checkStoreFile(real).findings
    if (wrong) throw createRestoredError(path, wrong.message, former)
    return { former }
  } finally {
    unlock()
  }
}

/** @throws BatonError */
function lock(path: string): () => void {
  try {
    return lockStore(path)
  } catch (cause) {
    throw new BatonError({ ...describeFailure(path, cause), cause })
  }
}

/** @throws BatonError */
function copyFile(source: string, named: string, target: string): StoreReport {
  try {
    rmSync(target, { force: true }) // of a copy that was not finished
    closeSync(openSync(target, 'wx', 0o600))
    const db = new DatabaseSync(source, { readOnly: true })
    try {
      db.exec('PRAGMA busy_timeout=5000')
      db.prepare('VACUUM INTO ?').run(target)
    } finally {
      db.close()
    }
    syncFile(target)
    return checkStoreFile(target)
  } catch (cause) {
    rmSync(target, { force: true })
    const failure = describeFailure(source, cause)
    throw new BatonError({ ...failure, message: `${failure.message} (copying ${source} to ${named})`, cause })
  }
}

/** What SQLite keeps in a store's file and beside it. The file itself is moved last: it is not parted from its logs before. */
const PARTS = ['-wal', '-journal', '-shm', '']

/**
 * With its write-ahead log in it, where that can be: the file that comes in its place must not find another's, which SQLite
 * would take for its own. Logs are also moved where their file is not there any more. Undefined: there was nothing.
 */
function moveAside(path: string): string | undefined {
  let number = 1
  while (PARTS.some((end) => existsSync(`${path}.before-${number}${end}`))) number += 1
  const former = `${path}.before-${number}`
  // SQLite would make a file that is not there, and remove the logs beside it.
  if (existsSync(path))
    try {
      const db = new DatabaseSync(path)
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      db.close()
    } catch {
      // Too damaged to be opened: its log is moved beside it.
    }
  const found = PARTS.filter((end) => existsSync(`${path}${end}`))
  for (const end of found) renameSync(`${path}${end}`, `${former}${end}`)
  if (found.length === 0) return undefined
  return found.includes('') ? former : `${former}${found[0]}`
}

function createRestoredError(path: string, why: string, former: string | undefined): BatonError {
  const kept = former === undefined ? '' : `; what was there before is ${former}`
  return new BatonError({
    code: 'log_damaged',
    message: `the store ${path} is damaged after its backup was put in place: ${why}${kept}`,
  })
}

function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** A new name is on the disk when its folder is. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}

function createExistsError(path: string, remedy: string): BatonError {
  return new BatonError({ code: 'invalid_option', message: `${path} exists already; ${remedy}` })
}
