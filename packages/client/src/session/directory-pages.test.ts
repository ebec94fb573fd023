// A list of sessions during other events: pages and changes that cross, and a page that arrives after its connection
// broke.
import type { JsonObject } from '@baton/core'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import type { Directory } from '../index.ts'
import { openDirectory } from '../index.ts'
import { createPlayedServer } from '../played-server.test-kit.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close()
})

const info = (id: string, title: string, lastMs: number, meta: JsonObject = {}): JsonObject => ({
  id,
  title,
  agent: 'a',
  principal: { id: 'p' },
  meta,
  activity: 'idle',
  model: 'm',
  models: ['m'],
  createdMs: 1,
  lastMs,
  head: { pos: 1 },
})
const changed = (session: JsonObject): JsonObject => ({ type: 'session.changed', change: { type: 'changed', session } })
const removed = (id: string): JsonObject => ({ type: 'session.changed', change: { type: 'removed', id } })

interface Asked {
  /** Number of the request on its connection, from 1, and of the connection. */
  readonly page: number
  readonly connection: number
  readonly say: (...frames: readonly JsonObject[]) => void
  readonly answer: (sessions: readonly JsonObject[], cursor?: string) => JsonObject
  readonly socket: WebSocket
}

/** `onList` answers each request for a page. */
async function serve(onList: (asked: Asked) => void, meta?: JsonObject): Promise<Directory> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  closers.push(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  let connection = 0
  server.on('connection', (socket) => {
    connection += 1
    let page = 0
    const say: Asked['say'] = (...frames) => {
      for (const frame of frames) socket.send(JSON.stringify(frame))
    }
    say({ type: 'hello', protocol: 2, nowMs: 0, limits: { frameBytes: 1_000_000, resultBytes: 100_000 } })
    socket.on('message', (data: Buffer) => {
      const { id, type } = JSON.parse(data.toString()) as { readonly id: string; readonly type: string } // sent by the client
      const answer: Asked['answer'] = (sessions, cursor) => ({
        type: 'ok',
        re: id,
        sessions,
        ...(cursor !== undefined && { cursor }),
      })
      if (type === 'session.list') onList({ page: (page += 1), connection, say, answer, socket })
      else say({ type: 'ok', re: id })
    })
  })
  const { port } = server.address() as AddressInfo // it listens on TCP
  const directory = openDirectory({
    url: `ws://127.0.0.1:${port}/ws`,
    reconnect: { baseMs: 1, mostMs: 10 },
    ...(meta && { meta }),
  })
  closers.push(() => directory.close())
  return directory
}

const titles = (directory: Directory) => directory.getSnapshot().sessions.map(({ title }) => title)

test('a session that was removed while a page was on its way stays removed', async () => {
  const directory = await serve(({ page, say, answer }) => {
    if (page === 1) say(removed('b'), removed('c'), answer([info('a', 'A', 3), info('b', 'B', 2)], 'more'))
    else say(answer([info('c', 'C', 1), info('d', 'D', 1)]))
  })
  await expect.poll(() => directory.getSnapshot().isLoaded).toBe(true)
  expect(titles(directory)).toEqual(['A', 'D'])
})

test('a change that was told while a page was on its way is newer than the page', async () => {
  const directory = await serve(({ say, answer }) =>
    say(changed(info('a', 'New', 9)), answer([info('a', 'Old', 3), info('b', 'B', 2)])),
  )
  await expect.poll(() => directory.getSnapshot().isLoaded).toBe(true)
  expect(titles(directory)).toEqual(['New', 'B'])
})

test('what went away while there was no connection is gone from the list that is read after it', async () => {
  const directory = await serve(({ connection, say, answer, socket }) => {
    say(answer(connection === 1 ? [info('a', 'A', 3), info('b', 'B', 2)] : [info('a', 'A', 3)]))
    if (connection === 1) setImmediate(() => socket.terminate())
  })
  await expect.poll(() => titles(directory).join()).toBe('A')
  expect(directory.getSnapshot().status).toBe('open')
})

test('while the list is read again, the known one stays, also if the connection breaks meanwhile', async () => {
  const known = [info('a', 'A', 3), info('b', 'B', 2)]
  const third = Promise.withResolvers<void>()
  const directory = await serve(({ connection, page, say, answer, socket }) => {
    if (connection === 1) say(answer(known))
    else if (connection === 2 && page === 1) return say(answer([info('a', 'A', 3)], 'more'))
    else if (connection === 3) return void third.promise.then(() => say(answer(known)))
    setImmediate(() => socket.terminate())
  })
  const seen: string[] = []
  const changes = Promise.withResolvers<void>()
  directory.subscribe(() => {
    const { isLoaded, status } = directory.getSnapshot()
    if (isLoaded) seen.push(titles(directory).join())
    if (status === 'waiting' && seen.length > 3) changes.resolve()
  })
  await changes.promise
  third.resolve()
  await expect.poll(() => directory.getSnapshot().status).toBe('open')
  expect(new Set(seen)).toEqual(new Set(['A,B']))
})

test.each(['session.watch', 'session.list'])(
  'a server that never answers %s is left, and the list is read over the next connection',
  (type) => {
    const server = createPlayedServer()
    const directory = openDirectory({ url: 'ws://127.0.0.1:9/ws', world: server.world })
    closers.push(() => directory.close())
    server.begin()
    if (type === 'session.list') server.accept(server.asked('session.watch')[0])
    // It lives: it sends changes.
    for (let seconds = 0; seconds < 30; seconds += 5) {
      server.say(changed(info('a', 'A', 3)))
      server.advance(5000)
    }
    expect(directory.getSnapshot().status).toBe('waiting')
    server.advance(1000)
    server.begin()
    server.accept(server.asked('session.watch')[0])
    server.accept(server.asked('session.list')[0], { sessions: [info('a', 'A', 3)] })
    expect(directory.getSnapshot()).toMatchObject({ status: 'open', isLoaded: true, sessions: [{ id: 'a' }] })
  },
)

test('a change that was told while a page was on its way is newer than the page, also within one millisecond', async () => {
  const directory = await serve(({ say, answer }) =>
    say(changed(info('a', 'New', 3)), answer([info('a', 'Old', 3), info('b', 'B', 2)])),
  )
  await expect.poll(() => directory.getSnapshot().isLoaded).toBe(true)
  expect(titles(directory)).toEqual(['New', 'B'])
})

test('a session that no longer fits while a page was on its way is not listed', async () => {
  const directory = await serve(
    ({ say, answer }) =>
      say(
        changed(info('a', 'A', 9, { kind: 'old' })),
        answer([info('a', 'A', 3, { kind: 'chat' }), info('b', 'B', 2, { kind: 'chat' })]),
      ),
    { kind: 'chat' },
  )
  await expect.poll(() => directory.getSnapshot().isLoaded).toBe(true)
  expect(titles(directory)).toEqual(['B'])
})
