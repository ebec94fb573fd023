// The guarded fetch against a real local server, which the guard allows, and which behaves like hostile servers.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { createServer as createSocketServer } from 'node:net'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Timers } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import { afterEach, expect, test } from 'vitest'
import type { GuardedFetch, GuardOptions } from './guarded-fetch.ts'
import { createGuardedFetch } from './guarded-fetch.ts'

let ends: (() => Promise<unknown> | void)[] = []

afterEach(async () => {
  for (const end of ends.toReversed()) await end()
  ends = []
})

type Handle = (request: IncomingMessage, response: ServerResponse) => void

async function listen(handle: Handle): Promise<string> {
  const server = createServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
}

function openGuard(options: GuardOptions): GuardedFetch {
  const fetch = createGuardedFetch(options)
  ends.push(() => fetch.close())
  return fetch
}

/** A server that the guard allows, and the guard. */
async function open(handle: Handle, options: GuardOptions = {}): Promise<{ origin: string; fetch: GuardedFetch }> {
  const origin = await listen(handle)
  return { origin, fetch: openGuard({ allow: [origin], ...options }) }
}

/** Timers that a test triggers manually. */
function createHandTimers(): Timers & { readonly ring: () => void } {
  const callbacks = new Set<() => void>()
  return {
    start: (_, callback) => {
      callbacks.add(callback)
      return () => void callbacks.delete(callback)
    },
    ring: () => {
      for (const callback of callbacks) callback()
    },
  }
}

const redirectTo =
  (location: string, status = 302): Handle =>
  (_, response) =>
    void response.writeHead(status, { location }).end()

/** Returns the code of the thrown error. */
async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'ok',
    (thrown: unknown) => (isBatonError(thrown) ? thrown.code : thrown),
  )
}

test('an answer comes as fetch gives it: status, headers, body, address', async () => {
  const { origin, fetch } = await open((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(201, {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'set-cookie': ['a=1', 'b=2'],
      })
      response.end(gzipSync(JSON.stringify({ method: request.method, type: request.headers['content-type'] })))
    })
  })
  const response = await fetch(`${origin}/things?x=1`, { method: 'POST', body: new URLSearchParams({ a: 'b' }) })
  expect(response.status).toBe(201)
  expect(response.url).toBe(`${origin}/things?x=1`)
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(await response.json()).toEqual({
    method: 'POST',
    type: 'application/x-www-form-urlencoded;charset=UTF-8',
  })
})

test('a denied range of addresses holds for names that lead into it, also allowed ones', async () => {
  const lookup = () => Promise.resolve(['127.0.0.1'])
  for (const allow of [['shop.example'], ['127.0.0.0/8']]) {
    const fetch = openGuard({ allow, deny: ['127.0.0.1'], lookup })
    await expect(fetch('https://shop.example/')).rejects.toMatchObject({
      code: 'url_refused',
      message: expect.stringContaining('one that this program denies'),
    })
  }
  for (const entry of ['*.spam.example', 'https://spam.example', 'spam.example/x', ''])
    expect(() => createGuardedFetch({ deny: [entry] })).toThrow(`deny must contain hosts or address ranges`)
})

test.each([
  'http://127.0.0.2/',
  'http://localhost:1234/',
  'http://169.254.169.254/latest/meta-data/',
  'https://[::ffff:10.0.0.1]/',
  '//10.0.0.1/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_INFO',
  'https://user:password@example.com/',
  'https://example.com:25/',
  'http://example.com/',
  'https://2130706433/',
])('a redirect to %s is refused', async (location) => {
  const { origin, fetch } = await open(redirectTo(location))
  await expect(fetch(`${origin}/`)).rejects.toMatchObject({
    code: 'url_refused',
    message: expect.stringContaining(`to which ${origin} redirects,`),
  })
})

test('a public address with http: the hint says how it may be asked', async () => {
  const fetch = createGuardedFetch()
  await expect(fetch('http://example.com/')).rejects.toMatchObject({
    code: 'url_refused',
    hint: expect.stringContaining('schemes: ["https", "http"]') as string,
  })
  await fetch.close()
})

test('https: to a server that speaks http has its own error', async () => {
  const { origin } = await open(redirectTo('/'))
  const fetch = createGuardedFetch({ allow: [origin.replace('http:', 'https:')] })
  await expect(fetch(origin.replace('http:', 'https:'))).rejects.toMatchObject({
    code: 'api_malformed',
    message: expect.stringContaining('does not speak https') as string,
  })
  await fetch.close()
})

test('a redirect to a name that leads inside is refused by its address', async () => {
  const { origin, fetch } = await open(redirectTo('https://inside.example.com/'), {
    lookup: () => Promise.resolve(['10.0.0.1']),
  })
  expect(await codeOf(fetch(`${origin}/`))).toBe('url_refused')
})

test('redirects within an origin are followed with their headers, as far as the limit', async () => {
  const seen: (string | undefined)[] = []
  const { origin, fetch } = await open(
    (request, response) => {
      const left = Number(request.url?.slice(1))
      seen.push(request.headers.authorization)
      if (left > 0) redirectTo(`/${left - 1}`)(request, response)
      else response.end('here')
    },
    { maxRedirects: 2 },
  )
  const init = { headers: { authorization: 'Bearer key' } }
  expect(await (await fetch(`${origin}/2`, init)).text()).toBe('here')
  expect(seen).toEqual(['Bearer key', 'Bearer key', 'Bearer key'])
  await expect(fetch(`${origin}/3`, init)).rejects.toMatchObject({
    code: 'url_refused',
    message: `${origin} redirects, and 2 redirects were already followed`,
  })
})

test('no key goes along to another origin, whatever its header is called', async () => {
  const seen: IncomingMessage['headers'][] = []
  const other = await listen((request, response) => {
    seen.push(request.headers)
    response.end('other')
  })
  const origin = await listen(redirectTo(`${other}/`))
  const fetch = openGuard({ allow: [origin, other] })
  const headers = { authorization: 'Bearer key', cookie: 'a=1', 'x-api-key': 'key', accept: 'text/plain' }
  expect(await (await fetch(`${origin}/`, { headers })).text()).toBe('other')
  expect(seen.length).toBe(1)
  expect(seen[0]).toMatchObject({ accept: 'text/plain' })
  expect(Object.keys(seen[0] ?? {})).not.toEqual(expect.arrayContaining(['authorization']))
  expect(JSON.stringify(seen)).not.toMatch(/key|a=1/)
})

test('a body is sent again within its origin, and never to another', async () => {
  const bodies: string[] = []
  const read: Handle = (request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece: string) => (text += piece))
    request.on('end', () => {
      bodies.push(`${request.method} ${request.url} ${text}`)
      if (request.url === '/again') redirectTo('/end', 307)(request, response)
      else if (request.url === '/away') redirectTo(`${other}/end`, 308)(request, response)
      else if (request.url === '/see') redirectTo(`${other}/end`, 303)(request, response)
      else response.end('end')
    })
  }
  const other = await listen(read)
  const origin = await listen(read)
  const fetch = openGuard({ allow: [origin, other] })
  const post = (path: string): Promise<Response> => fetch(`${origin}${path}`, { method: 'POST', body: 'secret' })
  expect(await (await post('/again')).text()).toBe('end')
  expect(await codeOf(post('/away'))).toBe('url_refused')
  expect(await (await post('/see')).text()).toBe('end')
  expect(bodies).toEqual([
    'POST /again secret',
    'POST /end secret',
    'POST /away secret',
    'POST /see secret',
    'GET /end ',
  ])
})

test('redirect "manual" gives the answer, and "error" refuses it', async () => {
  const { origin, fetch } = await open(redirectTo('http://127.0.0.1:1/'))
  const response = await fetch(`${origin}/`, { redirect: 'manual' })
  expect([response.status, response.headers.get('location')]).toEqual([302, 'http://127.0.0.1:1/'])
  expect(await codeOf(fetch(`${origin}/`, { redirect: 'error' }))).toBe('url_refused')
})

test.each([
  ['gzip', (bytes: Buffer) => gzipSync(bytes)],
  ['br', (bytes: Buffer) => brotliCompressSync(bytes)],
  ['gzip, gzip', (bytes: Buffer) => gzipSync(gzipSync(bytes))],
])('a bomb of %s ends at the limit of bytes after decompression', async (encoding, compress) => {
  const bomb = compress(Buffer.alloc(64 * 1024 * 1024))
  expect(bomb.length).toBeLessThan(100_000)
  const { origin, fetch } = await open(
    (_, response) => void response.writeHead(200, { 'content-encoding': encoding }).end(bomb),
    { maxBytes: 100_000 },
  )
  const response = await fetch(`${origin}/`)
  await expect(response.text()).rejects.toMatchObject({
    code: 'api_malformed',
    message: `${origin} sent more than 100000 bytes`,
  })
})

test('a body that says to be too large is refused at once; one that goes on ends at the limit', async () => {
  const { origin, fetch } = await open(
    (request, response) => {
      if (request.url === '/said') {
        response.writeHead(200, { 'content-length': '1000000000' }).write('x')
        return
      }
      const piece = Buffer.alloc(1000)
      const write = (): void => {
        while (response.write(piece));
        response.once('drain', write)
      }
      write()
    },
    { maxBytes: 1_000_000 },
  )
  expect(await codeOf(fetch(`${origin}/said`))).toBe('api_malformed')
  expect(await codeOf((await fetch(`${origin}/endless`)).arrayBuffer())).toBe('api_malformed')
})

test('headers that are too large are not an answer', async () => {
  const { origin, fetch } = await open((_, response) => {
    for (let at = 0; at < 40; at += 1) response.setHeader(`x-${at}`, 'y'.repeat(1000))
    response.end('ok')
  })
  await expect(fetch(`${origin}/`)).rejects.toMatchObject({
    code: 'api_malformed',
    message: `${origin} sent headers that are too large`,
  })
})

test('a server that never answers, and a body that never ends, end at the deadline', async () => {
  const timers = createHandTimers()
  const arrived = Promise.withResolvers<void>()
  const { origin, fetch } = await open(
    (request, response) => {
      if (request.url === '/body') response.writeHead(200).write('begun')
      arrived.resolve()
    },
    { timers, timeoutMs: 1234 },
  )
  const waiting = codeOf(fetch(`${origin}/`))
  await arrived.promise
  timers.ring()
  expect(await waiting).toBe('api_unavailable')
  const response = await fetch(`${origin}/body`)
  const body = response.text()
  timers.ring()
  await expect(body).rejects.toMatchObject({
    code: 'api_unavailable',
    message: `${origin} did not respond in full within 1234 ms`,
  })
})

test('the deadline is one for all redirects', async () => {
  const timers = createHandTimers()
  const arrived = Promise.withResolvers<void>()
  const { origin, fetch } = await open(
    (request, response) => {
      if (request.url === '/') redirectTo('/slow')(request, response)
      else arrived.resolve()
    },
    { timers },
  )
  const waiting = codeOf(fetch(`${origin}/`))
  await arrived.promise
  timers.ring()
  expect(await waiting).toBe('api_unavailable')
})

test('with "streams", an event stream has no deadline and no bound; other answers have', async () => {
  const timers = createHandTimers()
  const finish = Promise.withResolvers<void>()
  const { origin, fetch } = await open(
    (request, response) => {
      const type = request.url === '/events' ? 'text/event-stream' : 'text/plain'
      response.writeHead(200, { 'content-type': type })
      response.write('data: 1\n\n'.repeat(100))
      void finish.promise.then(() => response.end('data: 2\n\n'))
    },
    { timers, streams: true, maxBytes: 500 },
  )
  expect(await codeOf((await fetch(`${origin}/text`)).text())).toBe('api_malformed')
  const events = await fetch(`${origin}/events`)
  timers.ring()
  finish.resolve()
  expect((await events.text()).length).toBe(909)
})

test('a caller that aborts gets its own reason', async () => {
  const arrived = Promise.withResolvers<void>()
  const { origin, fetch } = await open(() => arrived.resolve())
  const controller = new AbortController()
  const waiting = codeOf(fetch(`${origin}/`, { signal: controller.signal }))
  await arrived.promise
  const reason = new Error('enough')
  controller.abort(reason)
  expect(await waiting).toBe(reason)
  expect(await codeOf(fetch(`${origin}/`, { signal: controller.signal }))).toBe(reason)
})

test('a caller that has aborted before it sends a body that never ends gets its own reason', async () => {
  const { origin, fetch } = await open(() => {})
  const reason = new Error('enough')
  const init = { method: 'POST', body: new ReadableStream(), signal: AbortSignal.abort(reason) }
  expect(await codeOf(fetch(`${origin}/`, init))).toBe(reason)
})

test('a server that is not there, that hangs up and that speaks no HTTP', async () => {
  const speak = async (words: string): Promise<string> => {
    const server = createSocketServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(words))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ends.push(() => new Promise((resolve) => server.close(resolve)))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
  }
  const [silent, other, cut] = [
    await speak(''),
    await speak('220 mail.example.com ESMTP\r\n'),
    await speak('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'),
  ]
  const fetch = openGuard({ allow: [silent, other, cut] })
  expect(await codeOf(fetch(silent))).toBe('api_unavailable')
  expect(await codeOf(fetch(other))).toBe('api_malformed')
  expect(await codeOf((await fetch(cut)).text())).toBe('api_unavailable')
  const gone = await listen(() => {})
  await ends.pop()?.()
  expect(await codeOf(openGuard({ allow: [gone] })(gone))).toBe('api_unavailable')
})

test('a name that is not known is unavailable, and may be asked for again', async () => {
  const failing = openGuard({ lookup: () => Promise.reject(new Error('getaddrinfo ENOTFOUND')) })
  await expect(failing('https://nowhere.example.com/')).rejects.toMatchObject({
    code: 'api_unavailable',
    retryable: true,
  })
  const empty = openGuard({ lookup: () => Promise.resolve([]) })
  expect(await codeOf(empty('https://nowhere.example.com/'))).toBe('api_unavailable')
})

test('hosts and ranges of addresses can be allowed, and nothing beside them', async () => {
  const origin = await listen((_, response) => void response.end('ok'))
  const { port } = new URL(origin)
  const lookup = (): Promise<readonly string[]> => Promise.resolve(['127.0.0.1'])
  const ask = async (allow: readonly string[], host: string): Promise<unknown> => {
    const fetch = openGuard({ schemes: ['http'], allow, lookup })
    return fetch(`http://${host}:${port}/`).then(
      (response) => response.text(),
      (error: { readonly code?: string }) => error.code,
    )
  }
  expect(await ask(['wiki.corp.example'], 'wiki.corp.example')).toBe('ok')
  expect(await ask(['wiki.corp.example'], 'WIKI.corp.example.')).toBe('ok')
  expect(await ask(['wiki.corp.example'], 'other.corp.example')).toBe('url_refused')
  expect(await ask(['wiki.corp.example'], 'wiki.corp.example.evil.example')).toBe('url_refused')
  expect(await ask(['*.corp.example'], 'other.corp.example')).toBe('ok')
  expect(await ask(['*.corp.example'], 'corp.example')).toBe('url_refused')
  expect(await ask(['*.corp.example'], 'evilcorp.example')).toBe('url_refused')
  expect(await ask(['127.0.0.0/8'], 'anything.example')).toBe('ok')
  expect(await ask(['127.0.0.1'], '127.0.0.1')).toBe('ok')
  expect(await ask(['10.0.0.0/8', '::1'], 'anything.example')).toBe('url_refused')
  expect(await ask([`https://127.0.0.1:${port}`], '127.0.0.1')).toBe('url_refused')
  expect(await ask(['http://127.0.0.1:1'], '127.0.0.1')).toBe('url_refused')
})

test('a request may not name another server in its headers', async () => {
  const { origin, fetch } = await open((_, response) => void response.end('ok'))
  expect(await codeOf(fetch(`${origin}/`, { headers: { host: 'inside' } }))).toBe('invalid_option')
})

test.each([
  [{ allow: ['https://example.com/path'] }],
  [{ allow: ['ftp://example.com'] }],
  [{ allow: ['example.com:8080'] }],
  [{ allow: ['10.0.0.0/33'] }],
  [{ allow: ['user@example.com'] }],
  [{ allow: [''] }],
  [{ maxBytes: 0 }],
  [{ timeoutMs: 1.5 }],
  [{ maxRedirects: -1 }],
])('options %j are refused', (options) => {
  expect(() => createGuardedFetch(options)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
})

test('a body that nobody reads does not hold the process', async () => {
  const origin = await listen((_, response) => void response.end('unread'))
  const program = `
    import { createGuardedFetch } from ${JSON.stringify(new URL('guarded-fetch.ts', import.meta.url).href)}
    const fetch = createGuardedFetch({ allow: ['${origin}'], timeoutMs: 2_000_000_000 })
    console.log((await fetch('${origin}/')).status)`
  const args = ['--no-warnings', '--conditions=@baton/source', '--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname })
  expect(stdout).toBe('200\n')
})
