// A SQLite file of format 2, which knew no children: it is upgraded where it is opened for writing, and copied before that.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Store, StoredSession } from '@baton/core/internal'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { backUpStoreFile, restoreStoreFile } from './backup-file.ts'
import { checkStoreFile } from './check-file.ts'
import { openSqliteStore } from './sqlite-store.ts'

/** A record as that version wrote it. */
const body = (pos: number, epoch: number): string =>
  `{"version":1,"pos":${pos},"nowMs":7,"epoch":${epoch},"input":{"type":"user-input"},"facts":[{"type":"note-queued","note":${pos},"text":"n"}]}`

/** The tables and rows of a file as that version left it: one session that had ended, and one at work. */
const FORMAT_2 = `
CREATE TABLE format (version INTEGER NOT NULL);
CREATE TABLE epochs (last INTEGER NOT NULL CHECK (typeof(last) = 'integer' AND last BETWEEN 0 AND 9007199254740991));
CREATE TABLE sessions (
  key INTEGER PRIMARY KEY CHECK (key BETWEEN 1 AND 134217727),
  id TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL CHECK (typeof(epoch) = 'integer' AND epoch BETWEEN 0 AND 9007199254740991), owner TEXT NOT NULL,
  pos INTEGER NOT NULL CHECK (typeof(pos) = 'integer' AND pos BETWEEN -1 AND 67108863), last_ms INTEGER NOT NULL CHECK (typeof(last_ms) = 'integer' AND last_ms BETWEEN -8640000000000000 AND 8640000000000000),
  blobs INTEGER NOT NULL CHECK (typeof(blobs) = 'integer' AND blobs BETWEEN 0 AND 9007199254740991), head TEXT, sum TEXT NOT NULL
);
CREATE TABLE records (id INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT);
CREATE TABLE snapshots (session INTEGER PRIMARY KEY, body TEXT NOT NULL, hash TEXT, pos INTEGER);
CREATE TABLE blobs (session INTEGER NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, hash TEXT, UNIQUE (session, name));
CREATE TABLE opening (token TEXT NOT NULL, probes INTEGER NOT NULL);
INSERT INTO format VALUES (2); INSERT INTO epochs VALUES (2); INSERT INTO opening VALUES ('', 0);
INSERT INTO sessions VALUES (1, 'ended', 1, '', 1, 7, 1, 'e6DzQ_1lJt_drgNcnF3y4X', '81zeWGICYq0anJVDKNZNh1');
INSERT INTO sessions VALUES (2, 'at work', 2, 'ann', 0, 7, 0, 'kyOH3Ap4UzoSExDC6GIcis', 'AOF5ML2nMbjVn37kMYd37i');
INSERT INTO records VALUES (67108864, '${body(0, 1)}', '0yrRm0NYr5_nXpuqq3nydj');
INSERT INTO records VALUES (67108865, '${body(1, 1)}', 'e6DzQ_1lJt_drgNcnF3y4X');
INSERT INTO records VALUES (134217728, '${body(0, 2)}', 'kyOH3Ap4UzoSExDC6GIcis');
INSERT INTO snapshots VALUES (1, '{"version":1,"state":{"pos":1},"history":{}}', 'GSTMKMPHK_dA-hMREZ8rZA', 1);
INSERT INTO blobs VALUES (1, 'b', 'text', '6EeNcOE0PIFxZLWKfFxCrs');
`

const folder = mkdtempSync(join(tmpdir(), 'baton-former-'))
let path = ''
let files = 0
beforeEach(() => {
  path = join(folder, `store-${(files += 1)}.db`)
  const db = new DatabaseSync(path)
  db.exec(FORMAT_2)
  db.close()
  chmodSync(path, 0o600)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** The format of a file, as its table says. */
function readVersion(file: string): unknown {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return db.prepare('SELECT version FROM format').get()?.['version']
  } finally {
    db.close()
  }
}

async function collect<Value>(values: AsyncIterable<Value>): Promise<readonly Value[]> {
  const all: Value[] = []
  for await (const value of values) all.push(value)
  return all
}

const listAll = async (store: Store): Promise<readonly StoredSession[]> => await collect(store.list())

/** Checks that each session of the file has all that it had. */
async function expectWhole(store: Store): Promise<void> {
  expect(await listAll(store)).toEqual([
    { session: 'at work', records: 1, lastMs: 7, isOwned: true },
    { session: 'ended', records: 2, lastMs: 7, isOwned: false },
  ])
  const read = async (session: string) => (await collect(store.read(session, 0))).map((one) => JSON.stringify(one))
  expect(await read('ended')).toEqual([body(0, 1), body(1, 1)])
  expect(await read('at work')).toEqual([body(0, 2)])
  expect(await store.blobs.get('ended', 'b')).toBe('text')
  expect(await store.snapshots.latest('ended')).toMatchObject({ state: { pos: 1 } })
}

test('a file of format 2 is upgraded as it is opened, keeps what it has, and takes children', async () => {
  const store = await openSqliteStore(path)
  await expectWhole(store)
  const root = await store.acquire('at work', 'bob')
  if (root.type !== 'acquired') throw new Error(root.type)
  expect(root).toMatchObject({ epoch: 3, pos: 0 })
  const under = { root: 'at work', rootEpoch: root.epoch }
  expect(await store.acquire('child', 'bob', undefined, under)).toMatchObject({ type: 'acquired', epoch: 4, pos: -1 })
  await expect(store.acquire('ended', 'bob', undefined, under)).rejects.toMatchObject({ code: 'illegal_input' })
  await store.close()
  expect(readVersion(path)).toBe(4)
  expect(checkStoreFile(path)).toMatchObject({ sessions: 3, records: 3, unchained: 0, blobs: 1, findings: [] })
  const again = await openSqliteStore(path)
  expect((await collect(again.children('at work'))).map(({ session }) => session)).toEqual(['child'])
  expect((await listAll(again)).map(({ session }) => session)).toEqual(['at work', 'ended'])
  await again.close()
})

test('a file of format 3 is upgraded as it is opened, and its sessions are listed from their logs', async () => {
  const db = new DatabaseSync(path)
  db.exec('ALTER TABLE sessions ADD COLUMN root TEXT; UPDATE format SET version = 3')
  db.exec('CREATE INDEX sessions_under ON sessions (root, id) WHERE root IS NOT NULL')
  db.exec('CREATE INDEX sessions_alone ON sessions (id) WHERE root IS NULL')
  db.close()
  const store = await openSqliteStore(path)
  await expectWhole(store)
  expect(await collect(store.entries.outdated())).toEqual([
    { session: 'at work', records: 1, lastMs: 7 },
    { session: 'ended', records: 2, lastMs: 7 },
  ])
  await store.entries.put('ended', 1, { body: '{}', places: [{ list: 'all', atMs: 7, item: 0 }] })
  await store.close()
  expect(readVersion(path)).toBe(4)
  const again = await openSqliteStore(path)
  expect((await collect(again.entries.outdated())).map(({ session }) => session)).toEqual(['at work'])
  expect(await again.entries.find({ list: 'all', order: 'newest', limit: 5 })).toMatchObject([{ session: 'ended' }])
  await again.close()
  expect(checkStoreFile(path).findings).toEqual([])
})

test('an altered entry is reported, so that it is derived from its log again', async () => {
  const store = await openSqliteStore(path)
  await store.entries.put('ended', 1, { body: '{"title":"ours"}', places: [{ list: 'all', atMs: 7, item: 0 }] })
  await store.close()
  const db = new DatabaseSync(path)
  db.exec(`UPDATE entries SET body = '{"title":"else"}'`)
  db.close()
  expect(checkStoreFile(path).findings).toMatchObject([{ session: 'ended', message: expect.stringContaining('entry') }])
  const again = await openSqliteStore(path)
  const [found] = await again.entries.find({ list: 'all', order: 'newest', limit: 5 })
  expect([found?.session, found?.body, await again.entries.get('ended')]).toEqual(['ended', undefined, undefined])
  await again.entries.put('ended', 1, { body: '{}', places: [{ list: 'all', atMs: 8, item: 0 }] })
  expect(await again.entries.find({ list: 'all', order: 'newest', limit: 5 })).toMatchObject([{ atMs: 8, body: '{}' }])
  await again.close()
})

test('a file of format 2 that may only be read is left as it is, and refused with what to do', async () => {
  await expect(openSqliteStore(path, { readOnly: true })).rejects.toMatchObject({
    code: 'store_failed',
    hint: expect.stringContaining('Open it once for writing'),
  })
  expect(() => checkStoreFile(path)).toThrow('older version')
  expect(readVersion(path)).toBe(2)
})

test('a backup of a file of format 2 is made before it is upgraded, and one of that version is restored', async () => {
  const target = `${path}.backup`
  expect(backUpStoreFile(path, target)).toMatchObject({ sessions: 2, records: 3, findings: [] })
  expect([readVersion(path), readVersion(target)]).toEqual([2, 4])
  const fresh = `${path}.new`
  restoreStoreFile(path, fresh)
  expect(readVersion(path)).toBe(2)
  const store = await openSqliteStore(fresh)
  await expectWhole(store)
  await store.close()
})

test('a child whose root was changed in the file is damaged, and is not given to another root', async () => {
  const store = await openSqliteStore(path)
  const root = await store.acquire('at work', 'bob')
  const other = await store.acquire('ended', 'bob')
  if (root.type !== 'acquired' || other.type !== 'acquired') throw new Error('not acquired')
  await store.acquire('child', 'bob', undefined, { root: 'at work', rootEpoch: root.epoch })
  await store.close()
  const db = new DatabaseSync(path)
  db.exec("UPDATE sessions SET root = 'ended' WHERE id = 'child'")
  db.close()
  const found = new Set(checkStoreFile(path).findings.map(({ session }) => session))
  expect(found).toEqual(new Set(['child']))
  const next = await openSqliteStore(path)
  const owned = await next.acquire('ended', 'bob')
  if (owned.type !== 'acquired') throw new Error(owned.type)
  const taken = next.acquire('child', 'bob', undefined, { root: 'ended', rootEpoch: owned.epoch })
  await expect(taken).rejects.toMatchObject({ code: 'log_damaged' })
  expect(await collect(next.children('ended'))).toMatchObject([
    { session: 'child', damage: expect.stringContaining('child') },
  ])
  await next.close()
})
