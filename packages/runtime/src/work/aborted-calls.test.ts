// Aborted model calls: a session waits for each of its calls within a time limit.
import type { Timers } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { AbortedCalls } from './aborted-calls.ts'

function create() {
  const timers = new Set<() => void>()
  const warnings: string[] = []
  const start: Timers['start'] = (_, callback) => {
    timers.add(callback)
    return () => void timers.delete(callback)
  }
  const calls = new AbortedCalls({
    timers: { start },
    log: { info: () => {}, warn: (said) => void warnings.push(said) },
  })
  const pass = (): void => {
    for (const fire of timers) fire()
  }
  return { calls, timers, warnings, pass }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a session waits until each of its calls has ended, and no timer is left', async () => {
  const { calls, timers, warnings } = create()
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  for (const { promise } of gates) calls.note('one', promise)
  let isOver = false
  void calls.settled('one')?.then(() => (isOver = true))
  gates[0]?.resolve()
  await settle()
  expect([isOver, calls.count]).toEqual([false, 1])
  gates[1]?.resolve()
  await settle()
  expect([isOver, calls.count, timers.size, warnings]).toEqual([true, 0, 0, []])
  expect(calls.settled('one')).toBeUndefined()
})

test('a call that does not end is abandoned in its time, and the calls of another session are none of its', async () => {
  const { calls, warnings, pass } = create()
  calls.note('deaf', new Promise(() => {}))
  calls.note('other', new Promise(() => {}))
  const settled = calls.settled('deaf')
  expect(calls.settled('third')).toBeUndefined()
  pass()
  await settled
  await settle()
  expect([calls.count, warnings.length]).toEqual([0, 2])
})
