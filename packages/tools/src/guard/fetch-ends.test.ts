// However a guarded fetch ends, its time limit ends with it, and so does the connection of an unread response.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createGuardedFetch } from './guarded-fetch.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

let handle: Handle = () => {}
const server = createServer((request, response) => handle(request, response))
let origin = ''

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** A guard whose time limits are triggered manually. */
function createWorld(maxRedirects = 5) {
  const limits = new Set<() => void>()
  const fetch = createGuardedFetch({
    allow: [origin, origin.replace('127.0.0.1', 'localhost')],
    maxBytes: 1000,
    maxRedirects,
    timers: {
      start: (_ms, callback) => {
        limits.add(callback)
        return () => void limits.delete(callback)
      },
    },
  })
  return { fetch, limits }
}

type World = ReturnType<typeof createWorld>

const text = async ({ fetch }: World, path = '/', init: RequestInit = {}): Promise<unknown> =>
  await (await fetch(origin + path, init)).text()

test.each<[string, Handle, (world: World) => Promise<unknown>]>([
  ['an answer that is read', (_, response) => response.end('x'), text],
  ['an answer without a body', (_, response) => response.writeHead(204).end(), text],
  ['an empty answer', (_, response) => response.writeHead(200, { 'content-length': 0 }).end(), text],
  [
    'an answer that nobody wants',
    (_, response) => response.end('x'),
    async ({ fetch }) => await (await fetch(origin)).body?.cancel(),
  ],
  [
    'an answer that says that it is too large',
    (_, response) => response.writeHead(200, { 'content-length': 2000 }).end('x'.repeat(2000)),
    text,
  ],
  [
    'an answer that turns out too large',
    (_, response) => (response.write('x'.repeat(600)), response.end('x'.repeat(600))),
    text,
  ],
  [
    'an answer that breaks off',
    (_, response) => (response.writeHead(200).write('x'), setImmediate(() => response.destroy())),
    text,
  ],
  ['a connection that breaks', ({ socket }) => socket.destroy(), text],
  ['an address that is refused', () => {}, async ({ fetch }) => await fetch('http://10.0.0.1/')],
  ['a header that is refused', () => {}, (world) => text(world, '/', { headers: { te: 'x' } })],
  [
    'a redirect that is not followed',
    (_, response) => response.writeHead(302, { location: '/' }).end(),
    (world) => text(world, '/', { redirect: 'error' }),
  ],
  ['a call that is over', () => {}, (world) => text(world, '/', { signal: AbortSignal.abort() })],
])('%s leaves no time limit behind', async (_what, answer, act) => {
  handle = answer
  const world = createWorld()
  await act(world).catch(() => {})
  expect(world.limits.size).toBe(0)
})

test('a request whose own signal is aborted is given up', async () => {
  const stop = new AbortController()
  handle = () => stop.abort(new Error('the call is over'))
  const { fetch } = createWorld()
  await expect(fetch(new Request(origin, { signal: stop.signal }))).rejects.toThrow('the call is over')
})

test('a time limit names the place that was silent, behind a redirect too', async () => {
  const silent = Promise.withResolvers<void>()
  const there = `http://localhost:${new URL(origin).port}`
  handle = ({ url }, response) => {
    if (url === '/') response.writeHead(302, { location: `${there}/silent` }).end()
    else silent.resolve()
  }
  const { fetch, limits } = createWorld()
  const asked = fetch(`${origin}/`)
  await silent.promise
  for (const end of limits) end()
  await expect(asked).rejects.toThrow(`${there} did not respond in full`)
})

test('the connection of a redirect whose body goes on is given up', async () => {
  const closed = Promise.withResolvers<void>()
  handle = ({ url }, response) => {
    if (url !== '/') return void response.end('there')
    response.once('close', () => closed.resolve())
    response.writeHead(302, { location: '/there' }).write('a body without end')
  }
  expect(await text(createWorld())).toBe('there')
  await closed.promise
})

test('an answer to HEAD may declare more than may be read', async () => {
  handle = (_, response) => response.writeHead(200, { 'content-length': 5000 }).end()
  const { fetch } = createWorld()
  expect((await fetch(origin, { method: 'HEAD' })).headers.get('content-length')).toBe('5000')
})

test.each([
  ['beyond 599, as some sites answer to programs', '999 Request denied'],
  ['with a reason in another script', '404 未找到'],
])('a status %s is passed on with its body', async (_what, line) => {
  handle = ({ socket }) => socket.end(`HTTP/1.1 ${line}\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno`)
  const { fetch, limits } = createWorld()
  const answer = await fetch(origin)
  expect({ status: answer.status, ok: answer.ok, body: await answer.text() }).toEqual({
    status: Number(line.slice(0, 3)),
    ok: false,
    body: 'no',
  })
  expect(limits.size).toBe(0)
})
