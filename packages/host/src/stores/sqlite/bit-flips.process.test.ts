// Flips one bit anywhere in a closed file: afterwards, the content read is what was written, or the damage is reported.
import type { SessionRecord } from '@baton/core/machine'
import { createRandom } from '@baton/core/testing'
import { chooseCount } from '@baton/testing/depth'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { checkStoreFile } from './check-file.ts'
import { openDatabase } from './database.ts'
import { checkSessionList, prepareTables } from './schema.ts'
import { openSqliteStore } from './sqlite-store.ts'

const FLIPS = chooseCount({ quick: 300, deep: 3000 })
const SESSIONS = ['ann', 'bob', 'carl']
const RECORDS = 12

const folder = mkdtempSync(join(tmpdir(), 'baton-flips-'))
const path = join(folder, 'store.db')
afterAll(() => rmSync(folder, { recursive: true }))

const record = (pos: number, epoch: number, session: string): SessionRecord => ({
  version: 1,
  pos,
  nowMs: 1_700_000_000_000 + pos,
  epoch,
  input: { type: 'user-input', inputId: `i${pos}` },
  facts: [{ type: 'note-queued', note: pos, text: `${session} says ${'this and that '.repeat(pos)}` }],
})

async function write(): Promise<void> {
  const store = await openSqliteStore(path)
  for (const session of SESSIONS) {
    const owned = await store.acquire(session, 'me')
    if (owned.type !== 'acquired') throw new Error('held')
    for (let pos = 0; pos < RECORDS; pos++)
      await store.append(session, owned.epoch, pos - 1, [record(pos, owned.epoch, session)])
    await store.snapshots.put(session, { version: 3, state: { pos: 7 }, history: { of: session } } as never) // its shape does not matter here
    for (const name of ['result/a', 'result/b'])
      await store.blobs.put(session, name, `${name} of ${session} `.repeat(300))
  }
  await store.release('ann', 1)
  await store.close()
}

interface Seen {
  readonly content: string
  /** Whether damage was reported. */
  readonly isTold: boolean
}

/** The view of a process that opens the file and reads all of it. */
function readAll(): Seen {
  let isTold = false
  const content: unknown[] = []
  const attempt = (act: () => unknown): void => {
    try {
      content.push(act())
    } catch {
      isTold = true
    }
  }
  let opening: DatabaseSync | undefined
  try {
    opening = new DatabaseSync(path)
    opening.exec('PRAGMA journal_mode=WAL')
    prepareTables(opening, path)
    checkSessionList(opening, path)
    const db = openDatabase({ path, maxBytes: undefined, busyMs: 0, owner: undefined })
    attempt(() => {
      const listed = db.list('', 100)
      if (listed.some(({ damage }) => damage !== undefined)) isTold = true
      return listed
    })
    for (const session of SESSIONS) {
      attempt(() => {
        const { bodies, damage } = db.read(session, 0, 100)
        if (damage) isTold = true
        return bodies
      })
      attempt(() => {
        const { damage } = db.snapshot(session)
        if (damage !== undefined) isTold = true
        return 'a snapshot saves time only'
      })
      attempt(() => db.blobNames(session))
      for (const name of ['result/a', 'result/b', 'result/c']) attempt(() => db.blob(session, name) ?? 'none')
    }
    db.close()
  } catch {
    isTold = true
  } finally {
    opening?.close()
  }
  return { content: JSON.stringify(content), isTold }
}

test('no flipped bit is read as other content without a report', async () => {
  await write()
  const whole = readFileSync(path)
  const sound = readAll()
  expect(sound.isTold).toBe(false)
  const random = createRandom(7)
  const counts = { told: 0, harmless: 0, toldByCheck: 0, silent: [] as number[] }
  for (let flip = 0; flip < FLIPS; flip++) {
    const bit = random.below(whole.length * 8)
    const bytes = Buffer.from(whole)
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    for (const end of ['-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    writeFileSync(path, bytes)
    const { content, isTold } = readAll()
    if (isTold) counts.told += 1
    else if (content === sound.content) counts.harmless += 1
    else if (findsSomething()) counts.toldByCheck += 1
    else counts.silent.push(bit)
  }
  const { told, harmless, toldByCheck, silent } = counts
  console.log(
    `${FLIPS} bits turned over in ${whole.length} bytes: ${told} told when read, ${harmless} without effect, ${toldByCheck} told by a check of the store, ${silent.length} silent`,
  )
  expect(silent).toEqual([])
  expect(told).toBeGreaterThan(FLIPS / 10)
})

function findsSomething(): boolean {
  try {
    return checkStoreFile(path).findings.length > 0
  } catch {
    return true
  }
}
