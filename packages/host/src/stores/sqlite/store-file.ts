// The file under a SQLite store: it is made for its owner alone, has one name, and must stay the file that was opened.
// SQLite's log is found by the file's name, so what happens to that name decides whether a commit can be found again.
import { chmodSync, closeSync, existsSync, lstatSync, openSync, realpathSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { BatonError, describeValue } from '@baton/core'

/** Bits of a mode that give a file to others than its owner. */
const OTHERS = 0o077
const OWN_FILE = 0o600

/** Checks the path of a store that a program in JavaScript gave. @throws BatonError `invalid_option` */
export function checkPath(path: unknown): void {
  if (typeof path === 'string' && path !== '') return
  throw new BatonError({
    code: 'invalid_option',
    message: `a store needs the path of its file, which is text, not ${describeValue(path)}`,
    hint: 'Write one, such as openSqliteStore("chat.db").',
  })
}

/** The path behind links to the file and to its folder; of a file that is not there yet, that of its folder. */
export function findRealPath(path: string): string {
  if (existsSync(path) || isLink(path)) return realpathSync(path)
  const folder = dirname(path)
  return existsSync(folder) ? join(realpathSync(folder), basename(path)) : path
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
}

/** The files beside a store's file: SQLite's, and the lock. */
const BESIDE = ['-wal', '-shm', '-journal', '.lock']

/**
 * A pipe or a device would be waited for without end. What another user has put beside the file, that user reads and writes, whatever
 * the rights of the file. What is not there is no matter.
 * @throws BatonError `store_failed`
 */
export function checkFiles(path: string): void {
  const owners = [statSync(path, { throwIfNoEntry: false })?.uid, process.getuid?.()]
  for (const file of [path, ...BESIDE.map((end) => `${path}${end}`)]) {
    const found = (file === path ? statSync : lstatSync)(file, { throwIfNoEntry: false })
    if (!found) continue
    if (!found.isFile())
      throw createMisplacedError(`${file} is ${describeKind(found)}, and a store is kept in plain files`)
    if (process.getuid && !owners.includes(found.uid))
      throw createMisplacedError(
        `${file} belongs to another user (${found.uid}), who could read and write the store by it`,
      )
  }
}

function createMisplacedError(message: string): BatonError {
  const hint = 'Name another file, or take away what stands in its place.'
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
 * Makes the file where there is none.
 * @throws BatonError `store_locked` for a file of several names; Error of the file system
 */
export function makeFile(path: string): void {
  // Never opened where it exists: closing it would end the locks that this process has on it.
  if (!existsSync(path)) closeSync(openSync(path, 'wx', OWN_FILE))
  const { nlink } = statSync(path)
  if (nlink > 1) throw createLinkError(path, nlink)
}

/** Takes a store from others who could read it. Called when it is known to be one. */
export function keepFromOthers(path: string, warn: (message: string) => void): void {
  const { mode } = statSync(path)
  if (process.platform === 'win32' || (mode & OTHERS) === 0) return
  for (const file of [path, `${path}-wal`, `${path}-shm`].filter((one) => existsSync(one)))
    try {
      chmodSync(file, mode & 0o777 & ~OTHERS)
    } catch (cause) {
      warn(`others can read the store ${file}, and its rights cannot be changed: ${String(cause)}`)
      return
    }
  warn(
    `others could read the store ${path}: its rights were 0${(mode & 0o777).toString(8)} and are now its owner's alone`,
  )
}

export function createLinkError(path: string, links: number): BatonError {
  return new BatonError({
    code: 'store_locked',
    message: `the file of the store ${path} has ${links} names (hard links), and who opens it by another one does not see what is written by this one`,
    hint: 'Remove the other name, or copy the file ("baton store backup").',
  })
}

/** Which file it is, whatever its name. */
export interface FileIdentity {
  readonly dev: number
  readonly ino: number
}

function identifyFile(path: string): FileIdentity | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found && { dev: found.dev, ino: found.ino }
}

/** The store's file and its write-ahead log, as they were when it was opened. */
export class OpenedFile {
  readonly path: string
  readonly #identities: readonly (readonly [path: string, identity: FileIdentity | undefined])[]
  #gone: BatonError | undefined

  constructor(path: string) {
    this.path = path
    this.#identities = [path, `${path}-wal`].map((one) => [one, identifyFile(one)])
  }

  /** Why the file is gone, as far as it was looked at. */
  get gone(): BatonError | undefined {
    return this.#gone
  }

  /**
   * After a commit, before anybody is told of it, and before a read: what is written to a file that has no name any more is
   * lost with this process. Once it is gone it stays gone.
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
    message: `the store's file ${path} is not the one that was opened: ${what}; nothing more can be kept in it`,
  })
}
