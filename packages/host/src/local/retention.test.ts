// Retention and recovery: unfinished work that a dead host left is kept until hosts had time to recover it.
import type { Store } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { createMemoryStore } from '../stores/memory-store.ts'
import {
  act,
  createManualTime,
  createProcess,
  listCalls,
  listSessions,
  never,
  noUnhandledRejections,
} from './test-world.test-kit.ts'

noUnhandledRejections()

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const LEASE_MS = HOUR_MS / 2

/** A host died when its call had waited 8 days for an approval; another host keeps sessions for 7 days. */
async function leaveOldTurn(cut: (store: Store) => Store = (store) => store) {
  const time = createManualTime()
  const store = createMemoryStore({ clock: time.environment.clock, leaseMs: LEASE_MS })
  const agent = { tools: [act(never, { approval: true })], limits: { turnMs: 30 * DAY_MS, approvalMs: 30 * DAY_MS } }
  const dead = createProcess(time, store, { ...agent, steps: [listCalls('act')] })
  const session = await dead.open()
  session.send('go').answer.catch(() => {})
  const host = { retentionMs: 7 * DAY_MS }
  const next = createProcess(time, cut(store), { ...agent, steps: [], host })
  await time.pass(8 * DAY_MS + HOUR_MS / 4) // the next look comes in 45 minutes, after the lease has ended
  dead.die()
  return { time, store, next }
}

test('unfinished work of a host that died is kept at the next look, and recovered', async () => {
  const { time, store, next } = await leaveOldTurn()
  await time.pass(HOUR_MS)
  expect(await listSessions(store)).toMatchObject([{ isOwned: true }])
  expect(await time.until(next.host.recover())).toEqual({ recovered: 1, failed: 0 })
  await time.pass(3 * HOUR_MS)
  expect(await listSessions(store)).toHaveLength(1)
})

test('unfinished work that nobody recovers between two looks is removed', async () => {
  const { time, store } = await leaveOldTurn()
  await time.pass(2 * HOUR_MS)
  expect(await listSessions(store)).toEqual([])
})

test('unfinished work that a host tries to recover is kept until it can', async () => {
  let isAway = false
  const { time, store, next } = await leaveOldTurn((memory) => ({
    ...memory,
    acquire: (...request) => (isAway ? Promise.reject(new Error('the store is away')) : memory.acquire(...request)),
  }))
  isAway = true
  await time.pass(LEASE_MS)
  expect(await time.until(next.host.recover({ everyMs: HOUR_MS }))).toEqual({ recovered: 0, failed: 1 })
  await time.pass(5 * HOUR_MS)
  expect(await listSessions(store)).toHaveLength(1)
  isAway = false
  await time.pass(5 * HOUR_MS)
  expect(await listSessions(store)).toMatchObject([{ holder: { owner: expect.any(String) } }])
})
