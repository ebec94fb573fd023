// A guest's connection to a silent holder.
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StoreConnection } from './store-connection.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a silent holder is pinged and left, however often its guest asks meanwhile', async () => {
  const written: string[] = []
  let destroyed = 0
  const socket = Object.assign(new EventEmitter(), {
    write: (line: string) => written.push(line),
    destroy: () => (destroyed += 1),
    ref: () => {},
    unref: () => {},
  })
  const connection = new StoreConnection(socket as unknown as Socket, 10_000) // the parts in use
  for (let seconds = 0; seconds < 19; seconds += 1) {
    void connection.ask('renew', [])
    await vi.advanceTimersByTimeAsync(1000)
  }
  expect([written.filter((line) => line.includes('ping')).length, destroyed]).toEqual([1, 0])
  await vi.advanceTimersByTimeAsync(1000)
  expect(destroyed).toBe(1)
  connection.handleLoss()
  expect(vi.getTimerCount()).toBe(0)
})
