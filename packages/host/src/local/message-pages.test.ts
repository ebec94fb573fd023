// Pages of messages of a long session: what they read of the log, and what a lost, altered or foreign index does to them.
import type { ChatMessage, Session, Store } from '@baton/core/internal'
import { defineAgent } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { exportSession, importSession } from '../stores/transfer.ts'
import { openSqliteStore } from '../stores/sqlite/sqlite-store.ts'
import { createHost } from './create-host.ts'

const EXCHANGES = 300
const RECORDS_OF_A_PAGE = 100
const INDEX = 'derived.messages'

const KINDS: readonly (readonly [string, () => Promise<Store>])[] = [
  ['memory', () => Promise.resolve(createMemoryStore())],
  ['SQLite', () => openSqliteStore(join(mkdtempSync(join(tmpdir(), 'baton-')), 's.db'))],
]

/** A store that counts the records it has returned. */
function countReads(store: Store) {
  const counts = { records: 0 }
  const counting: Store = {
    ...store,
    read: async function* (session, fromPos) {
      for await (const record of store.read(session, fromPos)) {
        counts.records += 1
        yield record
      }
    },
  }
  return { store: counting, counts }
}

function createTalker(store: Store) {
  const model = createScriptedModel({ steps: (_, call) => ({ text: `answer ${call}` }) })
  return createHost({ store, agent: defineAgent({ name: 'talker', model }) })
}

async function talk(session: Session, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) await session.send(`question ${index}`, { inputId: `q${index}` }).answer
}

function listIds(messages: readonly ChatMessage[]): readonly string[] {
  return messages.map(({ id }) => id)
}

/** Ids of exchanges `from` to `to`, both included, where turns are numbered like inputs, from 1. */
function listExchanges(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => [`q${from + index}`, `t${from + index}`]).flat()
}

test.each(KINDS)(
  'a page of a long session in %s reads the records of a page, also after a restart',
  async (_, open) => {
    const { store, counts } = countReads(await open())
    const before = createTalker(store)
    const session = await before.session('s')
    await talk(session, 1, EXCHANGES + 1)
    expect(listIds((await session.messages({ limit: 4 })).messages)).toEqual(listExchanges(EXCHANGES - 1, EXCHANGES))
    expect(counts.records).toBeGreaterThan(5 * RECORDS_OF_A_PAGE)

    counts.records = 0
    const newest = await session.messages({ limit: 20 })
    expect(listIds(newest.messages)).toEqual(listExchanges(EXCHANGES - 9, EXCHANGES))
    expect(newest.more).toBe(true)
    expect(counts.records).toBeLessThan(RECORDS_OF_A_PAGE)

    counts.records = 0
    const middle = await session.messages({ limit: 20, before: 'q101' })
    expect(listIds(middle.messages)).toEqual(listExchanges(91, 100))
    expect(counts.records).toBeLessThan(RECORDS_OF_A_PAGE)

    counts.records = 0
    const oldest = await session.messages({ limit: 20, before: 't5' })
    expect(listIds(oldest.messages)).toEqual([...listExchanges(1, 4), 'q5'])
    expect(oldest.more).toBe(false)
    expect(counts.records).toBeLessThan(RECORDS_OF_A_PAGE)

    await before.stop()
    const after = createTalker(store)
    const opened = await after.session('s')
    counts.records = 0
    expect(await opened.messages({ limit: 20 })).toEqual(newest)
    expect(await opened.messages({ limit: 20, before: 'q101' })).toEqual({ ...middle, next: newest.next })
    expect(counts.records).toBeLessThan(RECORDS_OF_A_PAGE)

    counts.records = 0
    expect((await opened.turn('q7').answer).text).toBe('answer 6')
    await opened.rewind({ message: `q${EXCHANGES}`, again: true })
    expect(counts.records).toBeLessThan(RECORDS_OF_A_PAGE)
    await after.stop()
  },
)

test('a lost or altered index is built again, and one of another log is not taken', async () => {
  const store = createMemoryStore()
  const host = createTalker(store)
  const session = await host.session('s')
  await talk(session, 1, EXCHANGES + 1)
  const middle = await session.messages({ limit: 4, before: 'q51' })
  expect(listIds(middle.messages)).toEqual(listExchanges(49, 50))
  await host.stop()
  const names = (await store.blobs.names('s')).filter((name) => name.startsWith(INDEX))
  expect(names).toHaveLength(2)
  const readAgain = async (): Promise<void> => {
    const again = createTalker(store)
    expect((await (await again.session('s')).messages({ limit: 4, before: 'q51' })).messages).toEqual(middle.messages)
    await again.stop()
  }
  for (const name of names)
    for (const text of ['', '{', '[]', 'x'.repeat(40)]) {
      await store.blobs.put('s', name, text)
      await readAgain()
      expect(await store.blobs.get('s', name)).not.toBe(text)
    }

  const index = (await store.blobs.get('s', INDEX)) ?? ''
  await store.blobs.put('s', INDEX, index.replace(/"pos":\d+/, '"pos":3'))
  await readAgain()
  await store.remove('s')
  const other = createTalker(store)
  const later = await other.session('s')
  await store.blobs.put('s', INDEX, index)
  await talk(later, 400, 402)
  expect(listIds((await later.messages()).messages)).toEqual(['q400', 't1', 'q401', 't2'])
  await other.stop()
})

test('a session whose index cannot be stored or read has its pages', async () => {
  const memory = createMemoryStore()
  const fail = (): Promise<never> => Promise.reject(new Error('the disk is full'))
  const store: Store = { ...memory, blobs: { ...memory.blobs, get: fail, put: fail } }
  const host = createTalker(store)
  const session = await host.session('s')
  await talk(session, 1, EXCHANGES + 1)
  expect(listIds((await session.messages({ limit: 2 })).messages)).toEqual(listExchanges(EXCHANGES, EXCHANGES))
  expect(listIds((await session.messages({ limit: 2, before: 'q9' })).messages)).toEqual(listExchanges(8, 8))
  await host.stop()
})

test('exports and copies leave the index out', async () => {
  const store = createMemoryStore()
  const host = createTalker(store)
  const session = await host.session('s')
  await talk(session, 1, 201)
  await session.messages({ limit: 1 })
  expect(await store.blobs.names('s')).toEqual([INDEX])
  const copy = await session.fork()
  expect(await store.blobs.names(copy)).toEqual([])
  const lines: string[] = []
  for await (const line of exportSession(store, 's')) lines.push(line)
  expect(lines.some((line) => line.includes(INDEX))).toBe(false)
  const other = createMemoryStore()
  await importSession(other, [...lines, JSON.stringify({ type: 'blob', name: INDEX, text: '{}' })])
  expect(await other.blobs.names('s')).toEqual([])
  await host.stop()
})

test('a page before a message that was taken back is refused, and the refusal says how to go on', async () => {
  const host = createTalker(createMemoryStore())
  const session = await host.session('s')
  await talk(session, 1, 4)
  await session.rewind({ message: 'q2' })
  await expect(session.messages({ before: 'q3' })).rejects.toMatchObject({
    code: 'invalid_option',
    hint: expect.stringContaining('leave `before` out'),
  })
  await host.stop()
})
