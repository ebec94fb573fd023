// Servers over one store detect a session that starts at another one.
import type { Timers } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { SessionStarts } from './session-starts.ts'

function setUp(hasSession: (session: string) => Promise<boolean>) {
  let timers: (() => void)[] = []
  const start: Timers['start'] = (delayMs, callback) => {
    if (delayMs > 2000) return () => {} // the deadline of a check
    timers.push(callback)
    return () => {
      timers = timers.filter((other) => other !== callback)
    }
  }
  const warnings: string[] = []
  const log = { info: () => {}, warn: (message: string) => void warnings.push(message) }
  const asked: string[] = []
  const starts = new SessionStarts({
    hasSession: (session) => {
      asked.push(session)
      return hasSession(session)
    },
    timers: { start },
    log,
  })
  const look = async (): Promise<void> => {
    for (const callback of timers.splice(0)) callback()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { starts, asked, warnings, look, pending: () => timers.length }
}

test('all who wait for a session are woken by one question', async () => {
  const there = new Set<string>()
  const { starts, asked, look, pending } = setUp((session) => Promise.resolve(there.has(session)))
  let woken = 0
  for (let count = 0; count < 50; count++) starts.wait('s', () => (woken += 1))
  await look()
  expect([asked, woken]).toEqual([['s'], 0])
  there.add('s')
  await look()
  expect([asked, woken, pending()]).toEqual([['s', 's'], 50, 0])
})

test('a caller that has left meanwhile is not woken', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const { starts, look, pending } = setUp(() => promise)
  let woken = 0
  const leave = starts.wait('s', () => (woken += 1))
  await look()
  leave()
  resolve(true)
  await look()
  expect([woken, pending()]).toEqual([0, 0])
})

test('of many sessions a hundred are checked per look, in turn', async () => {
  const { starts, asked, look } = setUp(() => Promise.resolve(false))
  for (let count = 0; count < 250; count++) starts.wait(`s${count}`, () => {})
  await look()
  expect(asked).toHaveLength(100)
  for (let count = 0; count < 2; count++) await look()
  expect(new Set(asked).size).toBe(250)
})

test('a failing store is logged once, and asked about one session per look', async () => {
  let fails = true
  const { starts, asked, warnings, look } = setUp(() =>
    fails ? Promise.reject(new Error('away')) : Promise.resolve(false),
  )
  for (let count = 0; count < 10; count++) starts.wait(`s${count}`, () => {})
  for (let count = 0; count < 5; count++) await look()
  expect([asked.length, warnings]).toEqual([5, ['sessions created at peers could not be checked']])
  fails = false
  await look()
  fails = true
  await look()
  expect(warnings).toHaveLength(2)
})

test('a session whose check fails each time keeps no other waiting', async () => {
  const there = new Set(['b', 'c'])
  const { starts, look } = setUp((session) =>
    session === 'a' ? Promise.reject(new Error('damaged')) : Promise.resolve(there.has(session)),
  )
  const woken: string[] = []
  for (const session of ['a', 'b', 'c']) starts.wait(session, () => void woken.push(session))
  for (let count = 0; count < 3; count++) await look()
  expect(woken).toEqual(['b', 'c'])
})
