// Readiness checks of the store: their answers and how often the store is asked.
import type { StoreHealth } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { createReadiness } from './serve.ts'

test('the store is asked once a second; a check gets a code, and the log the words, once', async () => {
  let health: StoreHealth = { ok: true }
  let nowMs = 0
  let asked = 0
  const logged: string[] = []
  const log = {
    info: (message: string) => void logged.push(message),
    warn: (message: string) => void logged.push(message),
  }
  const store = { health: () => Promise.resolve(((asked += 1), health)) }
  const ready = createReadiness({ store, log, clock: { nowMs: () => nowMs } })
  expect(await Promise.all([ready(), ready(), ready()])).toEqual([undefined, undefined, undefined])
  expect(asked).toBe(1)
  health = { ok: false, code: 'store_gone', message: 'the file /secret/place is gone', hint: 'start again' }
  nowMs = 1000
  expect(await ready()).toBe('store_gone')
  nowMs = 2000
  expect(await ready()).toBe('store_gone')
  expect(logged).toEqual(['the store cannot be written'])
  health = { ok: true }
  nowMs = 3000
  expect(await ready()).toBeUndefined()
  expect([asked, logged.length]).toEqual([4, 2])
})
