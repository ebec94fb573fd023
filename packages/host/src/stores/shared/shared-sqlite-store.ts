// A store in one SQLite file for several processes of one user: the first one opens the file, later ones reach it through
// that process, and when it ends another one of them takes its place.
import { BatonError, describeValue } from '@baton/core'
import { checkPath } from '../sqlite/store-file.ts'
import type { SqliteStore, SqliteStoreOptions } from '../sqlite/sqlite-store.ts'
import { openSqliteStore } from '../sqlite/sqlite-store.ts'
import { createGuestStore } from './guest-store.ts'
import { StoreAccess } from './store-access.ts'
import { findSocket } from './store-socket.ts'

/** The options of whoever holds the file count for all: `maxBytes` and `leaseMs` of the others have no effect meanwhile. */
export interface SharedSqliteStoreOptions extends Omit<SqliteStoreOptions, 'readOnly'> {
  /** Milliseconds for which the process that has the file is looked for, before `store_locked` or `store_failed`. 5,000. */
  readonly waitMs?: number
}

/**
 * Opens or makes the file, or shares it with the process of this user that has it. Each process runs a host of its own over
 * the store; leases keep their sessions apart, as with PostgreSQL: a session that another process holds is handed over when
 * it rests, or refused with `session_held`.
 *
 * The process that comes first holds the file as by `openSqliteStore`, and listens at a socket beside it (`….socket`), for
 * this user alone; `….processes` says who shares it. When it ends, even by a kill, another one holds the file within
 * moments. What was under way is asked of that one, and is neither lost nor done twice; sessions stay with who held them.
 * Whoever opens the store then waits up to 5 seconds for those who live and are not back yet. Where no holder is found for
 * `waitMs`, what is asked fails with `store_failed`, and the next act looks again.
 *
 * At most 64 MiB pass between two processes at once: a larger record, text or snapshot fails with `store_failed`, unless
 * this process holds the file. On Windows, and where the socket's path would have more than 100 bytes, the file is this
 * process's alone, which `onWarning` is told.
 * @throws BatonError `store_locked` (a process has the file that does not share it, or the file has several names),
 * `store_failed`, `log_damaged`, `invalid_option` (also for a `leaseMs` of Infinity: a process that dies would hold its
 * sessions for ever)
 */
export async function openSharedSqliteStore(
  path: string,
  options: SharedSqliteStoreOptions = {},
): Promise<SqliteStore> {
  if (options.leaseMs === Infinity)
    throw new BatonError({
      code: 'invalid_option',
      message: 'leaseMs of a shared store must have an end, not Infinity',
    })
  const { waitMs, ...fileOptions } = options
  if (waitMs !== undefined && !(Number.isFinite(waitMs) && waitMs >= 0))
    throw new BatonError({
      code: 'invalid_option',
      message: `waitMs must be milliseconds, not ${describeValue(waitMs)}`,
    })
  checkPath(path)
  const warn = options.onWarning ?? ((message: string): void => process.emitWarning(message, 'BatonStoreWarning'))
  const found = findSocket(path)
  if (found.type === 'none') {
    const store = await openSqliteStore(path, fileOptions)
    warn(`no other process can share the store ${path}: ${found.why}`)
    return store
  }
  const access = new StoreAccess({ path, place: found.place, options: fileOptions, waitMs, warn })
  const seat = await access.open()
  if (seat.type === 'guest') return createGuestStore(access)
  // Who may come back does so before this process can ask for anything.
  await seat.server.untilBack()
  const close = (): Promise<void> => access.close()
  return { ...seat.file.store, close, [Symbol.asyncDispose]: close }
}
