// However a request ends, neither transport leaves a timer or a listener behind, and nothing is passed on afterwards.
import type { HttpRequest } from '@baton/core/internal'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFetchTransport } from './fetch-transport.ts'
import { createUndiciTransport } from './undici-transport.ts'

type Answer = (response: ServerResponse) => void

let answer: Answer = () => {}
const server = createServer((_request, response) => answer(response))
let address = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
})

afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** A world with manual time, a signal that counts its listeners, and pending timers. */
function createWorld() {
  let nowMs = 0
  const timers = new Set<{ readonly atMs: number; readonly callback: () => void }>()
  const user = new AbortController()
  const listeners = new Set<unknown>()
  const signal = {
    get aborted() {
      return user.signal.aborted
    },
    get reason() {
      return user.signal.reason as unknown
    },
    addEventListener: (_type: 'abort', listener: () => void) => {
      listeners.add(listener)
      user.signal.addEventListener('abort', listener, { once: true })
    },
    removeEventListener: (_type: 'abort', listener: () => void) => {
      listeners.delete(listener)
      user.signal.removeEventListener('abort', listener)
    },
  }
  const time = {
    clock: { nowMs: () => nowMs },
    timers: {
      start(delayMs: number, callback: () => void) {
        const timer = { atMs: nowMs + delayMs, callback }
        timers.add(timer)
        return () => void timers.delete(timer)
      },
    },
  }
  const pass = (ms: number): void => {
    nowMs += ms
    for (const timer of timers) {
      if (timer.atMs > nowMs) continue
      timers.delete(timer)
      timer.callback()
    }
  }
  return { time, signal, user, pass, left: () => ({ timers: timers.size, listeners: listeners.size }) }
}

type World = ReturnType<typeof createWorld>

interface End {
  readonly answer: Answer
  /** Called with each piece that is passed on. */
  readonly onPiece?: (world: World) => void
  /** Called while the test waits for the end. */
  readonly meanwhile?: (world: World) => void
  readonly outcome: unknown
}

const ENDS: Readonly<Record<string, End>> = {
  'an answer': { answer: (response) => response.writeHead(200).end('whole'), outcome: 200 },
  'a refusal that ends': { answer: (response) => response.writeHead(400).end('no'), outcome: 400 },
  'a refusal that does not end': {
    answer: (response) => response.writeHead(500).write('no'),
    meanwhile: ({ pass }) => pass(2000),
    outcome: 500,
  },
  'silence before the first byte': {
    answer: () => {},
    meanwhile: ({ pass }) => pass(30_000),
    outcome: { code: 'model_timeout', data: { phase: 'first-byte', timeoutMs: 30_000 } },
  },
  'silence after a piece': {
    answer: (response) => response.writeHead(200).write('half'),
    onPiece: ({ pass }) => queueMicrotask(() => pass(40_000)),
    outcome: { code: 'model_timeout', data: { phase: 'between-bytes', timeoutMs: 40_000 } },
  },
  'a reader that takes no more': {
    answer: (response) => response.writeHead(200).write('half'),
    onPiece: () => {
      throw new TypeError('too long')
    },
    outcome: { message: 'too long' },
  },
  'a cancelled call': {
    answer: (response) => response.writeHead(200).write('half'),
    onPiece: ({ user }) => user.abort(),
    outcome: { code: 'cancelled' },
  },
  'a connection that breaks': {
    answer: (response) => {
      response.writeHead(200).write('half')
      setImmediate(() => response.destroy())
    },
    outcome: { code: 'model_network_failed' },
  },
}

const KINDS = [
  ['undici', (world: World) => createUndiciTransport({ time: world.time, variables: {} })],
  ['fetch', (world: World) => createFetchTransport({ time: world.time })],
] as const

describe.each(KINDS)('%s', (_kind, create) => {
  test.each(Object.entries(ENDS))('%s leaves nothing behind', async (_name, { answer: told, ...end }) => {
    const world = createWorld()
    answer = told
    let pieces = 0
    let isOver = false
    let late = 0
    const posted = create(world)
      .post(createRequest('/'), world.signal, () => {
        pieces += 1
        if (isOver) late += 1
        end.onPiece?.(world)
      })
      .then(
        ({ status }): unknown => status,
        (thrown: unknown) => thrown,
      )
      .finally(() => {
        isOver = true
      })
    await expect.poll(() => (end.meanwhile?.(world), isOver)).toBe(true)
    const outcome = await posted
    expect({ outcome }).toMatchObject({ outcome: end.outcome })
    expect(world.left()).toEqual({ timers: 0, listeners: 0 })
    // Nothing that the connection sends now may reach a listener.
    const before = pieces
    world.pass(100_000)
    world.user.abort()
    expect([pieces, late]).toEqual([before, 0])
  })

  test('the same headers go to each address that is asked, one after another', async () => {
    const world = createWorld()
    const seen: string[] = []
    const listener = ({ url = '' }: { readonly url?: string | undefined }): void => void seen.push(url)
    server.on('request', listener)
    answer = (response) => response.end()
    const transport = create(world)
    const { headers } = createRequest('/')
    for (const path of ['/one', '/two', '/one'])
      await transport.post({ ...createRequest(path), headers }, world.signal, () => {})
    server.off('request', listener)
    expect(seen).toEqual(['/one', '/two', '/one'])
  })

  test('a note that comes before the answer is no answer', async () => {
    const world = createWorld()
    const hinted = Promise.withResolvers<ServerResponse>()
    answer = (response) => {
      response.writeEarlyHints({ link: '</style>; rel=preload' }, () => hinted.resolve(response))
    }
    const posted = create(world).post(createRequest('/'), world.signal, () => {})
    const response = await hinted.promise
    for (let tenth = 0; tenth < 30; tenth += 1) {
      world.pass(100)
      await new Promise((resolve) => void setImmediate(resolve))
    }
    response.writeHead(201).end()
    expect(await posted).toMatchObject({ status: 201 })
  })

  test('a request that is given up before its connection stands is not sent', async () => {
    const world = createWorld()
    let asked = 0
    answer = (response) => {
      asked += 1
      response.end()
    }
    const transport = create(world)
    const given = transport.post(createRequest('/'), world.signal, () => {})
    world.user.abort()
    await expect(given).rejects.toMatchObject({ code: 'cancelled' })
    await transport.post(createRequest('/'), createWorld().signal, () => {})
    expect(asked).toBe(1)
  })

  test('a limit between bytes that is shorter than the first one leaves no timer behind', async () => {
    const world = createWorld()
    answer = (response) => {
      response.writeHead(200).write('half')
      setImmediate(() => response.end())
    }
    await create(world).post({ ...createRequest('/'), betweenBytesTimeoutMs: 5000 }, world.signal, () => {})
    expect(world.left()).toEqual({ timers: 0, listeners: 0 })
  })
})

test('a piece that comes after the end of a call, of a fetch that does not hear its signal, reaches nobody', async () => {
  const world = createWorld()
  const piece = Promise.withResolvers<{ readonly done: boolean; readonly value: Uint8Array }>()
  let reads = 0
  const read = () => {
    reads += 1
    return piece.promise
  }
  const body = { getReader: () => ({ read, cancel: async () => {} }) }
  const fetch = async () => ({ status: 200, headers: { forEach: () => {} }, body })
  let pieces = 0
  const posted = createFetchTransport({ time: world.time, fetch })
    .post({ ...createRequest('/'), url: 'https://host/v1' }, world.signal, () => void (pieces += 1))
    .catch((thrown: unknown) => thrown)
  await expect.poll(() => reads).toBe(1)
  world.user.abort()
  expect(await posted).toMatchObject({ code: 'cancelled' })
  piece.resolve({ done: false, value: new Uint8Array(1) })
  await new Promise((resolve) => void setImmediate(resolve))
  expect([pieces, reads]).toEqual([0, 1])
})

function createRequest(path: string): HttpRequest {
  return { url: address + path, headers: {}, body: '{}', firstByteTimeoutMs: 30_000, betweenBytesTimeoutMs: 40_000 }
}
