// Sums of costs: a row without a price marks its sum as partial.
import { expect, test } from 'vitest'
import type { CostRow } from './api.ts'
import { listDays, sumCosts } from './cost-sums.ts'

const row = (day: string, agent: string, costMicros?: number): CostRow => ({
  day,
  agent,
  model: 'm',
  steps: 1,
  inputTokens: 10,
  outputTokens: 2,
  cachedTokens: 5,
  ...(costMicros !== undefined && { costMicros }),
})
const ROWS = [
  row('2026-11-28', 'a', 100),
  row('2026-11-30', 'a', 50),
  row('2026-11-30', 'b'),
  row('2026-11-30', 'c', 400),
]

test('the dearest first, and a sum that lacks a price is marked', () => {
  expect(
    sumCosts(ROWS, ({ agent }) => agent).map(({ key, costMicros, isPartial }) => [key, costMicros, isPartial]),
  ).toEqual([
    ['c', 400, false],
    ['a', 150, false],
    ['b', undefined, true],
  ])
  expect(sumCosts(ROWS, () => '')[0]).toMatchObject({ costMicros: 550, isPartial: true, steps: 4, inputTokens: 40 })
})

test('days without a step stand between the others', () => {
  expect(listDays(ROWS).map(({ key, steps }) => [key, steps])).toEqual([
    ['2026-11-28', 1],
    ['2026-11-29', 0],
    ['2026-11-30', 3],
  ])
  expect(listDays(ROWS, 2).map(({ key }) => key)).toEqual(['2026-11-29', '2026-11-30'])
  expect(listDays([])).toEqual([])
})
