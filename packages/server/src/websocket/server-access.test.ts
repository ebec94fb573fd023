// Access over real connections: tokens, TLS, addresses behind a proxy; and what the server reports about itself.
import type { Store } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createMemoryStore } from '@baton/host'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { generate } from 'selfsigned'
import { expect, test } from 'vitest'
import type { TlsFiles } from './listen.ts'
import { createWebSocketFront } from './server.ts'
import { createAgent, connectApp, environment, refusedWith, startForTest } from './test-server.test-kit.ts'

const TOKEN = 'a-token-of-a-test'

test.each([
  ['no token', '', {}],
  ['a wrong token', '?token=another', {}],
  ['an empty token', '?token=', {}],
  ['the beginning of the token', `?token=${TOKEN.slice(0, -1)}`, {}],
  ['a wrong header beside the right address', `?token=${TOKEN}`, { authorization: 'Bearer another' }],
  ['another scheme', '', { authorization: `Basic ${TOKEN}` }],
])('a connection with %s gets 401, and the token is told nobody', async (_situation, query, headers) => {
  const { url, logged } = await startForTest({ token: TOKEN })
  const refusal = await refusedWith(url + query, { headers })
  expect([refusal.status, refusal.headers['www-authenticate']]).toEqual([401, 'Bearer'])
  expect(logged).toEqual([
    'a connection was refused {"address":"127.0.0.1","status":"401 Unauthorized","why":"a valid token is required: Authorization: Bearer <token>, or ?token=<token> in the address"}',
  ])
  expect(refusal.body).not.toContain(TOKEN)
})

test.each([
  ['in the address', `?token=${TOKEN}`, {}],
  ['in a header', '', { authorization: `Bearer ${TOKEN}` }],
  ['in a header, written as others do', '', { authorization: `bearer  ${TOKEN} ` }],
])('a connection with the token %s is taken', async (_situation, query, headers) => {
  const { url, logged } = await startForTest({ token: TOKEN })
  const app = await connectApp(url + query, { headers })
  expect(app.frames[0]?.type).toBe('session.started')
  expect(logged.join('\n')).not.toContain(TOKEN)
  app.socket.terminate()
})

test('each of several tokens is accepted', async () => {
  const { url } = await startForTest({ token: [TOKEN, 'second'] })
  for (const token of [TOKEN, 'second']) (await connectApp(`${url}?token=${token}`)).socket.terminate()
  expect(await refusedWith(`${url}?token=third`)).toMatchObject({ status: 401 })
})

test('an unknown caller gets 401, and the server keeps running', async () => {
  const authenticate = ({ headers }: IncomingMessage) => {
    if (headers.authorization === undefined) throw new Error('no session cookie')
    return { id: headers.authorization }
  }
  const { url, logged } = await startForTest({ authenticate })
  expect((await refusedWith(url)).status).toBe(401)
  expect(logged).toEqual([
    'a connection could not be authenticated {"cause":"no session cookie"}',
    expect.stringContaining('a connection was refused {"address":"127.0.0.1","status":"401 Unauthorized","why":'),
  ])
  const app = await connectApp(url, { headers: { authorization: 'ann' } })
  expect(app.frames[0]?.type).toBe('session.started')
  app.socket.terminate()
})

test('health and readiness need no token', async () => {
  const { port } = await startForTest({ token: TOKEN })
  expect(await ask(port, '/healthz')).toEqual([200, '{"status":"ok"}'])
  expect(await ask(port, '/readyz')).toEqual([200, '{"status":"ready"}'])
  expect((await ask(port, '/'))[0]).toBe(404)
})

test('metrics require the token, if there is one', async () => {
  const metrics = (): string => 'baton_open_calls 0\n'
  const { port } = await startForTest({ token: TOKEN, metrics })
  expect((await ask(port, '/metrics'))[0]).toBe(401)
  expect(await ask(port, '/metrics', { authorization: `Bearer ${TOKEN}` })).toEqual([200, 'baton_open_calls 0\n'])
  const open = await startForTest({ metrics })
  expect((await ask(open.port, '/metrics'))[0]).toBe(200)
  const without = await startForTest()
  expect((await ask(without.port, '/metrics'))[0]).toBe(404)
})

test('a server that cannot take sessions lives, and says why it is not ready', async () => {
  let reason: string | undefined = 'recovering'
  const { port } = await startForTest({ unreadyReason: () => Promise.resolve(reason) })
  expect(await ask(port, '/healthz')).toEqual([200, '{"status":"ok"}'])
  expect(await ask(port, '/readyz')).toEqual([503, '{"status":"not ready","reason":"recovering"}'])
  reason = undefined
  expect(await ask(port, '/readyz?probe=1')).toEqual([200, '{"status":"ready"}'])
})

test('a failing readiness check means not ready', async () => {
  const { port } = await startForTest({ unreadyReason: () => Promise.reject(new Error('broken')) })
  expect(await ask(port, '/readyz')).toEqual([503, '{"status":"not ready","reason":"unknown"}'])
})

test('a server that drains lives and is not ready, takes no new turn and no new connection', async () => {
  const { front, url, port } = await startForTest()
  const app = await connectApp(url)
  await front.drain()
  app.send('user.audio.transcript.final', { text: 'Hello' })
  const error = await app.until(({ type }) => type === 'error')
  expect(error.payload['code']).toBe('server_draining')
  expect((await refusedWith(url)).status).toBe(503)
  expect(await ask(port, '/healthz')).toEqual([200, '{"status":"ok"}'])
  expect(await ask(port, '/readyz')).toEqual([503, '{"status":"not ready","reason":"draining"}'])
  await front.close()
  expect((await app.ended)[0]).toBe(1001)
})

test('a drain waits until the app has received its whole turn', async () => {
  let say = (): void => {}
  const held = new Promise<void>((resolve) => {
    say = resolve
  })
  const model = createScriptedModel({ steps: [{ text: 'The end.' }] })
  const slow = createAgent({
    ...model,
    run: async (...given) => {
      await held
      return await model.run(...given)
    },
  })
  const { front, host, url } = await startForTest({ agent: slow })
  const app = await connectApp(url)
  app.send('user.audio.transcript.final', { text: 'Hello' })
  await app.until(({ payload }) => payload['name'] === 'convo.appendMessage')
  const drained = front.drain({ withinMs: 20_000 })
  say()
  await drained
  await host.stop()
  await app.ended
  expect(app.frames.slice(-3).map(({ payload }) => payload['name'])).toEqual([
    'convo.setState',
    'tts.speak',
    'convo.setState',
  ])
})

test('a drain waits also for the voice of an answer that the store has not taken yet', async () => {
  const memory = createMemoryStore()
  let goOn = (): void => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const store: Store = {
    ...memory,
    append: async (session, epoch, afterPos, records) => {
      const isVoice = records.some(({ facts }) => facts.some(({ type }) => type === 'display-written'))
      if (isVoice) await held
      return await memory.append(session, epoch, afterPos, records)
    },
  }
  const { front, url } = await startForTest({ store })
  const app = await connectApp(url)
  app.send('user.audio.transcript.final', { text: 'Hello' })
  await app.until(({ payload }) => payload['arguments'] === '{"state":"speaking"}')
  const drained = front.drain({ withinMs: 20_000 }).then(() => 'drained')
  const soon = new Promise((resolve) => void setImmediate(() => resolve('waiting')))
  expect(await Promise.race([drained, soon])).toBe('waiting')
  goOn()
  await drained
  await front.close()
  await app.ended
  expect(app.frames.at(-2)?.payload['name']).toBe('tts.speak')
})

async function ask(
  port: number,
  path: string,
  more: Readonly<Record<string, string>> = {},
): Promise<readonly [number, string]> {
  const headers = { connection: 'close', ...more }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  return [response.status, await response.text()]
}

async function certificate(): Promise<TlsFiles> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
  return { cert, key }
}

test('with a certificate the server speaks wss', async () => {
  const tls = await certificate()
  const { url } = await startForTest({ tls })
  expect(url).toMatch(/^wss:\/\/127\.0\.0\.1:\d+\/ws$/)
  const app = await connectApp(url, { ca: tls.cert })
  expect(app.frames[0]?.type).toBe('session.started')
  app.socket.terminate()
})

test('with TLS, sockets and connections are counted separately too, and one that never completes a handshake is closed', async () => {
  const tls = await certificate()
  const { url } = await startForTest({ tls, limits: { addressConnections: 2 } })
  const apps = [await connectApp(url, { ca: tls.cert }), await connectApp(url, { ca: tls.cert, session: 't' })]
  expect((await refusedWith(url, { ca: tls.cert })).status).toBe(429)
  const { port } = await startForTest({ tls, limits: { startMs: 300 } })
  const silent = connect(port, '127.0.0.1')
  silent.on('error', () => {}).resume()
  await once(silent, 'close')
  for (const { socket } of apps) socket.terminate()
})

test('a key of another certificate is a clear error', async () => {
  const [{ cert }, { key }] = [await certificate(), await certificate()]
  const host = createHost({ environment })
  const log = { info: () => {}, warn: () => {} }
  const make = () => createWebSocketFront(host, { ...environment, log, port: 0, tls: { cert, key } })
  expect(make).toThrow(/^the TLS certificate and key cannot be used: .*mismatch/)
})

test.each([
  ['believed behind a trusted proxy', 1, '203.0.113.9'],
  ['ignored without one', 0, '127.0.0.1'],
])('the address that X-Forwarded-For names is %s', async (_situation, trustedProxies, address) => {
  const { url, logged } = await startForTest({ trustedProxies })
  const app = await connectApp(url, { headers: { 'x-forwarded-for': '1.1.1.1, 203.0.113.9' } })
  expect(logged[0]).toContain(`"address":"${address}"`)
  app.socket.terminate()
})

test('a refused client that never ends its half of the connection does not keep the server from closing', async () => {
  const { front, port } = await startForTest()
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).resume()
  client.on('error', () => {})
  const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
  client.write(
    `GET /elsewhere HTTP/1.1\r\nhost: localhost\r\n${upgrade}sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  )
  await once(client, 'end')
  await front.close()
  client.destroy()
})

test('an address without an upgrade says what a WebSocket would get, and else 426', async () => {
  const { url } = await startForTest({ token: TOKEN })
  const address = url.replace('ws:', 'http:')
  const answers = [await fetch(address), await fetch(`${address}?token=${TOKEN}`)]
  expect(answers.map(({ status }) => status)).toEqual([401, 426])
  // The browser gives a page the answer of another origin only with this.
  expect(answers.map(({ headers }) => headers.get('access-control-allow-origin'))).toEqual(['*', '*'])
})
