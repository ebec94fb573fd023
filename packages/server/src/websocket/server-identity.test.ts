// Clients whose identity takes a moment to determine, or expires while they are connected.
import { BatonError } from '@baton/core'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Identity } from '../shared/peer-identity.ts'
import { connectApp, environment, refusedWith, startForTest } from './test-server.test-kit.ts'
import { encodeTextFrames } from './ws-socket.ts'

/** Identifies the client when the test says so. */
function createGate() {
  const gate = Promise.withResolvers<Identity | undefined>()
  let asked = 0
  const authenticate = async (): Promise<Identity | undefined> => {
    asked += 1
    return await gate.promise
  }
  return { authenticate, countAsked: () => asked, ...gate }
}

const ANN: Identity = { principal: { id: 'ann' } }

/** A frame as sent by an app: masked, with a mask of zeros. */
function maskFrame(text: string): Buffer {
  const frame = encodeTextFrames([text])
  const headBytes = frame.length - Buffer.byteLength(text)
  const head = Buffer.from(frame.subarray(0, headBytes))
  head[1] = (head[1] ?? 0) | 0x80
  return Buffer.concat([head, Buffer.alloc(4), frame.subarray(headBytes)])
}

test('frames sent before a connection is accepted are read in order', async () => {
  const gate = createGate()
  const { port } = await startForTest({ authenticate: gate.authenticate })
  const client = connect(port, '127.0.0.1')
  const frame = (id: string, type: string, payload: object): Buffer =>
    maskFrame(JSON.stringify({ id, type, sessionId: 's', timestamp: '2026-01-01T00:00:00Z', payload }))
  const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
  const key = 'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
  // In the same write as the request, and in a separate one.
  client.write(
    Buffer.concat([
      Buffer.from(`GET /ws HTTP/1.1\r\nhost: localhost\r\n${upgrade}${key}\r\n`),
      frame('1', 'session.start', { sessionId: 's' }),
    ]),
  )
  await expect.poll(gate.countAsked).toBe(1)
  client.write(frame('2', 'user.audio.transcript.final', { text: 'Hello' }))
  let told = ''
  client.on('data', (data: Buffer) => {
    told += data.toString('latin1')
  })
  gate.resolve(ANN)
  await expect.poll(() => told).toContain('Good morning.')
  expect(told.startsWith('HTTP/1.1 101')).toBe(true)
  client.destroy()
})

test.each<[string, unknown, number, string]>([
  ['nobody', undefined, 401, 'authentication failed'],
  ['an error', new Error('cookie of ann'), 401, 'authentication failed'],
  [
    'a refusal',
    new BatonError({ code: 'unauthorized', message: 'the token has expired' }),
    401,
    'the token has expired',
  ],
  [
    'that it cannot know',
    new BatonError({ code: 'keys_unavailable', message: 'https://login.internal does not answer' }),
    503,
    'the server cannot verify your identity at the moment',
  ],
])('where a promise gives %s, the connection is refused', async (_what, found, status, body) => {
  const authenticate = async (): Promise<undefined> => {
    if (found !== undefined) throw found
    return await Promise.resolve(undefined)
  }
  const { url, port } = await startForTest({ authenticate })
  expect(await refusedWith(url)).toMatchObject({ status, body })
  const asked = await fetch(`http://127.0.0.1:${port}/ws`, { headers: { connection: 'close' } })
  expect([asked.status, await asked.text()]).toEqual([status, body])
})

test('a program that never says who it is has 10 seconds', async () => {
  const gate = createGate()
  const deadlines: (() => void)[] = []
  const timers = {
    start: (ms: number, callback: () => void, options?: object) => {
      if (ms !== 10_000) return environment.timers.start(ms, callback, options)
      deadlines.push(callback)
      return () => {}
    },
  }
  const { url } = await startForTest({ authenticate: gate.authenticate, timers })
  const refused = refusedWith(url)
  await expect.poll(() => deadlines.length).toBe(1)
  deadlines[0]?.()
  expect((await refused).status).toBe(503)
})

test('the last places are not given out twice when clients are authenticated late', async () => {
  const gate = createGate()
  const { url } = await startForTest({ authenticate: gate.authenticate, limits: { principalConnections: 1 } })
  const sockets = [new WebSocket(url), new WebSocket(url)]
  const ends = sockets.map(async (socket) => {
    socket.on('error', () => {})
    return await Promise.race([
      once(socket, 'open').then(() => 101),
      once(socket, 'unexpected-response').then(([, response]) => (response as { statusCode: number }).statusCode),
    ])
  })
  await expect.poll(gate.countAsked).toBe(2)
  gate.resolve(ANN)
  expect(new Set(await Promise.all(ends))).toEqual(new Set([101, 429]))
  for (const socket of sockets) socket.terminate()
})

test('a closing server does not wait for unauthenticated clients', async () => {
  const gate = createGate()
  const { url, front } = await startForTest({ authenticate: gate.authenticate })
  const socket = new WebSocket(url)
  socket.on('error', () => {})
  const closed = new Promise((resolve) => void socket.on('close', resolve))
  await expect.poll(gate.countAsked).toBe(1)
  await front.close()
  await closed
  gate.resolve(ANN)
})

test('a connection ends with the token that opened it', async () => {
  let nowMs = 0
  const looks: (() => void)[] = []
  const timers = {
    start: (ms: number, callback: () => void, options?: object) => {
      if (ms !== 3_600_000 && ms !== 1) return environment.timers.start(ms, callback, options)
      looks.push(callback)
      return () => {}
    },
  }
  const authenticate = () => ({ ...ANN, expiresAtMs: 3_600_001 })
  const { url } = await startForTest({ authenticate, timers, clock: { nowMs: () => nowMs } })
  const app = await connectApp(url)
  expect(looks).toHaveLength(1)
  nowMs = 3_600_000
  looks[0]?.()
  expect([looks.length, app.socket.readyState]).toEqual([2, WebSocket.OPEN])
  nowMs = 3_600_001
  looks[1]?.()
  const [code, reason] = await app.ended
  expect([code, String(reason)]).toEqual([1008, 'the token has expired'])
})

test('metrics may have a separate token', async () => {
  const { port } = await startForTest({
    authenticate: () => ANN,
    metrics: () => 'n 0\n',
    metricsToken: 'of-an-operator',
  })
  const ask = async (headers: Readonly<Record<string, string>>) =>
    (await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { connection: 'close', ...headers } })).status
  expect(await ask({})).toBe(401)
  expect(await ask({ authorization: 'Bearer of-an-operator' })).toBe(200)
})
