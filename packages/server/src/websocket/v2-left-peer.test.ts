// A session that a peer holds is left while requests wait for the peer: each has its answer, whatever becomes of the
// peer. The test plays the peer.
import { BatonError } from '@baton/core'
import { createNodeEnvironment } from '@baton/host'
import type { RequestType } from '@baton/protocol'
import { REQUESTS } from '@baton/protocol'
import { expect, test } from 'vitest'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import { createMemorySocket } from './memory-socket.ts'
import { openV2Connection } from './v2-connection.ts'
import { DeviceNames } from './v2-device.ts'
import { turnLoop } from './v2-memory-app.test-kit.ts'
import type { V2ConnectionOptions } from './v2-state.ts'
import { OF_SESSION } from './v2-state.ts'

interface Asked {
  readonly id: string
  readonly type: RequestType
}

/** An app that follows a session of a peer. */
async function follow() {
  const memory = createMemorySocket()
  const timers = new Set<() => void>()
  const asked: Asked[] = []
  let isLeft = false
  let pass = (_text: string): boolean => true
  const held = new BatonError({
    code: 'session_held',
    message: 'held',
    data: { owner: 'h', address: 'ws://10.0.0.2:1' },
  })
  const host = { session: () => Promise.reject(held), sessions: async () => ({ sessions: [] }), watch: () => [] }
  const start = (_ms: number, callback: () => void) => {
    timers.add(callback)
    return () => void timers.delete(callback)
  }
  openV2Connection({
    ...createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) }),
    timers: { start },
    socket: memory.socket,
    connection: 'c',
    host: host as unknown as V2ConnectionOptions['host'], // the parts in use
    principal: { id: 'ann' },
    log: { info: () => {}, warn: () => {} },
    limits: DEFAULT_CONNECTION_LIMITS,
    isDraining: () => false,
    allow: {},
    deviceNames: new DeviceNames(),
    peers: { address: 'ws://10.0.0.1:1', secret: 'a secret of the peers' },
    reachPeer: async ({ isPassed = () => true }) => {
      pass = isPassed
      return {
        send: (text) => void asked.push(JSON.parse(text) as Asked), // written by this connection
        close: () => (isLeft = true),
      }
    },
  })
  const send = (id: string, type: RequestType, given: object = {}): void =>
    memory.deliver(JSON.stringify({ id, type, ...given }))
  /** The peer's answer, which the app no longer gets once it has left. */
  const answer = (id: string): void => {
    const text = JSON.stringify({ type: 'ok', re: id })
    if (!isLeft && pass(text)) memory.socket.send(text)
  }
  const answered = (): readonly string[] =>
    memory.sent.flatMap((text) => (JSON.parse(text) as { readonly re?: string }).re ?? [])
  send('open', 'session.open', { session: 's' })
  await turnLoop(2)
  answer('open')
  return {
    send,
    answer,
    answered,
    asked: () => asked.map(({ id }) => id),
    isLeft: () => isLeft,
    drop: memory.drop,
    pass: async () => {
      const due = [...timers]
      for (const fire of due) fire()
      await turnLoop(2)
    },
  }
}

const PASSED = (Object.keys(REQUESTS) as readonly RequestType[]).filter((type) => OF_SESSION.has(type)) // its keys by type

test.each(PASSED)('%s waits for the peer while its session is left', async (type) => {
  const app = await follow()
  app.send('first', type)
  app.send('close', 'session.close')
  app.send('next', 'session.close')
  await turnLoop(2)
  expect(app.isLeft()).toBe(false)
  for (const id of app.asked().slice(1).toReversed()) app.answer(id)
  await turnLoop(2)
  const passed = type === 'session.close' ? ['open', 'first'] : ['open', 'first', 'close']
  expect(app.asked()).toEqual(passed)
  expect(app.isLeft()).toBe(true)
  expect(app.answered().toSorted()).toEqual(['close', 'first', 'next', 'open'])
})

test('requests of one id are waited for each', async () => {
  const app = await follow()
  for (const _ of ['one', 'two']) app.send('same', 'session.info')
  app.send('close', 'session.close')
  await turnLoop(2)
  app.answer('same')
  app.answer('close')
  await turnLoop(2)
  expect(app.isLeft()).toBe(false)
  app.answer('same')
  await turnLoop(2)
  expect([app.isLeft(), app.answered()]).toEqual([true, ['open', 'same', 'close', 'same']])
})

test('a peer that does not answer is left after its time, and the app has its answer', async () => {
  const app = await follow()
  app.send('first', 'session.info')
  app.send('close', 'session.close')
  await turnLoop(2)
  await app.pass()
  expect([app.isLeft(), app.answered()]).toEqual([true, ['open', 'close']])
})

test('an app that disconnects meanwhile leaves its peer at once', async () => {
  const app = await follow()
  app.send('first', 'input.withdraw', { input: 'i' })
  app.send('close', 'session.close')
  await turnLoop(2)
  app.drop()
  expect(app.isLeft()).toBe(true)
})
