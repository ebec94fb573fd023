// Tool retries: their number, their delays, and the failures that cause them.
import type { Logger, Tool } from '@baton/core'
import { BatonError } from '@baton/core'
import { expect, test } from 'vitest'
import { runWithRetry } from './tool-retry.ts'

function retrying(retry: Tool['retry']) {
  const delays: number[] = []
  const told: unknown[] = []
  const cancellation = new AbortController()
  const log: Logger = { info: () => {}, warn: (_message, fields) => void told.push(fields) }
  const tool = { name: 'book', ...(retry && { retry }) } as Tool // the fields that a retry reads
  const run = async (
    attempt: (tries: number) => unknown,
  ): Promise<{ readonly value?: unknown; readonly thrown?: unknown; readonly tries: number }> => {
    let tries = 0
    const timers = {
      start: (delayMs: number, callback: () => void) => {
        delays.push(delayMs)
        queueMicrotask(callback)
        return () => {}
      },
    }
    try {
      const value = await runWithRetry(tool, { timers, log, cancellation, callId: 'call-1' }, () =>
        attempt((tries += 1)),
      )
      return { value, tries }
    } catch (thrown) {
      return { thrown, tries }
    }
  }
  return { run, delays, told, cancellation }
}

const busy = (retryAfterMs?: number) =>
  new BatonError({
    code: 'api_unavailable',
    message: 'busy',
    ...(retryAfterMs !== undefined && { data: { retryAfterMs } }),
  })

test('a tool runs as often as its attempts say, and then its last failure counts', async () => {
  const { run, delays, told } = retrying({ attempts: 3 })
  const last = await run((tries) => {
    throw new Error(`failure ${tries}`)
  })
  expect(last).toMatchObject({ tries: 3, thrown: { message: 'failure 3' } })
  expect(delays).toEqual([500, 1000])
  expect(told).toMatchObject([
    { callId: 'call-1', tool: 'book', attempt: 1, delayMs: 500 },
    { callId: 'call-1', tool: 'book', attempt: 2, delayMs: 1000 },
  ])
})

test('a tool without `retry` runs once', async () => {
  const { run, delays } = retrying(undefined)
  expect(await run(() => Promise.reject(busy()))).toMatchObject({ tries: 1 })
  expect(delays).toEqual([])
})

test('a service says how long to wait, and `maxMs` bounds what it says', async () => {
  const { run, delays } = retrying({ attempts: 4, baseMs: 100, maxMs: 2000 })
  const waits = [1500, 60_000, 1]
  await run((tries) => Promise.reject(busy(waits[tries - 1])))
  expect(delays).toEqual([1500, 2000, 400])
})

test('the wait doubles from `baseMs` to `maxMs`', async () => {
  const { run, delays } = retrying({ attempts: 6, baseMs: 100, maxMs: 500 })
  await run(() => Promise.reject(busy()))
  expect(delays).toEqual([100, 200, 400, 500, 500])
})

test('a failure that stays is not tried again', async () => {
  const { run } = retrying({ attempts: 3 })
  const refused = new BatonError({ code: 'invalid_arguments', message: 'no' })
  expect(await run(() => Promise.reject(refused))).toMatchObject({ tries: 1, thrown: refused })
  expect(await run(() => Promise.reject(Object.assign(new Error('gone'), { status: 404 })))).toMatchObject({ tries: 1 })
  expect(await run(() => Promise.reject(Object.assign(new Error('busy'), { status: 503 })))).toMatchObject({ tries: 3 })
})

test('a call that is over is not tried again, also when it ends during the wait', async () => {
  const before = retrying({ attempts: 3 })
  expect(
    await before.run(() => {
      before.cancellation.abort()
      throw busy()
    }),
  ).toMatchObject({ tries: 1 })
  const during = retrying({ attempts: 3 })
  const log = during.told
  Object.defineProperty(log, 'push', { value: () => during.cancellation.abort() })
  expect(await during.run(() => Promise.reject(busy()))).toMatchObject({ tries: 1 })
})

test('what succeeds at the second try is the result', async () => {
  const { run } = retrying({ attempts: 3 })
  expect(await run((tries) => (tries === 1 ? Promise.reject(busy()) : 'booked'))).toEqual({ value: 'booked', tries: 2 })
})
