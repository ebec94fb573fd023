// Whether a SQLite store can keep what it is given: asked by readiness checks. It looks at the file, at the room on its disk
// and at its write-ahead log, and commits something that does not count.
import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { StoreHealth } from '@baton/core'
import { BatonError, ERROR_CODES, isBatonError } from '@baton/core'
import { measureLog } from './checkpoints.ts'
import { createLinkError } from './store-file.ts'
import type { StoreThread } from './store-thread.ts'

/** Bytes that a disk must have left. */
const FREE_BYTES_LEAST = 16_777_216
/** Bytes of a write-ahead log that somebody keeps from shrinking. */
const LOG_BYTES_MAX = 1_073_741_824
/** Milliseconds that a commit may take. */
const COMMIT_MS = 5000

/** Never rejects. */
export async function findHealth(thread: StoreThread, readOnly: boolean): Promise<StoreHealth> {
  try {
    thread.check()
    const { path } = thread
    const links = statSync(path, { throwIfNoEntry: false })?.nlink ?? 1
    if (links > 1) throw createLinkError(path, links)
    if (readOnly) return { ok: true }
    await writeProbe(thread)
    const { bavail, bsize } = await statfs(path)
    if (bavail * bsize < FREE_BYTES_LEAST)
      throw createFailure(`the disk of the store ${path} has ${bavail * bsize} bytes left`, 'Make room on the disk.')
    if (measureLog(path) > LOG_BYTES_MAX)
      throw createFailure(
        `the write-ahead log of the store ${path} has grown to ${measureLog(path)} bytes`,
        'End the program that reads the file; its reading keeps the log from shrinking.',
      )
    return { ok: true }
  } catch (cause) {
    if (isBatonError(cause)) return { ok: false, code: cause.code, message: cause.message, hint: cause.hint }
    return { ok: false, code: 'store_failed', message: String(cause), hint: ERROR_CODES.store_failed.solve }
  }
}

async function writeProbe(thread: StoreThread): Promise<void> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(createFailure(`the store ${thread.path} did not commit in ${COMMIT_MS} ms`)),
    COMMIT_MS,
  )
  try {
    await Promise.race([thread.write({ type: 'probe', session: '' }), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function createFailure(message: string, hint?: string): BatonError {
  return new BatonError({ code: 'store_failed', message, ...(hint !== undefined && { hint }) })
}
