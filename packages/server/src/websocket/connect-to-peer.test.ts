// Servers over one store: who counts as a peer, and what happens to a connection that was passed on.
import type { Host, Timers } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import { createMemorySocket } from './memory-socket.ts'
import { openHeldSession } from './open-held-session.ts'
import { PeerWarnings, checkPeers, readPeer } from '../shared/peer-identity.ts'
import type { PeerLinkOptions } from './connect-to-peer.ts'
import { connectToPeer } from './connect-to-peer.ts'
import type { PeerOptions } from '../shared/peer-identity.ts'
import { connectApp, startServer } from './test-server.test-kit.ts'
import { connectV2App } from './v2.test-kit.ts'

const SECRET = 'a-secret-of-the-peers'
const PEERS = { address: 'ws://127.0.0.1:1', secret: SECRET }
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const ask = (headers: Readonly<Record<string, string>>) => readPeer((name) => headers[name], PEERS)

let server: WebSocketServer | undefined
afterEach(() => {
  for (const socket of server?.clients ?? []) socket.terminate()
  server?.close()
})

test('a peer is who knows the secret, and says for whom it speaks', () => {
  const client = { principal: { id: 'ann' }, client: '10.0.0.9' }
  expect(ask({ 'x-baton-peer': SECRET, 'x-baton-client': encode(client) })).toEqual(client)
})

test.each([
  ['no secret', { 'x-baton-client': encode({ principal: { id: 'ann' }, client: 'x' }) }],
  ['another secret', { 'x-baton-peer': 'b'.repeat(SECRET.length), 'x-baton-client': encode({}) }],
])('a request with %s comes from no peer, and does no harm', (_situation, headers) => {
  expect(ask(headers)).toBeUndefined()
})

test.each([
  ['no client', { 'x-baton-peer': SECRET }],
  ['a client that is no JSON', { 'x-baton-peer': SECRET, 'x-baton-client': 'e30x' }],
  ['a client without a principal', { 'x-baton-peer': SECRET, 'x-baton-client': encode({ client: 'x' }) }],
  ['a principal without a name', { 'x-baton-peer': SECRET, 'x-baton-client': encode({ principal: {}, client: 'x' }) }],
])('a peer with %s is told apart from strangers', (_situation, headers) => {
  expect(ask(headers)).toBe('unreadable')
})

test.each([
  [{ address: 'http://10.0.0.5', secret: SECRET }, 'must be like ws://'],
  [{ address: 'ws://ann:pass@10.0.0.5', secret: SECRET }, 'must be like ws://'],
  [{ address: 'ws://10.0.0.5/ws', secret: SECRET }, 'must be like ws://'],
  [{ address: 'ws://10.0.0.5', secret: 'short' }, 'at least 16 characters, not 5'],
  [{ address: 'ws://10.0.0.5', secret: 'a secret with spaces' }, 'without spaces'],
  [{ address: 'ws://10.0.0.5' }, 'at least 16'],
  [{ adress: 'ws://10.0.0.5', secret: SECRET }, 'peers has no field "adress"; it is called "address"'],
  [7, 'peers must be an object'],
])('peers %o are refused', (peers, message) => {
  expect(() => checkPeers(peers as PeerOptions)).toThrow(message)
})

test('an app whose peer does not answer any more is told to connect again', async () => {
  const { link, app, due } = await passOn({ autoPong: false })
  if ('why' in link) throw new Error(link.why)
  due() // it is pinged
  expect(app.closed()).toBeUndefined()
  due() // it has not answered
  await expect.poll(app.closed).toEqual({ code: 1012, reason: 'connect again' })
})

test('frames go both ways, and the close of the peer is that of the app', async () => {
  const { link, app, peer } = await passOn({ autoPong: true })
  if ('why' in link) throw new Error(link.why)
  const received = once(peer, 'message')
  link.send('from the app')
  expect(String((await received)[0])).toBe('from the app')
  peer.send('from the peer')
  await expect.poll(() => app.sent).toEqual(['from the peer'])
  peer.close(1001, 'the server is shutting down')
  await expect.poll(app.closed).toEqual({ code: 1001, reason: 'the server is shutting down' })
})

test.each([
  ['does not know the secret', 401, 'secret'],
  ['cannot read whose connection it is', 422, 'client'],
  ['is no server of Baton', 404, 'address'],
])('a peer that %s says so', async (_situation, status, problem) => {
  const refusing = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    verifyClient: (_, answer) => answer(false, status),
  })
  server = refusing
  await once(refusing, 'listening')
  expect(await connectToPeer(createInit(refusing))).toEqual({ why: `it answered with status ${status}`, problem })
})

test('a peer with the secret but an unreadable client is refused with the right reason, logged once', async () => {
  const holder = await startServer({ peers: PEERS })
  const headers = { 'x-baton-peer': SECRET, 'x-baton-client': 'e30x' }
  for (let tries = 0; tries < 3; tries++) {
    const peer = new WebSocket(holder.url, { headers })
    peer.on('error', () => {}) // `close` follows
    const [, answer] = (await once(peer, 'unexpected-response')) as [unknown, IncomingMessage]
    expect(answer.statusCode).toBe(422)
    peer.terminate()
  }
  const told = holder.logged.filter((line) => line.includes('peer'))
  expect(told).toEqual([expect.stringMatching(/cannot be read.*must run the same version.*x-baton-client/)])
  await holder.stop()
})

test('a peer is found by an address that ends with a slash', async () => {
  const listening = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server = listening
  await once(listening, 'listening')
  const init = createInit(listening)
  const asked = once(listening, 'connection')
  const link = await connectToPeer({ ...init, address: `${init.address}/` })
  expect('why' in link).toBe(false)
  const [, request] = (await asked) as [WebSocket, IncomingMessage]
  expect(request.url).toBe('/ws')
})

test.each(['', 'nonsense', 'http://127.0.0.1:1', 'ws://'])(
  'the address %o of a peer leads nowhere',
  async (address) => {
    const { socket } = createMemorySocket()
    const timers: Timers = { start: () => () => {} }
    const init = { secret: SECRET, principal: { id: 'ann' }, client: 'x', socket, limits: { outgoingBytes: 1 }, timers }
    expect(await connectToPeer({ ...init, address })).toEqual({
      why: 'its address is not a WebSocket address',
      problem: 'address',
    })
  },
)

async function startPeers({ holderSecret, token }: { readonly holderSecret: string; readonly token?: string }) {
  const holder = await startServer({
    peers: { address: 'ws://127.0.0.1:2', secret: holderSecret },
    ...(token !== undefined && { token }),
  })
  const address = `ws://127.0.0.1:${holder.port}`
  const held = new BatonError({
    code: 'session_held',
    message: `session s is held by host h at ${address}`,
    data: { owner: 'h', address },
  })
  const refuse = (): Promise<never> => Promise.reject(held)
  const host = { session: refuse, remove: refuse, has: () => Promise.resolve(true), stop: () => Promise.resolve() }
  const peers = { address: 'ws://127.0.0.1:1', secret: SECRET }
  const asked = await startServer({ host, peers, limits: { heldMs: 0 }, ...(token !== undefined && { token }) })
  const stop = async (): Promise<void> => {
    await asked.stop()
    await holder.stop()
  }
  return { holder, asked, stop }
}

test('peers with different secrets log it once on both sides, and their apps reconnect', async () => {
  for (const token of [undefined, 'a-token-of-apps']) {
    const { holder, asked, stop } = await startPeers({
      holderSecret: 'another-secret-of-peers',
      ...(token && { token }),
    })
    for (let tries = 0; tries < 3; tries++) {
      const app = await connectApp(`${asked.url}?token=${token ?? ''}`)
      const [code, reason] = await app.ended
      expect([code, String(reason)]).toEqual([
        1012,
        'another server holds the session and cannot be reached; connect again',
      ])
    }
    const check = '"check":"the secret of the peers (BATON_PEER_SECRET) must be the same on all servers of the store"'
    const told = asked.logged.filter((line) => line.startsWith('the server that holds a session cannot be reached'))
    expect(told).toEqual([expect.stringContaining(check)])
    const refused = holder.logged.filter((line) =>
      line.startsWith('a server that is not a peer of this one was refused'),
    )
    expect(refused).toEqual([expect.stringContaining(check)])
    expect(holder.logged.some((line) => line.startsWith('a connection was opened'))).toBe(false)
    expect([...asked.logged, ...holder.logged].join()).not.toContain(SECRET)
    await stop()
  }
})

test('a connection of version 2 is passed on while its session is elsewhere, and stays when it leaves', async () => {
  const { holder, asked, stop } = await startPeers({ holderSecret: SECRET })
  const app = await connectV2App(asked.url)
  await app.request('session.open', { session: 's', device: { name: 'phone' } })
  await app.request('input.send', { input: 'i1', content: 'Hello' })
  expect(await app.event('turn-finished')).toMatchObject({ text: 'Good morning.' })
  expect(app.frames.filter(({ type }) => type === 'hello')).toHaveLength(1)
  const cursor = app.cursor()
  await app.request('session.close', {})
  expect(await app.request('ping', {})).toEqual({})
  // Over another connection to the other server, it continues where it was.
  const direct = await connectV2App(holder.url)
  await direct.request('session.open', { session: 's', ...(cursor && { from: cursor }) })
  await direct.event('live')
  expect(direct.events.map(({ type }) => type)).toEqual(['live'])
  app.close()
  await stop()
})

test('a session held by a peer can be renamed and deleted without following it, and refusals are passed on', async () => {
  const { holder, asked, stop } = await startPeers({ holderSecret: SECRET })
  const direct = await connectV2App(holder.url)
  await direct.request('session.open', { session: 's' })
  await direct.request('input.send', { input: 'i1', content: 'Hello' })
  const app = await connectV2App(asked.url)
  await app.request('session.describe', { session: 's', title: 'A trip' })
  expect(await direct.event('session', ({ title }) => title !== undefined)).toMatchObject({ title: 'A trip' })
  await expect(app.request('session.describe', { session: 'none', title: 'x' })).rejects.toThrow('unknown_session')
  await app.request('session.delete', { session: 's' })
  await direct.until(() => direct.frames.find(({ type }) => type === 'session.closed'))
  expect(await app.request('ping', {})).toEqual({})
  app.close()
  direct.close()
  await stop()
})

test('over a peer too, a session that was closed or refused makes room for another', async () => {
  const { holder, asked, stop } = await startPeers({ holderSecret: SECRET })
  const app = await connectV2App(asked.url)
  const refused = app.request('session.open', { session: 's', from: { pos: 999 } })
  await expect(refused).rejects.toThrow('invalid_event')
  await app.request('session.open', { session: 's' })
  const other = await connectV2App(holder.url)
  await other.request('session.delete', { session: 's' })
  await app.until(() => app.frames.find(({ type }) => type === 'session.closed'))
  expect(await app.request('session.open', { session: 's2' })).toMatchObject({ session: 's2' })
  app.close()
  other.close()
  await stop()
})

test('a peer is left when the app went while it was asked', async () => {
  const link = { isLeft: false }
  const listening = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  server = listening
  await once(listening, 'listening')
  const { address, secret, ...init } = createInit(listening)
  const held = new BatonError({ code: 'session_held', message: 'held', data: { owner: 'h', address } })
  let isGone = false
  listening.on('connection', (peer) => {
    isGone = true
    peer.on('close', () => {
      link.isLeft = true
    })
  })
  const host: Host = { session: () => Promise.reject(held), stop: () => Promise.resolve() }
  const log = { info: () => {}, warn: () => {} }
  const limits = { ...DEFAULT_CONNECTION_LIMITS, heldMs: 0 }
  const peers = { address: 'ws://127.0.0.1:1', secret }
  const opened = openHeldSession({ ...init, host, limits, peers, log, connection: 'c' }, 's', { isGone: () => isGone })
  await expect(opened).rejects.toMatchObject({ code: 'session_held' })
  await expect.poll(() => link.isLeft).toBe(true)
})

test('a problem with a peer is logged once a minute', () => {
  const told: string[] = []
  let nowMs = 0
  const write = (message: string, data?: object): void => void told.push(`${message} ${JSON.stringify(data)}`)
  const warnings = new PeerWarnings({ info: write, warn: write }, { nowMs: () => nowMs })
  const away = { why: 'connect ECONNREFUSED', problem: 'address' } as const
  for (let tries = 0; tries < 5; tries++) warnings.noteUnreachable('ws://10.0.0.5:8080', away)
  expect(told).toEqual([expect.stringContaining('--peer-address')])
  warnings.noteUnreachable('ws://10.0.0.5:8080', { why: 'it answered with status 401', problem: 'secret' } as const)
  warnings.noteUnreachable('ws://10.0.0.6:8080', away)
  expect(told).toHaveLength(3)
  nowMs = 60_000
  for (let tries = 0; tries < 5; tries++) warnings.noteUnreachable('ws://10.0.0.5:8080', away)
  expect(told).toHaveLength(4)
})

async function passOn({ autoPong }: { readonly autoPong: boolean }) {
  const listening = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong })
  server = listening
  await once(listening, 'listening')
  const callbacks: (() => void)[] = []
  const timers: Timers = {
    start: (_delayMs, callback) => {
      callbacks.push(callback)
      return () => {}
    },
  }
  const app = createMemorySocket()
  const connected = once(listening, 'connection')
  const link = await connectToPeer({ ...createInit(listening), socket: app.socket, timers })
  const [peer] = (await connected) as [WebSocket]
  return { link, app, peer, due: () => callbacks.shift()?.() }
}

function createInit(listening: WebSocketServer): PeerLinkOptions {
  const { port } = listening.address() as AddressInfo // it listens on TCP
  return {
    address: `ws://127.0.0.1:${port}`,
    secret: SECRET,
    principal: { id: 'ann' },
    client: '10.0.0.9',
    socket: createMemorySocket().socket,
    limits: { outgoingBytes: 1e6 },
    timers: { start: () => () => {} },
  }
}
