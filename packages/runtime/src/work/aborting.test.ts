// Aborting: a session waits for each of its aborted calls within a time limit; a guarded signal behaves as the platform's
// own, except when its listeners throw.
import type { Timers } from '@baton/core/internal'
import { describe, expect, it, test } from 'vitest'
import { AbortedCalls, guardSignal } from './aborting.ts'

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

function openGuarded() {
  const controller = new AbortController()
  const reported: unknown[] = []
  const signal = guardSignal(controller.signal, (cause) => reported.push(cause))
  return { controller, signal, reported }
}

describe('a guarded signal', () => {
  it('is the same real signal', () => {
    const { controller, signal } = openGuarded()
    expect(signal).toBe(controller.signal)
    expect(AbortSignal.any([signal]).aborted).toBe(false)
    controller.abort('why')
    expect([signal.aborted, signal.reason]).toEqual([true, 'why'])
  })

  it('reports what listeners of every kind throw, and tells the others', async () => {
    const { controller, signal, reported } = openGuarded()
    const told: string[] = []
    signal.addEventListener('abort', () => {
      throw new Error('thrown')
    })
    signal.addEventListener('abort', {
      handleEvent: () => {
        throw new Error('thrown by an object')
      },
    })
    const rejects: () => unknown = () => Promise.reject(new Error('rejected'))
    signal.addEventListener('abort', rejects)
    signal.onabort = () => {
      throw new Error('thrown by onabort')
    }
    signal.addEventListener('abort', () => told.push('last'))
    controller.abort()
    await Promise.resolve()
    await Promise.resolve()
    expect(told).toEqual(['last'])
    expect(reported.map(String).toSorted()).toEqual([
      'Error: rejected',
      'Error: thrown',
      'Error: thrown by an object',
      'Error: thrown by onabort',
    ])
  })

  it('tells a listener that was removed nothing, also one that was added with options or again', () => {
    const { controller, signal } = openGuarded()
    const told: string[] = []
    const plain = (): unknown => told.push('plain')
    const early = (): unknown => told.push('early')
    const twice = (): unknown => told.push('twice')
    const never = (): unknown => told.push('never added')
    signal.addEventListener('abort', plain)
    signal.addEventListener('abort', early, { capture: true })
    signal.addEventListener('abort', twice)
    signal.addEventListener('abort', twice)
    signal.removeEventListener('abort', plain)
    signal.removeEventListener('abort', early, { capture: true })
    signal.removeEventListener('abort', twice)
    signal.addEventListener('abort', twice)
    signal.removeEventListener('abort', never)
    controller.abort()
    expect(told).toEqual(['twice'])
  })

  it('tells the newest onabort alone', () => {
    const { controller, signal } = openGuarded()
    const told: string[] = []
    signal.onabort = () => told.push('first')
    signal.onabort = () => told.push('second')
    expect(signal.onabort).toBeTypeOf('function')
    controller.abort()
    expect(told).toEqual(['second'])
  })

  // Own accessors would give each signal its own hidden class, which outlives its object by far.
  it('has the same accessors as every other one', () => {
    const [one, other] = [openGuarded(), openGuarded()].map(({ signal }) =>
      Object.getOwnPropertyDescriptors<object>(signal),
    )
    expect(one).toMatchObject({ onabort: { get: expect.any(Function) } })
    expect(one?.onabort?.get).toBe(other?.onabort?.get)
  })
})
