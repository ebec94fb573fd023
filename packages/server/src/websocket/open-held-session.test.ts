// A connection whose session another server has: it waits for so long, dials each owner once, and takes the session when it is free.
import { BatonError } from '@baton/core'
import type { Principal, Session, Timers } from '@baton/core'
import { expect, test } from 'vitest'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import { openHeldSession } from './open-held-session.ts'

const SESSION = { id: 's' } as Session // nothing of it is called
const HELD_MS = 2000

interface Scene {
  /** Owner of the session at each look; undefined: it is free. The last one stays. */
  readonly owners: readonly (string | undefined)[]
  readonly isGone?: (waitedMs: number) => boolean
}

async function open({ owners, isGone = () => false }: Scene) {
  let waitedMs = 0
  let looks = 0
  const dialled: string[] = []
  const asked: unknown[] = []
  const timers: Timers = {
    start: (ms, callback) => {
      waitedMs += ms
      queueMicrotask(callback)
      return () => {}
    },
  }
  const session = async (id: string, init: { readonly principal?: Principal } = {}): Promise<Session> => {
    asked.push([id, init.principal?.id])
    const owner = owners[Math.min(looks++, owners.length - 1)]
    if (owner === undefined) return await Promise.resolve(SESSION)
    throw new BatonError({ code: 'session_held', message: 'held', data: { owner, address: `ws://${owner}:1` } })
  }
  const init = {
    host: { session },
    principal: { id: 'ann' },
    timers,
    limits: { ...DEFAULT_CONNECTION_LIMITS, heldMs: HELD_MS },
    peers: { address: 'ws://self:1', secret: 'x' },
    log: { info: () => {}, warn: () => {} },
    connection: 'c',
    reachPeer: async ({ address }: { readonly address: string }) => {
      dialled.push(address)
      return await Promise.resolve({ why: 'it did not answer', problem: 'away' })
    },
  } as unknown as Parameters<typeof openHeldSession>[0] // all that it needs
  const outcome = await openHeldSession(init, 's', { isGone: () => isGone(waitedMs) }).catch((cause: unknown) => cause)
  return { outcome, waitedMs, dialled, asked: new Set(asked.map((one) => JSON.stringify(one))) }
}

test('a session that becomes free is opened here, for the same principal; its owner was dialled once', async () => {
  const { outcome, dialled, asked } = await open({ owners: ['b', 'b', 'b', undefined] })
  expect(outcome).toEqual({ type: 'here', session: SESSION })
  expect(dialled).toEqual(['ws://b:1'])
  expect(asked).toEqual(new Set(['["s","ann"]']))
})

test('another owner that has it meanwhile is dialled too', async () => {
  const { outcome, dialled } = await open({ owners: ['b', 'c', 'b', 'c', undefined] })
  expect(outcome).toMatchObject({ type: 'here' })
  expect(dialled).toEqual(['ws://b:1', 'ws://c:1'])
})

test('a session that stays elsewhere is refused after `heldMs`', async () => {
  const { outcome, waitedMs, dialled } = await open({ owners: ['b'] })
  expect(outcome).toMatchObject({ code: 'session_held' })
  expect([waitedMs, dialled]).toEqual([HELD_MS, ['ws://b:1']])
})

test('nobody waits for an app that has gone', async () => {
  const { outcome, waitedMs } = await open({ owners: ['b'], isGone: (ms) => ms >= 500 })
  expect(outcome).toMatchObject({ code: 'session_held' })
  expect(waitedMs).toBe(500)
})
