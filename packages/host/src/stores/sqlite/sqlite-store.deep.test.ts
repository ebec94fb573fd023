// The SQLite store fulfils the contract of all stores, plus what a file adds: it outlives its process, and has one
// owner.
import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { storeContract } from '@baton/core/testing'
import type { Acquired, Store } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SqliteStoreOptions } from './sqlite-store.ts'
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
const open = async (path = nextPath(), options: SqliteStoreOptions = {}): Promise<Store> => {
  const store = await openSqliteStore(path, options)
  paths.set(store, path)
  return store
}
const reopen = async (store: Store): Promise<Store> => {
  await store.close()
  return await open(paths.get(store))
}

for (const { name, skip, run } of storeContract({ open: (clock) => open(nextPath(), { clock }), reopen }))
  test(skip === undefined ? name : `${name} (skipped: ${skip})`, { skip: skip !== undefined }, run)

const record = (pos: number, epoch: number): SessionRecord => ({
  version: 1,
  pos,
  nowMs: 1,
  epoch,
  input: { type: 'pause' },
  facts: [{ type: 'session-paused' }],
})

function large(count: number, epoch: number, fromPos = 0): readonly SessionRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    ...record(fromPos + index, epoch),
    facts: [{ type: 'note-queued', note: index, text: 'x'.repeat(10_000) }],
  }))
}

async function acquired(store: Store, session: string, owner: string): Promise<Acquired> {
  const outcome = await store.acquire(session, owner)
  if (outcome.type !== 'acquired') throw new Error(`${session} is not acquired: ${outcome.type}`)
  return outcome
}

async function listPositions(store: Store, session: string): Promise<readonly number[]> {
  const positions: number[] = []
  for await (const { pos } of store.read(session, 0)) positions.push(pos)
  return positions
}

/** Permissions do not restrict root, so root's process runs as another user. */
async function readOnlyFolder(): Promise<{ readonly uid: number | undefined; readonly path: string }> {
  const bare = join(folder, `bare-${(files += 1)}`)
  await mkdir(bare)
  await chmod(folder, 0o755)
  await chmod(bare, 0o555)
  return { uid: process.getuid?.() === 0 ? NOBODY : undefined, path: join(bare, 'store.db') }
}
const NOBODY = 65_534

describe('a file', () => {
  test('that is opened again has the appended records, and gives a new owner a higher epoch', async () => {
    const path = nextPath()
    const first = await openSqliteStore(path)
    const { epoch } = await acquired(first, 's', 'one')
    await first.append('s', epoch, -1, [record(0, epoch), record(1, epoch)])
    await first.close()
    const second = await openSqliteStore(path)
    expect(await acquired(second, 's', 'two')).toMatchObject({ epoch: epoch + 1, pos: 1 })
    const read: SessionRecord[] = []
    for await (const stored of second.read('s', 0)) read.push(stored)
    expect(read).toEqual([record(0, epoch), record(1, epoch)])
    await second.close()
  })

  test('that is opened again has no owners: all former holders are dead, even before their leases would have expired', async () => {
    const path = nextPath()
    const first = await openSqliteStore(path, { leaseMs: 3_600_000 })
    const { epoch } = await acquired(first, 's', 'one')
    await first.append('s', epoch, -1, [record(0, epoch)])
    await first.close()
    await expect(first.renew('one')).rejects.toMatchObject({ code: 'store_failed' })
    const second = await openSqliteStore(path)
    const left: string[] = []
    for await (const { session } of second.listRecoverable()) left.push(session)
    expect(left).toEqual(['s'])
    await second.renew('one')
    await acquired(second, 's', 'two')
    await second.close()
  })

  test('that is opened with a lease of zero length is refused', async () => {
    for (const leaseMs of [0, -1, NaN])
      await expect(openSqliteStore(nextPath(), { leaseMs })).rejects.toMatchObject({ code: 'invalid_option' })
  })

  test('that another store has open is locked', async () => {
    const path = nextPath()
    const store = await openSqliteStore(path)
    await expect(openSqliteStore(path)).rejects.toMatchObject({ code: 'store_locked' })
    await store.close()
    const next = await openSqliteStore(path)
    await next.close()
  })

  test('that is not a database, or has a newer format, is refused by name', async () => {
    const damaged = nextPath()
    await writeFile(damaged, 'this is not a database, whatever its name says. '.repeat(100))
    await expect(openSqliteStore(damaged)).rejects.toMatchObject({
      code: 'log_damaged',
      message: expect.stringContaining(`${damaged} is not a Baton database`),
    })
    const newer = nextPath()
    const db = new DatabaseSync(newer)
    db.exec('CREATE TABLE format (version INTEGER NOT NULL); INSERT INTO format VALUES (99)')
    db.close()
    await expect(openSqliteStore(newer)).rejects.toMatchObject({ message: expect.stringContaining('format 99') })
  })

  test('whose pages were overwritten in the middle is reported, and the readable part is returned', async () => {
    const path = nextPath()
    const store = await openSqliteStore(path)
    const { epoch } = await acquired(store, 's', 'one')
    await store.append('s', epoch, -1, large(50, epoch))
    await store.close()
    const bytes = await readFile(path)
    bytes.fill(0xff, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 65_536)
    await writeFile(path, bytes)
    const again = await openSqliteStore(path)
    await expect(listPositions(again, 's')).rejects.toMatchObject({ code: 'log_damaged' })
    await again.close()
  })

  test('in a folder that is not there is refused', async () => {
    await expect(openSqliteStore(join(folder, 'no', 'such', 'store.db'))).rejects.toMatchObject({
      code: 'store_failed',
      message: expect.stringContaining('its folder does not exist or is not writable'),
    })
  })

  test('in a read-only folder is refused with a clear message', async () => {
    const { uid, path } = await readOnlyFolder()
    const script = `import { openSqliteStore } from ${JSON.stringify(new URL('./sqlite-store.ts', import.meta.url).href)}
      openSqliteStore(${JSON.stringify(path)}).then(() => console.log('opened'), (error) => console.log(error.code, error.message))`
    const words = ['--conditions=@baton/source', '--no-warnings', '--input-type=module', '-e', script]
    const said = await promisify(execFile)(process.execPath, words, { ...(uid !== undefined && { uid }) })
    expect(said.stdout).toMatch(/^store_failed .*not writable/)
  })

  test('that is full refuses new records and keeps the stored ones', async () => {
    const path = nextPath()
    const store = await openSqliteStore(path, { maxBytes: 512 * 1024 })
    const { epoch } = await acquired(store, 's', 'one')
    let pos = -1
    const fill = async (): Promise<void> => {
      for (;;) pos = await store.append('s', epoch, pos, [large(1, epoch, pos + 1)[0] ?? record(0, epoch)])
    }
    await expect(fill()).rejects.toMatchObject({ code: 'store_failed', message: expect.stringContaining('is full') })
    expect(await listPositions(store, 's')).toEqual(Array.from({ length: pos + 1 }, (_, index) => index))
    await store.close()
    const roomy = await openSqliteStore(path)
    const owned = await acquired(roomy, 's', 'two')
    expect(owned.pos).toBe(pos)
    await roomy.append('s', owned.epoch, pos, large(1, owned.epoch, pos + 1))
    await roomy.close()
  })

  test('that a process owns can be read meanwhile, but not written', async () => {
    const path = nextPath()
    const store = await openSqliteStore(path)
    const { epoch } = await acquired(store, 's', 'one')
    await store.append('s', epoch, -1, [record(0, epoch)])
    const looking = await openSqliteStore(path, { readOnly: true })
    expect(await listPositions(looking, 's')).toEqual([0])
    await store.append('s', epoch, 0, [record(1, epoch)])
    expect(await listPositions(looking, 's')).toEqual([0, 1])
    await expect(looking.remove('s')).rejects.toMatchObject({ code: 'store_failed' })
    await looking.close()
    await store.close()
    await expect(openSqliteStore(nextPath(), { readOnly: true })).rejects.toMatchObject({ code: 'store_failed' })
  })

  test('many sessions that append at once are each in order', async () => {
    const store = await openSqliteStore(nextPath())
    const sessions = Array.from({ length: 20 }, (_, index) => `s${index}`)
    await Promise.all(
      sessions.map(async (session) => {
        const { epoch } = await acquired(store, session, 'me')
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
