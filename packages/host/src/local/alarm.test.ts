// Reminders of closed sessions: after a crash, at another host, while the clock is set, and their end.
import { defineAgent } from '@baton/core'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import { exportSession, importSession } from '../stores/transfer.ts'
import {
  createManualTime,
  createProcess,
  createSharedStore,
  createTestWorld,
  LEASE_MS,
  noUnhandledRejections,
  ownStore,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const steps = () => ({ text: 'noted' })

/** The newest message that the model read. */
function told(world: {
  readonly model: { readonly requests: readonly { readonly messages: readonly unknown[] }[] }
}): string {
  return JSON.stringify(world.model.requests.at(-1)?.messages.at(-1) ?? '')
}

test('what became due while no host ran comes once at the next start, told as late', async () => {
  const time = createManualTime()
  const store = ownStore()
  const dead = createProcess(time, store, { steps })
  const session = await dead.open()
  await time.until(session.every(HOUR_MS, 'Look.', { id: 'hourly' }))
  dead.die()
  store.expireLeases()
  await time.pass(26.5 * HOUR_MS)
  const next = createProcess(time, store, { steps })
  await time.until(next.host.recover())
  await time.pass(1000)
  expect(next.model.requests).toHaveLength(1)
  expect(told(next)).toMatch(/late.*1 d 1 h 30 min/)
  await time.pass(HOUR_MS / 2) // its hours are those of its beginning
  expect(next.model.requests).toHaveLength(2)
  expect(told(next)).not.toMatch(/late/)
})

test('a refused reminder says what to do about reminders', async () => {
  const time = createManualTime()
  const session = await createTestWorld({ time, steps }).open()
  for (let serial = 0; serial < 32; serial++) await time.until(session.at(time.nowMs() + DAY_MS, `Look ${serial}.`))
  const hintOf = async (asked: Promise<unknown>): Promise<unknown> =>
    await time.until(asked.then(() => undefined).catch((error: unknown) => (error as { hint?: unknown }).hint))
  expect(await hintOf(session.at(time.nowMs() + DAY_MS, 'One more.'))).toMatch(/end or remove one/)
  expect(await hintOf(session.cancelReminder('unknown'))).toMatch(/reminder that still waits/)
})

test('a host that is not told to recover keeps the reminders of sessions that it opens', async () => {
  const time = createManualTime()
  const store = ownStore()
  const first = createTestWorld({ time, store, steps })
  await time.until((await first.open()).at(time.nowMs() + DAY_MS, 'Look.'))
  await time.until(first.host.stop())
  const next = createTestWorld({ time, store, steps })
  await time.pass(2 * DAY_MS)
  expect(next.model.requests).toHaveLength(0)
  await next.open()
  await time.pass(1000)
  expect(next.model.requests).toHaveLength(1)
})

test('of two hosts over one store one tells the session, whichever opened it', async () => {
  const { time, store } = createSharedStore()
  const [one, two] = [createProcess(time, store, { steps }), createProcess(time, store, { steps })]
  for (const { host } of [one, two]) await time.until(host.recover({ everyMs: 60_000 }))
  const session = await one.open()
  await time.until(session.every(HOUR_MS, 'Look.'))
  await session.close()
  await time.pass(10.5 * HOUR_MS)
  expect(one.model.requests.length + two.model.requests.length).toBe(10)
  expect(await one.facts('reminder-passed')).toHaveLength(10)
})

test('when the host of a session dies, the other one tells it after the lease', async () => {
  const { time, store } = createSharedStore()
  const [one, two] = [createProcess(time, store, { steps }), createProcess(time, store, { steps })]
  await time.until(two.host.recover({ everyMs: 60_000 }))
  const session = await one.open() // and holds it
  await time.until(session.at(time.nowMs() + HOUR_MS, 'Look.'))
  one.die()
  await time.pass(HOUR_MS + LEASE_MS + 30_000)
  expect(two.model.requests).toHaveLength(1)
  expect(await two.facts('reminder-passed')).toHaveLength(1)
})

test('a clock that is set forward brings what it passed within 30 seconds, and one that is set back brings nothing early', async () => {
  const world = createTestWorld({ steps })
  const { time } = world
  const session = await world.open()
  await time.until(session.at(time.nowMs() + DAY_MS, 'Look.', { id: 'one' }))
  time.setWall(2 * DAY_MS)
  await time.pass(30_000)
  expect(world.model.requests).toHaveLength(1)
  time.setWall(-2 * DAY_MS)
  await time.until(session.at(time.nowMs() + HOUR_MS, 'Look.', { id: 'two' }))
  time.setWall(-DAY_MS)
  await time.pass(HOUR_MS + 60_000)
  expect(world.model.requests).toHaveLength(1)
  await time.pass(DAY_MS)
  expect(world.model.requests).toHaveLength(2)
})

test.each([
  ['seconds', (nowMs: number) => Math.floor(nowMs / 1000) + 60],
  ['a delay', () => 60_000],
])('%s in place of milliseconds since 1970: the refusal says what a number is', async (_, count) => {
  const world = createTestWorld({ steps })
  world.time.setWall(Date.parse('2030-01-01T00:00:00Z'))
  const session = await world.open()
  await expect(world.time.until(session.at(count(world.time.nowMs()), 'Look.'))).rejects.toMatchObject({
    code: 'invalid_event',
    hint: 'A number is milliseconds since 1970: in a minute is Date.now() + 60_000.',
  })
  await world.time.until(world.host.stop())
})

test.each([
  ['an interval that no date can have', 9_007_199_254_740_991, 'has no time to come'],
  ['a moment', '2030-12-24T09:00', 'is a moment'],
])('a rule that is %s is refused before anything is stored', async (_, rule, message) => {
  const world = createTestWorld({ steps })
  const session = await world.open()
  const refusal = { code: 'invalid_event', message: expect.stringContaining(message) as string }
  await expect(world.time.until(session.every(rule, 'Look.'))).rejects.toMatchObject(refusal)
  expect(await session.reminders()).toEqual([])
  await world.time.until(world.host.stop())
})

test('a host leaves the sessions of agents that it does not know', async () => {
  const { time, store } = createSharedStore()
  const writer = createProcess(time, store, { steps })
  const session = await writer.open()
  await time.until(session.at(time.nowMs() + HOUR_MS, 'Look.'))
  await time.until(writer.host.stop())
  const stranger = createProcess(time, store, { steps, name: 'other' })
  await time.until(stranger.host.recover({ everyMs: 60_000 }))
  await time.pass(2 * HOUR_MS)
  expect(stranger.model.requests).toHaveLength(0)
  expect(stranger.warnings).toEqual([])
  expect(await store.listDue()).toHaveLength(1)
})

test('a session whose agent is known here by its next time is told, however soon that is', async () => {
  const { time, store } = createSharedStore()
  const writer = createProcess(time, store, { steps })
  await time.until((await writer.open()).at(time.nowMs() + HOUR_MS, 'Look.'))
  await time.until(writer.host.stop())
  const other = createProcess(time, store, { steps, name: 'other' })
  await time.until(other.host.recover({ everyMs: 60_000 }))
  await time.pass(HOUR_MS + 1000)
  const agents = ['tested', 'other'].map((name) => defineAgent({ name, model: writer.model }))
  const both = createProcess(time, store, { steps, host: { agents } })
  const session = await time.until(both.host.session(SESSION, { agent: 'other' }))
  await time.pass(1)
  await time.until(session.at(time.nowMs() + 1000, 'Look again.'))
  await time.until(both.host.stop())
  await time.pass(60_000)
  expect(other.model.requests).toHaveLength(1)
  expect(told(other)).toContain('Look again.')
})

test('a session that is open with an agent of its own is told by it', async () => {
  const world = createTestWorld({ steps })
  const { time } = world
  const agent = defineAgent({ name: 'of the session', model: world.model })
  const session = await time.until(world.host.session('own', { agent }))
  await time.until(session.at(time.nowMs() + HOUR_MS, 'Look.'))
  await time.pass(2 * HOUR_MS)
  expect(world.model.requests).toHaveLength(1)
  await session.close()
})

test('a store that cannot be asked is asked again', async () => {
  const time = createManualTime()
  const disk = ownStore()
  let fails = true
  const listDue: typeof disk.listDue = (after) => (fails ? Promise.reject(new Error('gone')) : disk.listDue(after))
  const world = createTestWorld({ time, store: { ...disk, listDue }, steps })
  await time.until((await world.open()).at(time.nowMs() + HOUR_MS, 'Look.'))
  await time.pass(2 * HOUR_MS)
  expect(world.model.requests).toHaveLength(0)
  expect(world.warnings).toContain('due sessions could not be listed')
  fails = false
  await time.pass(30_000)
  expect(world.model.requests).toHaveLength(1)
})

test('a host without reminders asks for nothing, and one whose reminders have passed stops asking', async () => {
  const time = createManualTime()
  const disk = ownStore()
  let asked = 0
  const listDue: typeof disk.listDue = (after) => {
    asked += 1
    return disk.listDue(after)
  }
  const world = createTestWorld({ time, store: { ...disk, listDue }, steps })
  const session = await world.open()
  await time.until(session.send('go').answer)
  await time.pass(DAY_MS)
  expect(asked).toBe(0)
  await time.until(session.at(time.nowMs() + HOUR_MS, 'Look.'))
  await time.pass(2 * HOUR_MS)
  const before = asked
  await time.pass(DAY_MS)
  expect(asked).toBe(before)
  await time.until(world.host.stop())
  expect(time.pending()).toBe(0)
})

test('a copy of a session has none of its reminders', async () => {
  const world = createTestWorld({ steps })
  const { time, store } = world
  const session = await world.open()
  await time.until(session.send('go').answer)
  await time.until(session.at(time.nowMs() + HOUR_MS, 'Look.'))
  const copy = await time.until(session.fork())
  expect(await (await time.until(world.host.session(copy))).reminders()).toEqual([])
  expect((await store.listDue()).map((due) => due.session)).toEqual([SESSION])
  await time.pass(2 * HOUR_MS)
  expect(world.model.requests).toHaveLength(2)
})

test('a session that is exported and imported keeps its reminders', async () => {
  const world = createTestWorld({ steps })
  const session = await world.open()
  await world.time.until(session.at(world.time.nowMs() + HOUR_MS, 'Look.'))
  const lines: string[] = []
  for await (const line of exportSession(world.store, SESSION)) lines.push(line)
  const other = createMemoryStore()
  await importSession(other, lines)
  expect(await other.listDue()).toEqual(await world.store.listDue())
})

test('a session that waits for a reminder is kept, however long it was not used', async () => {
  const time = createManualTime()
  const store = ownStore()
  const world = createTestWorld({ time, store, steps, host: { retentionMs: DAY_MS } })
  const session = await world.open()
  await time.until(session.at(time.nowMs() + 40 * DAY_MS, 'Look.'))
  await session.close()
  await time.pass(41 * DAY_MS)
  expect(world.model.requests).toHaveLength(1)
})
