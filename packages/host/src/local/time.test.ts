// Clocks that are wrong when a host starts, or corrected while it is down.
import { frontOf } from '@baton/core/internal'
import type { Store } from '@baton/core'
import { expect, test } from 'vitest'
import {
  act,
  createManualTime,
  createTestWorld,
  listCalls,
  listSessions,
  never,
  noUnhandledRejections,
  ownStore,
  resultsTold,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

test('timers of a session fire in their time also when its last record is of a clock that was a year ahead', async () => {
  const time = createManualTime()
  const store = ownStore()
  const tools = [act(never, { timeoutMs: 500 })]
  time.setWall(365 * DAY_MS)
  const ahead = createTestWorld({ time, store, tools, steps: [listCalls('act')] })
  const session = await ahead.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  store.expireLeases()
  time.setWall(-365 * DAY_MS)
  const next = createTestWorld({ time, store, tools, steps: [{ text: 'done' }] })
  const beganMs = time.nowMs()
  const again = await next.open()
  await time.pass(499)
  expect(frontOf(again).phase).toBe('calling')
  await time.pass(1)
  expect(time.nowMs()).toBe(beganMs + 500)
  expect(resultsTold(next.model)[0]?.text).toBe('Error: tool_result_timeout')
})

test('lists say when a session was used by the wall clock, not by the session’s time', async () => {
  const time = createManualTime()
  time.setWall(365 * DAY_MS)
  const world = createTestWorld({ time, steps: () => ({ text: 'answer' }) })
  const session = await world.open()
  time.setWall(-365 * DAY_MS)
  await time.until(session.send('go').answer)
  const { sessions } = await world.host.sessions()
  expect(sessions).toMatchObject([{ id: SESSION, lastMs: time.nowMs() }])
})

/** Creates a store with one session at rest, whose host stopped; the next host starts after the clock was set. */
async function leaveSession(store: Store = ownStore(), host = {}) {
  const time = createManualTime()
  const first = createTestWorld({ time, store, steps: () => ({ text: 'answer' }), host })
  const session = await first.open()
  await time.until(session.send('go').answer)
  await time.until(first.host.stop())
  const start = (retentionMs: number) => {
    const logged: unknown[] = []
    const log = { info: () => {}, warn: (...given: readonly unknown[]) => void logged.push(given) }
    const world = createTestWorld({ time, store, steps: [], host: { retentionMs, log } })
    return { ...world, logged }
  }
  return { time, store, start }
}

test.each([
  ['40 days', 40],
  ['400 days', 400],
])('a clock that is %s ahead when a host starts removes nothing, which is told with a code', async (_, days) => {
  const { time, store, start } = await leaveSession()
  time.setWall(days * DAY_MS)
  const { host, logged } = start(30 * DAY_MS)
  await time.pass(2 * HOUR_MS)
  expect(await listSessions(store)).toHaveLength(1)
  const message = 'old sessions are kept because the clock is implausibly far ahead'
  const told = { code: 'clock_implausible', aheadHours: days * 24 }
  expect(logged).toMatchObject([1, 2, 3].map(() => [message, told]))
  time.setWall(-days * DAY_MS)
  await time.pass(HOUR_MS)
  expect(logged).toHaveLength(3)
  await host.stop()
})

test('what is written while the clock is ahead does not make it believed, nor does a restart', async () => {
  const { time, store, start } = await leaveSession()
  time.setWall(400 * DAY_MS)
  for (let life = 0; life < 3; life++) {
    const { host, open } = start(30 * DAY_MS)
    const session = await open()
    await session.describe({ title: `life ${life}` })
    await session.close()
    await time.pass(3 * HOUR_MS)
    await time.until(host.session('new').then((other) => other.close()))
    await host.stop()
  }
  expect(await listSessions(store)).toHaveLength(2)
})

test('a clock that is set forward while a host runs removes nothing either', async () => {
  const { time, store, start } = await leaveSession()
  const { host, logged } = start(30 * DAY_MS)
  await time.pass(HOUR_MS)
  time.setWall(400 * DAY_MS)
  await time.pass(3 * HOUR_MS)
  expect(await listSessions(store)).toHaveLength(1)
  expect(logged).toHaveLength(3)
  await host.stop()
})

test('a clock that stays ahead is believed once hosts have run with it for seven days', async () => {
  const { time, store, start } = await leaveSession()
  time.setWall(400 * DAY_MS)
  for (let day = 0; day < 6; day++) {
    const { host } = start(30 * DAY_MS)
    await time.pass(DAY_MS)
    await host.stop()
    expect(await listSessions(store)).toHaveLength(1)
  }
  const { host } = start(30 * DAY_MS)
  await time.pass(DAY_MS + HOUR_MS)
  expect(await listSessions(store)).toHaveLength(0)
  await host.stop()
})

test('a host that was away for a few days removes what is old at once', async () => {
  const { time, store, start } = await leaveSession(ownStore(), { retentionMs: 30 * DAY_MS })
  const busy = start(30 * DAY_MS)
  await time.pass(28 * DAY_MS)
  await busy.host.stop()
  time.setWall(5 * DAY_MS)
  const { host, logged } = start(30 * DAY_MS)
  await time.settle()
  expect(await listSessions(store)).toHaveLength(0)
  expect(logged).toEqual([])
  await host.stop()
})

test('a store without a heartbeat measures the clock by its newest record', async () => {
  const { heartbeat: _, ...store } = ownStore()
  const { time, start } = await leaveSession(store)
  time.setWall(40 * DAY_MS)
  const { host, logged } = start(30 * DAY_MS)
  await time.pass(6 * DAY_MS)
  expect(await listSessions(store)).toHaveLength(1)
  expect(logged[0]).toMatchObject([expect.any(String), { code: 'clock_implausible' }])
  await host.stop()
})

test('a heartbeat that cannot be read removes nothing in that look', async () => {
  const disk = ownStore()
  const heartbeat = { read: () => Promise.reject(new Error('no disk')), write: () => Promise.resolve() }
  const { time, start } = await leaveSession({ ...disk, heartbeat })
  await time.pass(40 * DAY_MS)
  const { host, logged } = start(30 * DAY_MS)
  await time.settle()
  expect(await listSessions(disk)).toHaveLength(1)
  expect(logged).toEqual([['old sessions could not be removed', { cause: 'no disk' }]])
  await host.stop()
})

test('a wait longer than a system timer continues with the next timer', async () => {
  const time = createManualTime()
  const { timers } = time.environment
  const environment = {
    ...time.environment,
    timers: { ...timers, start: (ms: number, callback: () => void) => timers.start(Math.min(ms, 1000), callback) },
  }
  const tools = [act(never, { timeoutMs: 5500 })]
  const world = createTestWorld({ time, host: { environment }, tools, steps: [listCalls('act'), { text: 'done' }] })
  const session = await world.open()
  session.send('go').answer.catch(() => {})
  await time.pass(5499)
  expect(frontOf(session).phase).toBe('calling')
  await time.pass(1)
  expect(resultsTold(world.model)[0]?.text).toBe('Error: tool_result_timeout')
})
