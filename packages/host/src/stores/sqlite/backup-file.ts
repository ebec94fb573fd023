// Backups of a SQLite store's file: taken while a server uses it, and restored while none does. A copy is complete, on
// disk and readable by its owner only before it gets its name.
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
import { isMadeByBaton, prepareTables, readFormat } from './schema.ts'
import { describeFailure } from './sqlite-errors.ts'
import { checkFiles, createLinkError, findRealPath } from './store-file.ts'

/**
 * Copies the store as of one moment, in this thread, while a server may keep using it. The copy of a store in an older
 * format is migrated. Returns a report on the copy: damage in the store is in the copy too.
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
  /** Replaces an existing store and keeps it next to the new one under another name. Default: false. */
  readonly replace?: boolean
}

/**
 * Restores a sound backup to `path`, where no process may have the store open, and checks the result. Returns the new
 * name of the former store, or, if only its logs were left, of the first of these.
 * @throws BatonError `store_locked`, `invalid_option` (a store already exists; the path is a link or another kind of
 * file), `log_damaged` (the backup is damaged), `store_failed`
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
      throw createExistsError(
        path,
        'name another file, or pass --replace, which keeps the existing one under another name',
      )
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
    // The main file, if there was one, was moved last.
    return { former: kept.find((file) => PARTS.every((end) => end === '' || !file.endsWith(end))) ?? kept[0] }
  } finally {
    unlock()
  }
}

/** @throws BatonError `invalid_option` */
function checkNoLink(path: string): void {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return
  const message = `${path} is a link; a backup can only replace a file, so name the file that the link points to`
  throw new BatonError({ code: 'invalid_option', message })
}

/**
 * Identifies a store even if it is damaged beyond reading: by the header of every SQLite file, or by the lock file that
 * only a store has next to it.
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
    message: `${path} is not a Baton store, and only a store can be replaced; nothing was changed`,
    hint: 'Name another file, or move this one out of the way.',
  })
}

const SQLITE_HEAD = 'SQLite format 3\0'

/** Whether the file is readable and was made by another program. */
function isOfAnother(path: string): boolean {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    return !isMadeByBaton(db)
  } catch {
    return false // too damaged to know
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
 * Checks the source before anything is created next to it or its copy.
 * @throws BatonError `store_failed` (no file, a newer format), `log_damaged` (a database of another program)
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

/** Also true for a dangling link: writing to it would create a file elsewhere. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

/**
 * Copies into a new file next to the target, under a unique name.
 * @throws BatonError `store_failed` (the message names the file at fault), `log_damaged`
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
    upgrade(copy)
    syncFile(copy)
    return { copy, report: checkStoreFile(copy) }
  } catch (cause) {
    rmSync(copy, { force: true })
    // SQLite does not say which of the two files failed.
    const { code, message, hint } = describeFailure(source, cause)
    throw new BatonError({
      code,
      message: isBatonError(cause) ? message : `${source} was not copied to ${target}: ${message}`,
      hint: hint ?? 'Check that the disk has room, and that this process may read the store and write the copy.',
      cause,
    })
  }
}

/** Migrates a copy of a store in an older format, so that it can be checked. */
function upgrade(copy: string): void {
  const db = new DatabaseSync(copy)
  try {
    prepareTables(db, copy)
  } finally {
    db.close()
  }
}

/**
 * Never overwrites a file that appeared meanwhile, except on a file system without hard links, where that cannot be
 * detected.
 */
function giveName(copy: string, target: string): void {
  try {
    linkSync(copy, target)
  } catch (cause) {
    if (!NO_LINKS.has(String((cause as NodeJS.ErrnoException).code))) throw cause // from the file system
    renameSync(copy, target)
    return
  }
  rmSync(copy)
}

const NO_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** The files of a SQLite store. The main file is moved last, so that it keeps its logs until then. */
const PARTS = ['-wal', '-journal', '-shm', '']

/**
 * Moves the existing files aside first, and names them in any error.
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
      message: `the backup could not be moved to ${path}: ${why}; its copy is ${copy}${nameKept(kept)}`,
      hint: 'Move the copy there by hand, or rename the former files back.',
      cause,
    })
  }
}

/**
 * Checkpoints the write-ahead log into the store if possible, then moves all of its files: SQLite would apply a
 * leftover log to the restored file. Logs without their main file are moved too. Each file is noted as soon as it is
 * moved.
 */
function moveAside(path: string, kept: string[]): void {
  let number = 1
  while (PARTS.some((end) => isThere(`${path}.before-${number}${end}`))) number += 1
  const former = `${path}.before-${number}`
  // SQLite would create a missing file, and remove the logs next to it.
  if (existsSync(path))
    try {
      const db = new DatabaseSync(path)
      db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
      db.close()
    } catch {
      // Too damaged to open: its log is moved along with it.
    }
  for (const end of PARTS.filter((part) => existsSync(`${path}${part}`))) {
    renameSync(`${path}${end}`, `${former}${end}`)
    kept.push(`${former}${end}`)
  }
}

function nameKept(kept: readonly string[]): string {
  return kept.length === 0 ? '' : `; the former files are kept as ${kept.join(', ')}`
}

function createRestoredError(path: string, why: string, kept: readonly string[]): BatonError {
  return new BatonError({
    code: 'log_damaged',
    message: `the store ${path} is damaged after its backup was restored: ${why}${nameKept(kept)}`,
  })
}

function createTargetError(target: string, cause: unknown): BatonError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new BatonError({
    code: 'store_failed',
    message: `${target} cannot be written: ${why}`,
    hint: 'Name a file in an existing folder that this process may write to.',
    cause,
  })
}

function syncFile(path: string): void {
  const file = openSync(path, 'r+')
  fsyncSync(file)
  closeSync(file)
}

/** Syncs the folder, which makes a new name durable. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}

function createExistsError(path: string, remedy: string): BatonError {
  return new BatonError({ code: 'invalid_option', message: `${path} already exists; ${remedy}` })
}
