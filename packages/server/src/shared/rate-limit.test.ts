// A token bucket with its own clock.
import { expect, test } from 'vitest'
import { createRateLimit } from './rate-limit.ts'

function setUp(perMinute: number, keysMax?: number) {
  let nowMs = 1_000_000
  const limit = createRateLimit({ perMinute, clock: { nowMs: () => nowMs }, ...(keysMax && { keysMax }) })
  return {
    limit,
    pass: (byMs: number) => {
      nowMs += byMs
    },
  }
}

test('the burst of a minute passes, then one at a time as tokens are refilled', () => {
  const { limit, pass } = setUp(3)
  expect([limit.take('a'), limit.take('a'), limit.take('a'), limit.take('a')]).toEqual([0, 0, 0, 20_000])
  pass(5000)
  expect(limit.take('a')).toBe(15_000)
  pass(15_000)
  expect([limit.take('a'), limit.take('a')]).toEqual([0, 20_000])
})

test('keys do not spend each other’s tokens', () => {
  const { limit } = setUp(1)
  expect([limit.take('a'), limit.take('a'), limit.take('b')]).toEqual([0, 60_000, 0])
})

test('a long pause fills the bucket once, not more', () => {
  const { limit, pass } = setUp(2)
  limit.take('a')
  pass(3_600_000)
  expect([limit.take('a'), limit.take('a'), limit.take('a')]).toEqual([0, 0, 30_000])
})

test('a clock that goes back gives no tokens and takes none', () => {
  const { limit, pass } = setUp(1)
  limit.take('a')
  pass(-60_000)
  expect(limit.take('a')).toBe(60_000)
})

test('a clock that is set forward gives no tokens', () => {
  let wallMs = 0
  const limit = createRateLimit({ perMinute: 1, clock: { nowMs: () => wallMs, monotonicMs: () => 0 } })
  limit.take('a')
  wallMs = 86_400_000
  expect(limit.take('a')).toBe(60_000)
})

test('with more keys than are remembered, the one that was longest away starts anew', () => {
  const { limit } = setUp(1, 2)
  for (const key of ['a', 'b', 'a', 'c']) limit.take(key)
  expect([limit.take('a'), limit.take('c'), limit.take('b')]).toEqual([60_000, 60_000, 0])
})
