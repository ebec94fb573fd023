// The SQLite store keeps the contract of all stores, and what a file adds to it: it outlives its process, and is owned by one.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { storeContract } from '@baton/core/testing'
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSqliteStore } from './sqlite-store.ts'

let folder = ''
let files = 0
const nextPath = (): string => join(folder, `store-${(files += 1)}.db`)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-sqlite-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

const paths = new WeakMap<Store, string>()
const open = async (path = nextPath()): Promise<Store> => {
  const store = await openSqliteStore(path)
  paths.set(store, path)
  return store
}
const reopen = async (store: Store): Promise<Store> => {
  await store.close()
  return await open(paths.get(store))
}

for (const { name, skip, run } of storeContract({ open: () => open(), reopen }))
  test(skip === undefined ? name : `${name} (skipped: ${skip})`, { skip: skip !== undefined }, run)

const record = (pos: number, epoch: number): SessionRecord => ({
  version: 0,
  pos,
  nowMs: 1,
  epoch,
  input: { type: 'pause' },
  facts: [{ type: 'session-paused' }],
})

describe('a file', () => {
  test('that is opened again has what was appended, and a new owner a higher epoch', async () => {
    const path = nextPath()
    const first = await openSqliteStore(path)
    const { epoch } = await first.acquire('s', 'one')
    await first.append('s', epoch, -1, [record(0, epoch), record(1, epoch)])
    await first.close()
    const second = await openSqliteStore(path)
    expect(await second.acquire('s', 'two')).toEqual({ epoch: epoch + 1, pos: 1 })
    const read: SessionRecord[] = []
    for await (const stored of second.read('s', 0)) read.push(stored)
    expect(read).toEqual([record(0, epoch), record(1, epoch)])
    await second.close()
  })

  test('that another store has open is locked', async () => {
    const path = nextPath()
    const store = await openSqliteStore(path)
    await expect(openSqliteStore(path)).rejects.toMatchObject({ code: 'store_locked' })
    await store.close()
    const next = await openSqliteStore(path)
    await next.close()
  })

  test('that is no database, or of a newer format, is refused by name', async () => {
    const damaged = nextPath()
    await writeFile(damaged, 'this is no database, whatever its name says. '.repeat(100))
    await expect(openSqliteStore(damaged)).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining(damaged),
    })
    const newer = nextPath()
    const db = new DatabaseSync(newer)
    db.exec('CREATE TABLE format (version INTEGER NOT NULL); INSERT INTO format VALUES (99)')
    db.close()
    await expect(openSqliteStore(newer)).rejects.toMatchObject({ message: expect.stringContaining('format 99') })
  })

  test('in a folder that is not there is refused', async () => {
    await expect(openSqliteStore(join(folder, 'no', 'such', 'store.db'))).rejects.toMatchObject({
      code: 'store_failed',
    })
  })

  test('many sessions that append at once are each in order', async () => {
    const store = await openSqliteStore(nextPath())
    const sessions = Array.from({ length: 20 }, (_, index) => `s${index}`)
    await Promise.all(
      sessions.map(async (session) => {
        const { epoch } = await store.acquire(session, 'me')
        for (let pos = 0; pos < 10; pos++) await store.append(session, epoch, pos - 1, [record(pos, epoch)])
      }),
    )
    for (const session of sessions) {
      const positions: number[] = []
      for await (const stored of store.read(session, 0)) positions.push(stored.pos)
      expect(positions).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    }
    await store.close()
  })

  test('a store that is closed refuses with a clear error', async () => {
    const path = nextPath()
    const store = await openSqliteStore(path)
    await store.close()
    await expect(store.acquire('s', 'one')).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining(path),
    })
  })
})
