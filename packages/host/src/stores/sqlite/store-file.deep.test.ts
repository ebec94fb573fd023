// The file under an open SQLite store, and who may open it: nothing is acknowledged that cannot be found again.
import { defineAgent, tool } from '@baton/core'
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createHost } from '../../local/create-host.ts'
import { backUpStoreFile, restoreStoreFile } from './backup-file.ts'
import { checkStoreFile } from './check-file.ts'
import type { SqliteStoreOptions } from './sqlite-store.ts'
import { openSqliteStore } from './sqlite-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-file-'))
let path = ''
let files = 0
const warnings: string[] = []
beforeEach(() => {
  mkdirSync(join(folder, `${(files += 1)}`))
  path = join(folder, `${files}`, 'store.db')
  warnings.length = 0
})
afterAll(() => rmSync(folder, { recursive: true }))

const open = (file = path, options: SqliteStoreOptions = {}): Promise<Store> =>
  openSqliteStore(file, { onWarning: (message) => void warnings.push(message), ...options })

const record = (pos: number, epoch: number, text = ''): SessionRecord => ({
  version: 1,
  pos,
  nowMs: 1,
  epoch,
  input: { type: 'user-input' },
  facts: [{ type: 'note-queued', note: pos, text }],
})

async function begin(store: Store, session = 's'): Promise<{ readonly add: (text?: string) => Promise<number> }> {
  const owned = await store.acquire(session, 'me')
  if (owned.type !== 'acquired') throw new Error('held')
  let { pos } = owned
  const { epoch } = owned
  return { add: async (text) => (pos = await store.append(session, epoch, pos, [record(pos + 1, epoch, text)])) }
}

async function count(store: Store, session = 's'): Promise<number> {
  let records = 0
  for await (const { pos } of store.read(session, 0)) records = pos + 1
  return records
}

const GONE = { code: 'store_gone', hint: expect.stringContaining('then restart') }

describe('a file that is taken away while it is open', () => {
  const ways: Readonly<Record<string, () => void>> = {
    deleted: () => rmSync(path),
    'deleted with its log and its lock': () => ['', '-wal', '-shm', '.lock'].forEach((end) => rmSync(`${path}${end}`)),
    'moved away': () => renameSync(path, `${path}.old`),
    'replaced by a copy of itself': () => {
      copyFileSync(path, `${path}.copy`)
      renameSync(`${path}.copy`, path)
    },
    'without its write-ahead log': () => rmSync(`${path}-wal`),
  }
  for (const [name, act] of Object.entries(ways))
    test(`${name}: nothing is acknowledged any more, and readiness says why`, async () => {
      const store = await open()
      const session = await begin(store)
      await session.add()
      expect(await store.health()).toEqual({ ok: true })
      act()
      await expect(session.add()).rejects.toMatchObject(GONE)
      await expect(session.add()).rejects.toMatchObject(GONE)
      await expect(store.acquire('another', 'me')).rejects.toMatchObject(GONE)
      await expect(store.blobs.put('s', 'b', 'text')).rejects.toMatchObject(GONE)
      expect(await store.health()).toMatchObject({ ok: false, ...GONE, message: expect.stringContaining(path) })
      await store.close()
    })

  test('no second process starts next to the first while its lock exists', async () => {
    const store = await open()
    rmSync(path)
    await expect(open()).rejects.toMatchObject({ code: 'store_locked' })
    await store.close()
  })

  test('if its lock was deleted and another process has opened it, the first learns that at its next commit', async () => {
    const first = await open()
    const session = await begin(first)
    await session.add()
    rmSync(`${path}.lock`)
    const second = await open()
    await expect(session.add()).rejects.toMatchObject(GONE)
    expect(await first.health()).toMatchObject({ ok: false, code: 'store_gone' })
    const again = await begin(second)
    expect(await again.add()).toBe(1)
    expect(await count(second)).toBe(2)
    await first.close()
    await second.close()
  })
})

describe('a host whose store is taken away while a session is open', () => {
  const ways: Readonly<Record<string, () => void>> = {
    deleted: () => rmSync(path),
    'deleted with its log': () => ['', '-wal', '-shm'].forEach((end) => rmSync(`${path}${end}`)),
    'replaced by a copy of itself': () => {
      copyFileSync(path, `${path}.copy`)
      renameSync(`${path}.copy`, path)
    },
  }
  for (const [name, act] of Object.entries(ways))
    test(`${name}: the turn fails, no tool runs, and no session is opened`, async () => {
      const store = await open()
      const ran: string[] = []
      const note = tool({
        name: 'note',
        description: 'Notes a word',
        input: z.object({ word: z.string() }),
        effect: 'pure',
        execute: ({ word }) => {
          ran.push(word)
          return { noted: true }
        },
      })
      const model = createScriptedModel({
        steps: (_, call) =>
          call % 2 === 0 ? { calls: [{ name: 'note', arguments: { word: `${call}` } }] } : { text: 'Noted' },
      })
      const host = createHost({ store, agent: defineAgent({ name: 'talker', model, tools: [note] }) })
      const session = await host.session('s')
      expect(await session.send('one').answer).toMatchObject({ text: 'Noted' })
      expect(ran).toEqual(['0'])
      act()
      await expect(session.send('two').answer).rejects.toMatchObject({ code: 'store_gone' })
      const start = { code: 'store_gone', hint: expect.stringContaining('then restart') }
      await expect(session.send('three').answer).rejects.toMatchObject(start)
      await expect(host.session('s')).rejects.toMatchObject({ code: 'store_gone' })
      await expect(host.session('another')).rejects.toMatchObject({ code: 'store_gone' })
      await expect(count(store)).rejects.toMatchObject(GONE)
      await expect(store.blobs.get('s', 'b')).rejects.toMatchObject(GONE)
      expect(ran).toEqual(['0'])
      await host.stop()
      await store.close()
    })
})

describe('the lock is that of the file', () => {
  test('a hard link has no lock of its own, whether the store is in use or not', async () => {
    const store = await open()
    await (await begin(store)).add()
    linkSync(path, `${path}.link`)
    await expect(open(`${path}.link`)).rejects.toMatchObject({
      code: 'store_locked',
      message: expect.stringContaining('2 names'),
    })
    expect(await store.health()).toMatchObject({ ok: false, code: 'store_locked' })
    await store.close()
    await expect(open(`${path}.link`)).rejects.toMatchObject({ code: 'store_locked' })
    rmSync(`${path}.link`)
    const again = await open()
    expect(await count(again)).toBe(1)
    await again.close()
  })

  test('a link to the file, or to its folder, is the same file, also before it is there', async () => {
    const linked = join(folder, `${files}-link`)
    symlinkSync(join(folder, `${files}`), linked)
    symlinkSync(path, `${path}.sym`)
    const store = await open(join(linked, 'store.db'))
    await expect(open()).rejects.toMatchObject({ code: 'store_locked' })
    await expect(open(`${path}.sym`)).rejects.toMatchObject({ code: 'store_locked' })
    await store.close()
  })

  test('a copy is another store', async () => {
    const store = await open()
    await (await begin(store)).add()
    await store.close()
    copyFileSync(path, `${path}.copy`)
    const [one, other] = [await open(), await open(`${path}.copy`)]
    expect([await count(one), await count(other)]).toEqual([1, 1])
    await (await begin(one)).add()
    expect([await count(one), await count(other)]).toEqual([2, 1])
    await one.close()
    await other.close()
  })
})

const mode = (file: string): string => (statSync(file).mode & 0o777).toString(8)

describe.skipIf(process.platform === 'win32')('others cannot read it', () => {
  test('a new store and its helper files are private to its owner', async () => {
    const store = await open()
    await (await begin(store)).add()
    for (const end of ['', '-wal', '-shm', '.lock']) expect([end, mode(`${path}${end}`)]).toEqual([end, '600'])
    await store.close()
    expect(warnings).toEqual([])
  })

  test('a store readable by others is made private, and that is reported', async () => {
    await (await open()).close()
    chmodSync(path, 0o644)
    const store = await open()
    expect(mode(path)).toBe('600')
    expect(warnings).toEqual([expect.stringContaining('its permissions were 0644')])
    await store.close()
  })

  test.each(['-wal', '-shm', '-journal', '.lock'])('a link in the place of its %s is not followed', async (end) => {
    writeFileSync(join(folder, 'theirs'), '')
    symlinkSync(join(folder, 'theirs'), `${path}${end}`)
    await expect(open()).rejects.toMatchObject({ code: 'store_failed', message: expect.stringContaining('is a link') })
    expect(readFileSync(join(folder, 'theirs'), 'utf8')).toBe('')
  })

  // Only root can change a file's owner.
  test.skipIf(process.getuid?.() !== 0)(
    'files that another user put next to it are not used: that user would read the data',
    async () => {
      for (const end of ['-wal', '.lock']) {
        writeFileSync(`${path}${end}`, '', { mode: 0o666 })
        chownSync(`${path}${end}`, 65_534, 65_534)
        const refusal = { code: 'store_failed', message: expect.stringContaining('belongs to another user (65534)') }
        await expect(open()).rejects.toMatchObject(refusal)
        rmSync(`${path}${end}`)
        await (await open()).close()
      }
    },
  )
})

test('a file that cannot be written is refused when it is opened, not at the first session', async () => {
  await (await open()).close()
  chmodSync(folder, 0o755)
  chmodSync(join(folder, `${files}`), 0o777)
  for (const end of ['', '.lock']) chmodSync(`${path}${end}`, end === '' ? 0o444 : 0o666)
  const script = `import { openSqliteStore } from ${JSON.stringify(new URL('./sqlite-store.ts', import.meta.url).href)}
    openSqliteStore(${JSON.stringify(path)}).then(() => console.log('opened'), (error) => console.log(error.code, error.message))`
  // Permissions do not restrict root, so root's process runs as another user.
  const uid = process.getuid?.() === 0 ? 65_534 : undefined
  const words = ['--conditions=@baton/source', '--no-warnings', '--input-type=module', '-e', script]
  const said = await promisify(execFile)(process.execPath, words, { ...(uid !== undefined && { uid }) })
  expect(said.stdout).toMatch(/^store_failed .*not writable/)
})

test('a full store says what to do, and its open sessions continue when there is room again', async () => {
  const store = await open(path, { maxBytes: 512 * 1024 })
  const other = await begin(store, 'other')
  for (let index = 0; index < 10; index++) await other.add('x'.repeat(10_000))
  const session = await begin(store)
  const fill = async (): Promise<void> => {
    for (;;) await session.add('y'.repeat(10_000))
  }
  const full = { code: 'store_failed', message: expect.stringContaining('free some space and try again') }
  await expect(fill()).rejects.toMatchObject(full)
  await expect(fill()).rejects.toMatchObject(full)
  const kept = await count(store)
  await store.remove('other', 'me')
  expect(await session.add('z'.repeat(10_000))).toBe(kept)
  expect(await store.health()).toEqual({ ok: true })
  await store.close()
})

test('a session with a full store continues under its old handle when there is room again', async () => {
  const store = await open(path, { maxBytes: 256 * 1024 })
  const model = createScriptedModel({ steps: () => ({ text: 'I see' }) })
  const host = createHost({ store, agent: defineAgent({ name: 'talker', model }) })
  const session = await host.session('s')
  await session.send('one').answer
  const other = await begin(store, 'other')
  await expect(
    (async () => {
      for (;;) await other.add('y'.repeat(1000))
    })(),
  ).rejects.toMatchObject({ code: 'store_failed' })
  await expect(session.send('x'.repeat(10_000)).answer).rejects.toMatchObject({ code: 'store_failed' })
  await store.remove('other', 'me')
  const again = await session.send('two').answer
  expect(again.text).toBe('I see')
  await host.stop()
  await store.close()
})

const FORMAT = 'CREATE TABLE format (version INTEGER NOT NULL); INSERT INTO format VALUES (2);'

test.each<[string, string]>([
  ['of songs', 'CREATE TABLE songs (title TEXT)'],
  ['with a write-ahead log', 'PRAGMA journal_mode=WAL; CREATE TABLE songs (title TEXT)'],
  ['with a table of the same name', 'CREATE TABLE format (name TEXT)'],
  ['with a version like ours', `${FORMAT} CREATE TABLE sessions (id TEXT)`],
  [
    'with tables like ours',
    `${FORMAT} CREATE TABLE sessions (id TEXT, epoch INTEGER); CREATE TABLE epochs (last INTEGER);
     CREATE TABLE opening (token TEXT); CREATE TABLE records (id, body, hash)`,
  ],
  ['that only has a mark', 'PRAGMA user_version=7'],
])('a database of another program, %s, is refused and stays as it is', async (_, sql) => {
  const other = new DatabaseSync(path)
  other.exec(sql)
  other.close()
  chmodSync(path, 0o644)
  const before = readFileSync(path)
  for (const act of [() => open(), () => open(path, { readOnly: true })])
    await expect(act()).rejects.toMatchObject({
      code: 'log_damaged',
      message: expect.stringContaining(path),
      hint: expect.stringContaining('Nothing in it was changed'),
    })
  expect(() => checkStoreFile(path)).toThrow(expect.objectContaining({ code: 'log_damaged' }))
  expect([mode(path), readFileSync(path).equals(before)]).toEqual(['644', true])
  expect(existsSync(`${path}.lock`)).toBe(false)
  expect(warnings).toEqual([])
})

test('a text is refused unchanged, and no file is left next to it', async () => {
  const file = `${path}.ts`
  writeFileSync(file, 'export const x = 1\n'.repeat(100))
  chmodSync(file, 0o644)
  const before = readFileSync(file)
  await expect(open(file)).rejects.toMatchObject({
    code: 'log_damaged',
    message: expect.stringContaining('not a Baton database'),
  })
  expect([mode(file), readFileSync(file).equals(before), existsSync(`${file}.lock`)]).toEqual(['644', true, false])
})

test.skipIf(process.platform === 'win32')('a pipe, a device or a folder is refused at once', async () => {
  const pipe = `${path}.pipe`
  execFileSync('mkfifo', [pipe])
  for (const [file, kind] of [
    [pipe, 'a pipe'],
    ['/dev/zero', 'a device'],
    [join(folder, `${files}`), 'a folder'],
  ] as const) {
    const refusal = { code: 'store_failed', message: `${file} is ${kind}, but a store needs plain files` }
    expect(() => checkStoreFile(file)).toThrow(expect.objectContaining(refusal))
    expect(() => backUpStoreFile(file, `${path}.copy`)).toThrow(expect.objectContaining(refusal))
    expect(() => restoreStoreFile(file, `${path}.copy`)).toThrow(expect.objectContaining(refusal))
    await expect(open(file)).rejects.toMatchObject(refusal)
    await expect(open(file, { readOnly: true })).rejects.toMatchObject(refusal)
  }
  renameSync(pipe, `${path}.lock`)
  await expect(open()).rejects.toMatchObject({
    code: 'store_failed',
    message: expect.stringContaining('.lock is a pipe'),
  })
})

test('a Baton file with missing tables is not a new store', async () => {
  const store = await open()
  await (await begin(store)).add()
  await store.close()
  const file = new DatabaseSync(path)
  file.exec('DROP TABLE sessions')
  file.close()
  await expect(open()).rejects.toMatchObject({ code: expect.stringMatching(/store_failed|log_damaged/) })
  writeFileSync(`${path}.txt`, '')
  await (await open(`${path}.txt`)).close()
})

test('a removed session leaves none of its words in the file', async () => {
  const store = await open(path)
  const host = createHost({
    agent: defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'Noted.' }) }) }),
    store,
  })
  const session = await host.session('s')
  await session.send('the word is heliotrope').answer
  await session.close()
  expect(Buffer.concat(stored()).includes('heliotrope')).toBe(true)
  await host.remove('s')
  await host.stop()
  await store.close()
  expect(Buffer.concat(stored()).includes('heliotrope')).toBe(false)
})

/** The bytes of the file and its write-ahead log. */
function stored(): readonly Buffer[] {
  return [path, `${path}-wal`].filter((name) => existsSync(name)).map((name) => readFileSync(name))
}
