// Calls that share the connections of one server: how many may wait, in which order, and what happens when one is
// cancelled.
import type { BatonError, Timers } from '@baton/core/internal'
import { expect, test } from 'vitest'
import type { Connection } from './connection.ts'
import { ConnectionPool } from './connection-pool.ts'

const UNUSED = new AbortController().signal

/** A pool whose connections open when the test says so, with timers that run by hand. */
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
  let closed = 0
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
    // The only members that the pool reads.
    const close = async (): Promise<void> => void (closed += 1)
    const connection = { isModern: false, version: '2025-06-18', readTail: () => '', close }
    return connection as unknown as Connection
  }
  return { pool, openings, started, connect, reconnected: () => reconnected, closed: () => closed }
}

test('calls up to the limit wait for a connection, and the next one is refused with the number', async () => {
  const { pool, openings, connect } = createPool({ waiting: 2 })
  const first = pool.take('a', UNUSED)
  const second = pool.take('b', UNUSED)
  await expect(pool.take('c', UNUSED)).rejects.toMatchObject({
    code: 'api_unavailable',
    message: 'MCP server "files" already has 2 calls waiting for a connection',
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

test('a call cancelled after it got its connection takes no place from waiting ones', async () => {
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
  one.end() // a second call has no effect
  await Promise.resolve()
  expect(isOther).toBe(false)
  // The connection still belongs to session a, which need not wait for the other session.
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
    await expect(pool.take('b', UNUSED)).rejects.toThrow(/; it will be restarted soon$/)
    const timer = started.pop()
    delays.push(timer?.delayMs ?? 0)
    timer?.callback()
  }
  expect(delays).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
})

test('a server that was lost and returned is reported once', async () => {
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

test('a connection that lived for ten seconds resets the count of failures, and a shorter one does not', async () => {
  const { pool, openings, started, connect } = createPool()
  const fail = async (): Promise<void> => {
    const call = pool.take('a', UNUSED)
    openings.at(-1)?.reject(new Error('no such program'))
    await expect(call).rejects.toMatchObject({ code: 'api_unavailable' })
  }
  const live = async (): Promise<Connection> => {
    started.splice(0).at(-1)?.callback() // ends the back-off
    const call = pool.take('a', UNUSED)
    const connection = connect()
    openings.at(-1)?.resolve(connection)
    const lease = await call
    lease.end()
    return connection
  }
  await fail()
  const brief = await live()
  pool.remove(brief)
  expect(
    started.map(({ delayMs }) => delayMs),
    'nothing but the next back-off waits',
  ).toEqual([1000])
  const long = await live()
  started.splice(0).at(-1)?.callback() // the connection has lived long enough
  pool.remove(long)
  expect(started.map(({ delayMs }) => delayMs)).toEqual([500])
})

test('a connection that the server has forgotten is replaced at once, which counts as a loss, once', async () => {
  const { pool, openings, connect, reconnected, closed } = createPool({ connections: 2 })
  const first = pool.take('a', UNUSED)
  openings[0]?.resolve(connect())
  const lease = await first
  pool.drop(lease.connection)
  pool.drop(lease.connection)
  lease.end()
  const next = pool.take('a', UNUSED)
  openings[1]?.resolve(connect())
  await next
  const other = pool.take('b', UNUSED)
  openings[2]?.resolve(connect())
  await other
  expect([openings.length, reconnected(), closed()]).toEqual([3, 1, 1])
})

test('a connection that the server has forgotten serves no call that waits, and is closed after its last call', async () => {
  const { pool, openings, connect, closed } = createPool({ connections: 2 })
  const first = pool.take('a', UNUSED)
  const forgotten = connect()
  openings[0]?.resolve(forgotten)
  const leases = [await first, await pool.take('a', UNUSED), await pool.take(undefined, UNUSED)]
  pool.drop(forgotten)
  const waiting = pool.take('b', UNUSED)
  for (const lease of leases) {
    expect(closed()).toBe(0)
    lease.end()
  }
  expect(closed()).toBe(1)
  openings[1]?.resolve(connect())
  expect((await waiting).connection).not.toBe(forgotten)
})

test('a forgotten connection with a call under way counts as one of the connections, but the next call need not wait for it', async () => {
  const { pool, openings, connect } = createPool({ connections: 2, waiting: 4 })
  const first = pool.take('a', UNUSED)
  openings[0]?.resolve(connect())
  const lease = await first
  pool.drop(lease.connection)
  const next = pool.take('b', UNUSED)
  openings[1]?.resolve(connect())
  await next
  const last = pool.take('c', UNUSED)
  expect(openings).toHaveLength(2)
  lease.end()
  expect(openings).toHaveLength(3)
  openings[2]?.resolve(connect())
  await expect(last).resolves.toBeDefined()
})

test.each(['rest', 'close'] as const)('a %s closes forgotten connections too', async (end) => {
  const { pool, openings, connect, closed } = createPool()
  const first = pool.take('a', UNUSED)
  openings[0]?.resolve(connect())
  const lease = await first
  pool.drop(lease.connection)
  await pool[end]()
  lease.end()
  expect(closed()).toBe(1)
})

test('after a rest the next call opens a connection at once, also in the middle of a back-off', async () => {
  const { pool, openings, started, connect } = createPool()
  const call = pool.take('a', UNUSED)
  openings[0]?.reject(new Error('no such program'))
  await expect(call).rejects.toMatchObject({ code: 'api_unavailable' })
  await pool.rest()
  const next = pool.take('a', UNUSED)
  expect([openings.length, started]).toEqual([2, []])
  openings[1]?.resolve(connect())
  await expect(next).resolves.toBeDefined()
})

test('closing rejects waiting calls, and closes a connection that opens afterwards', async () => {
  const { pool, openings, connect, closed } = createPool()
  const calls = ['a', 'b'].map((session) => pool.take(session, UNUSED).catch((thrown: BatonError) => thrown.message))
  await pool.close()
  openings[0]?.resolve(connect())
  expect(await Promise.all(calls)).toEqual(Array(2).fill('MCP server "files" was closed'))
  await expect.poll(closed).toBe(1)
  await expect(pool.take('a', UNUSED)).rejects.toThrow('was closed')
})

test('a further connection is opened for a session, not for each of its calls; where it fails, its calls wait for the first', async () => {
  const { pool, openings, connect } = createPool({ connections: 4, waiting: 4 })
  const first = pool.take('a', UNUSED)
  openings[0]?.resolve(connect())
  const lease = await first
  const others = [pool.take('b', UNUSED), pool.take('b', UNUSED)]
  expect(openings).toHaveLength(2)
  openings[1]?.reject(new Error('no second one'))
  await Promise.resolve()
  lease.end()
  const leases = await Promise.all(others)
  expect(leases.map(({ connection }) => connection)).toEqual([lease.connection, lease.connection])
})

test('a call for which no further connection could be opened tries again after a pause that doubles, while the first one is taken', async () => {
  const { pool, openings, started, connect } = createPool({ connections: 2 })
  const first = pool.take('a', UNUSED)
  openings[0]?.resolve(connect())
  await first
  started.splice(0) // the first connection settles
  const other = pool.take('b', UNUSED)
  for (const delayMs of [500, 1000, 2000]) {
    openings.at(-1)?.reject(new Error('no second one now'))
    await expect.poll(() => started.map((timer) => timer.delayMs)).toEqual([delayMs])
    started.pop()?.callback()
  }
  expect(openings).toHaveLength(5)
  const second = connect()
  openings[4]?.resolve(second)
  expect((await other).connection).toBe(second)
  expect(
    started.map(({ delayMs }) => delayMs),
    'nothing but the settling waits',
  ).toEqual([10_000])
})

test('no further connection is opened again for calls that wait no more', async () => {
  const { pool, openings, started, connect } = createPool({ connections: 2 })
  const first = pool.take('a', UNUSED)
  openings[0]?.resolve(connect())
  await first
  started.splice(0)
  const cancelled = new AbortController()
  const other = pool.take('b', cancelled.signal)
  openings[1]?.reject(new Error('no second one now'))
  await expect.poll(() => started).toHaveLength(1)
  cancelled.abort(new Error('the call is over'))
  await expect(other).rejects.toThrow('the call is over')
  started.pop()?.callback()
  expect([openings.length, started]).toEqual([2, []])
})

test.each([
  ['that sessions use is started again without a call', true],
  ['whose connection died under a call that waits is started again for it', false],
])('a server %s, once its back-off is over', async (_what, isKept) => {
  const { pool, openings, started, connect } = createPool()
  pool.keep(isKept)
  const first = pool.take('a', UNUSED)
  const connection = connect()
  openings[0]?.resolve(connection)
  const lease = await first
  const waiting = isKept ? Promise.resolve({}) : pool.take('b', UNUSED)
  pool.remove(connection)
  lease.end()
  expect(openings).toHaveLength(1)
  started.at(-1)?.callback()
  expect(openings).toHaveLength(2)
  openings[1]?.resolve(connect())
  await expect(waiting).resolves.toBeDefined()
})

test('an unused server is not restarted by itself', async () => {
  const { pool, openings, started, connect } = createPool()
  const first = pool.take('a', UNUSED)
  const connection = connect()
  openings[0]?.resolve(connection)
  const lease = await first
  lease.end()
  pool.remove(connection)
  started.at(-1)?.callback()
  expect(openings).toHaveLength(1)
})
