// One contract for both transports, over a real HTTP server on the loopback address. Time is advanced manually.
import type { HttpHead, HttpRequest, Transport } from '@baton/core/internal'
import { isBatonError } from '@baton/core/internal'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Time } from './deadlines.ts'
import { createFetchTransport } from './fetch-transport.ts'
import { createUndiciTransport } from './undici-transport.ts'

const KEY = 'sk-very-secret-0123456789'

interface ManualTime extends Time {
  advance(ms: number): void
}

function manualTime(): ManualTime {
  let nowMs = 0
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>()
  return {
    clock: { nowMs: () => nowMs },
    timers: {
      start(delayMs, callback) {
        const timer = { atMs: nowMs + delayMs, callback }
        timers.add(timer)
        return () => timers.delete(timer)
      },
    },
    advance(ms) {
      nowMs += ms
      for (const timer of timers) {
        if (timer.atMs > nowMs) continue
        timers.delete(timer)
        timer.callback()
      }
    },
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void

let server: Server
let handler: Handler
let address: string

beforeEach(async () => {
  server = createServer((request, response) => handler(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // a server that listens on a port has this kind of address
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function request(path = '/v1/messages', body = '{"a":"ä"}'): HttpRequest {
  return {
    url: address + path,
    headers: { 'content-type': 'application/json', 'x-api-key': KEY },
    body,
    firstByteTimeoutMs: 30_000,
    betweenBytesTimeoutMs: 20_000,
  }
}

function gate(): { readonly promise: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined
  const promise = new Promise<void>((resolve) => (open = resolve))
  return { promise, open }
}

async function describeFailure(promise: Promise<unknown>): Promise<{ code: string; message: string; data: unknown }> {
  const thrown: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!isBatonError(thrown)) throw new Error(`not a BatonError: ${String(thrown)}`)
  return thrown
}

const ignore = () => undefined

const kinds: readonly (readonly [string, (time: Time) => Transport])[] = [
  ['undici', (time) => createUndiciTransport({ time, variables: {} })],
  ['fetch', (time) => createFetchTransport({ time })],
]

describe.each(kinds)('%s transport', (_name, create) => {
  test('status, headers, body and the request as it was sent', async () => {
    const seen: { method?: string; url?: string; key?: unknown; body?: string } = {}
    handler = (incoming, response) => {
      let body = ''
      incoming.on('data', (piece) => (body += String(piece)))
      incoming.on('end', () => {
        Object.assign(seen, { method: incoming.method, url: incoming.url, key: incoming.headers['x-api-key'], body })
        response.writeHead(200, { 'Request-Id': 'req_1', 'content-type': 'text/event-stream' })
        response.end('hello')
      })
    }
    let text = ''
    const head = await create(manualTime()).post(
      request('/v1/messages?beta=true'),
      new AbortController().signal,
      (bytes) => {
        text += new TextDecoder().decode(bytes)
      },
    )
    expect(seen).toEqual({ method: 'POST', url: '/v1/messages?beta=true', key: KEY, body: '{"a":"ä"}' })
    expect(head.status).toBe(200)
    expect(head.headers['request-id']).toBe('req_1')
    expect(text).toBe('hello')
  })

  test('each piece arrives before the next is sent', async () => {
    const texts: string[] = []
    let reply: ServerResponse | undefined
    handler = (_incoming, response) => {
      reply = response
      response.writeHead(200)
      response.write('piece 0')
    }
    await create(manualTime()).post(request(), new AbortController().signal, (bytes) => {
      texts.push(new TextDecoder().decode(bytes))
      if (texts.length < 4) reply?.write(`piece ${texts.length}`)
      else reply?.end()
    })
    expect(texts).toEqual(['piece 0', 'piece 1', 'piece 2', 'piece 3'])
  })

  test.each<[string, Partial<HttpRequest>, string]>([
    [
      'an address that is none',
      { url: 'notaurl/v1/messages' },
      '"notaurl/v1/messages" is not an http or https address',
    ],
    ['an address of another kind', { url: 'file:///etc/hosts' }, '"file:///etc/hosts" is not an http or https address'],
    [
      'a key with a line break',
      { headers: { 'x-api-key': `${KEY}\r\nx: 1` } },
      'the header x-api-key contains a character that headers do not allow',
    ],
    [
      'a key with a letter that is no Latin-1',
      { headers: { 'x-api-key': `${KEY}€` } },
      'the header x-api-key contains a character that headers do not allow',
    ],
    ['a header without a name', { headers: { '': 'x' } }, '"" is not a valid header name'],
  ])('%s is an invalid request, which no retry can help', async (_name, more, message) => {
    const post = create(manualTime()).post({ ...request(), ...more }, new AbortController().signal, ignore)
    expect(await describeFailure(post)).toMatchObject({ code: 'model_invalid_request', message, retryable: false })
  })

  test('the body of a refusal is given with its status', async () => {
    handler = (_incoming, response) => response.writeHead(529).end('{"error":1}')
    let seen: { status: number; text: string } | undefined
    const onBytes = (bytes: Uint8Array, head: HttpHead) => {
      seen = { status: head.status, text: new TextDecoder().decode(bytes) }
    }
    const head = await create(manualTime()).post(request(), new AbortController().signal, onBytes)
    expect(head.status).toBe(529)
    expect(seen).toEqual({ status: 529, text: '{"error":1}' })
  })

  test('a refusal that goes on and on is told 2 s after its head, and its socket closed', async () => {
    const time = manualTime()
    const arrived = gate()
    const closed = gate()
    handler = (incoming, response) => {
      incoming.socket.on('close', closed.open)
      response.writeHead(503)
      response.write('busy')
    }
    const post = create(time).post(request(), new AbortController().signal, arrived.open)
    await arrived.promise
    time.advance(2000)
    expect((await post).status).toBe(503)
    await closed.promise
  })

  test('a redirect is not followed', async () => {
    let requests = 0
    handler = (_incoming, response) => {
      requests++
      response.writeHead(307, { location: '/elsewhere' }).end()
    }
    const head = await create(manualTime()).post(request(), new AbortController().signal, ignore)
    expect([head.status, requests]).toEqual([307, 1])
  })

  test('nothing before the first-byte time-out', async () => {
    const time = manualTime()
    const arrived = gate()
    const closed = gate()
    handler = (incoming) => {
      incoming.socket.on('close', closed.open)
      arrived.open()
    }
    const failure = describeFailure(create(time).post(request(), new AbortController().signal, ignore))
    await arrived.promise
    time.advance(29_999)
    time.advance(1)
    const { code, data } = await failure
    expect(code).toBe('model_timeout')
    expect(data).toEqual({ phase: 'first-byte', timeoutMs: 30_000 })
    await closed.promise
  })

  test('silence after some bytes', async () => {
    const time = manualTime()
    const piece = gate()
    const closed = gate()
    handler = (incoming, response) => {
      incoming.socket.on('close', closed.open)
      response.writeHead(200)
      response.write('x')
    }
    const failure = describeFailure(create(time).post(request(), new AbortController().signal, piece.open))
    await piece.promise
    time.advance(20_000)
    const { code, data } = await failure
    expect(code).toBe('model_timeout')
    expect(data).toEqual({ phase: 'between-bytes', timeoutMs: 20_000 })
    await closed.promise
  })

  test('bytes put the deadline off', async () => {
    const time = manualTime()
    let pieces = 0
    let reply: ServerResponse | undefined
    handler = (_incoming, response) => {
      reply = response
      response.writeHead(200)
      response.write('x')
    }
    const head = await create(time).post(request(), new AbortController().signal, () => {
      time.advance(19_999)
      if (++pieces < 4) reply?.write('x')
      else reply?.end()
    })
    expect([head.status, pieces]).toEqual([200, 4])
  })

  test('an abort closes the socket, which the server notices', async () => {
    const aborter = new AbortController()
    const closed = gate()
    handler = (incoming, response) => {
      incoming.socket.on('close', closed.open)
      response.writeHead(200)
      response.write('x')
    }
    const post = create(manualTime()).post(request(), aborter.signal, () => aborter.abort())
    expect((await describeFailure(post)).code).toBe('cancelled')
    await closed.promise
  })

  test('a signal that was aborted before sends nothing', async () => {
    handler = () => expect.unreachable()
    const aborter = new AbortController()
    aborter.abort()
    expect((await describeFailure(create(manualTime()).post(request(), aborter.signal, ignore))).code).toBe('cancelled')
  })

  test('what the receiver throws ends the request', async () => {
    const closed = gate()
    handler = (incoming, response) => {
      incoming.socket.on('close', closed.open)
      response.writeHead(200)
      response.write('x')
    }
    const post = create(manualTime()).post(request(), new AbortController().signal, () => {
      throw new Error('unreadable')
    })
    await expect(post).rejects.toThrow('unreadable')
    await closed.promise
  })

  test('connection refused, and no key in the error', async () => {
    const refused = {
      ...request('/v1?api_key=sk-in-the-query-42'),
      url: 'http://127.0.0.1:1/v1?api_key=sk-in-the-query-42',
    }
    const post = create(manualTime()).post(refused, new AbortController().signal, ignore)
    const failure = await describeFailure(post)
    expect(failure.code).toBe('model_network_failed')
    expect(everythingIn(failure)).not.toMatch(/sk-/)
  })

  test('an address that is none, and no key in the error', async () => {
    const wrong = { ...request(), url: 'http://[sk-in-the-host-0123]:x/?key=sk-in-the-query-42' }
    const failure = await describeFailure(create(manualTime()).post(wrong, new AbortController().signal, ignore))
    expect(failure.code).toBe('model_invalid_request')
    expect(everythingIn(failure)).not.toMatch(/sk-in-the-query/)
  })

  test.each(['with a length', 'chunked'])('the server cuts the body off, %s', async (kind) => {
    handler = (incoming, response) => {
      response.writeHead(200, kind === 'chunked' ? {} : { 'content-length': '1000' })
      response.write('x', () => cut(incoming.socket))
    }
    const failure = await describeFailure(create(manualTime()).post(request(), new AbortController().signal, ignore))
    expect(failure.code).toBe('model_network_failed')
  })
})

test('undici: a proxy from the environment is used, except for the hosts of NO_PROXY', async () => {
  const targets: (string | undefined)[] = []
  server.on('connect', (incoming, socket: Socket) => {
    targets.push(incoming.url)
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  handler = (incoming, response) => {
    targets.push(incoming.url)
    response.end()
  }
  const variables = { HTTP_PROXY: address, NO_PROXY: 'direct.invalid' }
  const transport = createUndiciTransport({ time: manualTime(), variables })
  const post = (url: string) =>
    transport.post({ ...request(), url }, new AbortController().signal, ignore).catch(() => undefined)
  await post('http://provider.invalid/v1')
  expect(targets.join()).toContain('provider.invalid')
  targets.length = 0
  await post('http://direct.invalid/v1')
  expect(targets).toEqual([])
})

test.each([
  ['HTTPS_PROXY', 'nope'],
  ['HTTP_PROXY', 'localhost:8080'],
  ['https_proxy', 'me:secret@proxy.example'],
  ['http_proxy', 'http://me:%zz@proxy.example'],
])('undici: %s=%s is refused by its name, without what it holds', (name, value) => {
  const expected = {
    code: 'invalid_option',
    message: `${name} must be the address of a proxy, such as http://127.0.0.1:3128`,
  }
  expect(() => createUndiciTransport({ variables: { [name]: value } })).toThrow(expect.objectContaining(expected))
})

test('undici: an idle connection is closed after `keepAliveMs`, also if the server would keep it longer', async () => {
  server.keepAliveTimeout = 600_000
  const closed = new Promise<void>((resolve) => server.once('connection', (socket) => socket.once('close', resolve)))
  handler = (_, response) => response.end('{}')
  const transport = createUndiciTransport({ variables: {}, keepAliveMs: 1 })
  await transport.post(request(), new AbortController().signal, () => {})
  await closed
  await transport.close()
})

test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('undici: `keepAliveMs` %s is refused', (keepAliveMs) => {
  const code = 'invalid_option'
  expect(() => createUndiciTransport({ keepAliveMs })).toThrow(expect.objectContaining({ code }))
})

test('undici: a proxy may be empty, have a password, or speak SOCKS', async () => {
  for (const value of ['', 'http://me:p%20w@proxy.example:3128', 'socks5://127.0.0.1:1080'])
    await createUndiciTransport({ variables: { HTTPS_PROXY: value } }).close()
})

function cut(socket: Socket): void {
  socket.destroy()
}

/** Everything a log might print of an error: its own fields, stack and causes. */
function everythingIn(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? ''
  const own = Object.getOwnPropertyNames(error).map((name) =>
    String(Object.getOwnPropertyDescriptor(error, name)?.value),
  )
  return [...own, JSON.stringify(error), everythingIn(error.cause)].join('\n')
}
