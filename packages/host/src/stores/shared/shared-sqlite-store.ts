// A store in one SQLite file for several processes of one user: the first opens the file, the others reach it through
// that process, and one of them takes over when it ends.
import { BatonError, checkFields, describeValue } from '@baton/core/internal'
import { checkPath } from '../sqlite/store-file.ts'
import type { SqliteStore, SqliteStoreOptions } from '../sqlite/sqlite-store.ts'
import { openSqliteStore } from '../sqlite/sqlite-store.ts'
import { createGuestStore } from './guest-store.ts'
import { StoreAccess } from './store-access.ts'
import { findSocket } from './store-socket.ts'

/**
 * Options of `openSharedSqliteStore`. Those of the process that holds the file apply to all: `maxBytes` and `leaseMs`
 * of the others have no effect meanwhile.
 */
export interface SharedSqliteStoreOptions extends Omit<SqliteStoreOptions, 'readOnly'> {
  /**
   * Milliseconds to look for the process that has the file before failing with `store_locked` or `store_failed`.
   * Default: 5,000.
   */
  readonly waitMs?: number
}

const FIELDS = new Set(['waitMs', 'maxBytes', 'logBytes', 'onWarning', 'leaseMs', 'clock'])

/**
 * Opens or creates the file, or shares it with the process of this user that has it open. Each process runs its own
 * host over the store. Leases keep their sessions apart, as with PostgreSQL: a session held by another process is
 * handed over if it is at rest, or refused with `session_held`.
 *
 * The first process holds the file as with `openSqliteStore`, and listens on a socket next to it (`….socket`) for this
 * user only; `….processes` lists the processes that share it. When it ends, even if killed, another one takes over
 * within moments. Calls in progress are sent to the new holder, and are neither lost nor performed twice; sessions stay
 * with their hosts. Opening the store then waits up to 5 seconds for living processes that have not reconnected. If no
 * holder is found within `waitMs`, calls fail with `store_failed`, and the next call looks again.
 *
 * Two processes exchange at most 64 MiB at a time: a larger record, text or snapshot fails with `store_failed`, unless
 * this process holds the file. On Windows, or if the socket's path would exceed 100 bytes, the file is not shared, and
 * `onWarning` is called.
 * @throws BatonError `store_locked` (a process that does not share the file has it open, or the file has several
 * names), `store_failed`, `log_damaged`, `invalid_option` (also for a `leaseMs` of Infinity: a dead process would hold
 * its sessions forever)
 */
export async function openSharedSqliteStore(
  path: string,
  options: SharedSqliteStoreOptions = {},
): Promise<SqliteStore> {
  checkFields(options, { what: 'openSharedSqliteStore', code: 'invalid_option', fields: FIELDS })
  if (options.leaseMs === Infinity)
    throw new BatonError({
      code: 'invalid_option',
      message: 'leaseMs of a shared store must be finite, not Infinity',
    })
  const { waitMs, ...fileOptions } = options
  if (waitMs !== undefined && !(Number.isFinite(waitMs) && waitMs >= 0))
    throw new BatonError({
      code: 'invalid_option',
      message: `waitMs must be a number of milliseconds, not ${describeValue(waitMs)}`,
    })
  checkPath(path)
  const warn = options.onWarning ?? ((message: string): void => process.emitWarning(message, 'BatonStoreWarning'))
  const found = findSocket(path)
  if (found.type === 'none') {
    const store = await openSqliteStore(path, fileOptions)
    warn(`the store ${path} cannot be shared with other processes: ${found.why}`)
    return store
  }
  const access = new StoreAccess({ path, place: found.place, options: fileOptions, waitMs, warn })
  const seat = await access.open()
  if (seat.type === 'guest') return createGuestStore(access)
  // Processes that reconnect go first, before this process can ask for anything.
  await seat.server.untilBack()
  const close = (): Promise<void> => access.close()
  return { ...seat.file.store, close, [Symbol.asyncDispose]: close }
}
