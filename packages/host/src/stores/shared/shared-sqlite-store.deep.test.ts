// A guest of a shared SQLite store fulfils the contract of all stores.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, Store } from '@baton/core/internal'
import { playStores, storeContract } from '@baton/core/testing'
import { afterAll, expect, test } from 'vitest'
import { createMemoryStore } from '../memory-store.ts'
import type { SqliteStore } from '../sqlite/sqlite-store.ts'
import { openSharedSqliteStore } from './shared-sqlite-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-shared-'))
let files = 0
const nextPath = (): string => join(folder, `${(files += 1)}.db`)
afterAll(() => rmSync(folder, { recursive: true }))

interface Pair {
  readonly path: string
  readonly holder: SqliteStore
}
const pairs = new WeakMap<Store, Pair>()

/** A guest that closes its holder when it is closed. */
async function openGuest(path: string, clock?: Clock): Promise<Store> {
  const holder = await openSharedSqliteStore(path, { waitMs: 60_000, ...(clock && { clock }) })
  const guest = await openSharedSqliteStore(path, { waitMs: 60_000 })
  const close = async (): Promise<void> => {
    await guest.close()
    await holder.close()
  }
  const { leaseMs } = guest
  const store = { ...guest, leaseMs, close }
  pairs.set(store, { path, holder })
  return store
}

const reopen = async (store: Store): Promise<Store> => {
  await store.close()
  return await openGuest(pairs.get(store)?.path ?? '')
}

for (const { name, skip, run } of storeContract({ open: (clock) => openGuest(nextPath(), clock), reopen }))
  test(`a guest: ${name}`, { skip: skip !== undefined }, run)

test('a guest and memory answer any acts alike, and keep what they acknowledged', async () => {
  for (let seed = 1001; seed <= 1020; seed++)
    await playStores({
      open: async (clock) => ({ memory: createMemoryStore({ clock }), guest: await openGuest(nextPath(), clock) }),
      seed,
      acts: 150,
    })
})

test('a holder that is frozen makes what its guests ask fail, and does not hold up their end', async () => {
  const path = nextPath()
  const program = join(import.meta.dirname, 'appending-process.test-kit.ts')
  const holder = spawn(process.execPath, ['--conditions=@baton/source', '--no-warnings', program, path, 'holder'])
  await once(holder.stdout, 'data')
  const guest = await openSharedSqliteStore(path, { waitMs: 60_000 })
  holder.kill('SIGSTOP')
  await expect(guest.acquire('a', 'ann')).rejects.toMatchObject({ code: 'store_failed' })
  await guest.close()
  holder.kill('SIGCONT')
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  const next = await openSharedSqliteStore(path, { waitMs: 60_000 })
  expect(await next.acquire('a', 'ann')).toMatchObject({ type: 'acquired' })
  await next.close()
})

test('a slow holder is waited for', async () => {
  const path = nextPath()
  const program = join(import.meta.dirname, 'appending-process.test-kit.ts')
  const holder = spawn(process.execPath, ['--conditions=@baton/source', '--no-warnings', program, path, 'holder'])
  await once(holder.stdout, 'data')
  const guest = await openSharedSqliteStore(path, { waitMs: 60_000 })
  holder.kill('SIGSTOP')
  const asked = guest.acquire('a', 'ann')
  await new Promise((resolve) => setTimeout(resolve, 12_000)) // long enough for the guest to ping it
  holder.kill('SIGCONT')
  expect(await asked).toMatchObject({ type: 'acquired' })
  await guest.close()
  holder.kill('SIGKILL')
  await once(holder, 'exit')
})
