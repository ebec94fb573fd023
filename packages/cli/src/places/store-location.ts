// The store of a command's sessions: in memory, in one file, or in a PostgreSQL database.
import type { LogStore, Store } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { createMemoryStore, openSharedSqliteStore, openSqliteStore } from '@baton/host'
import type { openPostgresStore } from '@baton/host/postgres'
import envPaths from 'env-paths'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { makeFolders } from './make-folders.ts'
import { UsageError } from '../words/usage-error.ts'

/** The process's memory, a file by its absolute path, or a database, whose address may contain a password. */
export type StoreLocation =
  | { readonly type: 'memory' }
  | { readonly type: 'sqlite'; readonly path: string }
  | { readonly type: 'postgres'; readonly url: string }

const STORE_FORMS = 'memory:, sqlite:FILE or postgres://HOST/DATABASE'

/**
 * Reads `--store`, then `BATON_STORE`. Without either, each working folder has its own file in the user's data folder.
 * @throws UsageError
 */
export function storeLocation(
  option: string | undefined,
  variables: Readonly<Record<string, string | undefined>>,
  folder: string,
): StoreLocation {
  const text = option ?? (variables['BATON_STORE']?.trim() || undefined)
  if (text === undefined) return { type: 'sqlite', path: defaultFile(folder) }
  if (text === 'memory:') return { type: 'memory' }
  const [, path] = /^sqlite:(.+)$/.exec(text) ?? []
  if (path === ':memory:') throw new UsageError('a store in memory is "memory:", not "sqlite::memory:"')
  if (path !== undefined) return { type: 'sqlite', path: resolve(folder, path) }
  if (/^postgres(ql)?:\/\/./.test(text) && URL.canParse(text)) return { type: 'postgres', url: text }
  const name = option === undefined ? 'the variable BATON_STORE' : '--store'
  throw new UsageError(`${name} must be ${STORE_FORMS}, not "${text}"`)
}

/** The digest separates projects whose folders have the same name. */
function defaultFile(folder: string): string {
  const path = resolve(folder)
  const digest = createHash('sha256').update(path).digest('hex').slice(0, 8)
  const name = basename(path).replace(/[^\w.-]+/g, '-') || 'root'
  return join(envPaths('baton', { suffix: '' }).data, `${name}-${digest}.db`)
}

/**
 * Opens the store. A file is shared with other commands of this user that have it open. `onWarning` is called with
 * problems that are not failures.
 * @throws BatonError `store_locked`, `store_failed`, `log_damaged`
 */
export async function openStore(location: StoreLocation, onWarning?: (message: string) => void): Promise<Store> {
  if (location.type === 'memory') return createMemoryStore()
  if (location.type === 'postgres') return await openDatabase(location.url)
  try {
    // Conversations are private.
    makeFolders(dirname(location.path), 0o700)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const message = `the folder of the store ${location.path} cannot be created: ${why}`
    throw new BatonError({ code: 'store_failed', message, cause })
  }
  return await openSharedSqliteStore(location.path, { ...(onWarning && { onWarning }) })
}

/**
 * Opens the store for reading, also while a server has it open.
 * @throws BatonError `store_failed` when the file does not exist or cannot be read
 */
export async function openStoreToRead(location: StoreLocation): Promise<LogStore> {
  if (location.type === 'memory') throw new UsageError('memory: keeps nothing; name a file with --store sqlite:FILE')
  if (location.type === 'postgres') return await openDatabase(location.url, { readOnly: true })
  if (existsSync(location.path)) return await openSqliteStore(location.path, { readOnly: true })
  const message = `there is no store at ${location.path}; use --store sqlite:FILE for another one`
  throw new BatonError({ code: 'store_failed', message })
}

/** Loads the client of the database only for those who name one. */
async function openDatabase(...given: Parameters<typeof openPostgresStore>): ReturnType<typeof openPostgresStore> {
  const postgres = await import('@baton/host/postgres')
  return await postgres.openPostgresStore(...given)
}

/** The store's name for people, without the user and password of a database. */
export function nameOfStore(location: StoreLocation): string {
  if (location.type === 'memory') return 'memory: (lost when the server ends)'
  if (location.type === 'sqlite') return location.path
  const { protocol, host, pathname } = new URL(location.url)
  return `${protocol}//${host}${pathname}`
}

/** Whether the store has a session of this name. */
export async function hasRecords(store: Pick<LogStore, 'read'>, session: string): Promise<boolean> {
  for await (const record of store.read(session, 0)) return record.pos >= 0
  return false
}
