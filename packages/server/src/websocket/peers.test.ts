// Servers over one store: who counts as a peer, and what becomes of a connection that was passed on to one.
import type { Timers } from '@baton/core'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import type { WebSocket } from 'ws'
import { WebSocketServer } from 'ws'
import { createMemorySocket } from './memory-socket.ts'
import type { PeerLinkInit } from './peers.ts'
import { checkPeers, connectToPeer, readPeer } from './peers.ts'

const SECRET = 'a-secret-of-the-peers'
const PEERS = { address: 'ws://127.0.0.1:1', secret: SECRET }
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const ask = (headers: Readonly<Record<string, string>>) => readPeer({ headers } as unknown as IncomingMessage, PEERS)

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
  ['no client', { 'x-baton-peer': SECRET }],
  ['a client that is no JSON', { 'x-baton-peer': SECRET, 'x-baton-client': 'e30x' }],
  ['a client without a principal', { 'x-baton-peer': SECRET, 'x-baton-client': encode({ client: 'x' }) }],
  ['a principal without a name', { 'x-baton-peer': SECRET, 'x-baton-client': encode({ principal: {}, client: 'x' }) }],
])('a request with %s comes from no peer, and does no harm', (_situation, headers) => {
  expect(ask(headers)).toBeUndefined()
})

test.each([
  [{ address: 'http://10.0.0.5', secret: SECRET }, 'must be like ws://'],
  [{ address: 'ws://ann:pass@10.0.0.5', secret: SECRET }, 'must be like ws://'],
  [{ address: 'ws://10.0.0.5/ws', secret: SECRET }, 'must be like ws://'],
  [{ address: 'ws://10.0.0.5', secret: 'short' }, 'at least 16'],
])('peers %o are refused', (peers, message) => {
  expect(() => checkPeers(peers)).toThrow(message)
})

test('an app whose peer does not answer any more is told to connect again', async () => {
  const { link, app, due } = await passOn({ autoPong: false })
  if ('why' in link) throw new Error(link.why)
  due() // it is asked
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

test('a peer that does not know the secret says so', async () => {
  const refusing = new WebSocketServer({ port: 0, host: '127.0.0.1', verifyClient: () => false })
  server = refusing
  await once(refusing, 'listening')
  expect(await connectToPeer(createInit(refusing))).toEqual({ why: 'Unexpected server response: 401' })
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

function createInit(listening: WebSocketServer): PeerLinkInit {
  const { port } = listening.address() as AddressInfo // it listens on TCP
  return {
    address: `ws://127.0.0.1:${port}`,
    secret: SECRET,
    principal: { id: 'ann' },
    client: '10.0.0.9',
    socket: createMemorySocket().socket,
    limits: { outgoingBytes: 1e6, socketBytes: 1e6 },
    timers: { start: () => () => {} },
  }
}
