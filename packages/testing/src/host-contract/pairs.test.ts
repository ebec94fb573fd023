// The rows cover every pair of values, and each row is possible.
import { expect, test } from 'vitest'
import { coverPairs } from './pairs.ts'

test('each pair of values stands in a row, with far fewer rows than there are combinations', () => {
  const table = { a: ['1', '2', '3'], b: ['x', 'y', 'z'], c: ['p', 'q'], d: ['k', 'l', 'm'] } as const
  const rows = coverPairs(table)
  const names = Object.keys(table) as (keyof typeof table)[] // the keys of that table
  const missing = names.flatMap((one) =>
    names
      .filter((other) => other !== one)
      .flatMap((other) =>
        table[one].flatMap((value) =>
          table[other]
            .filter((met) => !rows.some((row) => row[one] === value && row[other] === met))
            .map((met) => `${one}=${value} ${other}=${met}`),
        ),
      ),
  )
  expect(missing).toEqual([])
  expect(rows.length).toBeLessThan(16)
})

test('a row that is not possible is not made, and its pairs are met elsewhere', () => {
  const rows = coverPairs({ a: ['1', '2'], b: ['x', 'y'], c: ['p', 'q'] }, ({ a, b }) => a !== '1' || b !== 'x')
  expect(rows.every(({ a, b }) => a !== '1' || b !== 'x')).toBe(true)
  expect(rows.some(({ a, c }) => a === '1' && c === 'q')).toBe(true)
})
