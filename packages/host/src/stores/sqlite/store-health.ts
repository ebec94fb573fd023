// Checks whether a SQLite store can store data, for readiness probes: it checks the file, free disk space and the size
// of the write-ahead log, and commits a probe.
import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import type { StoreHealth } from '@baton/core/internal'
import { BatonError, ERROR_CODES, isBatonError } from '@baton/core/internal'
import { measureLog } from './checkpoints.ts'
import { createLinkError } from './store-file.ts'
import type { StoreThread } from './store-thread.ts'

/** Minimum free bytes on the disk. */
const FREE_BYTES_LEAST = 16_777_216
/** Maximum bytes of a write-ahead log that a reader keeps from shrinking. */
const LOG_BYTES_MAX = 1_073_741_824
/** Milliseconds a commit may take. */
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
      throw createFailure(`the disk of the store ${path} has ${bavail * bsize} bytes left`, 'Free space on the disk.')
    if (measureLog(path) > LOG_BYTES_MAX)
      throw createFailure(
        `the write-ahead log of the store ${path} has grown to ${measureLog(path)} bytes`,
        'Stop the program that is reading the file; its read transaction keeps the log from shrinking.',
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
