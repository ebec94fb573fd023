// The write-ahead log of a SQLite store: how many commits it needs, how large it grows, and the warning when it does
// not shrink.
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { openSqliteStore } from './sqlite-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-wal-'))
let path = ''
let files = 0
const warnings: string[] = []
beforeEach(() => {
  path = join(folder, `store-${(files += 1)}.db`)
  warnings.length = 0
})
afterAll(() => rmSync(folder, { recursive: true }))

const open = (logBytes?: number): Promise<Store> =>
  openSqliteStore(path, {
    onWarning: (message) => void warnings.push(message),
    ...(logBytes !== undefined && { logBytes }),
  })

const record = (pos: number, epoch: number, text: string): SessionRecord => ({
  version: 1,
  pos,
  nowMs: 1,
  epoch,
  input: { type: 'user-input' },
  facts: [{ type: 'note-queued', note: pos, text }],
})

/**
 * A log frame that ends a transaction has the size of the database in its header
 * (https://www.sqlite.org/fileformat2.html#walformat).
 */
function countCommits(): number {
  const log = readFileSync(`${path}-wal`)
  const frameBytes = log.readUInt32BE(8) + 24
  let commits = 0
  for (let at = 32; at + frameBytes <= log.length; at += frameBytes) if (log.readUInt32BE(at + 4) > 0) commits += 1
  return commits
}

async function measureCommits(act: () => Promise<unknown>): Promise<number> {
  const before = countCommits()
  await act()
  return countCommits() - before
}

test('500 acts of a kind at once are a few commits, whatever the kind', async () => {
  const store = await open()
  const all = (act: (session: string, index: number) => Promise<unknown>) => async (): Promise<void> => {
    await Promise.all(Array.from({ length: 500 }, (_, index) => act(`s${index}`, index)))
  }
  const epochs: number[] = []
  const commits = {
    acquires: await measureCommits(
      all(async (session, index) => {
        const owned = await store.acquire(session, 'me')
        epochs[index] = owned.type === 'acquired' ? owned.epoch : 0
      }),
    ),
    appends: await measureCommits(
      all((session, index) => store.append(session, epochs[index] ?? 0, -1, [record(0, epochs[index] ?? 0, 'x')])),
    ),
    blobs: await measureCommits(all((session) => store.blobs.put(session, 'b', 'text'))),
    releases: await measureCommits(all((session, index) => store.release(session, epochs[index] ?? 0))),
    mixed: await measureCommits(
      all((session, index) => (index % 2 === 0 ? store.acquire(session, 'me') : store.blobs.put(session, 'c', 'text'))),
    ),
  }
  console.log(`commits for 500 acts at once: ${JSON.stringify(commits)}`)
  for (const count of Object.values(commits)) expect(count).toBeLessThanOrEqual(3)
  await store.close()
})

async function write(store: Store, bytes: number): Promise<void> {
  const owned = await store.acquire('s', 'me')
  if (owned.type !== 'acquired') throw new Error('held')
  const text = 'x'.repeat(20_000)
  for (let pos = 0; pos < bytes / 20_000; pos++)
    await store.append('s', owned.epoch, owned.pos + pos, [record(owned.pos + pos + 1, owned.epoch, text)])
}

test('a log that is always written to stays near its bound', async () => {
  const logBytes = 1_048_576
  const store = await open(logBytes)
  await write(store, 30 * logBytes)
  const bytes = statSync(`${path}-wal`).size
  console.log(`after ${30 * logBytes} bytes of records the log has ${bytes}`)
  expect(bytes).toBeLessThan(8 * logBytes)
  expect(warnings).toEqual([])
  await store.close()
})

test('a reader that stays open keeps the log from shrinking, which is told once; commits go on', async () => {
  const logBytes = 262_144
  const store = await open(logBytes)
  await write(store, logBytes)
  const reader = new DatabaseSync(path, { readOnly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM records').get()
  await write(store, 12 * logBytes)
  for (let looks = 0; looks < 100 && warnings.length === 0; looks++) await write(store, logBytes)
  expect(warnings[0]).toMatch(/has grown to \d+ bytes because another program keeps/)
  expect(await store.health()).toEqual({ ok: true })
  reader.exec('COMMIT')
  reader.close()
  await store.close()
})

test('a program that only writes continues until everything is written, even while the log is written back', () => {
  const source = new URL('./sqlite-store.ts', import.meta.url).href
  const program = `
    import { openSqliteStore } from ${JSON.stringify(source)}
    const store = await openSqliteStore(${JSON.stringify(path)})
    let { epoch, pos } = await store.acquire('s', 'me')
    while (pos < 3000)
      pos = await store.append('s', epoch, pos, [
        { version: 1, pos: pos + 1, nowMs: 1, epoch, input: { type: 'pause' }, facts: [{ type: 'note-queued', note: pos, text: 'x'.repeat(2000) }] },
      ])
    await store.close()
    console.log('all is written')`
  const ran = spawnSync(process.execPath, ['--conditions=@baton/source', '--input-type=module', '-e', program], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
  })
  expect({ code: ran.status, said: ran.stdout.trim(), wrong: ran.stderr }).toMatchObject({
    code: 0,
    said: 'all is written',
  })
})
