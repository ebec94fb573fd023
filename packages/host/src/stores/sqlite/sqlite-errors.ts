// Explains SQLite's errors to the operator of a server, and what to do about them.
import type { ErrorCode } from '@baton/core'
import { isBatonError } from '@baton/core'

export interface StoreFailure {
  readonly code: ErrorCode
  readonly message: string
  readonly hint?: string
}

/** Another program writes to the file. */
export function isBusy(cause: unknown): boolean {
  return primaryCode(cause) === SQLITE_BUSY
}

const SQLITE_BUSY = 5

/** Wraps an error of the file at `path`; errors of Baton keep their code. */
export function describeFailure(path: string, cause: unknown): StoreFailure {
  const said = cause instanceof Error ? cause.message : String(cause)
  if (isBatonError(cause)) return { code: cause.code, message: said, hint: cause.hint }
  const known = KNOWN[primaryCode(cause)]
  if (!known) return { code: 'store_failed', message: `the store ${path} failed: ${said}` }
  return { code: known.code ?? 'store_failed', message: `the store ${path} ${known.message} (SQLite: ${said})` }
}

/** Extended codes hold their primary one in the lowest byte. */
function primaryCode(cause: unknown): number {
  const code = (cause as { readonly errcode?: unknown } | null)?.errcode
  return typeof code === 'number' ? code % 256 : 0
}

/** By SQLite's primary result codes (https://www.sqlite.org/rescode.html). */
const KNOWN: Readonly<Record<number, { readonly code?: ErrorCode; readonly message: string }>> = {
  5: { message: 'is held by another program: close what has the file open' },
  8: {
    message:
      'may not be written to: give this process the right to write the file and its folder, or choose another place',
  },
  10: { message: 'cannot be read or written: the disk reports an error' },
  11: { code: 'log_damaged', message: 'is damaged: restore it from a backup' },
  13: { message: 'is full, or its disk is: make room and try again; what was accepted is kept' },
  14: { message: 'cannot be opened: its folder is not there, or may not be written to' },
  26: { code: 'log_damaged', message: 'is not a database of Baton: choose another file, or restore it from a backup' },
}
