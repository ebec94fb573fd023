// A store that does not answer: every wait for it ends, and a session waits for its own operations only.
import type { Store } from '@baton/core'
import type { SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import type { MemoryStore } from '../stores/memory-store.ts'
import {
  createManualTime,
  createTestWorld,
  listSessions,
  never,
  noUnhandledRejections,
  ownStore,
} from './test-world.test-kit.ts'

noUnhandledRejections()

type ActName = 'snapshots.put' | 'snapshots.latest' | 'blobs.put' | 'read' | 'release' | 'append' | 'acquire' | 'remove'

/** Hangs for one session and one operation, from when the test says so. */
function createHangingStore(session: string) {
  const disk = ownStore()
  const hanging = new Set<ActName>()
  const passing =
    <Given extends readonly [string, ...unknown[]], Value>(name: ActName, act: (...given: Given) => Promise<Value>) =>
    (...given: Given): Promise<Value> =>
      given[0] === session && hanging.has(name) ? never() : act(...given)
  const store: Store = {
    ...disk,
    acquire: passing('acquire', disk.acquire),
    append: passing('append', disk.append),
    release: passing('release', disk.release),
    remove: passing('remove', disk.remove),
    read: async function* (name, fromPos) {
      if (name === session && hanging.has('read')) await never()
      yield* disk.read(name, fromPos)
    },
    snapshots: {
      put: passing('snapshots.put', disk.snapshots.put),
      latest: passing('snapshots.latest', disk.snapshots.latest),
    },
    blobs: { ...disk.blobs, put: passing('blobs.put', disk.blobs.put) },
  }
  return { store, disk, hangIn: (...acts: readonly ActName[]) => acts.forEach((act) => hanging.add(act)) }
}

async function start() {
  const time = createManualTime()
  const { store, disk, hangIn } = createHangingStore('stuck')
  const world = createTestWorld({ time, store, steps: () => ({ text: 'answer' }), host: { snapshotRecords: 2 } })
  const talk = async (name: string): Promise<void> => {
    const session = await time.until(world.host.session(name))
    await time.until(session.send('go').answer)
    await session.close()
  }
  return { time, store, disk, hangIn, world, talk }
}

test.each(['snapshots.put', 'snapshots.latest', 'read', 'release', 'append', 'acquire', 'remove'] as const)(
  'while %s of one session hangs, other sessions are opened, listed, closed and removed at once',
  async (name) => {
    const { time, hangIn, world, talk } = await start()
    await talk('stuck')
    await talk('other')
    hangIn(name)
    const stuck = world.host.session('stuck').then(async (session) => {
      session.send('more').answer.catch(() => {})
      await session.close()
    })
    stuck.catch(() => {})
    await time.settle()
    const removing = world.host.remove('stuck')
    removing.catch(() => {})
    await time.settle()
    const beganMs = time.nowMs()
    await talk('other')
    await time.until(world.host.remove('other'))
    await talk('new')
    expect(time.nowMs()).toBe(beganMs)
  },
)

/** Opens the stuck session, makes an operation hang, talks once more, and removes the session. */
async function removeWhile(name: ActName) {
  const { time, disk, hangIn, world, talk } = await start()
  await talk('stuck')
  await time.settle()
  const open = await time.until(world.host.session('stuck'))
  hangIn(name)
  await time.until(open.send('more').answer)
  const removing = time.until(world.host.remove('stuck'))
  return { removing, disk }
}

test.each(['snapshots.latest', 'release', 'read'] as const)(
  'a session whose %s hangs is removed all the same',
  async (name) => {
    const { removing, disk } = await removeWhile(name)
    await removing
    expect(await listSessions(disk)).toEqual([])
  },
)

test.each([
  ['snapshots.put', 'running writes of the session'],
  ['remove', 'remove'],
] as const)('a removal while %s hangs fails in its time, and says for what it waited', async (name, what) => {
  const { removing, disk } = await removeWhile(name)
  const message = `the store did not answer in 30000 ms (${what})`
  await expect(removing).rejects.toMatchObject({ code: 'store_failed', message })
  expect(await listSessions(disk)).toHaveLength(1)
})

test('lists of sessions end when the log of one session cannot be read', async () => {
  const { time, disk, hangIn, world, talk } = await start()
  await talk('other')
  await talk('stuck')
  await outdate(disk, 'stuck')
  hangIn('read')
  const listed = await time.until(world.host.sessions())
  expect(listed.sessions.map(({ id }) => id)).toEqual(['other'])
})

/** Puts the log in place as a copy, which no list knows yet. */
async function outdate(disk: MemoryStore, session: string): Promise<void> {
  const records: SessionRecord[] = []
  for await (const record of disk.read(session, 0)) records.push(record)
  disk.expireLeases()
  await disk.remove(session)
  await disk.restore(session, records)
}

test('a session without a known owner can only be removed by the program', async () => {
  const { time, hangIn, world, talk } = await start()
  await talk('stuck')
  hangIn('read')
  const stranger = world.host.remove('stuck', { id: 'mallory' })
  await expect(time.until(stranger)).rejects.toMatchObject({ code: 'store_failed' })
})

test('a recovery ends when the log of one session cannot be read', async () => {
  const { time, store, disk, hangIn, world } = await start()
  for (const name of ['other', 'stuck']) (await time.until(world.host.session(name))).send('go').answer.catch(() => {})
  disk.expireLeases()
  hangIn('read')
  const next = createTestWorld({ time, store, steps: () => ({ text: 'answer' }) })
  expect(await time.until(next.host.recover())).toEqual({ recovered: 1, failed: 1 })
})
