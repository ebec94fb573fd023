// When a gateway renews the leases of its clients, and when it does not.
import type { Input } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { ClientLeases } from './client-leases.ts'

const LEASE_MS = 90_000

function createWorld() {
  let nowMs = 0
  let isNeeded = false
  let failure: Error | undefined
  let service: Promise<unknown> = Promise.resolve()
  const timers = new Map<object, { readonly atMs: number; readonly fire: () => void }>()
  const updates: (readonly Input[])[] = []
  const leases = new ClientLeases({
    clock: { nowMs: () => nowMs },
    timers: {
      start: (delayMs, fire) => {
        const key = {}
        timers.set(key, { atMs: nowMs + delayMs, fire })
        return () => void timers.delete(key)
      },
    },
    leaseMs: LEASE_MS,
    isNeeded: () => isNeeded,
    submit: async (inputs) => {
      updates.push(inputs)
      const fails = failure
      await service
      if (fails) throw fails
      return inputs.map((_, index) => ({ type: 'accepted', pos: 100 * updates.length + index }))
    },
    log: { info: () => {}, warn: () => {} },
  })
  const pass = (ms: number): void => {
    const untilMs = nowMs + ms
    for (;;) {
      const due = [...timers].filter(([, { atMs }]) => atMs <= untilMs)
      const [next] = due.toSorted(([, one], [, other]) => one.atMs - other.atMs)
      if (!next) break
      const [key, { atMs, fire }] = next
      timers.delete(key)
      nowMs = atMs
      fire()
    }
    nowMs = untilMs
  }
  const need = (value: boolean): void => {
    isNeeded = value
    leases.notice()
  }
  const fail = (cause: Error | undefined): void => {
    failure = cause
  }
  /** Updates from now on are answered when this returns. */
  const hold = (): (() => void) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    service = promise
    return () => {
      service = Promise.resolve()
      resolve()
    }
  }
  return { leases, updates, pass, need, fail, hold, timers }
}

function attach(connection: string, leaseMs?: number): Input {
  const can = { sequential: false, claims: true, reportsPlayback: true, asks: true }
  const own = leaseMs === undefined ? {} : { leaseMs }
  return { type: 'client-attached', connection, principal: 'ann', ...can, ...own }
}

const said: Input = { type: 'user-input', inputId: 'i', parts: [{ type: 'text', text: 'hi' }] }
const listNames = (inputs: readonly Input[] | undefined): readonly string[] =>
  (inputs ?? []).map((input) => (input.type === 'client-attached' ? input.connection : input.type))

test('a session that rests costs no Update, for however long its clients stay', async () => {
  const { leases, updates, pass, need, timers } = createWorld()
  await leases.submit([attach('phone'), attach('tablet')])
  need(false)
  pass(86_400_000)
  expect(updates).toHaveLength(1)
  expect(timers.size).toBe(0)
})

test('what is said after a rest brings the clients along in the same Update, and has its own answer', async () => {
  const { leases, updates, pass } = createWorld()
  await leases.submit([attach('phone')])
  await leases.submit([attach('tablet')])
  pass(LEASE_MS)
  expect(await leases.submit([said])).toEqual([{ type: 'accepted', pos: 302 }])
  expect(updates.slice(2).map(listNames)).toEqual([['phone', 'tablet', 'user-input']])
  expect(updates[2]?.[0]).toMatchObject({ leaseMs: LEASE_MS })
  await leases.submit([said])
  expect(listNames(updates[3])).toEqual(['user-input'])
})

test('while a turn runs each lease is renewed three times in its length, and no longer', async () => {
  const { leases, updates, pass, need } = createWorld()
  await leases.submit([attach('phone')])
  need(true)
  pass(2 * LEASE_MS)
  expect(updates.slice(1).map(listNames)).toEqual(Array.from({ length: 6 }, () => ['phone']))
  need(false)
  pass(10 * LEASE_MS)
  expect(updates).toHaveLength(7)
})

test('a turn that begins elsewhere after a rest has the clients at once', async () => {
  const { leases, updates, pass, need } = createWorld()
  await leases.submit([attach('phone')])
  pass(3 * LEASE_MS)
  need(true)
  expect(updates.slice(1).map(listNames)).toEqual([['phone']])
})

test('a failed renewal is repeated with the next update', async () => {
  const { leases, updates, pass, fail } = createWorld()
  await leases.submit([attach('phone')])
  pass(LEASE_MS)
  fail(new Error('the service is away'))
  await expect(leases.submit([said])).rejects.toThrow('the service is away')
  fail(undefined)
  await leases.submit([said])
  expect(updates.slice(1).map(listNames)).toEqual([
    ['phone', 'user-input'],
    ['phone', 'user-input'],
  ])
})

test('a client that left, attaches in this very Update or has its own lease is not renewed', async () => {
  const { leases, updates, pass, need } = createWorld()
  await leases.submit([attach('gone'), attach('again'), attach('own', 5000)])
  await leases.submit([{ type: 'client-detached', connection: 'gone' }])
  pass(LEASE_MS)
  await leases.submit([attach('again')])
  need(true)
  pass(LEASE_MS / 2)
  expect(updates.slice(2).map(listNames)).toEqual([['again'], ['again']])
})

test('nothing is renewed after the gateway has released the session', async () => {
  const { leases, updates, pass, need, timers } = createWorld()
  await leases.submit([attach('phone')])
  need(true)
  leases.close()
  leases.notice()
  pass(LEASE_MS)
  expect(updates).toHaveLength(1)
  expect(timers.size).toBe(0)
})

test.each(['what someone says', 'a turn that needs it'])(
  'a client that leaves while %s renews it stays detached when the renewal fails',
  async (way) => {
    const { leases, updates, pass, need, fail, hold } = createWorld()
    await leases.submit([attach('gone'), attach('here')])
    pass(LEASE_MS)
    const answer = hold()
    fail(new Error('the service is away'))
    if (way === 'what someone says') leases.submit([said]).catch(() => {})
    else need(true)
    expect(listNames(updates[1])).toContain('gone')
    fail(undefined)
    const detached = leases.submit([{ type: 'client-detached', connection: 'gone' }])
    answer()
    await detached
    need(false)
    pass(LEASE_MS)
    await leases.submit([said])
    expect(updates.slice(2).map(listNames)).toEqual([['client-detached'], ['here', 'user-input']])
  },
)
