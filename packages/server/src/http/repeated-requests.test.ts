// Repeated requests with a key, over a handler with sessions and over a stand-in that counts.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { startChats } from './chat.test-kit.ts'
import { RepeatedRequests } from './repeated-requests.ts'
import { createIncoming } from './requests.ts'

const running: { stop(): unknown }[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop()
})

async function start() {
  const model = createScriptedModel({ steps: () => ({ text: 'At nine.' }) })
  const authenticate = ({ headers }: Request) => ({ id: headers.get('x-user') ?? 'ann' })
  const chats = startChats({ agent: defineAgent({ name: 'shop', model }), handler: { authenticate } })
  running.push(chats)
  const session = await chats.host.session('s', { principal: { id: 'ann' } })
  await session.send('when?').answer
  const ask = async (path: string, init: { method?: string; body?: object; key?: string; user?: string } = {}) => {
    const { method = 'POST', body = {}, key, user = 'ann' } = init
    const headers = {
      'content-type': 'application/json',
      'x-user': user,
      ...(key !== undefined && { 'idempotency-key': key }),
    }
    const response = await chats.fetch(path, {
      method,
      headers,
      ...(method !== 'GET' && { body: JSON.stringify(body) }),
    })
    const read = (name: string): string | null => response.headers.get(name)
    return {
      status: response.status,
      body: await response.text(),
      replayed: read('idempotency-replayed'),
      after: read('retry-after'),
    }
  }
  const countSessions = async (): Promise<number> => {
    const { body } = await ask('/api/sessions', { method: 'GET' })
    return (JSON.parse(body) as { readonly sessions: readonly unknown[] }).sessions.length
  }
  return { ...chats, ask, countSessions }
}

test('a fork that comes again with its key gives the same copy, and makes no second one', async () => {
  const { ask, countSessions } = await start()
  const first = await ask('/api/sessions/s/fork', { key: '"8e03978e"' })
  const again = await ask('/api/sessions/s/fork', { key: '8e03978e' })
  expect([first.status, first.replayed, again]).toEqual([201, null, { ...first, replayed: 'true' }])
  expect(await countSessions()).toBe(2)
  await ask('/api/sessions/s/fork', { key: 'another' })
  await ask('/api/sessions/s/fork')
  expect(await countSessions()).toBe(4)
})

test('a body that turns out empty is one', async () => {
  const { repeated } = createRepeated()
  const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() })
  const init: RequestInit = { method: 'POST', headers: { 'idempotency-key': 'k' }, body, duplex: 'half' }
  const asked = incoming(new Request('http://a/b', init))
  const told = await repeated.answer(asked, 'ann', async () => new Response(await asked.readBody()))
  expect([told.status, await told.text()]).toEqual([200, ''])
})

test('a session deleted with a key is reported as deleted again, not as missing', async () => {
  const { ask } = await start()
  const first = await ask('/api/sessions/s', { method: 'DELETE', key: 'k' })
  expect(await ask('/api/sessions/s', { method: 'DELETE', key: 'k' })).toEqual({ ...first, replayed: 'true' })
  expect((await ask('/api/sessions/s', { method: 'DELETE' })).status).toBe(404)
})

test('a key with another request gets 422, and that of another principal is another key', async () => {
  const { ask } = await start()
  await ask('/api/sessions/s', { method: 'PATCH', body: { title: 'One' }, key: 'k' })
  for (const init of [
    { method: 'PATCH', body: { title: 'Two' } },
    { method: 'DELETE', body: { title: 'One' } },
  ]) {
    const reused = await ask('/api/sessions/s', { ...init, key: 'k' })
    expect([reused.status, reused.body]).toEqual([422, expect.stringContaining('"idempotency_key_reused"')])
  }
  const elsewhere = await ask('/api/sessions/s?of=another', { method: 'PATCH', body: { title: 'One' }, key: 'k' })
  expect(elsewhere.status).toBe(422)
  const bobs = await ask('/api/sessions/s', { method: 'PATCH', body: { title: 'One' }, key: 'k', user: 'bob' })
  expect([bobs.status, bobs.replayed]).toEqual([403, null])
})

test.each([['""'], ['a b'], ['x'.repeat(256)]])('the key %s is refused', async (key) => {
  const { ask } = await start()
  expect(await ask('/api/sessions/s/fork', { key })).toMatchObject({ status: 400 })
})

test('a message of a chat needs no key: its id is one', async () => {
  const { ask, host } = await start()
  const body = { id: 'c', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }] }
  const [first, again] = [await ask('/api/chat', { body, key: 'k' }), await ask('/api/chat', { body, key: 'k' })]
  expect([first.status, again.status, again.replayed]).toEqual([200, 200, null])
  const session = await host.session('c', { principal: { id: 'ann' } })
  expect((await session.messages()).messages).toHaveLength(2)
})

function incoming(request: Request) {
  return createIncoming(request, { bytesMax: 1000, takeBytes: () => {} })
}

function createRepeated() {
  let nowMs = 0
  const repeated = new RepeatedRequests({ nowMs: () => nowMs })
  let ran = 0
  const ask = async (key: string, status = 200, body = 'done'): Promise<string> => {
    const request = new Request('http://a/b', { method: 'POST', headers: { 'idempotency-key': key }, body: '{}' })
    const asked = incoming(request)
    const response = await repeated.answer(asked, 'ann', async () => {
      ran += 1
      expect(new TextDecoder().decode(await asked.readBody())).toBe('{}')
      return new Response(body, { status })
    })
    return `${response.status} ${response.headers.get('idempotency-replayed') ?? 'ran'}`
  }
  const pass = (ms: number): void => {
    nowMs += ms
  }
  return { repeated, ask, pass, countRuns: () => ran }
}

test('a repeated request gets 409 while the first one runs', async () => {
  const { repeated } = createRepeated()
  const [gate, begun] = [Promise.withResolvers<Response>(), Promise.withResolvers<void>()]
  const create = () => new Request('http://a/b', { method: 'POST', headers: { 'idempotency-key': 'k' } })
  const run = () => {
    begun.resolve()
    return gate.promise
  }
  const first = repeated.answer(incoming(create()), 'ann', run)
  // A body is hashed on another thread, so the second request could otherwise be faster.
  await begun.promise
  await expect(repeated.answer(incoming(create()), 'ann', run)).rejects.toMatchObject({ code: 'request_in_flight' })
  gate.resolve(new Response('done'))
  await first
  expect(await (await repeated.answer(incoming(create()), 'ann', run)).text()).toBe('done')
})

test.each([[500], [503], [409], [429]])('after %i the request may be tried again', async (status) => {
  const { ask } = createRepeated()
  expect([await ask('k', status), await ask('k'), await ask('k')]).toEqual([`${status} ran`, '200 ran', '200 true'])
})

test('a request that fails in an unknown way may be tried again', async () => {
  const { repeated, ask } = createRepeated()
  const request = new Request('http://a/b', { method: 'POST', headers: { 'idempotency-key': 'k' }, body: '{}' })
  await expect(repeated.answer(incoming(request), 'ann', () => Promise.reject(new Error('broken')))).rejects.toThrow(
    'broken',
  )
  expect(await ask('k')).toBe('200 ran')
})

test('answers are kept for a day, the newest ones, and none that are too long', async () => {
  const { ask, pass, countRuns } = createRepeated()
  await ask('old')
  pass(86_400_000)
  expect(await ask('old')).toBe('200 true')
  pass(1)
  expect(await ask('old')).toBe('200 ran')
  await ask('long', 200, 'x'.repeat(256 * 1024 + 1))
  await expect(ask('long')).rejects.toThrow('too long to keep')
  // 16 MiB of answers evict the oldest.
  for (let at = 0; at < 64; at++) await ask(`k${at}`, 200, 'x'.repeat(256 * 1024))
  expect([await ask('k63'), await ask('old')]).toEqual(['200 true', '200 ran'])
  expect(countRuns()).toBe(2 + 1 + 64 + 1)
})
