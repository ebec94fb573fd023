// The lease of a client over a store that fails, and over restarts of its session: it is renewed until its front has
// no more use for it.
import type { FrontSession, LeaseClient } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { keepLease } from './keep-lease.ts'

function createWorld() {
  const timers = new Set<() => void>()
  const gone = new Set<() => void>()
  const renewals: PromiseWithResolvers<void>[] = []
  const warned: string[] = []
  const stop = keepLease({
    session: {
      id: 's',
      onClientsGone: (callback: () => void) => {
        gone.add(callback)
        return () => void gone.delete(callback)
      },
    } as unknown as FrontSession, // the fields in use
    client: {
      connection: 'editor',
      renew: () => {
        const renewal = Promise.withResolvers<void>()
        renewals.push(renewal)
        return renewal.promise
      },
    } as unknown as LeaseClient, // likewise
    timers: {
      start: (_ms, callback) => {
        timers.add(callback)
        return () => void timers.delete(callback)
      },
    },
    log: { info: () => {}, warn: (message) => void warned.push(message) },
  })
  const fire = (callbacks: Set<() => void>): void => {
    for (const callback of callbacks) {
      if (callbacks === timers) timers.delete(callback)
      callback()
    }
  }
  return {
    renewals,
    warned,
    stop,
    waiting: () => [timers.size, gone.size],
    pass: () => fire(timers),
    restart: () => fire(gone),
    settle: () => new Promise<void>((resolve) => void setImmediate(resolve)),
  }
}

test('a lease whose renewal failed is renewed again, each time', async () => {
  const { renewals, warned, pass, settle } = createWorld()
  for (let count = 1; count <= 3; count++) {
    pass()
    expect(renewals).toHaveLength(count)
    renewals[count - 1]?.reject(new Error('the disk is full'))
    await settle()
    expect(warned).toHaveLength(count)
  }
})

test('a client that a restart has detached is attached again at once, and then renewed as before', async () => {
  const { renewals, waiting, pass, restart, settle } = createWorld()
  restart()
  expect(renewals).toHaveLength(1)
  pass()
  expect(renewals).toHaveLength(2)
  for (const { resolve } of renewals) resolve()
  await settle()
  expect(waiting()).toEqual([1, 1])
  pass()
  expect(renewals).toHaveLength(3)
})

test('a lease whose front has left is renewed no more, also if a renewal ends or fails later', async () => {
  const { renewals, warned, stop, waiting, pass, restart, settle } = createWorld()
  pass()
  restart()
  stop()
  renewals[0]?.resolve()
  renewals[1]?.reject(new Error('closed'))
  await settle()
  pass()
  restart()
  expect([renewals.length, warned, waiting()]).toEqual([2, [], [0, 0]])
})
