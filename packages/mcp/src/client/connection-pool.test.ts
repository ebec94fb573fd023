// Calls that share the connections of one server: how many may wait, whose turn it is, and what a cancelled one leaves to the others.
import type { BatonError, Timers } from '@baton/core'
import { expect, test } from 'vitest'
import type { Connection } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'

const UNUSED = new AbortController().signal

/** A pool whose connections open when the test says so, and timers that run by hand. */
function createPool(init: { readonly connections?: number; readonly waiting?: number } = {}) {
  const openings: PromiseWithResolvers<Connection>[] = []
  const started: { readonly delayMs: number; readonly callback: () => void }[] = []
  const timers: Timers = {
    start: (delayMs, callback) => {
      const timer = { delayMs, callback }
      started.push(timer)
      return () => void started.splice(started.indexOf(timer), started.includes(timer) ? 1 : 0)
    },
  }
  let reconnected = 0
  const pool = new ConnectionPool({
    name: 'files',
    timers,
    connections: init.connections ?? 1,
    waiting: init.waiting ?? 2,
    open: () => {
      const opening = Promise.withResolvers<Connection>()
      openings.push(opening)
      return opening.promise
    },
    onReconnected: () => void (reconnected += 1),
  })
  const connect = (): Connection => {
    // The pool reads these alone.
    const connection = { isModern: false, version: '2025-06-18', readTail: () => '', close: async () => {} }
    return connection as unknown as Connection
  }
  return { pool, openings, started, connect, reconnected: () => reconnected }
}

test('as many calls wait for a connection as may, and the next one is refused with the number', async () => {
  const { pool, openings, connect } = createPool({ waiting: 2 })
  const first = pool.take('a', UNUSED)
  const second = pool.take('b', UNUSED)
  await expect(pool.take('c', UNUSED)).rejects.toMatchObject({
    code: 'api_unavailable',
    message: 'MCP server "files" has 2 calls waiting for a connection',
  } satisfies Partial<BatonError>)
  openings[0]?.resolve(connect())
  const lease = await first
  lease.end()
  await expect(second).resolves.toBeDefined()
})

test('a call that is cancelled while it waits leaves the others their places', async () => {
  const { pool, openings, connect } = createPool({ waiting: 3 })
  const first = pool.take('a', UNUSED)
  const cancelled = new AbortController()
  const second = pool.take('b', cancelled.signal)
  const third = pool.take('c', UNUSED)
  cancelled.abort(new Error('the call is over'))
  await expect(second).rejects.toThrow('the call is over')
  openings[0]?.resolve(connect())
  const lease = await first
  lease.end()
  await expect(third).resolves.toBeDefined()
})

test('a call that is cancelled once it has its connection takes no place from those that wait', async () => {
  const { pool, openings, connect } = createPool({ waiting: 3 })
  const cancelled = new AbortController()
  const first = pool.take('a', cancelled.signal)
  openings[0]?.resolve(connect())
  const lease = await first
  const second = pool.take('b', UNUSED)
  cancelled.abort(new Error('the call is over'))
  lease.end()
  await expect(second).resolves.toBeDefined()
})

test('calls of two sessions never run on one connection of an older server at once', async () => {
  const { pool, openings, connect } = createPool({ connections: 1 })
  const first = pool.take('a', UNUSED)
  openings[0]?.resolve(connect())
  const [one, again] = [await first, await pool.take('a', UNUSED)]
  let isOther = false
  const other = pool.take('b', UNUSED).then((lease) => {
    isOther = true
    return lease
  })
  one.end()
  one.end() // twice counts once
  await Promise.resolve()
  expect(isOther).toBe(false)
  // The connection is still that of session a, which need not wait for the other.
  const third = await pool.take('a', UNUSED)
  expect(third.connection).toBe(one.connection)
  third.end()
  again.end()
  await expect(other).resolves.toMatchObject({ connection: one.connection })
})

test('the time before the next start doubles with each failure, up to a minute, and calls meanwhile hear that it starts again soon', async () => {
  const { pool, openings, started } = createPool()
  const delays: number[] = []
  for (let failure = 0; failure < 9; failure += 1) {
    const call = pool.take('a', UNUSED)
    openings.at(-1)?.reject(new Error('no such program'))
    await expect(call).rejects.toMatchObject({ code: 'api_unavailable' })
    await expect(pool.take('b', UNUSED)).rejects.toThrow(/; it is started again soon$/)
    const timer = started.pop()
    delays.push(timer?.delayMs ?? 0)
    timer?.callback()
  }
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
})

test('a server that was lost and is back is told once', async () => {
  const { pool, openings, started, connect, reconnected } = createPool()
  const call = pool.take('a', UNUSED)
  const connection = connect()
  openings[0]?.resolve(connection)
  const lease = await call
  expect(reconnected()).toBe(0)
  pool.remove(connection)
  pool.remove(connection)
  lease.end()
  started.at(-1)?.callback()
  const next = pool.take('a', UNUSED)
  openings[1]?.resolve(connect())
  await next
  expect([reconnected(), openings.length]).toEqual([1, 2])
})
