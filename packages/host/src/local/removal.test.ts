// Two hosts over one store: who may remove a session.
import type { Store } from '@baton/core'
import { expect, test } from 'vitest'
import {
  createProcess,
  createSharedStore,
  listSessions,
  noUnhandledRejections,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

test('a session that another host holds is not removed under it', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: () => ({ text: 'answer', pieceMs: 1000 }) })
  const two = createProcess(time, store, { steps: [] })
  const session = await one.open()
  const turn = session.send('go')
  await time.settle()
  await expect(time.until(two.host.remove(SESSION))).rejects.toMatchObject({ code: 'session_held' })
  expect((await time.until(turn.answer)).text).toBe('answer')
  await session.close()
  await time.until(two.host.remove(SESSION))
  expect(await listSessions(store)).toEqual([])
})

test('a host can remove its own session even if its release could not be reported to the store', async () => {
  const { time, store } = createSharedStore()
  const release: Store['release'] = () => Promise.reject(new Error('the store is away'))
  const one = createProcess(time, { ...store, release }, { steps: [] })
  await one.open()
  await time.until(one.host.remove(SESSION))
  expect(await listSessions(store)).toEqual([])
})

test('sessions that another host holds are not removed, however old they are', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: [] })
  const session = await one.open()
  const two = createProcess(time, store, { steps: [], host: { retentionMs: 3_600_000 } })
  await time.pass(3 * 3_600_000)
  expect(await listSessions(store)).toHaveLength(1)
  await session.close()
  await time.pass(2 * 3_600_000)
  expect(await listSessions(store)).toHaveLength(0)
  await two.host.stop()
})

test('a store that never answers a removal fails it, and the session can be opened again', async () => {
  const { time, store } = createSharedStore()
  const remove: Store['remove'] = () => new Promise(() => {})
  const one = createProcess(time, { ...store, remove }, { steps: () => ({ text: 'answer' }) })
  await (await one.open()).close()
  await expect(time.until(one.host.remove(SESSION))).rejects.toMatchObject({ code: 'store_failed' })
  const session = await time.until(one.open())
  expect((await time.until(session.send('go').answer)).text).toBe('answer')
})

test('watchers are notified when an unused session is removed', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: [], host: { retentionMs: 3_600_000 } })
  await (await one.open()).close()
  const changes = one.host.watch()[Symbol.asyncIterator]()
  await time.pass(3 * 3_600_000)
  expect((await changes.next()).value).toMatchObject({ type: 'removed', id: SESSION })
})
