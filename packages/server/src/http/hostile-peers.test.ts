// Attacks by a hostile client, or by a hostile peer that knows the secret, on requests that are passed on.
import type { Host } from '@baton/core'
import { BatonError } from '@baton/core'
import type { RequestListener } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { createHandler } from './handler.ts'
import type { HandlerOptions } from './handler-parts.ts'
import { createMessage, SECRET, startStranger } from './peers.test-kit.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const MARK = { 'x-baton-answer': '1', 'content-type': 'application/json' }

/** A handler that passes everything on to a stand-in for a peer. */
async function stand(answer: RequestListener, options: HandlerOptions = {}) {
  const stranger = await startStranger(answer)
  closers.push(stranger.stop)
  const { address, server } = stranger
  const held = new BatonError({ code: 'session_held', message: `held at ${address}`, data: { owner: 'h', address } })
  const refuse = () => Promise.reject(held)
  const host: Host & { readonly remove: () => Promise<void> } = {
    session: refuse,
    remove: refuse,
    stop: () => Promise.resolve(),
  }
  const peers = { address: 'ws://127.0.0.1:1', secret: SECRET }
  const handler = createHandler(host, { peers, log: { info: () => {}, warn: () => {} }, ...options })
  const ask = (path: string, init: RequestInit = {}) => handler(new Request(`http://localhost${path}`, init))
  return { ask, server }
}

const ROUTES: readonly (readonly [string, string])[] = [
  ['DELETE', '/api/sessions/s'],
  ['POST', '/api/chat/s/answers'],
  ['PATCH', '/api/sessions/s'],
]

test.each(ROUTES)('a request with %s %s becomes a body at the peer, not a second request', async (method, path) => {
  const heard: (readonly [string | undefined, string | undefined, string])[] = []
  const garbled: Error[] = []
  const { ask, server } = await stand((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => void pieces.push(piece))
    request.on('end', () => {
      heard.push([request.method, request.url, Buffer.concat(pieces).toString()])
      response.writeHead(200, MARK).end('{"ok":true}')
    })
  })
  server.on('clientError', (cause: Error, socket) => {
    garbled.push(cause)
    socket.destroy()
  })
  const body = 'GET /api/sessions/other HTTP/1.1\r\nhost: a\r\n\r\n'
  const headers = { 'content-type': 'application/json' }
  // A body that is read before it is passed on must be JSON.
  const sent = method === 'DELETE' ? body : JSON.stringify({ body })
  const answered = await ask(path, { method, body: sent, headers })
  expect([answered.status, await answered.text()]).toEqual([200, '{"ok":true}'])
  expect([heard, garbled]).toEqual([[[method, path, sent]], []])
})

test('a peer that answers with a status of which no response can be made is none, and ends no process', async () => {
  const crashes: unknown[] = []
  const crash = (cause: unknown): void => void crashes.push(cause)
  process.on('uncaughtException', crash)
  closers.push(() => process.off('uncaughtException', crash))
  const { ask } = await stand((_, response) => void response.writeHead(205, MARK).end())
  expect((await ask('/api/sessions/s')).status).toBe(503)
  expect(crashes).toEqual([])
})

test.each([
  ['a refusal', 500, { method: 'GET' }, /more than 1048576 bytes/],
  ['what was done', 200, { method: 'DELETE', headers: { 'idempotency-key': 'k' } }, /"session_held"/],
] as const)('a peer that never ends %s is cut off', async (_situation, status, init, told) => {
  const gone = Promise.withResolvers<void>()
  const { ask } = await stand((_, response) => {
    response.on('close', () => gone.resolve())
    response.writeHead(status, MARK)
    const fill = (): void => {
      while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
    }
    response.on('drain', fill)
    fill()
  })
  const answered = await ask('/api/sessions/s', init)
  expect(await answered.text().catch((cause: Error) => cause.message)).toMatch(told)
  await gone.promise
})

test('a client that leaves before its request is passed on frees its stream', async () => {
  const limits = { streams: 1 }
  const { ask } = await stand((_, response) => void response.writeHead(200, MARK).end('{}'), { limits })
  const left = AbortSignal.abort()
  for (let at = 0; at < 3; at++) await ask('/api/sessions/s', { signal: left })
  await expect.poll(async () => (await ask('/api/sessions/s')).status).toBe(200)
})

test('a changing request reaches the peer although its client has left, and a reading one ends', async () => {
  const asked = Promise.withResolvers<void>()
  const gone = Promise.withResolvers<void>()
  const { ask } = await stand((request, response) => {
    if (request.method === 'GET') response.once('close', () => gone.resolve())
    else response.writeHead(200, MARK).end('{"ok":true}')
    asked.resolve()
  })
  const reading = new AbortController()
  const read = ask('/api/sessions/s', { signal: reading.signal })
  await asked.promise
  reading.abort()
  await gone.promise
  expect((await read).status).toBe(503)
  const stopped = await ask('/api/chat/s/stop', { method: 'POST', signal: AbortSignal.abort() })
  expect(stopped.status).toBe(200)
})

test('an answer that streams is not collected for a key, however its address is written', async () => {
  const { ask } = await stand((_, response) => {
    response.writeHead(200, { ...MARK, 'content-type': 'text/event-stream' }).write('data: {}\n\n')
  })
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' }
  const body = JSON.stringify(createMessage('s', 'hello'))
  const answered = await ask('/api/%63hat', { method: 'POST', headers, body })
  const reader = answered.body?.getReader()
  expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: {}\n\n')
  await reader?.cancel()
})
