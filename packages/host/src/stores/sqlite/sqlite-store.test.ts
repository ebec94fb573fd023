// The rows of a SQLite file fulfil the contract of all stores, without a store's threads; sqlite-store.deep.test.ts
// plays it with threads.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock, Store } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import type { SessionRecord, Snapshot } from '@baton/core/machine'
import { storeContract } from '@baton/core/testing'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { LeaseBook } from '../lease-book.ts'
import type { Act, ActValue } from './acts.ts'
import type { Database } from './database.ts'
import { answerRead, openDatabase } from './database.ts'
import type { StoreRequestBody, StoreValue } from './protocol.ts'
import { prepareTables } from './schema.ts'
import { createSqliteFile } from './sqlite-store.ts'
import { makeFile, OpenedFile } from './store-file.ts'
import type { StoreThread } from './store-thread.ts'

let folder = ''
let files = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-rows-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

/** Opens the file on this thread: each write is its own commit. */
function openHere(path: string): StoreThread & Pick<Database, 'commit'> {
  makeFile(path)
  const taker = new DatabaseSync(path)
  prepareTables(taker, path)
  taker.exec('PRAGMA journal_mode=WAL')
  taker.exec('UPDATE epochs SET last = max(last, (SELECT coalesce(max(epoch), 0) FROM sessions))')
  taker.prepare('UPDATE opening SET token = ?').run('here')
  const owner = { token: 'here', file: new OpenedFile(path) }
  const database = openDatabase({ path, maxBytes: undefined, busyMs: 0, owner })
  let closed: BatonError | undefined
  const check = (): void => {
    if (closed) throw closed
  }
  return {
    path,
    check,
    commit: database.commit,
    write: async <Value extends ActValue>(act: Act) => {
      check()
      const [outcome] = database.commit([act])
      if (outcome?.type === 'done') return await Promise.resolve(outcome.value as Value) // the type of its act
      throw new BatonError(outcome?.failure ?? { code: 'internal', message: 'no outcome' })
    },
    read: async <Value extends StoreValue>(request: StoreRequestBody) => {
      check()
      if (request.type === 'commit' || request.type === 'close') throw new Error(`not asked here: ${request.type}`)
      return await Promise.resolve(answerRead(database, request) as Value) // as above
    },
    close: async () => {
      if (closed) return
      closed = new BatonError({ code: 'store_failed', message: 'it was closed' })
      taker.close()
      await Promise.resolve(database.close())
    },
  }
}

const paths = new WeakMap<Store, string>()
const openFile = (
  clock: Clock | undefined,
  path = join(folder, `${(files += 1)}.db`),
  warn: (message: string) => void = () => {},
) => {
  const leases = new LeaseBook(clock ? { clock } : {})
  const file = createSqliteFile(openHere(path), { path, readOnly: false, warn, leases })
  paths.set(file.store, path)
  return file
}
const open = async (clock?: Clock): Promise<Store> => await Promise.resolve(openFile(clock).store)
const reopen = async (store: Store): Promise<Store> => {
  await store.close()
  return openFile(undefined, paths.get(store)).store
}

for (const { name, skip, run } of storeContract({ open, reopen }))
  test(skip === undefined ? name : `${name} (skipped: ${skip})`, { skip: skip !== undefined }, run)

test('a lease that outlived its store is released, unless the session has a newer owner or another holder', async () => {
  const file = openFile(undefined)
  const { store } = file
  const acquired = await store.acquire('s', 'one')
  if (acquired.type !== 'acquired') throw new Error('nobody holds it')
  await store.close()
  const path = paths.get(store)
  const next = openFile(undefined, path)
  const lease = { session: 's', owner: 'one', epoch: acquired.epoch, address: 'ws://one' }
  expect(await next.resume({ ...lease, epoch: acquired.epoch + 1 })).toBe(false)
  expect(await next.resume(lease)).toBe(true)
  expect(await next.resume(lease)).toBe(true)
  expect(await next.resume({ ...lease, owner: 'two' })).toBe(false)
  expect(await next.store.acquire('s', 'two')).toMatchObject({ type: 'held', owner: 'one', address: 'ws://one' })
  await next.store.release('s', acquired.epoch, 'work')
  const taken = await next.store.acquire('s', 'two')
  expect(taken).toMatchObject({ type: 'acquired' })
  await next.store.close()
  const last = openFile(undefined, path)
  expect(await last.resume(lease)).toBe(false)
  expect(await last.store.acquire('s', 'three')).toMatchObject({ type: 'acquired' })
  await last.store.close()
})

const record = (pos: number): SessionRecord => ({
  version: 1,
  pos,
  nowMs: 1,
  epoch: 1,
  input: { type: 'pause' },
  facts: [{ type: 'session-paused' }],
})

/** A session with records, a snapshot and a text, and another connection to its file. */
async function openWritten() {
  const warnings: string[] = []
  const { store } = openFile(undefined, undefined, (message) => void warnings.push(message))
  for (const session of ['s', 'other']) {
    await store.restore(session, [record(0), record(1)])
    await store.snapshots.put(session, { version: 1, state: { pos: 1 }, history: {} } as unknown as Snapshot) // only kept
    await store.blobs.put(session, 'large', `the text of ${session}`)
  }
  const other = new DatabaseSync(paths.get(store) ?? '')
  onTestFinished(async () => {
    other.close()
    await store.close()
  })
  return { store, other, warnings }
}

test('a session that is removed leaves no row in its file', async () => {
  const { store, other } = await openWritten()
  await store.remove('s')
  const counts = ['sessions', 'records', 'snapshots', 'blobs'].map(
    (table) => other.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'],
  )
  expect(counts).toEqual([1, 2, 1, 1])
})

test('changed rows are reported, and a changed snapshot is skipped', async () => {
  const { store, other, warnings } = await openWritten()
  other.exec(`UPDATE snapshots SET body = replace(body, '"pos":1', '"pos":0')`)
  expect(await store.snapshots.latest('s')).toBeUndefined()
  expect(warnings).toEqual([expect.stringContaining('the snapshot of session s was changed')])
  other.exec(`UPDATE blobs SET body = 'the text of somebody'`)
  await expect(store.blobs.get('s', 'large')).rejects.toMatchObject({ code: 'log_damaged' })
  other.exec(`UPDATE records SET body = replace(body, '"nowMs":1', '"nowMs":2') WHERE body LIKE '%"pos":1,%'`)
  const read: number[] = []
  const reading = (async () => {
    for await (const { pos } of store.read('s', 0)) read.push(pos)
  })()
  await expect(reading).rejects.toMatchObject({ code: 'log_damaged', data: { session: 's', pos: 1 } })
  expect(read).toEqual([0])
})

test('a damaged row only fails requests for its session, and cannot be acquired by others', async () => {
  const { store, other } = await openWritten()
  other.exec(`UPDATE sessions SET sum = 'other' WHERE id = 's'`)
  for (const owner of ['one', 'two'])
    await expect(store.acquire('s', owner)).rejects.toMatchObject({ code: 'log_damaged' })
  const thread = openHere(paths.get(store) ?? '')
  const outcomes = thread.commit([
    { type: 'put-blob', session: 'other', name: 'a', body: 'kept' },
    { type: 'put-blob', session: 's', name: 'a', body: 'lost' },
    { type: 'put-blob', session: 'other', name: 'b', body: 'kept' },
  ])
  expect(outcomes.map(({ type }) => type)).toEqual(['done', 'failed', 'done'])
  await thread.close()
  expect(await store.blobs.names('other')).toEqual(['a', 'b', 'large'])
})

test('acts that are written one by one are written once, though another program writes in between', async () => {
  const { store, other } = await openWritten()
  other.exec(`UPDATE sessions SET sum = 'other' WHERE id = 's'`)
  const thread = openHere(paths.get(store) ?? '')
  const acts: Act[] = [
    { type: 'put-blob', session: 'other', name: 'a', body: 'kept' },
    { type: 'put-blob', session: 's', name: 'a', body: 'lost' },
    { type: 'put-blob', session: 'other', name: 'b', body: 'busy' },
  ]
  // The other program takes the file before the last one.
  const flatMap = (write: (act: Act) => readonly unknown[]) =>
    [...acts].flatMap((act, index) => {
      if (index === 2) other.exec('BEGIN IMMEDIATE')
      return write(act)
    })
  Object.assign(acts, { flatMap })
  expect(thread.commit(acts).map(({ type }) => type)).toEqual(['done', 'failed', 'failed'])
  other.exec('ROLLBACK')
  await thread.close()
  expect(await store.blobs.names('other')).toEqual(['a', 'large'])
})

test('a session that is restored is free for whoever recovers it, also where it was held before it had a record', async () => {
  const { store } = openFile(undefined)
  await store.acquire('s', 'one')
  await store.restore('s', [record(0)])
  const free: string[] = []
  for await (const { session } of store.listRecoverable()) free.push(session)
  expect(free).toEqual(['s'])
  await store.close()
})

test('a list that is longer than a page gives each session once', async () => {
  const { store } = openFile(undefined)
  const thread = openHere(paths.get(store) ?? '')
  const names = Array.from({ length: 520 }, (_, index) => `s${String(index).padStart(3, '0')}`)
  const bodies = [JSON.stringify(record(0))]
  thread.commit(names.map((session) => ({ type: 'restore', session, epoch: 1, lastMs: 1, bodies })))
  await thread.close()
  const listed: string[] = []
  for await (const { session } of store.list()) listed.push(session)
  expect(listed).toEqual(names)
  await store.close()
})

test.each([
  ['of another program', false, 'CREATE TABLE songs (title TEXT)'],
  ['that only has a mark of another program', false, 'PRAGMA user_version=7'],
  ['of a store without its sessions', true, 'DROP TABLE sessions'],
  ['of a store without its format', true, 'DROP TABLE format'],
])('a file %s is damage, and gets no tables', (_whose, isStore, sql) => {
  const path = join(folder, `${(files += 1)}.db`)
  const db = new DatabaseSync(path)
  onTestFinished(() => db.close())
  if (isStore) prepareTables(db, path)
  db.exec(sql)
  const list = () => db.prepare('SELECT name, sql FROM sqlite_master ORDER BY name').all()
  const before = list()
  expect(() => prepareTables(db, path)).toThrow(expect.objectContaining({ code: 'log_damaged' }))
  expect(list()).toEqual(before)
})
