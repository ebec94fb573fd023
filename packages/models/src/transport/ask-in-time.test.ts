// Calling a function for a key, and how long to wait for it.
import { BatonError } from '@baton/core'
import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { askInTime } from './ask-in-time.ts'

const refuse = (why: string) => new BatonError({ code: 'model_auth_failed', message: why })
const never = () => new Promise<string>(() => {})
const signal = new AbortController().signal

test('what it gives is taken, at once or later', async () => {
  expect(await askInTime(() => 'now', { signal, refuse })).toBe('now')
  expect(await askInTime(() => Promise.resolve('later'), { signal, refuse })).toBe('later')
})

test('one that never answers is given up after its time', async () => {
  const asked = askInTime(never, { signal, refuse, timeoutMs: 5 })
  await expect(asked).rejects.toMatchObject({ code: 'model_auth_failed', message: 'no value arrived within 5 ms' })
})

test.each<[string, () => string | Promise<string>]>([
  [
    'at once',
    () => {
      throw new Error('no profile')
    },
  ],
  ['later', () => Promise.reject(new Error('no profile'))],
])('one that fails %s is refused with its reason', async (_when, ask) => {
  await expect(askInTime(ask, { signal, refuse })).rejects.toMatchObject({ message: 'no profile' })
})

test('an error with a code of its own stays as it is', async () => {
  const own = new BatonError({ code: 'model_not_configured', message: 'install it' })
  await expect(askInTime(() => Promise.reject(own), { signal, refuse })).rejects.toBe(own)
})

test('an abort ends the waiting, and one before it asks nobody', async () => {
  const stop = new AbortController()
  const asked = askInTime(never, { signal: stop.signal, refuse })
  stop.abort()
  await expect(asked).rejects.toMatchObject({ code: 'cancelled' })
  let count = 0
  const again = askInTime(() => String(count++), { signal: stop.signal, refuse })
  await expect(again).rejects.toMatchObject({ code: 'cancelled' })
  expect(count).toBe(0)
})

test.each<[string, () => unknown]>([
  ['is answered', () => 'key'],
  ['fails', () => Promise.reject(new Error('no profile'))],
])('one that %s leaves no timer and no listener', async (_how, ask) => {
  vi.useFakeTimers()
  try {
    const stop = new AbortController()
    await askInTime(ask, { signal: stop.signal, refuse }).catch(() => {})
    expect([vi.getTimerCount(), getEventListeners(stop.signal, 'abort')]).toEqual([0, []])
  } finally {
    vi.useRealTimers()
  }
})
