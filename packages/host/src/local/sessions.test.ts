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

test('a reader that is too slow is told everything once; one for a device learns that it is behind', async () => {
  const world = createTestWorld({ steps: () => ({ text: 'ok' }) })
  const session = await world.open()
  const slow = session.events({ from: 'start' })[Symbol.asyncIterator]()
  const device = session.events({ delivery: true })[Symbol.asyncIterator]()
  await slow.next()
  expect((await device.next()).value).toMatchObject({ type: 'live' })
  for (let count = 0; count < 10_200; count++)
    await frontOf(session).submit({ type: count % 2 === 0 ? 'pause' : 'continue' })
  expect((await device.next()).value).toMatchObject({ type: 'behind' })
  expect((await device.next()).done).toBe(true)
  const activities: (string | undefined)[] = []
  while (activities.length < 10_200) {
    const { value } = await slow.next()
    if (value?.type === 'session') activities.push(value.activity)
  }
  const rest = slow.next()
  await world.time.settle()
  await session.close()
  expect(await rest).toEqual({ done: true, value: undefined })
  expect(activities).toEqual(Array.from({ length: 10_200 }, (_, count) => (count % 2 === 0 ? 'paused' : 'idle')))
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

test('a child of a session is neither opened, listed, recovered nor removed by itself, and is removed with its root', async () => {
  const store = createMemoryStore()
  const world = createTestWorld({ store, steps: [{ text: 'one' }] })
  const { host, time } = world
  const session = await world.open()
  await time.until(session.send('hi').answer)
  const [first] = await world.records()
  const under = { root: SESSION, rootEpoch: first!.epoch }
  const child = await store.acquire('child', 'me', undefined, under)
  if (child.type !== 'acquired') throw new Error(child.type)
  await store.append('child', child.epoch, -1, [{ ...first!, epoch: child.epoch }])
  const refusal = { code: 'illegal_input', message: expect.stringContaining(`child of session ${SESSION}`) }
  await expect(time.until(host.session('child'))).rejects.toMatchObject(refusal)
  await expect(time.until(host.remove('child'))).rejects.toMatchObject(refusal)
  const { sessions } = await time.until(host.sessions())
  expect(sessions.map(({ id }) => id)).toEqual([SESSION])
  store.expireLeases()
  const next = createTestWorld({ store, time, steps: [] })
  expect(await time.until(next.host.recover())).toEqual({ recovered: 1, failed: 0 })
  await time.until(next.host.remove(SESSION))
  const left: string[] = []
  for await (const one of store.children(SESSION)) left.push(one.session)
  for await (const one of store.read('child', 0)) left.push(`record ${one.pos}`)
  expect(left).toEqual([])
})
