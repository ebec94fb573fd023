// Two hosts over one store: the holder of a session, its takeover, and a host that cannot renew its
// leases.
import { frontOf } from '@baton/core/internal'
import type { Store, ToolContext } from '@baton/core'
import { BatonError } from '@baton/core'
import { expect, test } from 'vitest'
import {
  act,
  listCalls,
  createBrokenClock,
  createProcess,
  createSharedStore,
  createTestWorld,
  LEASE_MS,
  listSessions,
  never,
  noUnhandledRejections,
  resultsTold,
  SESSION,
} from './test-world.test-kit.ts'

noUnhandledRejections()

function payment() {
  const { promise, resolve } = Promise.withResolvers<string>()
  return { pay: act(() => promise, { name: 'pay', effect: 'once', timeoutMs: 120_000 }), resolve }
}

test('a host that recovers or opens a session does not touch the work of a healthy host', async () => {
  const { time, store } = createSharedStore()
  const { pay, resolve } = payment()
  const one = createProcess(time, store, { tools: [pay], steps: [listCalls('pay'), { text: 'paid' }] })
  const two = createProcess(time, store, { tools: [pay], steps: [] })
  const turn = (await one.open()).send('pay')
  // Several leases long: the working host renews its own.
  for (let lease = 0; lease < 5; lease++) {
    await time.pass(LEASE_MS)
    expect(await time.until(two.host.recover())).toEqual({ recovered: 0, failed: 0 })
    await expect(time.until(two.host.session(SESSION))).rejects.toMatchObject({ code: 'session_held' })
  }
  resolve('receipt')
  expect(await time.until(turn.answer)).toMatchObject({ text: 'paid', outcome: 'answered' })
  expect(resultsTold(one.model)).toEqual([{ isError: false, text: 'receipt' }])
  expect(await one.facts('turn-finished')).toHaveLength(1)
})

test('who is refused a session is told who holds it and until when, and may ask again', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: () => ({ text: 'answer' }) })
  const two = createProcess(time, store, { steps: () => ({ text: 'answer' }) })
  const session = await one.open()
  const [{ holder } = {}] = await listSessions(store)
  await expect(time.until(two.host.session(SESSION))).rejects.toMatchObject({
    code: 'session_held',
    retryable: true,
    message: expect.stringContaining(`held by host ${holder?.owner} until 1970-01-01T00:16:50.000Z`),
    data: { owner: holder?.owner, leaseUntilMs: time.nowMs() + LEASE_MS },
  })
  await session.close()
  expect((await time.until((await two.open()).send('go').answer)).text).toBe('answer')
})

test('what a dead host held is recovered when its lease has ended, and not before', async () => {
  const { time, store } = createSharedStore()
  const { pay } = payment()
  const dead = createProcess(time, store, { tools: [pay], steps: [listCalls('pay')] })
  const session = await dead.open()
  session.send('pay').answer.catch(() => {})
  await time.pass(1000)
  dead.die()
  const next = createProcess(time, store, { tools: [pay], steps: [{ text: 'I do not know' }] })
  await time.pass(LEASE_MS - 1500)
  expect(await time.until(next.host.recover())).toEqual({ recovered: 0, failed: 0 })
  await time.pass(LEASE_MS)
  expect(await time.until(next.host.recover())).toEqual({ recovered: 1, failed: 0 })
  await time.pass(1000)
  expect(resultsTold(next.model)).toEqual([{ isError: true, text: expect.stringContaining('tool_result_unknown') }])
  expect(await next.facts('turn-finished')).toMatchObject([{ outcome: 'answered' }])
})

test('a stopping host leaves its work to others at once, and idle sessions to no one', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { tools: [act(never)], steps: [listCalls('act')] })
  const session = await one.open()
  session.send('go').answer.catch(() => {})
  await time.until(one.host.session('resting'))
  await time.settle()
  await time.until(one.host.stop())
  expect(time.pending()).toBe(0)
  const next = createProcess(time, store, { tools: [act(() => 'fine')], steps: [{ text: 'done' }] })
  expect(await time.until(next.host.recover())).toEqual({ recovered: 1, failed: 0 })
  await time.pass(1000)
  expect(await next.facts('turn-finished')).toMatchObject([{ outcome: 'answered' }])
})

test.each([
  ['fails', () => Promise.reject(new Error('the store is away'))],
  ['does not answer', never],
])(
  'a host whose store %s lets go of its sessions before its leases end, and appends nothing after',
  async (_, fault) => {
    const { time, store } = createSharedStore()
    const { pay, resolve } = payment()
    let isAway = false
    let appends = 0
    const cut: Store = {
      ...store,
      acquire: (...request) => (isAway ? fault() : store.acquire(...request)),
      renew: (owner) => (isAway ? fault() : store.renew(owner)),
      append: (...request) => {
        appends += 1
        return store.append(...request)
      },
    }
    const one = createProcess(time, cut, { tools: [pay], steps: [listCalls('pay')] })
    const session = await one.open()
    const { answer } = session.send('pay')
    answer.catch(() => {})
    await time.pass(1000)
    isAway = true
    await time.pass(LEASE_MS * 0.9)
    const before = appends
    resolve('receipt')
    await time.pass(LEASE_MS * 0.2)
    expect(one.warnings).toContain('leases expired because they could not be renewed')
    const two = createProcess(time, store, { tools: [pay], steps: [{ text: 'I do not know' }] })
    expect(await time.until(two.host.recover())).toEqual({ recovered: 1, failed: 0 })
    await time.pass(300_000)
    expect(appends).toBe(before)
    await expect(answer).rejects.toMatchObject({ code: 'session_closed' })
    expect(await two.facts('turn-finished')).toMatchObject([{ outcome: 'answered' }])
  },
)

test('a host that lost its leases stops its work', async () => {
  const { time, store } = createSharedStore()
  const signals: ToolContext['signal'][] = []
  const watched = act((_, { signal }) => (signals.push(signal), never()))
  let isAway = false
  const renew: Store['renew'] = (owner) => (isAway ? never() : store.renew(owner))
  const one = createProcess(time, { ...store, renew }, { tools: [watched], steps: [listCalls('act')] })
  const session = await one.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  isAway = true
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  await time.pass(LEASE_MS * 0.8)
  expect(signals[0]?.aborted).toBe(true)
})

test('a renewal that is answered late counts from when it was sent', async () => {
  const { time, store } = createSharedStore()
  const signals: ToolContext['signal'][] = []
  const watched = act((_, { signal }) => (signals.push(signal), never()))
  let renewals = 0
  const answerLate = (owner: string): ReturnType<Store['renew']> =>
    new Promise((resolve) => void time.environment.timers.start(LEASE_MS * 0.45, () => resolve(store.renew(owner))))
  const renew: Store['renew'] = (owner) => ((renewals += 1) === 1 ? answerLate(owner) : never())
  const one = createProcess(time, { ...store, renew }, { tools: [watched], steps: [listCalls('act')] })
  const session = await one.open()
  session.send('go').answer.catch(() => {})
  // Sent after a quarter of the lease, and answered after 0.7 of it: in the store it ends 1.25 leases from now.
  await time.pass(LEASE_MS * 1.05)
  expect([renewals > 1, signals[0]?.aborted]).toEqual([true, true])
})

test('a session that is acquired while no renewal succeeds does not make the others count as renewed', async () => {
  const { time, store } = createSharedStore()
  const signals: ToolContext['signal'][] = []
  const watched = act((_, { signal }) => (signals.push(signal), never()))
  const one = createProcess(time, { ...store, renew: never }, { tools: [watched], steps: [listCalls('act')] })
  const session = await one.open()
  session.send('go').answer.catch(() => {})
  await time.pass(LEASE_MS * 0.5)
  await time.until(one.host.session('another'))
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  await time.pass(LEASE_MS * 0.3)
  expect(signals[0]?.aborted).toBe(true)
})

test('a session that could not be opened to recover it is found again by the next recovery', async () => {
  const { time, store } = createSharedStore()
  const { pay } = payment()
  const dead = createProcess(time, store, { tools: [pay], steps: [listCalls('pay')] })
  const session = await dead.open()
  session.send('pay').answer.catch(() => {})
  await time.pass(1000)
  dead.die()
  let isBroken = true
  const full = new BatonError({ code: 'store_failed', message: 'disk full', retryable: false })
  const append: Store['append'] = (...request) => (isBroken ? Promise.reject(full) : store.append(...request))
  const next = createProcess(time, { ...store, append }, { tools: [pay], steps: [{ text: 'I do not know' }] })
  await time.pass(LEASE_MS * 2)
  expect(await time.until(next.host.recover())).toEqual({ recovered: 0, failed: 1 })
  isBroken = false
  expect(await time.until(next.host.recover())).toEqual({ recovered: 1, failed: 0 })
})

test('an append that its store did not answer is not tried again when the lease is lost', async () => {
  const { time, store } = createSharedStore()
  let isAway = false
  let appends = 0
  const cut: Store = {
    ...store,
    acquire: (...request) => (isAway ? never() : store.acquire(...request)),
    renew: (owner) => (isAway ? never() : store.renew(owner)),
    append: (...request) => {
      appends += 1
      return isAway ? never() : store.append(...request)
    },
  }
  const one = createProcess(time, cut, { steps: [] })
  const session = await one.open()
  isAway = true
  const before = appends
  session.send('go').answer.catch(() => {})
  await time.pass(300_000)
  expect(appends).toBe(before + 1)
})

test('a session whose work cannot be begun is not held', async () => {
  const { time, store } = createSharedStore()
  const dead = createProcess(time, store, { tools: [act(never)], steps: [listCalls('act')] })
  const session = await dead.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  store.expireLeases()
  dead.die()
  const environment = { ...time.environment, clock: createBrokenClock(time, { count: Infinity }) }
  const broken = createTestWorld({ time, store, tools: [act(never)], steps: [], host: { environment } })
  await expect(broken.open()).rejects.toMatchObject({ code: 'internal' })
  expect(await store.acquire(SESSION, 'another')).toMatchObject({ type: 'acquired' })
})

test('a host whose store returns before its leases expire continues normally', async () => {
  const { time, store } = createSharedStore()
  let failures = 0
  const renew: Store['renew'] = (owner) =>
    failures-- > 0 ? Promise.reject(new Error('the store is away')) : store.renew(owner)
  const one = createProcess(time, { ...store, renew }, { steps: () => ({ text: 'answer', pieceMs: 20_000 }) })
  const { answer } = (await one.open()).send('go')
  failures = 1
  expect((await time.until(answer)).text).toBe('answer')
  expect(one.model.requests).toHaveLength(1)
  expect(one.warnings).toEqual(['leases could not be renewed'])
})

test('a fenced host takes back its sessions when its store returns, unless another host has them', async () => {
  const { time, store } = createSharedStore()
  let failures = 0
  const renew: Store['renew'] = (owner) =>
    failures-- > 0 ? Promise.reject(new Error('the store is away')) : store.renew(owner)
  const one = createProcess(time, { ...store, renew }, { steps: () => ({ text: 'answer', pieceMs: 9000 }) })
  const { answer } = (await one.open()).send('go')
  failures = 3
  expect((await time.until(answer)).text).toBe('answer')
  expect(one.model.requests).toHaveLength(2)
  expect(one.warnings).toContain('a session failed and is being reopened')
})

test('a session acquired too late is released', async () => {
  const { time, store } = createSharedStore()
  const gate = Promise.withResolvers<void>()
  const acquire: Store['acquire'] = async (...request) => {
    const outcome = await store.acquire(...request)
    await gate.promise
    return outcome
  }
  const renew: Store['renew'] = () => Promise.reject(new Error('the store is away'))
  const slow = createProcess(time, { ...store, acquire, renew }, { steps: [] })
  const refused = slow.host.session(SESSION).catch((cause: unknown) => cause)
  await time.pass(LEASE_MS * 0.8)
  gate.resolve()
  await time.settle()
  expect(await refused).toMatchObject({ code: 'store_failed' })
  expect(await store.acquire(SESSION, 'another')).toMatchObject({ type: 'acquired' })
  expect(time.pending()).toBe(0)
})

test('a new session whose lease was lost while its opening was stored does not open, and the next one works', async () => {
  const { time, store } = createSharedStore()
  const gate = Promise.withResolvers<void>()
  let isAway = true
  const cut: Store = {
    ...store,
    renew: (owner) => (isAway ? Promise.reject(new Error('the store is away')) : store.renew(owner)),
    append: async (...request) => {
      await gate.promise
      return await store.append(...request)
    },
  }
  const told: string[] = []
  const observer = { onRecord: () => void told.push('record'), onClose: () => void told.push('close') }
  const one = createProcess(time, cut, { steps: () => ({ text: 'answer' }), host: { observers: [observer] } })
  const refused = one.host.session(SESSION).catch((cause: unknown) => cause)
  await time.pass(LEASE_MS * 0.8)
  isAway = false
  gate.resolve()
  expect(await time.until(refused)).toMatchObject({ code: 'store_failed' })
  expect(told).toEqual(['record', 'close'])
  const session = await one.open()
  expect((await time.until(session.send('go').answer)).text).toBe('answer')
})

test('unreported changes are reported again, so that no dead host holds a session in the store', async () => {
  const { time, store } = createSharedStore()
  let failures = 2
  const release: Store['release'] = (...request) =>
    failures-- > 0 ? Promise.reject(new Error('the store is away')) : store.release(...request)
  const one = createProcess(time, { ...store, release }, { steps: [], host: { lingerMs: 0 } })
  const kept = await time.until(one.host.session('kept'))
  await (await one.open()).close()
  expect(await store.acquire(SESSION, 'another')).toMatchObject({ type: 'held' })
  await time.pass(LEASE_MS)
  expect(await store.acquire(SESSION, 'another')).toMatchObject({ type: 'acquired' })
  expect(frontOf(kept).phase).toBe('idle')
})

test('a change that cannot be reported ends with its lease, even if the host lives', async () => {
  const { time, store } = createSharedStore()
  const release: Store['release'] = () => Promise.reject(new Error('the store is away'))
  const one = createProcess(time, { ...store, release }, { steps: [] })
  await (await one.open()).close()
  await time.pass(LEASE_MS)
  expect(await store.acquire(SESSION, 'another')).toMatchObject({ type: 'acquired' })
  await time.until(one.host.stop())
  expect(time.pending()).toBe(0)
})

test('a host does not hold a session that it could not open', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: [] })
  await (await one.open()).close()
  const [first] = await one.records()
  await store.restore('broken', [{ ...first!, facts: [] }])
  expect(await time.until(one.host.recover())).toEqual({ recovered: 0, failed: 1 })
  expect(await store.acquire('broken', 'another')).toMatchObject({ type: 'acquired' })
})

test('a session given up because its store rejects writes is free for others', async () => {
  const { time, store } = createSharedStore()
  let isFull = false
  const orFull = <Value>(work: () => Promise<Value>): Promise<Value> =>
    isFull ? Promise.reject(new Error('the disk is full')) : work()
  const full: Store = {
    ...store,
    acquire: (...request) => orFull(() => store.acquire(...request)),
    append: (...request) => orFull(() => store.append(...request)),
  }
  const one = createProcess(time, full, { steps: [] })
  const session = await one.open()
  isFull = true
  await expect(time.until(session.send('go').answer)).rejects.toMatchObject({ code: 'store_failed' })
  await time.pass(60_000)
  expect(await store.acquire(SESSION, 'another')).toMatchObject({ type: 'acquired' })
  expect(time.pending()).toBe(0)
})

test('a host that stops while a session is opened again does not hold it', async () => {
  const { time, store } = createSharedStore()
  const gate = Promise.withResolvers<void>()
  let failures = 0
  const append: Store['append'] = async (...request) => {
    if (failures-- > 0) throw new Error('the disk failed')
    if (request[3].some(({ facts }) => facts.some(({ type }) => type === 'host-restarted'))) await gate.promise
    return await store.append(...request)
  }
  const one = createProcess(time, { ...store, append }, { steps: [] })
  const session = await one.open()
  failures = 3
  session.send('go').answer.catch(() => {})
  await time.pass(2000)
  const stopped = one.host.stop()
  await time.settle()
  gate.resolve()
  await time.until(stopped)
  await time.settle()
  expect(await store.acquire(SESSION, 'another')).toMatchObject({ type: 'acquired' })
})

test('a session that another host recovers at the same time is not an error', async () => {
  const { time, store } = createSharedStore()
  const dead = createProcess(time, store, { steps: () => ({ text: 'late', pieceMs: 60_000 }) })
  const session = await dead.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  dead.die()
  store.expireLeases()
  const listRecoverable: Store['listRecoverable'] = async function* () {
    for await (const one of store.listRecoverable()) {
      await store.acquire(one.session, 'another')
      yield one
    }
  }
  const next = createProcess(time, { ...store, listRecoverable }, { steps: [] })
  expect(await time.until(next.host.recover())).toEqual({ recovered: 0, failed: 0 })
  expect(next.warnings).toEqual([])
})

test('a host renews with one timer, however many sessions it holds, and with none when it holds nothing', async () => {
  const { time, store } = createSharedStore()
  let renewals = 0
  const renew: Store['renew'] = (owner) => {
    renewals += 1
    return store.renew(owner)
  }
  const one = createProcess(time, { ...store, renew }, { steps: [] })
  expect(time.pending()).toBe(0)
  const sessions = await time.until(Promise.all(['a', 'b', 'c'].map((name) => one.host.session(name))))
  expect(time.pending()).toBe(1)
  await time.pass(LEASE_MS)
  expect(renewals).toBe(4)
  for (const session of sessions) await session.close()
  await time.pass(60_000)
  expect([renewals, time.pending()]).toEqual([4, 0])
})

test('a session that another host asks for is handed over as soon as it rests', async () => {
  const { time, store } = createSharedStore()
  const one = createProcess(time, store, { steps: () => ({ text: 'answer', pieceMs: 8000 }) })
  const two = createProcess(time, store, { steps: () => ({ text: 'from two' }) })
  const session = await one.open()
  const turn = session.send('go')
  await time.settle()
  await store.requestHandover(SESSION, 'two')
  await time.pass(5000)
  await expect(two.host.session(SESSION)).rejects.toMatchObject({ code: 'session_held' })
  expect((await time.until(turn.answer)).text).toBe('answer')
  await time.pass(LEASE_MS)
  await expect(session.send('more').answer).rejects.toMatchObject({ code: 'session_closed' })
  expect((await time.until((await two.open()).send('go on').answer)).text).toBe('from two')
})

test('opening a session after its lease was lost returns the newest state of another host', async () => {
  const { time, store } = createSharedStore()
  let isAway = false
  const cut: Store = {
    ...store,
    acquire: (...request) => (isAway ? Promise.reject(new Error('the store is away')) : store.acquire(...request)),
    renew: (owner) => (isAway ? Promise.reject(new Error('the store is away')) : store.renew(owner)),
  }
  const one = createProcess(time, cut, { steps: () => ({ text: 'answer' }) })
  await time.until((await one.open()).send('first').answer)
  isAway = true
  await time.pass(LEASE_MS * 1.1)
  const two = createProcess(time, store, { steps: () => ({ text: 'answer' }) })
  const other = await two.open()
  await time.until(other.send('second').answer)
  const { head } = await other.info()
  await time.until(two.host.stop())
  isAway = false
  const again = await time.until(one.host.session(SESSION))
  expect((await again.info()).head.pos).toBeGreaterThanOrEqual(head.pos)
  expect(() => again.events({ from: head }).leave()).not.toThrow()
})
