// Strangers that claim to be peers, and bad peers that answer nonsense, slowly, or incompletely.
import type { Host, Timers } from '@baton/core/internal'
import { BatonError, defineAgent } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { HandlerOptions } from './handler-parts.ts'
import { createHandler } from './handler.ts'
import { createMessage, postJson, SECRET, startPeer, startStranger } from './peers.test-kit.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const ANN = encode({ principal: { id: 'ann' }, client: '10.0.0.9' })
const OWN = { address: 'ws://127.0.0.1:1', secret: SECRET }

/** A handler whose host reports every session as held at this address. */
function startAt(address: string, options: HandlerOptions = {}) {
  const held = new BatonError({ code: 'session_held', message: `held at ${address}`, data: { owner: 'h', address } })
  const host: Host = { session: () => Promise.reject(held), stop: () => Promise.resolve() }
  const logged: string[] = []
  const note = (message: string, data: object = {}): void => void logged.push(`${message} ${JSON.stringify(data)}`)
  const handler = createHandler(host, { peers: OWN, log: { info: note, warn: note }, ...options })
  const ask = (path: string, init: RequestInit = {}) => handler(new Request(`http://localhost${path}`, init))
  const warnings = (): readonly string[] => logged.filter((line) => line.startsWith('the server that holds'))
  return { ask, logged, warnings }
}

async function stand(answer: RequestListener, options: HandlerOptions = {}) {
  const stranger = await startStranger(answer)
  closers.push(stranger.stop)
  return startAt(stranger.address, options)
}

const MARK = { 'x-baton-answer': '1' }

test.each<[string, RequestListener]>([
  ['HTML', (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Welcome</h1>')],
  ['a redirect', (_, response) => void response.writeHead(302, { ...MARK, location: 'http://127.0.0.1:1/' }).end()],
  ['a redirect without a mark', (_, response) => void response.writeHead(307, { location: '/login' }).end()],
  ['what is no HTTP', ({ socket }) => void socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
  ['nothing, and closes', ({ socket }) => void socket.destroy()],
  [
    'an upgrade',
    ({ socket }) => void socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ],
  ['headers without end', ({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`)],
])('a peer that answers with %s is none, and the client may try again', async (_situation, answer) => {
  const { ask, warnings } = await stand(answer)
  for (let tries = 0; tries < 3; tries++) {
    const answered = await ask('/api/sessions/s')
    expect([answered.status, answered.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await answered.json()).toMatchObject({ error: { code: 'session_held' } })
  }
  // Logged once a minute, with what to check.
  expect(warnings()).toEqual([expect.stringContaining('--peer-address')])
})

test('a chat is refused as its page shows it', async () => {
  const { ask } = await stand((_, response) => void response.writeHead(500).end('oh'))
  const answered = await postJson(ask, '/api/chat', createMessage('s', 'hello'))
  expect([answered.status, answered.headers.get('x-baton-error')]).toEqual([503, 'session_held'])
  expect(await answered.text()).toBe('Another host holds the session.')
})

test.each(['', 'nonsense', 'http://127.0.0.1:1', 'ws://127.0.0.1:1'])(
  'the address %o leads nowhere',
  async (address) => {
    const { ask, warnings } = startAt(address, { peers: { ...OWN, address: 'ws://127.0.0.1:2' } })
    expect((await ask('/api/sessions/s')).status).toBe(503)
    expect(warnings()).toHaveLength(1)
  },
)

test('its own address, as of the process before it, is not asked', async () => {
  const { ask, logged } = startAt(OWN.address)
  expect((await ask('/api/sessions/s')).status).toBe(503)
  expect(logged.join()).not.toContain('cannot be reached')
})

/** Timers that fire when the test says so, by delay. */
function createTimers() {
  const waiting = new Set<{ readonly delayMs: number; readonly callback: () => void }>()
  const timers: Timers = {
    start: (delayMs, callback) => {
      const one = { delayMs, callback }
      waiting.add(one)
      return () => waiting.delete(one)
    },
  }
  const end = async (delayMs: number): Promise<void> => {
    const find = () => [...waiting].find((one) => one.delayMs === delayMs)
    await expect.poll(() => find() !== undefined).toBe(true)
    find()?.callback()
  }
  return { timers, end }
}

test('a peer that takes no connection has 3 seconds', async () => {
  const sockets: Socket[] = []
  const deaf = createServer((socket) => void sockets.push(socket.resume().on('error', () => {})))
  deaf.listen(0, '127.0.0.1')
  await once(deaf, 'listening')
  closers.push(() => deaf.close())
  const { timers, end } = createTimers()
  // It accepts the socket, but never speaks TLS.
  const { ask, warnings } = startAt(`wss://127.0.0.1:${(deaf.address() as AddressInfo).port}`, { timers })
  const answered = ask('/api/sessions/s')
  await end(3000)
  expect((await answered).status).toBe(503)
  expect(warnings()).toEqual([expect.stringContaining('did not accept a connection within 3000 ms')])
  await expect.poll(() => sockets.every(({ destroyed }) => destroyed)).toBe(true)
})

test('a peer that says nothing has 30 seconds, and its connection is closed', async () => {
  const gone = Promise.withResolvers<void>()
  const { timers, end } = createTimers()
  const { ask, warnings } = await stand(({ socket }) => void socket.on('close', () => gone.resolve()), { timers })
  const answered = ask('/api/sessions/s')
  await end(30_000)
  expect((await answered).status).toBe(503)
  expect(warnings()).toEqual([expect.stringContaining('did not answer within 30000 ms')])
  await gone.promise
})

const EVENT_HEADERS = { ...MARK, 'content-type': 'text/event-stream' }

test('an answer that falls silent breaks, and does not end', async () => {
  const gone = Promise.withResolvers<void>()
  const begin: RequestListener = ({ socket }, response) => {
    socket.on('close', () => gone.resolve())
    response.writeHead(200, EVENT_HEADERS).write('data: {}\n\n')
  }
  const { timers, end } = createTimers()
  const { ask } = await stand(begin, { timers, limits: { keepAliveMs: 15_000 } })
  const reader = (await ask('/api/chat/s/stream')).body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: {}\n\n')
  const next = reader?.read()
  await end(30_000)
  await expect(next).rejects.toThrow('was silent for 30000 ms')
  await gone.promise
})

test('an answer that is cut breaks, and does not end', async () => {
  const cut = Promise.withResolvers<void>()
  const begin: RequestListener = ({ socket }, response) => {
    response.writeHead(200, EVENT_HEADERS).write('data: {}\n\n')
    cut.promise.then(() => socket.resetAndDestroy()).catch(() => {})
  }
  const { ask } = await stand(begin)
  const reader = (await ask('/api/chat/s/stream')).body?.getReader()
  await reader?.read()
  const next = reader?.read()
  cut.resolve()
  await expect(next).rejects.toThrow('ended its answer early')
})

test('an unread answer that is cut off does no harm', async () => {
  const closed = Promise.withResolvers<void>()
  const begin: RequestListener = ({ socket }, response) => {
    socket.on('close', () => closed.resolve())
    response.writeHead(200, EVENT_HEADERS).write('data: {}\n\n', () => socket.resetAndDestroy())
  }
  const { ask } = await stand(begin)
  const answered = await ask('/api/chat/s/stream')
  await closed.promise
  await expect(answered.text()).rejects.toThrow('ended its answer early')
})

/** Maximum bytes that sockets and streams may buffer between a peer and a stalled reader. */
const WRITTEN_MAX = 32 * 1024 * 1024
const STILL_TURNS = 500

test('a slow reader holds the peer back', async () => {
  let written = 0
  const begin: RequestListener = (_, response) => {
    response.writeHead(200, EVENT_HEADERS)
    const piece = Buffer.alloc(64 * 1024, 'x')
    const fill = (): void => {
      do written += piece.length
      while (response.write(piece))
    }
    fill()
    response.on('drain', fill)
  }
  const { ask } = await stand(begin)
  const answered = await ask('/api/chat/s/stream')
  // Sockets buffer some of it; then nothing more is read, over many turns of the event loop, which moves the bytes of
  // both ends.
  for (let still = 0, before = -1; still < STILL_TURNS && written < WRITTEN_MAX; before = written) {
    await new Promise((resolve) => void setImmediate(resolve))
    still = written > 0 && written === before ? still + 1 : 0
  }
  expect(written).toBeGreaterThan(0)
  expect(written).toBeLessThan(WRITTEN_MAX)
  await answered.body?.cancel()
})

async function startHolder(options: { readonly secret?: string } = {}) {
  const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'Hi.' }) }) })
  const authenticate = ({ headers }: Request) => (headers.get('x-user') === 'ann' ? { id: 'ann' } : undefined)
  const holder = await startPeer({ agent, handler: { authenticate }, ...options })
  closers.push(holder.stop)
  return holder
}

test.each<[string, Record<string, string>, number]>([
  ['another secret', { 'x-baton-peer': 'b'.repeat(SECRET.length), 'x-baton-client': ANN }, 401],
  ['an empty secret', { 'x-baton-peer': '', 'x-baton-client': ANN }, 401],
  ['the secret twice', { 'x-baton-peer': `${SECRET}, ${SECRET}`, 'x-baton-client': ANN }, 401],
  ['a wrong secret beside a good token', { 'x-baton-peer': 'x', 'x-user': 'ann' }, 401],
  ['a client alone', { 'x-baton-client': ANN }, 401],
  ['no client', { 'x-baton-peer': SECRET }, 422],
  ['a client that is no JSON', { 'x-baton-peer': SECRET, 'x-baton-client': 'e30x' }, 422],
  ['a client without a name', { 'x-baton-peer': SECRET, 'x-baton-client': encode({ principal: {}, client: '' }) }, 422],
])('who comes with %s is refused', async (_situation, headers, status) => {
  const holder = await startHolder()
  const answered = await holder.say('s', 'hello', headers)
  expect([answered.status, answered.headers.get('x-baton-answer')]).toEqual([status, null])
  expect(await answered.text()).not.toContain(SECRET)
  expect(holder.logged.join()).not.toContain(SECRET)
  expect((await holder.ask('/api/sessions/s', { headers: { 'x-user': 'ann' } })).status).toBe(404)
})

test('a guess of the secret counts as a request of its address', async () => {
  const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: [] }) })
  const holder = await startPeer({ agent, handler: { limits: { addressRequestsPerMinute: 3 } } })
  closers.push(holder.stop)
  const statuses = []
  for (let at = 0; at < 5; at++)
    statuses.push((await holder.ask('/api/sessions', { headers: { 'x-baton-peer': `guess-${at}` } })).status)
  expect(statuses).toEqual([401, 401, 401, 429, 429])
})

test('a server without peers accepts no one as a peer', async () => {
  const { ask } = startAt('ws://127.0.0.1:1')
  const alone = createHandler({ session: () => Promise.reject(new Error('asked')), stop: () => Promise.resolve() })
  const headers = { 'x-baton-peer': SECRET, 'x-baton-client': ANN }
  expect((await alone(new Request('http://localhost/api/sessions/s', { headers }))).status).toBe(401)
  expect((await ask('/api/sessions/s', { headers: { ...headers, 'x-baton-peer': 'another' } })).status).toBe(401)
})

test.each([
  ['another secret is refused', 'another-secret-of-peers', false],
  ['the same secret answers', SECRET, true],
])('a peer with %s', async (_situation, secret, isPeer) => {
  const holder = await startHolder({ secret })
  const authenticate = () => ({ id: 'ann' })
  const { ask, warnings, logged } = startAt(holder.address, { authenticate })
  const answered = await postJson(ask, '/api/chat', createMessage('s', 'hello'))
  expect(answered.status).toBe(isPeer ? 200 : 503)
  expect(warnings().map((line) => line.includes('BATON_PEER_SECRET'))).toEqual(isPeer ? [] : [true])
  expect(holder.logged.some((line) => line.includes('not a peer of this one'))).toBe(!isPeer)
  const said = [...logged, ...holder.logged, await answered.text()].join()
  expect([said.includes(SECRET), said.includes(secret)]).toEqual([false, false])
})

test('a request goes over one server at most, also when two say that the other one has the session', async () => {
  const heard = { first: 0, second: 0 }
  const first = await startStranger((request, response) => serveFirst(request, response))
  const second = await startStranger((request, response) => serveSecond(request, response))
  closers.push(first.stop, second.stop)
  const [atFirst, atSecond] = [startAt(second.address), startAt(first.address)]
  const serve =
    (name: 'first' | 'second', { ask }: typeof atFirst): RequestListener =>
    ({ url = '', headers }, response) => {
      heard[name] += 1
      const passed = {
        'x-baton-peer': String(headers['x-baton-peer']),
        'x-baton-client': String(headers['x-baton-client']),
      }
      ask(url, { headers: passed })
        .then(async (answered) =>
          response.writeHead(answered.status, Object.fromEntries(answered.headers)).end(await answered.text()),
        )
        .catch(() => response.destroy())
    }
  const [serveFirst, serveSecond] = [serve('first', atFirst), serve('second', atSecond)]
  const answered = await atFirst.ask('/api/sessions/s')
  expect([answered.status, answered.headers.get('retry-after'), heard]).toEqual([503, '1', { first: 0, second: 1 }])
  expect(await answered.json()).toMatchObject({ error: { code: 'session_held' } })
})

test('a peer’s client that may no longer ask loses its events there', async () => {
  const holder = await startHolder()
  const said = await holder.say('s', 'hello', { 'x-user': 'ann' })
  await said.text()
  const expired = encode({ principal: { id: 'ann' }, client: '', expiresAtMs: Date.now() - 1 })
  const headers = { 'x-baton-peer': SECRET, 'x-baton-client': expired }
  const events = await holder.ask('/api/sessions/s/events?from=now', { headers })
  expect([events.status, events.headers.get('x-baton-answer')]).toEqual([200, '1'])
  await events.text()
})
