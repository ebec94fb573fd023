// Strangers at a server: what one address or principal uses is limited and refused with a code, costs little, leaves
// nothing behind, and does not flood the log.
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import type { WebSocket } from 'ws'
import { DEFAULT_CONNECTION_LIMITS } from './limits.ts'
import { createMemorySocket } from './memory-socket.ts'
import { LINES_PER_MINUTE, sampleLog } from '../shared/rate-limit.ts'
import { connectApp, createAgent, environment, refusedWith, startServer } from './test-server.test-kit.ts'
import { V1Writer } from './v1-writer.ts'

let ends: (() => unknown)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const end of ends.toReversed()) await end()
  ends = []
})

async function start(init: Parameters<typeof startServer>[0]) {
  const server = await startServer(init)
  ends.push(server.stop)
  return server
}

type App = Awaited<ReturnType<typeof connectApp>>

async function join(url: string, options: Parameters<typeof connectApp>[1] = {}): Promise<App> {
  const app = await connectApp(url, options)
  ends.push(() => app.socket.terminate())
  return app
}

async function leave(socket: WebSocket): Promise<void> {
  socket.close()
  await once(socket, 'close')
}

const errorOf = async (app: App): Promise<string> => {
  const { payload } = await app.until(({ type }) => type === 'error')
  return `${payload['code']}: ${payload['message']}`
}

const from = (address: string): { readonly headers: Readonly<Record<string, string>> } => ({
  headers: { 'x-forwarded-for': address },
})

test('an address has so many connections and no more; another one has its own, and one that leaves makes room', async () => {
  const { url } = await start({ limits: { addressConnections: 3 }, trustedProxies: 1 })
  const apps = await Promise.all([1, 2, 3].map((n) => join(url, { session: `s${n}`, ...from('203.0.113.9') })))
  for (let tries = 0; tries < 20; tries++) {
    const { status, body } = await refusedWith(url, from('203.0.113.9'))
    expect([status, body]).toEqual([429, 'quota_exceeded: an address may have 3 connections at once'])
  }
  await join(url, { session: 't', ...from('203.0.113.10') })
  if (apps[0]) await leave(apps[0].socket)
  await expect.poll(() => join(url, { session: 'u', ...from('203.0.113.9') }).then(() => true)).toBe(true)
  console.log('strangers: 3 connections of an address, 20 more refused')
})

test('a principal may have a limited number of connections from any address; anonymous callers are not counted', async () => {
  const authenticate = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) => ({
    id: String(headers['x-user']),
  })
  const as = (user: string, address: string) => ({ headers: { 'x-user': user, 'x-forwarded-for': address } })
  const { url } = await start({ limits: { principalConnections: 1 }, trustedProxies: 1, authenticate })
  await join(url, { session: 's', ...as('ann', '203.0.113.1') })
  expect(await refusedWith(url, as('ann', '203.0.113.2'))).toMatchObject({
    status: 429,
    body: 'quota_exceeded: a principal may have 1 connections at once',
  })
  await join(url, { session: 't', ...as('bob', '203.0.113.2') })
  const open = await start({ limits: { principalConnections: 1 } })
  await join(open.url, { session: 's' })
  await join(open.url, { session: 't' })
})

test('an address has so many turns at once; a session that works takes more for itself', async () => {
  const model = createScriptedModel({ steps: () => ({ hangs: 'until-aborted' }) })
  const { url } = await start({ limits: { addressTurns: 2 }, agent: createAgent(model) })
  const apps = await Promise.all(['s', 't', 'u'].map((session) => join(url, { session })))
  const [one, two, three] = apps
  for (const app of [one, two]) {
    app?.send('user.audio.transcript.final', { text: 'Hi' })
    await app?.until(({ type, payload }) => type === 'tool.call' && payload['arguments']?.includes('thinking') === true)
  }
  three?.send('user.audio.transcript.final', { text: 'Hi' })
  expect(three && (await errorOf(three))).toBe(
    'quota_exceeded: an address may have 2 turns at once; wait until one ends',
  )
  one?.send('user.audio.transcript.final', { text: 'And another' })
  one?.send('session.start', { sessionId: 's' })
  await one?.until(() => one.frames.filter(({ type }) => type === 'session.started').length === 2)
  expect(one?.frames.some(({ type }) => type === 'error')).toBe(false)
})

test('an address starts so many sessions a minute', async () => {
  const { url } = await start({ limits: { addressSessionsPerMinute: 2 } })
  await join(url, { session: 's' })
  await join(url, { session: 't' })
  expect(await errorOf(await join(url, { session: 'u' }))).toContain(
    'quota_exceeded: an address may start 2 sessions a minute; try again later (retryAfterMs ',
  )
})

test('what is too large, too much or too often is not even parsed', async () => {
  const { url } = await start({ limits: { addressBytesPerMinute: 200_000, addressFramesPerMinute: 50 } })
  const app = await join(url)
  const parse = vi.spyOn(JSON, 'parse')
  const huge = (type: string): string => JSON.stringify({ id: '1', type, sessionId: 's', payload: 'x'.repeat(900_000) })
  const frames = [
    ...Array.from({ length: 20 }, () => huge('user.audio.transcript.final')),
    ...Array.from({ length: 20 }, () => huge('tool.result')),
    ...Array.from({ length: 100 }, () => `{"id":"1","type":"tool.result","text":"${'y'.repeat(30_000)}"`),
  ]
  parse.mockClear()
  for (const frame of frames) app.socket.send(frame)
  await app.until(() => app.frames.length === frames.length + 1)
  // The test's own client parses the server's messages, which are short.
  const parsed = parse.mock.calls.filter(([text]) => text.length > 10_000)
  const codes = app.frames.slice(1).map(({ payload }) => payload['code'] ?? '')
  const count = (code: string): number => codes.filter((one) => one === code).length
  console.log(
    `strangers: ${frames.length} frames, ${parsed.length} parsed, ${count('rate_limited')} rate_limited, ` +
      `${count('quota_exceeded')} quota_exceeded, ${count('invalid_transcript')} too large`,
  )
  // Refused frames count as well: the first one exceeds the bytes of a minute.
  expect(count('invalid_transcript')).toBe(1)
  expect(count('rate_limited')).toBeGreaterThan(60)
  expect(count('quota_exceeded')).toBeGreaterThan(30)
  expect(parsed.length).toBeLessThan(10)
})

test('bytes that are not text count like others', async () => {
  const { url } = await start({ limits: { addressBytesPerMinute: 200_000 } })
  const app = await join(url)
  for (let count = 0; count < 4; count++) app.socket.send(Buffer.alloc(60_000))
  await app.until(() => app.frames.length === 5)
  expect(app.frames.slice(1).map(({ payload }) => payload['code'])).toEqual([
    'invalid_event',
    'invalid_event',
    'invalid_event',
    'quota_exceeded',
  ])
})

test('frames that are refused again and again end their connection', async () => {
  const { url } = await start({ limits: { addressFramesPerMinute: 5 } })
  const app = await join(url)
  const closed = once(app.socket, 'close')
  for (let count = 0; count < 600; count++) app.socket.send('{}')
  expect((await closed)[0]).toBe(1008)
})

test('a frame is large by its own type, whatever types stand in it', async () => {
  const { url } = await start({})
  const app = await join(url, { session: 's' })
  const decoy = { decoy: { type: 'tool.result' }, payload: { text: 'x'.repeat(100_000) } }
  const timestamp = '2026-01-01T00:00:00.000Z'
  app.socket.send(JSON.stringify({ id: '1', type: 'user.audio.transcript.final', sessionId: 's', timestamp, ...decoy }))
  expect(await errorOf(app)).toMatch(/^invalid_transcript: the frame has 100\d{3} bytes; at most 65536 are accepted/)
})

test('a socket that says nothing is closed after its time, before a request and after', async () => {
  const { url, port } = await start({ limits: { startMs: 100 } })
  const silent = connect(port, '127.0.0.1')
  const half = connect(port, '127.0.0.1')
  half.write('GET /ws HTTP/1.1\r\nhost: a\r\n')
  for (const socket of [silent, half]) socket.on('error', () => {}).resume()
  const app = await refusedApp(url)
  await Promise.all([once(silent, 'close'), once(half, 'close'), once(app, 'close')])
})

test('an address may have a limited number of idle sockets; connections are counted separately', async () => {
  const { url, port, logged } = await start({ limits: { addressConnections: 5 } })
  const apps = await Promise.all([1, 2, 3].map((n) => join(url, { session: `s${n}` })))
  const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'))
  const closed = new Set<unknown>()
  for (const socket of sockets)
    socket
      .on('error', () => {})
      .on('close', () => closed.add(socket))
      .resume()
  ends.push(() => sockets.map((socket) => socket.destroy()))
  await expect.poll(() => closed.size).toBe(30)
  expect(logged.filter((line) => line.startsWith('a socket was closed'))).toHaveLength(30)
  for (const socket of sockets) socket.destroy()
  // Closed sockets make room.
  await expect
    .poll(() =>
      join(url, { session: 'more' }).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true)
  expect(apps.every(({ socket }) => socket.readyState === socket.OPEN)).toBe(true)
  console.log(`strangers: ${sockets.length} silent sockets of an address, ${closed.size} closed`)
})

test('sockets of a proxy, and of a peer, are not those of one address', async () => {
  const silent = (port: number) => Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
  const secret = 'a-secret-of-the-peers'
  const peers = { address: 'ws://127.0.0.1:1', secret }
  const behind = await start({ limits: { addressConnections: 2 }, trustedProxies: 1 })
  const shared = await start({ limits: { addressConnections: 2 }, peers })
  const client = Buffer.from('{"principal":{"id":"ann"},"client":"10.0.0.9"}').toString('base64url')
  await join(shared.url, { headers: { 'x-baton-peer': secret, 'x-baton-client': client } })
  for (const { url, port } of [behind, shared]) {
    const sockets = silent(port)
    for (const socket of sockets) socket.on('error', () => {}).resume()
    ends.push(() => sockets.map((socket) => socket.destroy()))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    await join(url, { session: 'after' })
    expect(sockets.filter((socket) => socket.closed)).toEqual([])
  }
})

/** A WebSocket that sends nothing and answers no close. */
async function refusedApp(url: string) {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}).resume()
  const head = ['GET /ws HTTP/1.1', `host: ${hostname}`, 'upgrade: websocket', 'connection: upgrade']
  const keys = ['sec-websocket-key: AQIDBAUGBwgJCgsMDQ4PEA==', 'sec-websocket-version: 13']
  socket.write(`${[...head, ...keys].join('\r\n')}\r\n\r\n`)
  await once(socket, 'data')
  return socket
}

test('an app that only connects leaves no record; the first words make the session, for all that started it', async () => {
  const store = createMemoryStore()
  const hasSession = async (session: string): Promise<boolean> => {
    for await (const record of store.read(session, 0)) return record.pos >= 0
    return false
  }
  const { url } = await start({ store, hasSession })
  const silent = await Promise.all(Array.from({ length: 30 }, (_, n) => join(url, { session: `silent-${n}` })))
  const [one, two] = [await join(url), await join(url)]
  const names = async (): Promise<readonly string[]> => {
    const listed: string[] = []
    for await (const { session } of store.list()) listed.push(session)
    return listed
  }
  for (const { socket } of silent) await leave(socket)
  one.send('user.audio.transcript.final', { text: '  ' })
  expect(await errorOf(one)).toContain('invalid_transcript')
  expect(await names()).toEqual([])
  one.send('user.audio.transcript.final', { text: 'Hello' })
  for (const app of [one, two])
    expect(await app.until(({ type }) => type === 'assistant.speech.final')).toMatchObject({
      payload: { text: 'Good morning.' },
    })
  expect(await names()).toEqual(['s'])
  // A later connection finds it.
  const three = await join(url)
  await three.until(({ type }) => type === 'assistant.speech.final')
  console.log(`strangers: ${silent.length} silent connections left ${(await names()).length - 1} sessions`)
})

test('an app whose session is made by another one while it is looked up follows it', async () => {
  const lookedUp = Promise.withResolvers<boolean>()
  let lookups = 0
  const { url } = await start({ hasSession: () => ((lookups += 1) === 2 ? lookedUp.promise : Promise.resolve(false)) })
  const one = await join(url)
  const joining = join(url)
  await expect.poll(() => lookups).toBe(2)
  one.send('user.audio.transcript.final', { text: 'Hello' })
  await one.until(({ type }) => type === 'assistant.speech.final')
  lookedUp.resolve(false) // as it was when the store was asked
  const two = await joining
  one.send('user.audio.transcript.final', { text: 'Again' })
  const isSpeech = ({ type }: { readonly type: string }): boolean => type === 'assistant.speech.final'
  await expect.poll(() => two.frames.find(isSpeech)?.payload['text']).toBe('Good morning.')
})

test('a slow reader is told once in the log, whatever is still written to it', () => {
  const lines: string[] = []
  const log = { info: () => {}, warn: (message: string) => void lines.push(message) }
  const { socket, jam } = createMemorySocket()
  const writer = new V1Writer({
    ...environment,
    socket: { ...socket, close: () => {} },
    log,
    limits: DEFAULT_CONNECTION_LIMITS,
  })
  jam(DEFAULT_CONNECTION_LIMITS.outgoingBytes)
  const written = Array.from({ length: 50_000 }, (_, n) =>
    writer.write(String(n), { type: 'assistant.speech.partial', payload: { text: 'x' } }, 's'),
  )
  expect(written.some(Boolean)).toBe(false)
  expect(lines).toEqual(['a connection was closed because it reads too slowly'])
})

test('of 50,000 lines of one message a minute some are written, and then how many were not', () => {
  let nowMs = 0
  const lines: string[] = []
  const write = (message: string, data: object = {}): void => void lines.push(`${message} ${JSON.stringify(data)}`)
  const log = sampleLog({ info: write, warn: write }, { nowMs: () => nowMs })
  for (let line = 0; line < 50_000; line++) log.info('a connection was refused', { status: '401' })
  log.warn('another message')
  expect(lines).toHaveLength(LINES_PER_MINUTE + 1)
  nowMs += 60_000
  log.info('a connection was refused', { status: '401' })
  expect(lines.at(-1)).toBe(`a connection was refused {"status":"401","leftOut":${50_000 - LINES_PER_MINUTE}}`)
  console.log(`strangers: 50000 lines, ${lines.length} written`)
})

test.each([
  ['U+0000', 'a\u0000b'],
  ['an escape', 'a\u001b[31m'],
  ['a line', 'a\nb'],
  ['a turn of the direction of writing', 'a\u202eb'],
])('a session whose id has %s is refused before it is welcomed', async (_what, session) => {
  const { url } = await start({})
  const app = await connectApp(url, { session })
  expect(app.frames.map(({ type, payload }) => [type, (payload as { readonly code?: string }).code])).toEqual([
    ['error', 'invalid_event'],
  ])
  app.socket.terminate()
})
