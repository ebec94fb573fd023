// Counts that a soak considers a leak.
import { expect, test } from 'vitest'
import { findGrowth } from './holdings.ts'

const take = (what: string, values: readonly number[]) => values.map((value) => ({ [what]: value }))

test('a number that rises by one in every sample grew', () => {
  expect(findGrowth(take('timers', [500, 501, 502, 503, 504, 505]))).toEqual([{ what: 'timers', from: 501, to: 504 }])
})

test('a number that moves up and down did not grow', () => {
  expect(findGrowth(take('timers', [500, 503, 499, 501, 500, 503]))).toEqual([])
})

test('the heap may move by three in a hundred, and no more', () => {
  expect(findGrowth(take('heap MiB', [100, 100, 101, 102, 102.5, 103]))).toEqual([])
  expect(findGrowth(take('heap MiB', [100, 100, 102, 103, 104, 105]))).toEqual([
    { what: 'heap MiB', from: 100, to: 104 },
  ])
})

test('the memory that the system counts is shown and not judged', () => {
  expect(findGrowth(take('RSS MiB', [100, 200, 300]))).toEqual([])
})

test('two samples say nothing of a growth', () => {
  expect(() => findGrowth(take('timers', [1, 2]))).toThrow('three samples')
})
