// Damage in the file of a SQLite store: it is reported by session and position, other sessions continue, and a backup
// repairs it.
import { defineAgent } from '@baton/core'
import type { Logger, Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createHost } from '../../local/create-host.ts'
import { backUpStoreFile, restoreStoreFile } from './backup-file.ts'
import { checkStoreFile } from './check-file.ts'
import { openSqliteStore } from './sqlite-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-damage-'))
let path = ''
let files = 0
const warnings: string[] = []
beforeEach(() => {
  path = join(folder, `store-${(files += 1)}.db`)
  warnings.length = 0
})
afterAll(() => rmSync(folder, { recursive: true }))

const open = (file = path): Promise<Store> =>
  openSqliteStore(file, { onWarning: (message) => void warnings.push(message) })

/** Edits the closed file, as a person might. */
function edit(sql: string, file = path): void {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

interface Talk {
  readonly logged: (readonly [string, unknown])[]
  readonly messagesAsked: () => number
  readonly host: ReturnType<typeof createHost>
}

function createTalk(store: Store): Talk {
  const logged: (readonly [string, unknown])[] = []
  const log: Logger = { info: () => {}, warn: (message, data) => void logged.push([message, data]) }
  const model = createScriptedModel({ steps: () => ({ text: 'I see' }) })
  const host = createHost({ store, agent: defineAgent({ name: 'talker', model }), log, snapshotRecords: 4 })
  return { logged, host, messagesAsked: () => model.requests.at(-1)?.messages.length ?? 0 }
}

/** Two sessions of four turns each, with no work outstanding. */
async function talkTwice(turns = 4): Promise<void> {
  const store = await open()
  const { host } = createTalk(store)
  for (const name of ['bad', 'good']) {
    const session = await host.session(name)
    for (let turn = 0; turn < turns; turn++) await session.send(`turn ${turn}`).answer
    await session.close()
  }
  await host.stop()
  await store.close()
}

/** Counts the messages in a session's next request: all that were sent, if nothing was lost. */
async function ask(session: string): Promise<number> {
  const store = await open()
  const { host, messagesAsked } = createTalk(store)
  try {
    await (await host.session(session)).send('and now?').answer
    return messagesAsked()
  } finally {
    await host.stop()
    await store.close()
  }
}

describe('a record that is not what was written', () => {
  const ways: Readonly<Record<string, readonly [sql: string, position: RegExp]>> = {
    changed: [
      `UPDATE records SET body = replace(body, 'turn 2', 'turn 9') WHERE body LIKE '%turn 2%' AND id < 134217728`,
      /record \d+/,
    ],
    missing: ['DELETE FROM records WHERE id = 67108864 + 5', /record 5: it is missing/],
    'missing at the end': [
      'DELETE FROM records WHERE id = (SELECT max(id) FROM records WHERE id < 134217728)',
      /record \d+: it is missing/,
    ],
    'without its hash': ['UPDATE records SET hash = NULL WHERE id = 67108864 + 3', /record 3/],
    'another session’s': [
      'UPDATE records SET body = (SELECT body FROM records WHERE id = 134217728 + 4) WHERE id = 67108864 + 4',
      /record 4/,
    ],
    'more than there were': [
      'INSERT INTO records SELECT max(id) + 1, body, hash FROM records WHERE id < 134217728',
      /record \d+/,
    ],
  }
  for (const [name, [sql, position]] of Object.entries(ways))
    test(`(${name}) keeps its session closed, names its position, and leaves the others alone`, async () => {
      await talkTwice()
      edit(`DELETE FROM snapshots; ${sql}`)
      const store = await open()
      const { host, logged } = createTalk(store)
      await expect(host.session('bad')).rejects.toMatchObject({
        code: 'log_damaged',
        message: expect.stringMatching(position),
      })
      expect((await (await host.session('good')).send('still?').answer).text).toBe('I see')
      expect(logged.filter(([, data]) => JSON.stringify(data).includes('"bad"'))).toHaveLength(0)
      const listed = await host.sessions()
      // A list reads no log: who opens the session learns of the damage.
      expect(listed.sessions.map(({ id }) => id)).toEqual(['good', 'bad'])
      await host.stop()
      await store.close()
      const { findings, sessions } = checkStoreFile(path)
      expect(sessions).toBe(2)
      expect(findings.map(({ session }) => session)).toEqual(['bad'])
    })
})

test('a session with a changed row is listed as damaged and kept by retention, and recovery continues', async () => {
  await talkTwice()
  edit(
    "UPDATE sessions SET pos = pos - 2, owner = 'dead' WHERE id = 'bad'; UPDATE sessions SET last_ms = 0 WHERE id = 'bad'",
  )
  const store = await open()
  const listed = []
  for await (const { session, damage } of store.list()) listed.push([session, damage !== undefined])
  expect(listed).toEqual([
    ['bad', true],
    ['good', false],
  ])
  const logged: string[] = []
  const log: Logger = { info: (message) => void logged.push(message), warn: (message) => void logged.push(message) }
  const model = createScriptedModel({ steps: () => ({ text: 'I see' }) })
  const host = createHost({ store, log, agent: defineAgent({ name: 'talker', model }), retentionMs: 3_600_000 })
  expect(await host.recover()).toEqual({ recovered: 0, failed: 1 })
  await expect(host.session('bad')).rejects.toMatchObject({ code: 'log_damaged' })
  expect(logged).toContain('a session could not be recovered')
  await expect.poll(() => logged).toContain('a damaged session is kept')
  await store.remove('bad')
  expect((await (await host.session('bad')).send('anew').answer).text).toBe('I see')
  await host.stop()
  await store.close()
})

describe('a snapshot', () => {
  const ways: Readonly<Record<string, string>> = {
    'of an older version': `UPDATE snapshots SET body = '{"version":1}'`,
    'of this version with nothing in it': `UPDATE snapshots SET body = '{"version":3}'`,
    'of the right form that knows nothing of what was said': `UPDATE snapshots SET body = json_set(body, '$.history.entries', json('[]'), '$.state.index', json('[]'))`,
    'of another session':
      'UPDATE snapshots SET body = (SELECT body FROM snapshots AS other WHERE other.session <> snapshots.session)',
    'that is no JSON': `UPDATE snapshots SET body = 'x'`,
  }
  for (const [name, sql] of Object.entries(ways))
    test(`${name} is skipped: the whole log is folded, and that is reported`, async () => {
      await talkTwice()
      edit(sql)
      expect(await ask('bad')).toBe(9)
      expect(warnings).toEqual([expect.stringContaining('the snapshot of session bad was changed')])
      expect(checkStoreFile(path).findings.map(({ session }) => session)).not.toContain('bad')
    })

  test('that a store returns although it cannot be used is skipped too', async () => {
    const store = await open()
    const { host } = createTalk(store)
    await (await host.session('s')).send('one').answer
    await host.stop()
    for (const wrong of [{ version: 1 }, { version: 3 }, { version: 3, history: {} }]) {
      // Snapshots that a program may store itself.
      await store.snapshots.put('s', { state: { pos: 1 }, ...wrong } as never)
      const { host: next, messagesAsked } = createTalk(store)
      await (await next.session('s')).send('two').answer
      expect(messagesAsked()).toBeGreaterThan(2)
      await next.stop()
    }
    await store.close()
  })
})

test('a changed or missing large text is damage', async () => {
  const store = await open()
  for (const name of ['a', 'b']) await store.blobs.put('s', name, `text of ${name}`)
  await store.close()
  edit("UPDATE blobs SET body = 'text of c' WHERE name = 'a'")
  let again = await open()
  await expect(again.blobs.get('s', 'a')).rejects.toMatchObject({ code: 'log_damaged' })
  expect(await again.blobs.get('s', 'b')).toBe('text of b')
  expect(await again.blobs.get('s', 'never')).toBeUndefined()
  await again.close()
  edit("DELETE FROM blobs WHERE name = 'a'")
  again = await open()
  await expect(again.blobs.get('s', 'a')).rejects.toMatchObject({ code: 'log_damaged' })
  await expect(again.blobs.names('s')).rejects.toMatchObject({ code: 'log_damaged' })
  await again.close()
})

test('numbers out of range are refused by the tables', async () => {
  await (await open()).close()
  for (const value of ['9007199254740992', '1e300', "'x'", '-1'])
    expect(() => edit(`UPDATE epochs SET last = ${value}`)).toThrow('CHECK constraint failed')
  const store = await open()
  await store.acquire('s', 'me')
  await store.close()
  for (const change of [
    'epoch = 9007199254740992',
    'epoch = 1e300',
    'pos = 67108864',
    'pos = 0.5',
    'last_ms = 8.7e15',
    'last_ms = 1e16',
  ])
    expect(() => edit(`UPDATE sessions SET ${change}`)).toThrow('CHECK constraint failed')
})

const FORMER = `
CREATE TABLE format (version INTEGER NOT NULL); INSERT INTO format VALUES (1);
CREATE TABLE epochs (last INTEGER NOT NULL);
CREATE TABLE sessions (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL, owner TEXT NOT NULL, pos INTEGER NOT NULL, last_ms INTEGER NOT NULL);
CREATE TABLE records (id INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE snapshots (session INTEGER PRIMARY KEY, body TEXT NOT NULL);
CREATE TABLE blobs (session INTEGER NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (session, name));
`

const note = (pos: number, epoch: number): SessionRecord => ({
  version: 1,
  pos,
  nowMs: 7,
  epoch,
  input: { type: 'user-input' },
  facts: [{ type: 'note-queued', note: pos, text: 'n' }],
})

describe('a file of the former format', () => {
  function makeFormer(last: string): void {
    edit(`${FORMER} INSERT INTO epochs VALUES (${last});
      INSERT INTO sessions VALUES (1, 'old', 4, 'dead', 1, 7); INSERT INTO sessions VALUES (2, 'bricked', 1e300, '', -1, 1e300);
      INSERT INTO records VALUES (67108864, '${JSON.stringify(note(0, 4))}'); INSERT INTO records VALUES (67108865, '${JSON.stringify(note(1, 4))}');
      INSERT INTO snapshots VALUES (1, '{}'); INSERT INTO blobs VALUES (1, 'b', 'text');`)
  }

  test('keeps what it has, and is chained from the first new record on', async () => {
    makeFormer('4')
    await expect(openSqliteStore(path, { readOnly: true })).rejects.toMatchObject({ code: 'store_failed' })
    const store = await open()
    const owned = await store.acquire('old', 'me')
    if (owned.type !== 'acquired') throw new Error('held')
    expect(owned).toMatchObject({ epoch: 5, pos: 1 })
    await store.append('old', 5, 1, [note(2, 5), note(3, 5)])
    const read: SessionRecord[] = []
    for await (const one of store.read('old', 0)) read.push(one)
    expect(read).toEqual([note(0, 4), note(1, 4), note(2, 5), note(3, 5)])
    expect(await store.snapshots.latest('old')).toBeUndefined()
    expect(await store.blobs.get('old', 'b')).toBe('text')
    await store.close()
    expect(checkStoreFile(path)).toMatchObject({ sessions: 2, records: 4, unchained: 2, blobs: 1, findings: [] })
    edit('UPDATE records SET body = replace(body, \'"n"\', \'"m"\') WHERE id = 67108866')
    const damaged = await open()
    await expect(
      damaged
        .read('old', 0)
        [Symbol.asyncIterator]()
        .next()
        .then(() => damaged.acquire('old', 'x')),
    ).resolves.toBeDefined()
    await expect(
      (async () => {
        for await (const { pos } of damaged.read('old', 0)) expect(pos).toBeLessThan(2)
      })(),
    ).rejects.toMatchObject({ data: { pos: 2 } })
    await damaged.close()
  })

  test('that an import had made useless can be used again', async () => {
    for (const last of ['9007199254740992', '1e300']) {
      path = `${path}-${last}`
      makeFormer(last)
      const store = await open()
      expect(await store.acquire('new', 'me')).toMatchObject({ type: 'acquired', epoch: 5 })
      expect(await store.acquire('bricked', 'me')).toMatchObject({ type: 'acquired', epoch: 6 })
      await store.close()
    }
  })
})

describe('a backup', () => {
  test('is taken while the store is written to, is whole and its owner’s alone, and goes in the place of a damaged one', async () => {
    await talkTwice()
    const store = await open()
    const { host } = createTalk(store)
    const session = await host.session('good')
    const answer = session.send('while it is copied').answer
    const target = `${path}.backup`
    expect(backUpStoreFile(path, target)).toMatchObject({ sessions: 2, findings: [] })
    expect(() => backUpStoreFile(path, target)).toThrow('already exists')
    expect((statSync(target).mode & 0o777).toString(8)).toBe('600')
    await answer
    expect(() => restoreStoreFile(target, path, { replace: true })).toThrow('another process is using the store')
    await host.stop()
    await store.close()
    edit("UPDATE records SET body = 'x' WHERE id = 67108864 + 2")
    expect(() => restoreStoreFile(target, path)).toThrow('already exists')
    const { former } = restoreStoreFile(target, path, { replace: true })
    expect(former).toBe(`${path}.before-1`)
    expect(checkStoreFile(path).findings).toEqual([])
    expect(checkStoreFile(former ?? '').findings).toHaveLength(1)
    expect(await ask('bad')).toBe(9)
    const names = readdirSync(folder).filter((name) => name.includes('.partial') || name.includes('.restoring'))
    expect(names).toEqual([])
  })

  test('is not mixed with files left by a store that no longer exists', async () => {
    await talkTwice(1)
    const target = `${path}.backup`
    const { sessions, records } = backUpStoreFile(path, target)
    const store = await open()
    const { host } = createTalk(store)
    for (const name of ['late', 'later']) await (await host.session(name)).send('after the backup').answer
    copyFileSync(`${path}-wal`, `${path}.kept`)
    await host.stop()
    await store.close()
    rmSync(path)
    renameSync(`${path}.kept`, `${path}-wal`)
    writeFileSync(`${path}-journal`, 'half a page')
    writeFileSync(`${path}.before-1-wal`, 'of an earlier one')
    const { former } = restoreStoreFile(target, path)
    expect(former).toBe(`${path}.before-2-wal`)
    expect(existsSync(`${path}.before-2-journal`)).toBe(true)
    expect(checkStoreFile(path)).toMatchObject({ sessions, records, findings: [] })
    const restored = await open()
    const names: string[] = []
    for await (const { session } of restored.list()) names.push(session)
    await restored.close()
    expect(names).toEqual(['bad', 'good'])
    expect(await ask('good')).toBe(3)
  })

  test('that is damaged is not put in place', async () => {
    await talkTwice(1)
    const target = `${path}.backup`
    backUpStoreFile(path, target)
    edit("UPDATE records SET body = 'x' WHERE id = 67108864 + 1", target)
    expect(() => restoreStoreFile(target, path, { replace: true })).toThrow('is damaged (1 findings): session bad')
    expect(() => restoreStoreFile(join(folder, 'none'), `${path}.new`)).toThrow('there is no store at')
    expect(checkStoreFile(path).findings).toEqual([])
  })
})
