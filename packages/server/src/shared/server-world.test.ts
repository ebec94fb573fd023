// A wait for a moment of the wall clock that is longer than a timer, or during which the clock is set.
import { expect, test } from 'vitest'
import { startExpiry } from './server-world.ts'

const HOUR_MS = 3_600_000

function start(atMs: number | undefined) {
  const state = { nowMs: 0, expired: 0 }
  const timers = new Set<() => void>()
  const stop = startExpiry(
    {
      clock: { nowMs: () => state.nowMs },
      timers: {
        start: (_ms, callback) => {
          timers.add(callback)
          return () => void timers.delete(callback)
        },
      },
    },
    atMs,
    () => void (state.expired += 1),
  )
  const pass = (ms: number): void => {
    state.nowMs += ms
    // A timer set by one of them waits for the next call.
    const due = [...timers]
    timers.clear()
    for (const fire of due) fire()
  }
  return { state, timers, stop, pass }
}

test('it expires once, at its moment, despite checks before', () => {
  const { state, timers, pass } = start(3 * HOUR_MS)
  pass(HOUR_MS)
  pass(HOUR_MS)
  expect(state.expired).toBe(0)
  pass(HOUR_MS)
  expect([state.expired, timers.size]).toEqual([1, 0])
})

test('a clock that is set back makes it wait longer', () => {
  const { state, pass } = start(HOUR_MS / 2)
  pass(-HOUR_MS)
  expect(state.expired).toBe(0)
  pass(2 * HOUR_MS)
  expect(state.expired).toBe(1)
})

test('after a stop nothing is reported, even after a check', () => {
  const { state, timers, stop, pass } = start(3 * HOUR_MS)
  pass(HOUR_MS)
  stop()
  expect(timers.size).toBe(0)
  pass(9 * HOUR_MS)
  expect(state.expired).toBe(0)
})

test('a value that never expires starts no timer', () => {
  expect(start(undefined).timers.size).toBe(0)
})
