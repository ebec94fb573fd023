// The server over real connections of `ws`: a conversation, refusals, and shutdown.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { WebSocketFront } from './server.ts'
import type { WebSocketServerOptions } from './connection-options.ts'
import { createWebSocketFront } from './server.ts'

const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
const log = { info: () => {}, warn: () => {} }
let open: WebSocketFront[] = []
afterEach(async () => {
  for (const front of open) await front.close()
  open = []
})

async function start({ host: ownHost, ...options }: Partial<WebSocketServerOptions> = {}) {
  const model = createScriptedModel({ steps: () => ({ text: 'Good morning.' }) })
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model }) })
  const front = createWebSocketFront(ownHost ?? host, { ...environment, log, port: 0, ...options })
  open.push(front)
  return { front, ...(await front.listen()) }
}

const frame = (type: string, payload: object): string =>
  JSON.stringify({ id: `id-${type}`, type, sessionId: 's', timestamp: '2026-01-01T00:00:00Z', payload })

test('an app has a conversation over a real connection', async () => {
  const { url } = await start()
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const told = collect(socket)
  socket.send(frame('session.start', { sessionId: 's' }))
  socket.send(frame('user.audio.transcript.final', { text: 'Hello' }))
  const frames = await told.until((text) => text.includes('idle'))
  expect(frames.map(inShort)).toEqual([
    'session.started',
    'convo.setState',
    'convo.appendMessage',
    ...frames.filter((text) => text.includes('speech.partial')).map(() => 'assistant.speech.partial'),
    'assistant.speech.final',
    'convo.appendMessage',
    'convo.setState',
    'tts.speak',
    'convo.setState',
  ])
  socket.terminate()
})

function inShort(text: string): string {
  const { type, payload } = JSON.parse(text) as { type: string; payload: { name?: string } }
  return payload.name ?? type
}

function collect(socket: WebSocket) {
  const frames: string[] = []
  let wake = (): void => {}
  socket.on('message', (data: Buffer) => {
    frames.push(data.toString())
    wake()
  })
  return {
    until: async (isLast: (text: string) => boolean): Promise<readonly string[]> => {
      while (!frames.some(isLast))
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      return frames
    },
  }
}

test.each([
  ['a page of another origin', '/ws', { origin: 'https://evil.example' }, 403],
  ['another path', '/other', {}, 404],
])('%s is refused', async (_situation, path, headers, status) => {
  const { url } = await start()
  const socket = new WebSocket(url.replace('/ws', path), { headers })
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  expect(response.statusCode).toBe(status)
  socket.on('error', () => {})
  socket.terminate()
})

// A page can use any name that resolves to the server's address (DNS rebinding): its origin and the requested host are
// then the same, and prove nothing.
test.each([
  ['its own name on an address of others', '0.0.0.0', 'http://rebound.example:8080', 'rebound.example:8080'],
  ['its own name on the loopback address', '127.0.0.1', 'http://rebound.example:8080', 'rebound.example:8080'],
  ['another origin, that asks for localhost', '127.0.0.1', 'https://evil.example', 'localhost:8080'],
  ['this machine, on an address of others', '0.0.0.0', 'http://localhost:5173', 'localhost:8080'],
])('a page of %s is refused', async (_situation, address, origin, host) => {
  const { port } = await start({ address })
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { origin, headers: { host } })
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage]
  expect(response.statusCode).toBe(403)
  socket.on('error', () => {})
  socket.terminate()
})

test.each([
  ['a page that is listed', { origin: 'https://app.example' }],
  ['an app outside of a browser', {}],
])('%s may connect to an address of others', async (_situation, options) => {
  const { port } = await start({ address: '0.0.0.0', origins: ['https://app.example'] })
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, options)
  await once(socket, 'open')
  expect(socket.readyState).toBe(WebSocket.OPEN)
  socket.terminate()
})

test('an empty address is refused, and does not mean every address', async () => {
  const front = createWebSocketFront(createHost({ environment }), { ...environment, log, port: 0, address: ' ' })
  await expect(front.listen()).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'the address to listen on is empty',
  })
})

test.each([
  ['of this machine', undefined, 'http://localhost:5173'],
  ['that the server names', ['https://app.example'], 'https://app.example'],
])('a page %s may connect', async (_situation, origins, origin) => {
  const { url } = await start(origins ? { origins } : {})
  const socket = new WebSocket(url, { origin })
  await once(socket, 'open')
  expect(socket.readyState).toBe(WebSocket.OPEN)
  socket.terminate()
})

test('one connection too many is refused', async () => {
  const { url } = await start({ limits: { connections: 1 } })
  const first = new WebSocket(url)
  await once(first, 'open')
  const second = new WebSocket(url)
  const [, response] = (await once(second, 'unexpected-response')) as [unknown, IncomingMessage]
  expect(response.statusCode).toBe(503)
  second.on('error', () => {})
  second.terminate()
  first.terminate()
})

test('a message over the socket’s limit closes the connection', async () => {
  const { url } = await start()
  const socket = new WebSocket(url)
  await once(socket, 'open')
  socket.send('x'.repeat(1024 * 1024 + 1))
  const [code] = (await once(socket, 'close')) as [number]
  expect(code).toBe(1009)
})

test('a port that is in use is a clear error', async () => {
  const { port } = await start()
  const front = createWebSocketFront(createHost({ environment }), {
    ...environment,
    log,
    port,
  })
  await expect(front.listen()).rejects.toMatchObject({
    code: 'invalid_option',
    message: `port ${port} of 127.0.0.1 is in use; choose another one, or 0 for a free one`,
  })
})

test('a connection that does not answer whether it lives is ended', async () => {
  const { url } = await start({ limits: { heartbeatMs: 1 } })
  const socket = new WebSocket(url, { autoPong: false })
  const [code] = (await once(socket, 'close')) as [number]
  expect(code).toBe(1006)
})

test('a call that needs an approval is denied at once, and the app is not left thinking', async () => {
  const model = createScriptedModel({
    steps: [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'It was denied.' }],
  })
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object' },
    approval: true,
    execute: () => 'paid',
  })
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model, tools: [pay] }) })
  const { url } = await start({ host })
  const socket = new WebSocket(url)
  await once(socket, 'open')
  const told = collect(socket)
  socket.send(frame('session.start', { sessionId: 's' }))
  socket.send(frame('user.audio.transcript.final', { text: 'Pay' }))
  await expect.poll(() => model.requests.length).toBe(2)
  const frames = await told.until((text) => text.includes('idle'))
  expect(frames.some((text) => text.includes('It was denied.'))).toBe(true)
  const results = model.requests[1]?.messages.at(-1)
  expect(JSON.stringify(results)).toContain('no connected client can approve the call')
  socket.terminate()
})
