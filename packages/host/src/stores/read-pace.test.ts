// Long logs are read in turns with everything else that the process does.
import { defineAgent } from '@baton/core'
import type { Store } from '@baton/core/internal'
import type { SessionRecord } from '@baton/core/machine'
import { createScriptedModel } from '@baton/core/testing'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createHost } from '../local/create-host.ts'
import { createMemoryStore } from './memory-store.ts'
import { MEMORY_RECORDS_A_TURN, ReadPace, RECORDS_A_TURN } from './read-pace.ts'
import { openSharedSqliteStore } from './shared/shared-sqlite-store.ts'
import { openSqliteStore } from './sqlite/sqlite-store.ts'

const TURNS = 150

test.each([
  ['memory', MEMORY_RECORDS_A_TURN, async () => createMemoryStore()],
  ['a file', RECORDS_A_TURN, openSqliteStore],
  ['a shared file', RECORDS_A_TURN, openSharedSqliteStore],
] as const)('twenty readers of a long log in %s leave the event loop its turns', async (_, records, open) => {
  const folder = await mkdtemp(join(tmpdir(), 'baton-'))
  const store = await open(join(folder, 'baton.sqlite'))
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true })
  })
  const log = await createLog()
  await store.restore('s', log)
  let read = 0
  const turns = countTurns(() => read)
  const positions = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const found: number[] = []
      for await (const { pos } of store.read('s', 0)) {
        found.push(pos)
        read += 1
      }
      return found
    }),
  )
  for (const found of positions) expect(found).toEqual(log.map(({ pos }) => pos))
  const most = await turns.stop()
  expect(most).toBeGreaterThan(0)
  // Two pages of readers: those that the turn resumed, and those whose records arrived meanwhile.
  expect(most).toBeLessThanOrEqual(2 * records)
})

test('a reader of a short log waits for no more than the others took in one turn', async () => {
  const pace = new ReadPace()
  for (let record = 0; record < RECORDS_A_TURN; record++) expect(pace.takeTurn(100)).toBeUndefined()
  const others = Array.from({ length: RECORDS_A_TURN - 1 }, () => pace.takeTurn(100))
  const mine = pace.takeTurn(100)
  const later = pace.takeTurn(100)
  await Promise.all([...others, mine])
  expect(await Promise.race([later, Promise.resolve('waits')])).toBe('waits')
  await later
})

test('a long record counts as several', async () => {
  const pace = new ReadPace()
  expect(pace.takeTurn(10_000_000)).toBeUndefined()
  await pace.takeTurn(100)
  expect(pace.takeTurn(100)).toBeUndefined()
})

async function createLog(): Promise<readonly SessionRecord[]> {
  const store: Store = createMemoryStore()
  const model = createScriptedModel({ steps: () => ({ text: 'hello' }) })
  const host = createHost({ store, agent: defineAgent({ name: 'talker', model }) })
  const session = await host.session('s')
  for (let turn = 0; turn < TURNS; turn++) await session.send('hi').answer
  await host.stop()
  const records: SessionRecord[] = []
  for await (const record of store.read('s', 0)) records.push(record)
  return records
}

/** `stop` tells how much a count grew at most in one turn of the event loop. */
function countTurns(count: () => number): { readonly stop: () => Promise<number> } {
  let last = count()
  let most = 0
  let isStopped = false
  const stopped = Promise.withResolvers<number>()
  const look = (): void => {
    const now = count()
    most = Math.max(most, now - last)
    last = now
    if (isStopped) stopped.resolve(most)
    else setImmediate(look)
  }
  setImmediate(look)
  return {
    stop: () => {
      isStopped = true
      return stopped.promise
    },
  }
}
