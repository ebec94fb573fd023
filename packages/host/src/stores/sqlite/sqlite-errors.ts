// Turns SQLite's errors into advice for a server's operator.
import type { ErrorCode } from '@baton/core'
import { isBatonError } from '@baton/core'

export interface StoreFailure {
  readonly code: ErrorCode
  readonly message: string
  readonly hint?: string
}

/** Whether another program is writing to the file. */
export function isBusy(cause: unknown): boolean {
  return primaryCode(cause) === SQLITE_BUSY
}

const SQLITE_BUSY = 5

/** Describes an error of the file at `path`; Baton's own errors keep their code. */
export function describeFailure(path: string, cause: unknown): StoreFailure {
  const said = cause instanceof Error ? cause.message : String(cause)
  if (isBatonError(cause)) return { code: cause.code, message: said, hint: cause.hint }
  const known = KNOWN[primaryCode(cause)]
  if (!known) return { code: 'store_failed', message: `the store ${path} failed: ${said}` }
  return { code: known.code ?? 'store_failed', message: `the store ${path} ${known.message} (SQLite: ${said})` }
}

/** The primary code is the lowest byte of an extended one. */
function primaryCode(cause: unknown): number {
  const code = (cause as { readonly errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code % 256 : 0
}

/** Errors by SQLite's primary result codes (https://www.sqlite.org/rescode.html). */
const KNOWN: Readonly<Record<number, { readonly code?: ErrorCode; readonly message: string }>> = {
  5: { message: 'is locked by another program: close the program that has the file open' },
  8: {
    message: 'is not writable: give this process write access to the file and its folder, or choose another file',
  },
  10: { message: 'cannot be read or written: the disk reports an error' },
  11: { code: 'log_damaged', message: 'is damaged: restore it from a backup' },
  13: { message: 'is full, or its disk is: free some space and try again; accepted inputs are kept' },
  14: { message: 'cannot be opened: its folder does not exist or is not writable' },
  26: { code: 'log_damaged', message: 'is not a Baton database: choose another file, or restore it from a backup' },
}
