// Servers that refuse connections, or accept and drop them: the client reports it at once, or reconnects at growing
// intervals.
import { createHost, createNodeEnvironment } from '@baton/host'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import type { WebSocketServerOptions } from '@baton/server/websocket'
import { createWebSocketFront } from '@baton/server/websocket'
import { afterEach, expect, test } from 'vitest'
import type { WebSocketLike, World } from './index.ts'
import { createV1Client, platformWorld } from './index.ts'

const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function serve(init: Partial<WebSocketServerOptions>): Promise<string> {
  const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'Hello.' }) }) })
  const host = createHost({ environment, agent })
  const front = createWebSocketFront({
    ...environment,
    host,
    log: { info: () => {}, warn: () => {} },
    port: 0,
    ...init,
  })
  closers.push(() => host.stop())
  closers.push(() => front.close())
  return (await front.listen()).url
}

test.each([
  ['a wrong token', '?token=wrong', 'it wants a valid token'],
  ['no token', '', 'it wants a valid token'],
])('%s is told at once, and nothing is tried again', async (_, query, why) => {
  const url = await serve({ token: 'right' })
  const world = platformWorld()
  let sockets = 0
  const openSocket = (to: string): WebSocketLike => {
    sockets += 1
    return world.openSocket(to)
  }
  const client = createV1Client({ url: `${url}${query}`, session: 's', world: { ...world, openSocket } })
  closers.push(() => client.close())
  const error = await new Promise((resolve) => client.on('error', resolve))
  expect(error).toEqual({ code: 'unauthorized', message: `the server refused the connection: ${why}` })
  expect(client.connection).toBe('closed')
  expect(sockets).toBeLessThanOrEqual(2)
})

test.each([
  ['a server that is full', { limits: { addressConnections: 1 } }],
  ['a server that drains', {}],
])('%s is tried again: it may let in later', async (_, init) => {
  const url = await serve(init)
  const first = createV1Client({ url, session: 'first' })
  closers.push(() => first.close())
  await new Promise<void>((resolve) => first.on('connection', (state) => state === 'open' && resolve()))
  const world = platformWorld()
  let sockets = 0
  const openSocket = (to: string): WebSocketLike => {
    sockets += 1
    return world.openSocket(sockets === 1 && !('limits' in init) ? 'ws://127.0.0.1:9/ws' : to)
  }
  const client = createV1Client({ url, session: 's', reconnect: { baseMs: 1 }, world: { ...world, openSocket } })
  closers.push(() => client.close())
  await expect.poll(() => sockets).toBeGreaterThan(1)
  if ('limits' in init) first.close()
  await expect.poll(() => client.connection).toBe('open')
})

interface Fake {
  readonly world: World
  /** Milliseconds before each try. */
  readonly pauses: readonly number[]
  move(byMs: number): void
  /** The newest socket: the server accepts the session, then drops the connection after `afterMs`. */
  acceptAndDrop(afterMs: number): void
}

/** Time, timers and sockets of the test. */
function createFake(): Fake {
  let nowMs = 0
  let timers: { readonly atMs: number; readonly callback: () => void }[] = []
  let ids = 0
  const pauses: number[] = []
  const sockets: WebSocketLike[] = []
  let askedMs = 0
  const move = (byMs: number): void => {
    nowMs += byMs
    const due = timers.filter(({ atMs }) => atMs <= nowMs)
    timers = timers.filter(({ atMs }) => atMs > nowMs)
    for (const { callback } of due) callback()
  }
  const world: World = {
    openSocket: () => {
      if (sockets.length > 0) pauses.push(askedMs)
      const socket = { send: () => {}, close: () => {}, onopen: null, onmessage: null, onclose: null, onerror: null }
      sockets.push(socket)
      return socket
    },
    nowMs: () => nowMs,
    start: (delayMs, callback) => {
      askedMs = delayMs
      const timer = { atMs: nowMs + delayMs, callback }
      timers.push(timer)
      return () => {
        timers = timers.filter((other) => other !== timer)
      }
    },
    random: () => 1,
    newId: () => String((ids += 1)),
  }
  const acceptAndDrop = (afterMs: number): void => {
    const socket = sockets.at(-1)
    const frame = {
      id: `f${ids}`,
      type: 'session.started',
      sessionId: 's',
      timestamp: 'now',
      payload: { sessionId: 's' },
    }
    socket?.onopen?.({} as never)
    socket?.onmessage?.({ data: JSON.stringify({ ...frame, timestamp: '2026-01-01T00:00:00Z' }) } as never)
    move(afterMs)
    socket?.onclose?.({} as never)
  }
  return { world, pauses, move, acceptAndDrop }
}

test('a server that accepts and drops is tried ever more slowly; one that stays is tried at once again', () => {
  const { world, pauses, move, acceptAndDrop } = createFake()
  const client = createV1Client({ url: 'ws://a/ws', session: 's', world })
  for (let tries = 0; tries < 8; tries++) {
    acceptAndDrop(100)
    move(10_000)
  }
  expect(pauses).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000])
  acceptAndDrop(10_000)
  move(10_000)
  expect(pauses.at(-1)).toBe(250)
  client.close()
})
