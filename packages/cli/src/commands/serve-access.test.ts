// A complete server that accepts a local issuer's JWTs over HTTP and WebSockets. The command runs in this process, with
// the model that needs no network.
import { generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { afterEach, expect, test } from 'vitest'
import type { Console } from '../console.ts'
import { run } from '../run.ts'

let ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

async function startIssuer() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256' }]
  const server = createServer((asked, response) => {
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' })
    response.end(JSON.stringify(asked.url === '/keys' ? { keys } : { issuer, jwks_uri: `${issuer}/keys` }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => server.close())
  const { port } = server.address() as AddressInfo // a TCP server
  const issuer = `http://127.0.0.1:${port}`
  const sign = (claims: Readonly<Record<string, unknown>>): string => {
    const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
    const exp = Math.floor(Date.now() / 1000) + 300
    const text = `${encode({ alg: 'ES256', kid: 'one' })}.${encode({ iss: issuer, aud: 'shop', sub: 'ann', exp, ...claims })}`
    const signature = signBytes('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
    return `${text}.${signature.toString('base64url')}`
  }
  return { issuer, sign }
}

async function serve(words: readonly string[], variables: Readonly<Record<string, string>> = {}) {
  const listening = Promise.withResolvers<string>()
  let stop = (): void => {}
  const notes: string[] = []
  const terminal: Console = {
    variables,
    folder: tmpdir(),
    write: listening.resolve,
    note: (line) => void notes.push(line),
    onStray: () => () => {},
    onStop: (callback) => {
      stop = callback
      return () => {}
    },
  }
  const ended = run(['serve', '--port', '0', '--store', 'memory:', '--model', 'offline', '--json', ...words], terminal)
  ends.push(() => {
    stop()
    return ended
  })
  const { url } = JSON.parse(await listening.promise) as { readonly url: string }
  return { url, http: url.replace('ws:', 'http:').replace('/ws', ''), notes }
}

/** Returns the HTTP status of a WebSocket upgrade. */
async function connect(url: string, more: Readonly<Record<string, string>> = {}): Promise<number> {
  const key = Buffer.alloc(16).toString('base64')
  const headers = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
    ...more,
  }
  const asked = request(url.replace('ws:', 'http:'), { headers }).on('error', () => {})
  ends.push(() => asked.destroy())
  return await new Promise((resolve) => {
    asked.on('upgrade', () => resolve(101))
    asked.on('response', ({ statusCode = 0 }) => resolve(statusCode))
    asked.end()
  })
}

test('each principal of an issuer has separate sessions over HTTP; the server token works too', async () => {
  const { issuer, sign } = await startIssuer()
  const variables = { BATON_JWT_ISSUER: issuer, BATON_TOKEN: 'of-an-operator' }
  const { url, http, notes } = await serve(['--jwt-audience', 'shop', '--jwt-claim', 'email'], variables)
  const [ann, bob] = [sign({ email: 'ann@a' }), sign({ email: 'bob@a' })]
  const ask = (path: string, token: string, init: object = {}) =>
    fetch(http + path, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', connection: 'close' },
    })
  const messages = [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }]
  const said = await ask('/api/chat', ann, { method: 'POST', body: JSON.stringify({ id: 'c1', messages }) })
  expect([said.status, await said.text()]).toEqual([200, expect.stringContaining('[DONE]')])
  expect((await ask('/api/sessions/c1', ann)).status).toBe(200)
  expect((await ask('/api/sessions/c1', bob)).status).toBe(403)
  const listed = await Promise.all([ann, bob].map(async (token) => await (await ask('/api/sessions', token)).json()))
  expect(listed).toMatchObject([{ sessions: [{ id: 'c1' }] }, { sessions: [] }])
  const wrong = await ask('/api/sessions', sign({ email: 'eve@a', aud: 'desk' }))
  expect([wrong.status, await wrong.text()]).toEqual([401, expect.stringContaining('for another service')])
  expect((await ask('/api/sessions', sign({}))).status).toBe(401)
  expect((await ask('/api/sessions', 'of-an-operator')).status).toBe(200)
  expect((await ask('/metrics', ann)).status).toBe(401)
  expect((await ask('/metrics', 'of-an-operator')).status).toBe(200)
  const tokens = [ann, 'of-an-operator', 'x', '']
  expect(await Promise.all(tokens.map((token) => connect(`${url}?token=${token}`)))).toEqual([101, 101, 401, 401])
  expect(notes.join('\n')).not.toContain(ann.split('.')[2])
})

test('a server whose issuer cannot be reached starts, says so, and answers tokens with 503', async () => {
  const { issuer, sign } = await startIssuer()
  const words = ['--jwt-audience', 'shop', '--jwt-issuer', issuer, '--jwt-jwks', 'http://127.0.0.1:9/keys']
  const { url, http, notes } = await serve(words)
  expect(notes.join('\n')).toContain('the keys of a token issuer could not be fetched')
  const token = sign({})
  const response = await fetch(`${http}/api/sessions?token=${token}`, { headers: { connection: 'close' } })
  expect(response.status).toBe(503)
  expect(await connect(`${url}?token=${token}`)).toBe(503)
})

test('limits of chats by name are those of the server', async () => {
  const { http } = await serve(['--limit', 'http.addressRequestsPerMinute=1', '--trust-proxy'])
  const ask = async (address: string) =>
    (await fetch(`${http}/api/sessions`, { headers: { connection: 'close', 'x-forwarded-for': address } })).status
  expect([await ask('203.0.113.1'), await ask('203.0.113.1'), await ask('203.0.113.2')]).toEqual([200, 429, 200])
})

test('behind a proxy the name of the server and its pages are allowed where they are named', async () => {
  const ask = async (http: string, host: string, origin: string): Promise<number> =>
    await new Promise((resolve) => {
      const headers = { host, origin, connection: 'close' }
      request(`${http}/api/sessions`, { headers }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      }).end()
    })
  const [page, foreign] = ['https://chat.example', 'https://eve.example']
  const named = await serve(['--public-host', 'chat.example'])
  const [name, port] = ['chat.example', new URL(named.http).host]
  expect(await ask(named.http, name, page)).toBe(200)
  expect(await ask(named.http, port, page)).toBe(200)
  expect(await ask(named.http, name, foreign)).toBe(403)
  expect(await ask(named.http, 'eve.example', foreign)).toBe(403)
  expect(await ask(named.http, port, 'http://localhost:5173')).toBe(200)
  expect([await connect(named.url, { origin: page }), await connect(named.url, { origin: foreign })]).toEqual([
    101, 403,
  ])
  const unnamed = await serve([])
  expect(await ask(unnamed.http, name, page)).toBe(403)
  expect(await connect(unnamed.url, { origin: page })).toBe(403)
})
