// Sessions that are opened, removed and left at the same moment.
import type { Acquired, Store, StoredSession } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import {
  act,
  listCalls,
  createManualTime,
  createTestWorld,
  never,
  noUnhandledRejections,
  ownStore,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const DAY_MS = 86_400_000

async function sessionsIn(store: Store): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { session } of store.list()) names.push(session)
  return names
}

test.each([0, 1, 2, 3, 4, 5, 6, 7, 8])(
  'a caller who arrives while the last one leaves gets a living session, %i promises later',
  async (later) => {
    const world = createTestWorld({ steps: () => ({ text: 'here' }) })
    const first = await world.open()
    const left = first.close()
    for (let turns = 0; turns < later; turns++) await Promise.resolve()
    const second = await world.time.until(world.host.session(SESSION))
    await left
    expect(await world.time.until(second.send('still there?').answer)).toMatchObject({ outcome: 'answered' })
  },
)

test('a session that is used again while old ones are being looked for is kept', async () => {
  const memory = createMemoryStore()
  let gate = Promise.resolve()
  const store: Store = {
    ...memory,
    list: async function* () {
      const found: StoredSession[] = []
      for await (const session of memory.list()) found.push(session)
      await gate
      yield* found
    },
  }
  const time = createManualTime()
  const steps = () => ({ text: 'noted' })
  const first = createTestWorld({ time, store, steps })
  const session = await first.open()
  await time.until(session.send('one').answer)
  await session.close()
  await first.host.stop()
  await time.pass(8 * DAY_MS)
  const { promise, resolve } = Promise.withResolvers<void>()
  gate = promise
  const next = createTestWorld({ time, store, steps, host: { retentionMs: 7 * DAY_MS } })
  const again = await next.open()
  await time.until(again.send('two').answer)
  await again.close()
  await time.settle()
  resolve()
  await time.settle()
  expect(await sessionsIn(memory)).toEqual([SESSION])
})

test('a turn left by a dead host continues, even if it is older than the retention time', async () => {
  const store = ownStore()
  const dead = createTestWorld({ store, tools: [act(never)], steps: [listCalls('act')] })
  const session = await dead.open()
  session.send('go').answer.catch(() => {})
  await dead.time.settle()
  store.expireLeases()
  const time = createManualTime()
  await time.pass(8 * DAY_MS)
  const host = { retentionMs: 7 * DAY_MS }
  const next = createTestWorld({ time, store, tools: [act(() => 'fine')], steps: [{ text: 'done' }], host })
  await time.settle()
  expect(await time.until(next.host.recover())).toEqual({ recovered: 1, failed: 0 })
  await time.pass(1000)
  expect(await next.facts('turn-finished')).toMatchObject([{ outcome: 'answered' }])
})

test('an old session that another host takes before its removal is kept, and the look continues', async () => {
  const time = createManualTime()
  const memory = createMemoryStore({ clock: time.environment.clock })
  const facts = [{ type: 'note-queued', note: 1, text: 'hello' }] as const
  const input = { type: 'user-input', inputId: 'hello' } as const
  for (const session of ['old a', 'old b'])
    await memory.put(session, [{ version: 1, pos: 0, nowMs: 0, epoch: 1, input, facts }])
  const list: Store['list'] = async function* () {
    for await (const one of memory.list()) {
      if (one.session === 'old a') await memory.acquire(one.session, 'another')
      yield one
    }
  }
  const store: Store = { ...memory, list }
  const next = createTestWorld({ time, store, steps: [], host: { retentionMs: 1000 } })
  await time.settle()
  expect(await sessionsIn(memory)).toEqual(['old a'])
  expect(next.warnings).toEqual([])
  await next.host.stop()
})

test('a tool that ends after its session was removed leaves nothing behind', async () => {
  const { promise, resolve } = Promise.withResolvers<string>()
  const world = createTestWorld({ tools: [act(() => promise)], steps: [listCalls('act')] })
  const session = await world.open()
  session.send('go').answer.catch(() => {})
  await world.time.settle()
  await world.time.until(world.host.remove(SESSION))
  resolve('x'.repeat(100_000))
  await world.time.settle()
  expect(await world.store.blobs.names(SESSION)).toEqual([])
})

test('a snapshot that is on its way when its session is removed does not outlive it', async () => {
  const memory = createMemoryStore()
  let gate: Promise<void> | undefined = Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const put: Store['snapshots']['put'] = async (session, snapshot) => {
    await gate
    await memory.snapshots.put(session, snapshot)
  }
  const store: Store = { ...memory, snapshots: { ...memory.snapshots, put } }
  gate = promise
  const steps = () => listCalls('act')
  const world = createTestWorld({ store, tools: [act(never)], steps, host: { snapshotRecords: 1 } })
  const session = await world.open()
  session.send('go').answer.catch(() => {})
  await world.time.settle()
  const removed = world.host.remove(SESSION)
  await world.time.settle()
  resolve()
  await world.time.until(removed)
  await world.time.settle()
  expect(await memory.snapshots.latest(SESSION)).toBeUndefined()
})

test('a session that can no longer be owned is not kept in memory', async () => {
  const store = ownStore()
  const world = createTestWorld({ store, steps: () => ({ text: 'here' }), host: { retentionMs: DAY_MS } })
  const session = await world.open()
  store.expireLeases()
  const { epoch } = (await store.acquire(SESSION, 'another host')) as Acquired // the session has no holder
  await store.release(SESSION, epoch)
  session.send('go').answer.catch(() => {})
  await world.time.settle()
  await session.close()
  await world.time.pass(2 * DAY_MS)
  expect(await sessionsIn(world.store)).toEqual([])
})
