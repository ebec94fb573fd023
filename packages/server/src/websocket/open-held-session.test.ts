// A session held by another process: its holder is contacted once, then the session is retried until it is free, time
// is up or the app has disconnected.
import type { Host, Session } from '@baton/core'
import { BatonError } from '@baton/core'
import { expect, test } from 'vitest'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import { createMemorySocket } from './memory-socket.ts'
import { openHeldSession } from './open-held-session.ts'

/** Opens a session that these owners hold one after another; then it is free. Time passes at once. */
async function open(owners: readonly string[], { goneAfter = Infinity, isReached = false } = {}) {
  const asked: string[] = []
  let tries = 0
  let links = 0
  const session = { id: 's', submit: () => {} } as unknown as Session // the parts in use
  const opened = await openHeldSession(
    {
      host: {
        session: (async () => {
          const owner = owners[tries]
          tries += 1
          if (owner === undefined) return session
          const data = { owner, address: `ws://${owner}:1` }
          throw new BatonError({ code: 'session_held', message: 'held', data })
        }) as Host['session'],
        stop: async () => {},
      },
      principal: { id: 'ann' },
      timers: { start: (_ms, callback) => (queueMicrotask(callback), () => {}) },
      limits: DEFAULT_CONNECTION_LIMITS,
      peers: { address: 'ws://own:1', secret: 'a secret of the peers' },
      socket: createMemorySocket().socket,
      log: { info: () => {}, warn: () => {} },
      connection: 'c',
      reachPeer: async ({ address }) => {
        asked.push(address)
        if (!isReached) return { why: 'it is dead', problem: 'address' }
        links += 1
        return { send: () => {}, close: () => void (links -= 1) }
      },
    },
    's',
    { isGone: () => tries > goneAfter },
  ).catch((thrown: BatonError) => thrown.code)
  return { opened: typeof opened === 'string' ? opened : opened.type, asked, tries, links }
}

test('an owner that cannot be reached is asked once, and the session is opened when it is free', async () => {
  const owners = [...Array<string>(5).fill('dead'), ...Array<string>(5).fill('dead-too')]
  expect(await open(owners)).toEqual({
    opened: 'here',
    asked: ['ws://dead:1', 'ws://dead-too:1'],
    tries: 11,
    links: 0,
  })
})

test('after its time it is told as held', async () => {
  const { opened, tries } = await open(Array<string>(100).fill('dead'))
  expect([opened, tries]).toEqual(['session_held', DEFAULT_CONNECTION_LIMITS.heldMs / 500 + 1])
})

test('a disconnected app is not waited for, and leaves no link to a holder', async () => {
  expect(await open(Array<string>(100).fill('dead'), { goneAfter: 2 })).toMatchObject({
    opened: 'session_held',
    tries: 3,
  })
  const reached = await open(Array<string>(100).fill('holder'), { goneAfter: 0, isReached: true })
  expect(reached).toMatchObject({ opened: 'session_held', asked: ['ws://holder:1'], links: 0 })
})

test('an own address is not asked', async () => {
  expect(await open(['own', 'own'])).toMatchObject({ opened: 'here', asked: [] })
})
