// Durations, counts and money as people read them.
import { expect, test } from 'vitest'
import { formatAgo, formatCost, formatCount, formatDuration, shortName } from './amounts.ts'

test.each([
  [-5, '0 ms'],
  [0, '0 ms'],
  [999.6, '999 ms'],
  [1500, '1.5 s'],
  [12_400, '12 s'],
  [60_000, '1 min'],
  [185_000, '3 min 5 s'],
  [7_800_000, '2 h 10 min'],
  [277_200_000, '3 d 5 h'],
])('%d ms', (ms, words) => {
  expect(formatDuration(ms)).toBe(words)
})

test('counts, costs and names', () => {
  expect([0, 999, 1240, 1_234_567, 12_345_678].map(formatCount)).toEqual(['0', '999', '1,240', '1.2 M', '12 M'])
  expect([undefined, 0, 1, 5000, 36_900, 2_570_000].map(formatCost)).toEqual([
    '–',
    '$0',
    '$0.000001',
    '$0.005',
    '$0.0369',
    '$2.57',
  ])
  expect(shortName('ann-phone')).toBe('ann-phone')
  expect(shortName('program-f6a99812-1036-4822-9f28-a60e382d201c')).toBe('program-f6a99…201c')
  expect(formatAgo(1000, 1500)).toBe('now')
  expect(formatAgo(0, 125_000)).toBe('2 min ago')
})
