// The file of a SQLite store: accessible to its owner only, with a single name, and still the file that was opened.
// SQLite finds its log by the file's name, so renaming or replacing the file can lose commits.
import { chmodSync, closeSync, existsSync, lstatSync, openSync, realpathSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { BatonError, describeValue } from '@baton/core/internal'

/** Mode bits that grant access to other users. */
const OTHERS = 0o077
const OWN_FILE = 0o600

/** Checks the path of a store, for untyped callers. @throws BatonError `invalid_option` */
export function checkPath(path: unknown): void {
  if (typeof path !== 'string' || path === '')
    throw new BatonError({
      code: 'invalid_option',
      message: `a store needs the path of its file as a string, not ${describeValue(path)}`,
      hint: 'Pass a path, such as openSqliteStore("chat.db").',
    })
  if (!NOT_FILES.test(path)) return
  throw new BatonError({
    code: 'invalid_option',
    message: `a store needs a file, and ${describeValue(path)} is SQLite’s name for something else`,
    hint: 'Use createMemoryStore() for a store in memory, or pass a plain path instead of a URI.',
  })
}

/** SQLite's names of databases in memory, and URIs. As paths they would make files of these names. */
const NOT_FILES = /^(?::memory:|file:)/

/** Resolves links to the file and its folder; for a file that does not exist yet, those to its folder. */
export function findRealPath(path: string): string {
  if (existsSync(path) || isLink(path)) return realpathSync(path)
  const folder = dirname(path)
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : path
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

/** Suffixes of files next to a store's file: SQLite's own, and the lock. */
const BESIDE = ['-wal', '-shm', '-journal', '.lock']

/**
 * Checks that the existing files are plain files of this user. Opening a pipe or device would block, and a file placed
 * there by another user would let that user read and write the store.
 * @throws BatonError `store_failed`
 */
export function checkFiles(path: string): void {
  const owners = [statSync(path, { throwIfNoEntry: false })?.uid, process.getuid?.()]
  for (const file of [path, ...BESIDE.map((end) => `${path}${end}`)]) {
    const found = (file === path ? statSync : lstatSync)(file, { throwIfNoEntry: false })
    if (!found) continue
    if (!found.isFile()) throw createMisplacedError(`${file} is ${describeKind(found)}, but a store needs plain files`)
    if (process.getuid && !owners.includes(found.uid))
      throw createMisplacedError(
        `${file} belongs to another user (${found.uid}), who could use it to read and write the store`,
      )
  }
}

function createMisplacedError(message: string): BatonError {
  const hint = 'Name another file, or remove this one.'
  return new BatonError({ code: 'store_failed', message, hint })
}

function describeKind(found: Stats): string {
  if (found.isDirectory()) return 'a folder'
  if (found.isFIFO()) return 'a pipe'
  if (found.isSocket()) return 'a socket'
  if (found.isSymbolicLink()) return 'a link'
  return 'a device'
}

/**
 * Creates the file if it is missing.
 * @throws BatonError `store_locked` for a file with several names; Error of the file system
 */
export function makeFile(path: string): void {
  // Never opened if it exists: closing it would release this process's locks on it.
  if (!existsSync(path)) closeSync(openSync(path, 'wx', OWN_FILE))
  const { nlink } = statSync(path)
  if (nlink > 1) throw createLinkError(path, nlink)
}

/** Removes other users' access to a known store file. */
export function keepFromOthers(path: string, warn: (message: string) => void): void {
  const { mode } = statSync(path)
  if (process.platform === 'win32' || (mode & OTHERS) === 0) return
  for (const file of [path, `${path}-wal`, `${path}-shm`].filter((one) => existsSync(one)))
    try {
      chmodSync(file, mode & 0o777 & ~OTHERS)
    } catch (cause) {
      warn(`other users can read the store ${file}, and its permissions cannot be changed: ${String(cause)}`)
      return
    }
  warn(
    `other users could read the store ${path}: its permissions were 0${(mode & 0o777).toString(8)} and are now limited to its owner`,
  )
}

export function createLinkError(path: string, links: number): BatonError {
  return new BatonError({
    code: 'store_locked',
    message: `the store ${path} has ${links} names (hard links), and a process that opens it by another name does not see what is written through this one`,
    hint: 'Remove the other name, or copy the file ("baton store backup").',
  })
}

/** Identifies a file regardless of its name. */
export interface FileIdentity {
  readonly dev: number
  readonly ino: number
}

function identifyFile(path: string): FileIdentity | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && { dev: found.dev, ino: found.ino }
}

/** The store's file and its write-ahead log, as they were when opened. */
export class OpenedFile {
  readonly path: string
  readonly #identities: readonly (readonly [path: string, identity: FileIdentity | undefined])[]
  #gone: BatonError | undefined

  constructor(path: string) {
    this.path = path
    this.#identities = [path, `${path}-wal`].map((one) => [one, identifyFile(one)])
  }

  /** Why the file was lost, if a check found that. */
  get gone(): BatonError | undefined {
    return this.#gone
  }

  /**
   * Checks that the file is still in place, before each read and before each commit is reported: data written to a
   * deleted file is lost with this process. The result is final once the file is lost.
   * @throws BatonError `store_gone`
   */
  check(): void {
    if (this.#gone) throw this.#gone
    for (const [path, opened] of this.#identities) {
      const found = statSync(path, { throwIfNoEntry: false })
      if (found && found.dev === opened?.dev && found.ino === opened.ino) continue
      this.#gone = createGoneError(path, found)
      throw this.#gone
    }
  }
}

function createGoneError(path: string, found: Stats | undefined): BatonError {
  const what = found ? 'another file took its place' : 'it was deleted or moved'
  return new BatonError({
    code: 'store_gone',
    message: `the store's file ${path} is not the one that was opened: ${what}; it can no longer be written`,
  })
}
