// Leases whose grant is not answered: the store has given them, and this host does not know.
import type { Store } from '@baton/core'
import { frontOf } from '@baton/core/internal'
import { expect, test } from 'vitest'
import type { TestWorldOptions } from './test-world.test-kit.ts'
import {
  act,
  createProcess,
  createSharedStore,
  LEASE_MS,
  listCalls,
  never,
  noUnhandledRejections,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

type Ask = 'acquire' | 'resume'

/** A host that renews because of a session `other`, and loses the next answer to `ask` after its store obeyed. */
async function loseAnswer(ask: Ask, agent: TestWorldOptions = { steps: () => ({ text: 'one' }) }) {
  const { time, store } = createSharedStore()
  const lost = { count: 0, asked: 0, gate: Promise.resolve() }
  const orLost =
    <Given extends readonly unknown[], Value>(act: (...given: Given) => Promise<Value>) =>
    async (...given: Given): Promise<Value> => {
      lost.asked += 1
      if (lost.asked === 3) await lost.gate
      const answer = await act(...given)
      if (lost.count === 0) return answer
      lost.count -= 1
      throw new Error('the line is lost')
    }
  const one = createProcess(time, { ...store, [ask]: orLost(store[ask] as Store['acquire']) }, agent)
  const two = createProcess(time, store, { steps: () => ({ text: 'two' }) })
  await time.until(one.host.session('other'))
  return { time, store, one, two, lost }
}

test('a session whose acquisition was not answered is free for other hosts soon', async () => {
  const { time, one, two, lost } = await loseAnswer('acquire')
  lost.count = 1
  await expect(one.open()).rejects.toMatchObject({ code: 'store_failed' })
  await time.pass(10 * LEASE_MS)
  expect((await time.until((await two.open()).send('go').answer)).text).toBe('two')
  expect(lost.asked).toBe(3) // for `other`, without an answer, and to release it
})

test('unfinished work whose acquisition was not answered is recovered by the same host', async () => {
  const { time, store, one, lost } = await loseAnswer('acquire', { tools: [act(never)], steps: [{ text: 'done' }] })
  const dead = createProcess(time, store, { tools: [act(never)], steps: [listCalls('act')] })
  const session = await dead.open()
  session.send('go').answer.catch(() => {})
  await time.pass(1000)
  dead.die()
  await time.pass(2 * LEASE_MS)
  lost.count = 1
  expect(await time.until(one.host.recover())).toEqual({ recovered: 0, failed: 1 })
  await time.pass(LEASE_MS)
  expect(await time.until(one.host.recover())).toEqual({ recovered: 1, failed: 0 })
})

test('a session whose waking was not answered is free for other hosts at once', async () => {
  const { time, one, two, lost } = await loseAnswer('resume')
  await (await one.open()).close()
  lost.count = 1
  await expect(one.open()).rejects.toMatchObject({ code: 'store_failed' })
  expect((await time.until((await two.open()).send('go').answer)).text).toBe('two')
})

test('a session that is asked for again after an unanswered acquisition stays with who asked', async () => {
  const { time, one, two, lost } = await loseAnswer('acquire')
  lost.count = 1
  await expect(one.open()).rejects.toMatchObject({ code: 'store_failed' })
  const session = await one.open()
  await time.pass(2 * LEASE_MS)
  expect((await time.until(session.send('go').answer)).text).toBe('one')
  expect(lost.asked).toBe(3)
  await expect(two.open()).rejects.toMatchObject({ code: 'session_held' })
})

test('a session that another host has taken after an unanswered acquisition is not asked back', async () => {
  const { time, store, one, two, lost } = await loseAnswer('acquire')
  lost.count = 1
  await expect(one.open()).rejects.toMatchObject({ code: 'store_failed' })
  store.expireLeases()
  const session = await two.open()
  await time.pass(5 * LEASE_MS)
  expect(frontOf(session).phase).toBe('idle')
  expect((await time.until(session.send('go').answer)).text).toBe('two')
})

test('a session that is asked for while it is being let go stays with who asked', async () => {
  const { time, one, lost } = await loseAnswer('acquire')
  const { promise, resolve } = Promise.withResolvers<void>()
  lost.gate = promise
  lost.count = 1
  await expect(one.open()).rejects.toMatchObject({ code: 'store_failed' })
  await time.pass(LEASE_MS / 2)
  expect(lost.asked).toBe(3)
  const opening = one.host.session(SESSION)
  await time.settle()
  resolve()
  const session = await time.until(opening)
  expect((await time.until(session.send('go').answer)).text).toBe('one')
  expect(one.warnings).toEqual([])
})

test('a session is not let go while the store is away, and is as soon as it answers', async () => {
  const { time, one, two, lost } = await loseAnswer('acquire')
  lost.count = 5
  await expect(one.open()).rejects.toMatchObject({ code: 'store_failed' })
  await time.pass(LEASE_MS)
  await expect(two.open()).rejects.toMatchObject({ code: 'session_held' })
  await time.pass(LEASE_MS)
  expect((await time.until((await two.open()).send('go').answer)).text).toBe('two')
})
