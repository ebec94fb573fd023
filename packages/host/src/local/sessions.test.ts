// Sessions of the local host: stores that cannot be opened, readers that are too slow, and what stays in memory.
import { frontOf } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { createTestWorld, never, noUnhandledRejections, SESSION } from './test-world.test-kit.ts'

noUnhandledRejections()

test('a session that cannot be opened fails with a code, and is tried again by the next caller', async () => {
  const store = createMemoryStore()
  const { acquire } = store
  Object.assign(store, { acquire: () => Promise.reject(new Error('no disk')) })
  const world = createTestWorld({ store, steps: [{ text: 'fine' }] })
  await expect(world.host.session(SESSION)).rejects.toMatchObject({ code: 'store_failed' })
  Object.assign(store, { acquire: never })
  await expect(world.time.until(world.host.session(SESSION))).rejects.toMatchObject({ code: 'store_failed' })
  Object.assign(store, { acquire })
  const session = await world.open()
  expect((await world.time.until(session.send('hi').answer)).text).toBe('fine')
})

test('a host stops while a session is being opened by a store that does not answer', async () => {
  const store = createMemoryStore()
  const gate = Promise.withResolvers<void>()
  const { acquire } = store
  Object.assign(store, {
    acquire: (session: string, owner: string) => gate.promise.then(() => acquire(session, owner)),
  })
  const world = createTestWorld({ store, steps: [] })
  const opening = world.host.session(SESSION)
  opening.catch(() => {})
  await world.time.until(world.host.stop())
  gate.resolve()
  await expect(world.time.until(opening)).rejects.toMatchObject({ code: 'host_stopped' })
  expect(world.time.pending()).toBe(0)
})

test('a reader that is too slow learns that, and continues at its position', async () => {
  const world = createTestWorld({ steps: () => ({ text: 'ok' }) })
  const session = await world.open()
  const slow = frontOf(session).frames({ pos: 0 })[Symbol.asyncIterator]()
  const positions: number[] = []
  const take = async (reader: typeof slow): Promise<number | undefined> => {
    const next = await reader.next()
    if (next.done === true) throw new Error('the reading ended')
    if (next.value.type === 'lagged') return next.value.pos
    if (next.value.type === 'fact') positions.push(next.value.pos)
    return undefined
  }
  await take(slow)
  for (let count = 0; count < 5100; count++)
    await frontOf(session).submit({ type: count % 2 === 0 ? 'pause' : 'continue' })
  for (let count = 0; count < 5100; count++)
    await frontOf(session).submit({ type: count % 2 === 0 ? 'pause' : 'continue' })
  let lagged: number | undefined
  while (lagged === undefined) lagged = await take(slow)
  const last = (await world.records()).length - 1
  const again = frontOf(session).frames({ pos: lagged })[Symbol.asyncIterator]()
  while (positions.at(-1) !== last) await take(again)
  expect([...new Set(positions)]).toEqual(Array.from({ length: last + 1 }, (_, pos) => pos))
})

test('an unheld idle session leaves memory, and is restored from its log', async () => {
  const world = createTestWorld({ steps: [{ text: 'one', pieceMs: 100 }, { text: 'two' }] })
  const first = await world.open()
  first.send('a').answer.catch(() => {})
  await world.time.settle()
  await first.close()
  await world.time.pass(60_000)
  expect((await world.facts('turn-finished')).map(({ outcome }) => outcome)).toEqual(['answered'])
  const again = await world.open()
  expect((await world.time.until(again.send('b').answer)).text).toBe('two')
  // It was at rest without clients, so nothing was lost and the log does not mention the restart.
  expect(await world.facts('host-restarted')).toEqual([])
})

test('a session that had a client when its host ended reports the return of the host', async () => {
  const world = createTestWorld({ steps: [{ text: 'one' }] })
  const first = await world.open()
  await frontOf(first).client({ client: 'phone', leaseMs: 60_000 })
  await world.host.stop()
  const next = createTestWorld({ store: world.store, time: world.time, steps: [{ text: 'two' }] })
  await next.open()
  expect(await next.facts('host-restarted')).toHaveLength(1)
})
