// Provider keys saved by `baton login`, in a file in the user's config folder that only its owner can read. A key in
// the environment takes precedence.
import { BatonError, isJsonObject, parseJson } from '@baton/core/internal'
import envPaths from 'env-paths'
import { randomUUID } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makeFolders } from './make-folders.ts'
import type { Variables } from '../words/words.ts'

export type KeptKeys = Readonly<Record<string, string>>

/** Mode bits that grant access to other users. */
const OTHERS = 0o077
const BYTES_MAX = 256 * 1024
/** Maximum characters of one key. */
export const KEY_CHARS_MAX = 8192

export function findKeysFile(): string {
  return join(envPaths('baton', { suffix: '' }).config, 'keys.json')
}

/**
 * Reads the saved keys; none if there is no file. @throws BatonError `invalid_option` for a file that others can read,
 * or with another format
 */
export function readKeys(file = findKeysFile()): KeptKeys {
  const text = readOwn(file)
  if (text === undefined) return {}
  const parsed = parseJson(text)
  if (!parsed.ok || !isJsonObject(parsed.value)) throw refuse(file, 'is not a JSON object')
  return Object.fromEntries(
    Object.entries(parsed.value).flatMap(([name, key]) =>
      /^[A-Z][A-Z0-9_]*$/.test(name) && typeof key === 'string' && key !== '' ? [[name, key]] : [],
    ),
  )
}

/** Saves a key, or removes it if `undefined`. @throws BatonError `invalid_option`, `store_failed` */
export function keepKey(variable: string, key: string | undefined, file = findKeysFile()): void {
  const { [variable]: _, ...rest } = readKeys(file)
  const keys = key === undefined ? rest : { ...rest, [variable]: key }
  // Written and renamed, so that a reader never sees half of it, and hidden from other users.
  const draft = `${file}.${randomUUID()}`
  try {
    makeFolders(dirname(file), 0o700)
    if (Object.keys(keys).length === 0) {
      rmSync(file, { force: true })
      return
    }
    writeFileSync(draft, `${JSON.stringify(keys, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' })
    renameSync(draft, file)
  } catch (cause) {
    rmSync(draft, { force: true })
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BatonError({ code: 'store_failed', message: `the key file ${file} cannot be written: ${why}`, cause })
  }
}

/** Returns the variables, with saved keys for missing ones. `onWarning` reports a file that cannot be used. */
export function addKeptKeys(variables: Variables, onWarning: (line: string) => void, file?: string): Variables {
  try {
    const missing = Object.entries(readKeys(file)).filter(([name]) => (variables[name]?.trim() ?? '') === '')
    return missing.length === 0 ? variables : { ...variables, ...Object.fromEntries(missing) }
  } catch (cause) {
    onWarning(`baton: ${cause instanceof Error ? cause.message : String(cause)}`)
    return variables
  }
}

function readOwn(file: string): string | undefined {
  let opened: number
  try {
    // Non-blocking, in case a pipe is in its place.
    opened = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined // from the file system
    throw refuse(file, `cannot be read: ${(cause as Error).message}`)
  }
  try {
    const found = fstatSync(opened)
    if (!found.isFile() || found.size > BYTES_MAX) throw refuse(file, 'is not a key file')
    // Windows has neither users nor modes here; the folder's permissions apply.
    if (process.getuid !== undefined && (found.uid !== process.getuid() || (found.mode & OTHERS) !== 0))
      throw refuse(file, 'can be read by other users, so its keys are not used; run chmod 600 on it')
    return readFileSync(opened, 'utf8')
  } finally {
    closeSync(opened)
  }
}

function refuse(file: string, why: string): BatonError {
  return new BatonError({ code: 'invalid_option', message: `the key file ${file} ${why}` })
}
