// The pause before a model is called again: bounded, growing, and the same everywhere.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { retryDelayMs } from './answer.ts'
import { DEFAULT_RETRY } from './spec.ts'

const error = { code: 'model_overloaded', message: 'busy', retryable: true } as const
const failed = { session: 's', attempt: 1, failures: 0, error }

test('is the same for the same attempt, and another for another', () => {
  expect(retryDelayMs(DEFAULT_RETRY, failed)).toBe(262)
  expect(retryDelayMs(DEFAULT_RETRY, { ...failed, attempt: 2 })).toBe(261)
  expect(retryDelayMs(DEFAULT_RETRY, { ...failed, session: 'another' })).toBe(499)
  expect(retryDelayMs(DEFAULT_RETRY, { ...failed, failures: 3 })).toBe(2098)
})

test('there is none for an error that will come again', () => {
  expect(retryDelayMs(DEFAULT_RETRY, { ...failed, error: { ...error, retryable: false } })).toBeUndefined()
})

test('is at least what the provider asks for, and there is none when it asks for too much', () => {
  const asked = (retryAfterMs: number) => retryDelayMs(DEFAULT_RETRY, { ...failed, error: { ...error, retryAfterMs } })
  expect(asked(5000)).toBe(5000)
  expect(asked(1)).toBe(262)
  expect(asked(30_000)).toBe(30_000)
  expect(asked(30_001)).toBeUndefined()
})

test('lies between half of the backoff and the whole of it, whatever fails', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.nat(40), (session, attempt, failures) => {
      const delayMs = retryDelayMs(DEFAULT_RETRY, { session, attempt, failures, error }) ?? -1
      const backoffMs = Math.min(30_000, 500 * 2 ** failures)
      expect(delayMs).toBeGreaterThanOrEqual(backoffMs / 2)
      expect(delayMs).toBeLessThanOrEqual(backoffMs)
      expect(Number.isInteger(delayMs)).toBe(true)
    }),
    { seed: 7 },
  )
})

test('spreads sessions that fail together over the whole of that time', () => {
  const delays = Array.from(
    { length: 200 },
    (_, at) => retryDelayMs(DEFAULT_RETRY, { ...failed, session: `s${at}` }) ?? 0,
  )
  expect(Math.min(...delays)).toBeLessThan(270)
  expect(Math.max(...delays)).toBeGreaterThan(480)
})
