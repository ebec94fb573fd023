// Writes of a session that are still running when it is removed: they are not stored afterwards, and no later session
// of that name sees them.
import type { Store } from '@baton/core'
import { expect, test } from 'vitest'
import { limitStoreActs } from './store-in-time.ts'
import {
  act,
  createManualTime,
  createTestWorld,
  listCalls,
  noUnhandledRejections,
  ownStore,
  resultsTold,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const SECRET = 'my secret '.repeat(2000)

/** A session of ann whose tool's large result, or whose snapshots, the store is slow to accept. */
async function start(slow: 'results' | 'snapshots') {
  const time = createManualTime()
  const disk = ownStore()
  const gate = Promise.withResolvers<void>()
  const writes: string[] = []
  const store: Store = {
    ...disk,
    blobs: {
      ...disk.blobs,
      put: async (...given) => {
        writes.push(`blob ${given[1]}`)
        if (slow === 'results') await gate.promise
        await disk.blobs.put(...given)
      },
    },
    snapshots: {
      ...disk.snapshots,
      put: async (...given) => {
        writes.push('snapshot')
        if (slow === 'snapshots') await gate.promise
        await disk.snapshots.put(...given)
      },
    },
  }
  const steps = [listCalls('act'), { text: 'done' }]
  const world = createTestWorld({ time, store, tools: [act(() => SECRET)], steps, host: { snapshotRecords: 2 } })
  const session = await time.until(world.host.session(SESSION, { principal: { id: 'ann' } }))
  session.send('go').answer.catch(() => {})
  await time.settle()
  return { time, disk, gate, writes, world }
}

test.each(['results', 'snapshots'] as const)(
  'a removal waits for the %s that are being written, and removes them too',
  async (slow) => {
    const { time, disk, gate, writes, world } = await start(slow)
    expect(writes).toContain('blob result/call_id2_1_0_0')
    expect(writes).toContain('snapshot')
    let isRemoved = false
    const removing = world.host.remove(SESSION).then(() => (isRemoved = true))
    await time.pass(1000)
    expect(isRemoved).toBe(false)
    gate.resolve()
    await time.until(removing)
    expect(await disk.blobs.names(SESSION)).toEqual([])
    expect(await disk.snapshots.latest(SESSION)).toBeUndefined()
  },
)

test('a removal waits for what is written to the children of the session, and removes it too', async () => {
  const time = createManualTime()
  const disk = ownStore()
  const gate = Promise.withResolvers<void>()
  const put: Store['blobs']['put'] = async (...given) => {
    await gate.promise
    await disk.blobs.put(...given)
  }
  const store = limitStoreActs({ ...disk, blobs: { ...disk.blobs, put } }, time.environment.timers)
  const root = await disk.acquire(SESSION, 'ann')
  if (root.type !== 'acquired') throw new Error(root.type)
  for (const child of ['child 1', 'child 2'])
    await disk.acquire(child, 'ann', undefined, { root: SESSION, rootEpoch: root.epoch })
  const writing = store.blobs.put('child 2', 'result/x', SECRET)
  let isRemoved = false
  const removing = store.remove(SESSION, 'ann').then(() => (isRemoved = true))
  await time.pass(1000)
  expect(isRemoved).toBe(false)
  gate.resolve()
  await time.until(Promise.all([writing, removing]))
  expect(await disk.blobs.names('child 2')).toEqual([])
})

test('nothing is stored of a tool result that arrives after the removal', async () => {
  const late = Promise.withResolvers<string>()
  const world = createTestWorld({ tools: [act(() => late.promise)], steps: [listCalls('act')] })
  const session = await world.open()
  session.send('go').answer.catch(() => {})
  await world.time.settle()
  await world.time.until(world.host.remove(SESSION))
  late.resolve(SECRET)
  await world.time.settle()
  expect(await world.store.blobs.names(SESSION)).toEqual([])
})

test('a picture that is sent to a session that was removed is kept nowhere', async () => {
  const world = createTestWorld({ steps: [] })
  const session = await world.open()
  await world.time.until(world.host.remove(SESSION))
  const picture = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AAAA' } } as const
  await expect(world.time.until(session.send([picture]).answer)).rejects.toMatchObject({ code: 'session_closed' })
  expect(await world.store.blobs.names(SESSION)).toEqual([])
})

test('no later session of the name reads a result that an earlier one left behind, also by its handle', async () => {
  const store = ownStore()
  const handle = 'call_id2_1_0_0'
  const read = {
    calls: [
      { name: 'act', arguments: {} },
      { name: 'result.read', arguments: { handle, offset: 0 } },
    ],
  }
  const own = { calls: [{ name: 'result.read', arguments: { handle: 'call_other_1_0_0', offset: 0 } }] }
  const world = createTestWorld({
    store,
    tools: [act(() => 'x'.repeat(20_000))],
    steps: [listCalls('act'), read, own, { text: 'done' }],
    host: { environment: { ...createManualTime().environment, newId: () => 'other' } },
  })
  await store.blobs.put(SESSION, `result/${handle}`, SECRET)
  const session = await world.host.session(SESSION, { principal: { id: 'bob' } })
  await session.send('go').answer
  const told = world.model.requests.flatMap((_, index) =>
    resultsTold({ ...world.model, requests: world.model.requests.slice(0, index + 1) }).map(({ text }) => text),
  )
  expect(JSON.stringify(told)).not.toContain('my secret')
  expect(told).toContain(`Error: there is no result "${handle}"`)
  expect(told.at(-1)).toContain('xxx')
})

test('a snapshot of an earlier session of the name is passed over', async () => {
  const store = ownStore()
  const options = { store, steps: () => ({ text: 'answer' }), host: { snapshotRecords: 2 } }
  const first = createTestWorld(options)
  await first.time.until((await first.open()).send('my secret').answer)
  await first.time.until(first.host.stop())
  const left = await store.snapshots.latest(SESSION)
  await first.store.remove(SESSION)
  const second = createTestWorld({ ...options, time: first.time })
  for (const said of ['one', 'two']) await second.time.until((await second.open()).send(said).answer)
  await second.time.until(second.host.stop())
  await store.snapshots.put(SESSION, left!)
  const third = createTestWorld({ ...options, time: first.time })
  await third.time.until((await third.open()).send('three').answer)
  const told = JSON.stringify(third.model.requests[0]?.messages)
  expect(told).not.toContain('my secret')
  expect(told).toMatch(/one.*two.*three/)
})
