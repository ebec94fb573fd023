// Many waits on one system timer: never early, in order, and nothing is left behind when none waits.
import type { Environment } from '@baton/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SharedTimers } from './deadline.ts'

interface SystemTimer {
  readonly atMs: number
  readonly callback: () => void
}

function createWorld({ earlyMs = 0 } = {}) {
  let nowMs = 1000
  let started = 0
  const pending: SystemTimer[] = []
  const environment: Pick<Environment, 'clock' | 'timers'> = {
    clock: { nowMs: () => nowMs },
    timers: {
      start: (delayMs, callback) => {
        const timer = { atMs: nowMs + (delayMs > earlyMs ? delayMs - earlyMs : delayMs), callback }
        started += 1
        pending.push(timer)
        return () => void (pending.includes(timer) && pending.splice(pending.indexOf(timer), 1))
      },
    },
  }
  const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
  const pass = async (ms: number): Promise<void> => {
    const untilMs = nowMs + ms
    for (;;) {
      await settle()
      const next = pending.toSorted((one, other) => one.atMs - other.atMs)[0]
      if (!next || next.atMs > untilMs) break
      pending.splice(pending.indexOf(next), 1)
      nowMs = Math.max(nowMs, next.atMs)
      next.callback()
    }
    nowMs = untilMs
  }
  const countStarted = (): number => started
  return { timers: new SharedTimers(environment), pending, settle, pass, countStarted, now: () => nowMs }
}

test('waits that end within a few microtasks start no system timer', async () => {
  const { timers, settle, countStarted } = createWorld()
  for (let wait = 0; wait < 10; wait++) {
    const stop = timers.start(30_000, () => {})
    await Promise.resolve()
    stop()
  }
  await settle()
  expect(countStarted()).toBe(0)
})

test('the system timer is one, and is cleared when no wait is left', async () => {
  const { timers, settle, pending } = createWorld()
  const stops = [500, 100, 900].map((delayMs) => timers.start(delayMs, () => {}))
  await settle()
  expect(pending.map(({ atMs }) => atMs)).toEqual([1100])
  for (const stop of stops) stop()
  expect(pending).toEqual([])
  for (const stop of stops) stop() // stopping again changes nothing
  await settle()
  expect(pending).toEqual([])
})

test('a wait that is due before all others is not late', async () => {
  const { timers, pass, settle, now } = createWorld()
  const fired: number[] = []
  timers.start(500, () => void fired.push(now()))
  await settle()
  timers.start(20, () => void fired.push(now()))
  await pass(1000)
  expect(fired).toEqual([1020, 1500])
})

test('a system timer that fires early is set again', async () => {
  const { timers, pass, now } = createWorld({ earlyMs: 3 })
  const fired: number[] = []
  timers.start(100, () => void fired.push(now()))
  await pass(99)
  expect(fired).toEqual([])
  await pass(1)
  expect(fired).toEqual([1100])
})

test('what is set, so that it is due at once, while waits fire comes after them, and holds up nothing', async () => {
  const { timers, pass } = createWorld()
  const fired: string[] = []
  timers.start(10, () => {
    fired.push('first')
    timers.start(0, () => void fired.push('third'))
  })
  const stop = timers.start(10, () => void fired.push('second'))
  await pass(10)
  expect(fired).toEqual(['first', 'second', 'third'])
  stop() // this one has fired
  await pass(10)
  expect(fired).toHaveLength(3)
})

test('a callback that throws takes no other wait with it', async () => {
  const { timers, pass, settle } = createWorld()
  const fired: string[] = []
  timers.start(10, () => {
    throw new Error('broken')
  })
  timers.start(10, () => void fired.push('other'))
  await settle()
  await expect(pass(10)).rejects.toThrow('broken')
  await pass(10)
  expect(fired).toEqual(['other'])
})

test('a clock that is set neither hastens nor holds up a wait, where there is a monotonic one', async () => {
  let todayMs = 0
  let monotonicMs = 0
  const callbacks: (() => void)[] = []
  const timers = new SharedTimers({
    clock: { nowMs: () => todayMs, monotonicMs: () => monotonicMs },
    timers: { start: (_, callback) => (callbacks.push(callback), () => {}) },
  })
  let fired = 0
  timers.start(100, () => void (fired += 1))
  await new Promise((resolve) => void setImmediate(resolve))
  todayMs = 3_600_000
  callbacks[0]?.()
  expect(fired).toBe(0)
  todayMs = -3_600_000
  monotonicMs = 100
  callbacks[1]?.()
  expect(fired).toBe(1)
})

test('any waits fire at their moment, in the order in which they are due, but for those that were stopped', async () => {
  const wait = fc.record({ delayMs: fc.integer({ min: 0, max: 50 }), stops: fc.boolean(), pauseMs: fc.nat(3) })
  await fc.assert(
    fc.asyncProperty(fc.array(wait, { maxLength: 40 }), async (waits) => {
      const { timers, pass, now, pending } = createWorld()
      const expected: { readonly id: number; readonly atMs: number }[] = []
      const fired: { readonly id: number; readonly atMs: number }[] = []
      for (const [id, { delayMs, stops, pauseMs }] of waits.entries()) {
        const atMs = now() + delayMs
        const stop = timers.start(delayMs, () => void fired.push({ id, atMs: now() }))
        if (stops) stop()
        else expected.push({ id, atMs })
        await pass(pauseMs)
      }
      await pass(100)
      expect(fired).toEqual(expected.toSorted((one, other) => one.atMs - other.atMs))
      expect(pending).toEqual([])
    }),
    { numRuns: 100 },
  )
})

test('a wait that takes the place of an ended one far from it still fires in due order', async () => {
  const { timers, settle, pass } = createWorld()
  const fired: number[] = []
  const start = (delayMs: number) => timers.start(delayMs, () => void fired.push(delayMs))
  start(1)
  start(100)
  start(2)
  const stop = start(101)
  for (const delayMs of [102, 3, 4]) start(delayMs)
  stop()
  for (const delayMs of [200, 201, 202]) start(delayMs)
  await settle()
  await pass(50)
  expect(fired).toEqual([1, 2, 3, 4])
})
