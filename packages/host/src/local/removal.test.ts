// Two hosts over one store: who may remove a session.
import type { Session, Store } from '@baton/core'
import { expect, test } from 'vitest'
import {
  act,
  createManualTime,
  createProcess,
  createSharedStore,
  LEASE_MS,
  listCalls,
  listSessions,
  never,
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

/** A session in the middle of a turn, left by a host that died; `removing` is held open until `gate` is resolved. */
async function leaveTurn() {
  const { time, store } = createSharedStore()
  const dead = createProcess(time, store, { tools: [act(never)], steps: [listCalls('act')] })
  const session = await dead.open()
  session.send('go').answer.catch(() => {})
  await time.pass(1000)
  dead.die()
  store.expireLeases()
  const gate = Promise.withResolvers<void>()
  const remove: Store['remove'] = async (...request) => {
    await gate.promise
    await store.remove(...request)
  }
  const next = createProcess(time, { ...store, remove }, { tools: [act(never)], steps: () => ({ text: 'new' }) })
  return { time, store, next, gate }
}

test('a session that is removed while it is recovered does not come back', async () => {
  const { time, store, next, gate } = await leaveTurn()
  const removed = next.host.remove(SESSION)
  await time.settle()
  const recovered = next.host.recover()
  await time.settle()
  gate.resolve()
  await time.until(removed)
  expect(await time.until(recovered)).toEqual({ recovered: 0, failed: 0 })
  expect(await listSessions(store)).toEqual([])
  expect(next.warnings).toEqual([])
})

test('a session that is asked for while it is removed and recovered is a new one', async () => {
  const { time, next, gate } = await leaveTurn()
  const removed = next.host.remove(SESSION)
  await time.settle()
  const recovered = next.host.recover()
  await time.settle()
  const asked = next.host.session(SESSION)
  gate.resolve()
  await time.until(removed)
  expect((await time.until((await time.until(asked)).send('go').answer)).text).toBe('new')
  expect(await time.until(recovered)).toEqual({ recovered: 0, failed: 0 })
})

test('a session that is asked for as an existing one while it is removed does not come back', async () => {
  const { time, store, next, gate } = await leaveTurn()
  const removed = next.host.remove(SESSION)
  await time.settle()
  const asked = time.until(next.host.session(SESSION, { existing: true })).catch((cause: unknown) => cause)
  const created = next.host.session(SESSION)
  gate.resolve()
  await time.until(removed)
  expect(await asked).toMatchObject({
    code: 'unknown_session',
    hint: 'Open it without `existing` to begin a new session.',
  })
  expect((await time.until((await time.until(created)).send('go').answer)).text).toBe('new')
  await time.until(next.host.remove(SESSION))
  await expect(time.until(next.host.session(SESSION, { existing: true }))).rejects.toMatchObject({
    code: 'unknown_session',
  })
  expect(await listSessions(store)).toEqual([])
})

test.each([1, 'yes', null])('existing: %j is refused', async (existing) => {
  const { host } = createProcess(createManualTime(), createSharedStore().store, { steps: [] })
  await expect(host.session(SESSION, { existing: existing as never })).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('existing must be true or false'),
  })
})

test('a session that was removed after its host lost its lease is not opened again by that host', async () => {
  const { time, store } = createSharedStore()
  let isAway = false
  const orAway = <Value>(work: () => Promise<Value>): Promise<Value> =>
    isAway ? Promise.reject(new Error('the store is away')) : work()
  const cut: Store = { ...store, renew: (owner) => orAway(() => store.renew(owner)) }
  const one = createProcess(time, cut, { steps: () => ({ text: 'late', pieceMs: 60_000 }) })
  const session = await one.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  isAway = true
  await time.pass(LEASE_MS * 0.75 + 100) // it has lost its lease, and is about to open the session again
  store.expireLeases()
  const two = createProcess(time, store, { steps: () => ({ text: 'answer' }) })
  await two.host.remove(SESSION)
  isAway = false
  await time.pass(10_000)
  expect(await listSessions(store)).toEqual([])
  await expect(session.send('more').answer).rejects.toMatchObject({
    code: 'unknown_session',
    hint: 'Open it again to begin a new session.',
  })
  expect(one.warnings.filter((warning) => warning === 'a session could not be reopened')).toHaveLength(1)
})

test('a handle of a removed session reads nothing of a later session of its name', async () => {
  const { time, store } = createSharedStore()
  const { host, open } = createProcess(time, store, { steps: () => ({ text: 'answer' }) })
  const former = await open()
  for (const text of ['one', 'two']) await time.until(former.send(text).answer)
  await time.until(host.remove(SESSION))
  const closed = { code: 'session_closed', message: expect.stringContaining('it was removed') }
  await expect(time.until(former.messages())).rejects.toMatchObject(closed)
  const later = await time.until(host.session(SESSION, { principal: { id: 'somebody else' } }))
  for (const text of ['three', 'four']) await time.until(later.send(text).answer)
  await expect(time.until(former.messages())).rejects.toMatchObject(closed)
  await expect(time.until(former.events({ from: 'start' }).nextBatch())).rejects.toMatchObject(closed)
})

test('a handle of a removed session copies no later session of its name', async () => {
  const { time, store } = createSharedStore()
  const { host, open } = createProcess(time, store, { steps: () => ({ text: 'answer' }) })
  const former = await open()
  await time.until(former.send('one').answer)
  await time.until(host.remove(SESSION))
  const later = await time.until(host.session(SESSION, { principal: { id: 'somebody else' } }))
  await time.until(later.send('two').answer)
  await expect(time.until(former.fork())).rejects.toMatchObject({ code: 'session_closed' })
  expect((await listSessions(store)).map(({ session }) => session)).toEqual([SESSION])
})

test.each([
  ['closed', async (one: Session) => await one.close()],
  ['open', async () => {}],
] as const)(
  'a host that is stopped while it removes a session that is %s waits for the removal',
  async (_, prepare) => {
    const { time, store } = createSharedStore()
    const gate = Promise.withResolvers<void>()
    const remove: Store['remove'] = async (...request) => {
      await gate.promise
      await store.remove(...request)
    }
    const one = createProcess(time, { ...store, remove }, { steps: [] })
    await prepare(await one.open())
    const removed = one.host.remove(SESSION)
    await time.settle()
    let isStopped = false
    const stopped = one.host.stop().then(() => (isStopped = true))
    await time.settle()
    expect([isStopped, (await listSessions(store)).length]).toEqual([false, 1])
    gate.resolve()
    await time.until(stopped)
    expect(await listSessions(store)).toEqual([])
    await removed
  },
)
