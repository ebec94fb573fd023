// Copies of the file of a SQLite store: one is taken while a server is at work on it, and is put in its place again when
// nobody is. Every copy is whole, on the disk and its owner's alone before it has its name.
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { BatonError, isBatonError } from '@baton/core'
import type { StoreReport } from './check-file.ts'
import { checkStoreFile } from './check-file.ts'
import { lockStore } from './lock.ts'
import { isMadeByBaton, readFormat } from './schema.ts'
import { describeFailure } from './sqlite-errors.ts'
import { checkFiles, createLinkError, findRealPath } from './store-file.ts'

/**
 * Copies the store as it is at one moment, in this thread; a server that has it open goes on. Returns what the copy holds:
 * what is damaged in the store is damaged in it too.
 * @throws BatonError `invalid_option` when `target` exists, `store_failed`, `log_damaged`
 */
export function backUpStoreFile(path: string, target: string): StoreReport {
  if (isThere(target)) throw createExistsError(target, 'name another file for the backup')
  const source = findSource(path)
  const { copy, report } = copyFile(source, target)
  try {
    giveName(copy, target)
  } catch (cause) {
    rmSync(copy, { force: true })
    if (isThere(target)) throw createExistsError(target, 'name another file for the backup')
    throw createTargetError(target, cause)
  }
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
 * @throws BatonError `store_locked`, `invalid_option` (a store is there already; what is there is a link, or no store),
 * `log_damaged` (the backup is), `store_failed`
 */
export function restoreStoreFile(
  backup: string,
  path: string,
  { replace = false }: RestoreOptions = {},
): { readonly former: string | undefined } {
  const source = findSource(backup)
  checkNoLink(path)
  const real = findRealPath(path)
  checkFiles(real)
  if (replace && existsSync(real)) checkIsStore(real)
  const unlock = lock(real)
  try {
    const exists = existsSync(real)
    if (exists && !replace)
      throw createExistsError(path, 'name another file, or say that it is to be replaced (--replace); it is kept then')
    const links = exists ? statSync(real).nlink : 1
    if (links > 1) throw createLinkError(real, links)
    const { copy, report } = copyFile(source, real)
    const [first] = report.findings
    if (first) {
      rmSync(copy)
      const where = first.session === undefined ? '' : `session ${first.session}: `
      throw new BatonError({
        code: 'log_damaged',
        message: `the backup ${backup} is damaged (${report.findings.length} findings): ${where}${first.message}`,
      })
    }
    const kept = putInPlace(copy, real)
    const [wrong] = checkStoreFile(real).findings
    if (wrong) throw createRestoredError(path, wrong.message, kept)
    // The file itself, where there was one, was moved last.
    return { former: kept.find((file) => PARTS.every((end) => end === '' || !file.endsWith(end))) ?? kept[0] }
  } finally {
    unlock()
  }
}

/** @throws BatonError `invalid_option` */
function checkNoLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return
  const message = `${path} is a link; a backup is put in the place of a file, so name the file that it leads to`
  throw new BatonError({ code: 'invalid_option', message })
}

/**
 * A store that is damaged beyond reading is one by the first bytes of every SQLite file, or by the lock that only a store has beside it.
 * @throws BatonError `invalid_option` for any other file
 */
function checkIsStore(path: string): void {
  if (existsSync(`${path}.lock`)) return
  const head = Buffer.alloc(SQLITE_HEAD.length)
  const file = openSync(path, 'r')
  try {
    readSync(file, head, 0, head.length, 0)
  } finally {
    closeSync(file)
  }
  if (head.toString('latin1') === SQLITE_HEAD && !isOfAnother(path)) return
  throw new BatonError({
    code: 'invalid_option',
    message: `${path} is not a store of Baton, and only a store is replaced; nothing was changed`,
    hint: 'Name another file, or move this one away yourself.',
  })
}

const SQLITE_HEAD = 'SQLite format 3\0'

/** Whether it can be read, and another program made it. */
function isOfAnother(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return !isMadeByBaton(db)
  } catch {
    return false // too damaged to tell
  } finally {
    db.close()
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

/**
 * Looked at before anything is made beside the file or its copy.
 * @throws BatonError `store_failed` (no file, a newer format), `log_damaged` (a database of something else)
 */
function findSource(path: string): string {
  const source = findRealPath(path)
  if (!existsSync(source)) throw new BatonError({ code: 'store_failed', message: `there is no store at ${path}` })
  checkFiles(source)
  try {
    const db = new DatabaseSync(source, { readOnly: true })
    try {
      db.exec('PRAGMA busy_timeout=5000')
      readFormat(db, source)
    } finally {
      db.close()
    }
  } catch (cause) {
    throw new BatonError({ ...describeFailure(source, cause), cause })
  }
  return source
}

/** Also a link that leads nowhere: what is written to it would stand somewhere else. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/**
 * Into a file of its own beside the target, under a name that nobody has.
 * @throws BatonError `store_failed` (the message names the file that is at fault), `log_damaged`
 */
function copyFile(source: string, target: string): { readonly copy: string; readonly report: StoreReport } {
  const copy = `${target}.${randomUUID()}.partial`
  try {
    closeSync(openSync(copy, 'wx', 0o600))
  } catch (cause) {
    throw createTargetError(target, cause)
  }
  try {
    const db = new DatabaseSync(source, { readOnly: true })
    try {
      db.exec('PRAGMA busy_timeout=5000')
      db.prepare('VACUUM INTO ?').run(copy)
    } finally {
      db.close()
    }
    syncFile(copy)
    return { copy, report: checkStoreFile(copy) }
  } catch (cause) {
    rmSync(copy, { force: true })
    // SQLite says of neither file which of them it was.
    const { code, message, hint } = describeFailure(source, cause)
    throw new BatonError({
      code,
      message: isBatonError(cause) ? message : `${source} was not copied to ${target}: ${message}`,
      hint: hint ?? 'Make room where the copy goes, and let this process read the one and write the other.',
      cause,
    })
  }
}

/** Never over a file that came in its place meanwhile; only a file system without hard links cannot tell. */
function giveName(copy: string, target: string): void {
  try {
    linkSync(copy, target)
  } catch (cause) {
    if (!NO_LINKS.has(String((cause as NodeJS.ErrnoException).code))) throw cause // of the file system
    renameSync(copy, target)
    return
  }
  rmSync(copy)
}

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** The files of a SQLite store. The store's own file is moved last: it is not parted from its logs before. */
const PARTS = ['-wal', '-journal', '-shm', '']

/**
 * Moves what was there aside first, and names it whatever the outcome.
 * @throws BatonError `store_failed`
 */
function putInPlace(copy: string, path: string): readonly string[] {
  const kept: string[] = []
  try {
    moveAside(path, kept)
    renameSync(copy, path)
    syncFolder(path)
    return kept
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BatonError({
      code: 'store_failed',
      message: `the backup was not put in the place of ${path}: ${why}; its copy is ${copy}${nameKept(kept)}`,
      hint: 'Move the copy to the place of the store by hand, or what was there before back to its former name.',
      cause,
    })
  }
}

/**
 * With its write-ahead log in it, where that can be: the file that comes in its place must not find another's, which SQLite
 * would take for its own. Logs are also moved where their file is not there any more. Each is noted as soon as it is moved.
 */
function moveAside(path: string, kept: string[]): void {
  let number = 1
  while (PARTS.some((end) => isThere(`${path}.before-${number}${end}`))) number += 1
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
  for (const end of PARTS.filter((part) => existsSync(`${path}${part}`))) {
    renameSync(`${path}${end}`, `${former}${end}`)
    kept.push(`${former}${end}`)
  }
}

function nameKept(kept: readonly string[]): string {
  return kept.length === 0 ? '' : `; what was there before is kept as ${kept.join(', ')}`
}

function createRestoredError(path: string, why: string, kept: readonly string[]): BatonError {
  return new BatonError({
    code: 'log_damaged',
    message: `the store ${path} is damaged after its backup was put in place: ${why}${nameKept(kept)}`,
  })
}

function createTargetError(target: string, cause: unknown): BatonError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new BatonError({
    code: 'store_failed',
    message: `${target} cannot be written: ${why}`,
    hint: 'Name a file in a folder that is there and that this process may write to.',
    cause,
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
