// Tries that fail for a moment, over time that the test moves.
import { BatonError } from '@baton/core'
import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { createTime } from './passing-time.test-kit.ts'
import { tryAgain } from './try-again.ts'

const FULL = new BatonError({ code: 'store_failed', message: 'the disk is full' })
const OVER = new BatonError({ code: 'call_over', message: 'it has settled' })
const settle = (): Promise<unknown> => new Promise((resolve) => void setImmediate(resolve))

/** Fails as often as `failures` has errors. */
function start(failures: readonly unknown[], isPassing?: (cause: unknown) => boolean) {
  const { timers, pass } = createTime()
  const left = new AbortController()
  const tried: string[] = []
  const pending = [...failures]
  const done = tryAgain(
    async () => {
      tried.push('try')
      const [failure] = pending.splice(0, 1)
      if (failure) throw failure as Error // as the test says
      return 'done'
    },
    { timers, signal: left.signal, onPutOff: () => void tried.push('put off'), ...(isPassing && { isPassing }) },
  )
  const outcome = done.catch((cause: unknown) => cause)
  const waitMs = async (ms: number): Promise<number> => {
    await settle()
    pass(ms)
    await settle()
    return tried.filter((what) => what === 'try').length
  }
  return { tried, outcome, left, waitMs }
}

test('what fails is tried nine times in all, after waits that grow by a second, and then rejects with the last failure', async () => {
  const last = new BatonError({ code: 'store_failed', message: 'still full' })
  const { tried, outcome, waitMs } = start([...Array<BatonError>(8).fill(FULL), last])
  for (let seconds = 1; seconds <= 8; seconds += 1) {
    expect(await waitMs(seconds * 1000 - 1)).toBe(seconds)
    expect(await waitMs(1)).toBe(seconds + 1)
  }
  expect(await outcome).toBe(last)
  expect(tried.filter((what) => what === 'put off')).toEqual(['put off'])
})

test('what succeeds after a failure is not tried again, and nothing waits for its end any more', async () => {
  const { tried, outcome, left, waitMs } = start([FULL])
  await waitMs(1000)
  expect(await outcome).toBe('done')
  expect([tried, getEventListeners(left.signal, 'abort')]).toEqual([['try', 'put off', 'try'], []])
})

test.each([
  ['a refusal', OVER],
  ['an error of the program', new TypeError('no')],
])('%s is not tried again', async (_what, failure) => {
  const { tried, outcome } = start([failure])
  expect(await outcome).toBe(failure)
  expect(tried).toEqual(['try'])
})

test('the caller may say which failures pass', async () => {
  const { tried, outcome, waitMs } = start([OVER, FULL], (cause) => cause === OVER)
  await waitMs(1000)
  expect(await outcome).toBe(FULL)
  expect(tried).toEqual(['try', 'put off', 'try'])
})

test('what nobody needs any more is not tried again, and does not wait', async () => {
  const { tried, outcome, left, waitMs } = start([FULL])
  await settle()
  left.abort()
  expect(await outcome).toBe(FULL)
  await waitMs(60_000)
  expect(tried).toEqual(['try', 'put off'])
})
