// Sessions over HTTP, each visible to its own principal only.
import type { Host, Principal, SessionEvent, Store } from '@baton/core'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { afterEach, expect, test } from 'vitest'
import { turnLoop } from '../websocket/v2-memory-app.test-kit.ts'
import { startChats } from './chat.test-kit.ts'
import type { HandlerOptions } from './handler-parts.ts'
import { createHandler } from './handler.ts'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

const authenticate = ({ headers }: Request): Principal | undefined => {
  const id = headers.get('authorization')?.replace(/^Bearer /, '')
  if (id === 'broken') throw new Error('the directory is down')
  return id === undefined ? undefined : { id }
}

function start(handler: HandlerOptions = { authenticate }, store: Store = createMemoryStore()) {
  const model = createScriptedModel({ steps: () => ({ text: 'Good morning.' }) })
  const chats = startChats({ agent: defineAgent({ name: 'a', model }), handler, store })
  running.push(chats)
  const ask = async (address: string, { as = 'ann', body, method = body ? 'POST' : 'GET', headers = {} }: Ask = {}) =>
    await chats.fetch(address, {
      method,
      headers: { authorization: `Bearer ${as}`, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
  const say = async (id: string, text: string, as = 'ann'): Promise<void> => {
    const messages = [{ id: `${id}-${text}`, role: 'user', parts: [{ type: 'text', text }] }]
    await (await ask('/api/chat', { as, body: { id, messages } })).text()
  }
  return { ...chats, ask, say }
}

interface Ask {
  readonly as?: string
  readonly body?: object
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Named {
  readonly id: string
}

/** The fields of all answers combined. */
interface Told extends Named {
  readonly sessions: readonly Named[]
  readonly cursor: string
  readonly messages: readonly Named[]
  readonly more: boolean
}

const readJson = async (response: Promise<Response>): Promise<Told> => (await (await response).json()) as Told // a test knows which it uses
const listIds = (named: readonly Named[]): readonly string[] => named.map(({ id }) => id)

test('a form of messages that does not exist is refused', async () => {
  const { ask, say } = start()
  await say('chat-1', 'Hello')
  const response = await ask('/api/sessions/chat-1/messages?format=xml')
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    error: { message: 'format must be "baton", or absent for UI messages' },
  })
})

test('a list has the principal’s own, a page at a time', async () => {
  const { ask, say } = start()
  await say('s1', 'one')
  await say('s2', 'two')
  await say('s3', 'three', 'bob')
  const first = await readJson(ask('/api/sessions?limit=1'))
  expect(listIds(first.sessions)).toEqual(['s2'])
  const second = await readJson(ask(`/api/sessions?limit=1&cursor=${encodeURIComponent(first.cursor)}`))
  expect(listIds(second.sessions)).toEqual(['s1'])
  expect((await readJson(ask('/api/sessions', { as: 'bob' }))).sessions).toHaveLength(1)
})

test('of another principal nothing can be read or done', async () => {
  const { ask, say } = start()
  await say('s1', 'one')
  const readMessages = async (): Promise<unknown> => (await readJson(ask('/api/sessions/s1/messages'))).messages
  const before = await readMessages()
  for (const [address, more] of [
    ['/api/sessions/s1', {}],
    ['/api/sessions/s1/messages', {}],
    ['/api/sessions/s1/events', {}],
    ['/api/sessions/s1/export', {}],
    ['/api/sessions/s1/fork', { body: {} }],
    ['/api/sessions/s1', { method: 'DELETE' }],
    ['/api/sessions/s1', { method: 'PATCH', body: { title: 'mine' } }],
    ['/api/chat/s1/stream', {}],
    ['/api/chat/s1/stop', { method: 'POST' }],
  ] as const)
    expect([address, (await ask(address, { as: 'bob', ...more })).status]).toEqual([address, 403])
  expect(await readMessages()).toEqual(before)
})

test.each([
  ['without a name', undefined, 401],
  ['with a directory that fails', 'broken', 401],
])('who asks %s gets 401', async (_who, as, status) => {
  const { fetch } = start()
  const headers: Record<string, string> = as === undefined ? {} : { authorization: `Bearer ${as}` }
  expect((await fetch('/api/sessions', { headers })).status).toBe(status)
})

test('a session is named, copied, exported and removed', async () => {
  const { ask, say } = start()
  await say('s1', 'one')
  await say('s1', 'two')
  const named = await readJson(ask('/api/sessions/s1', { method: 'PATCH', body: { title: 'Greetings' } }))
  expect(named).toMatchObject({ title: 'Greetings', activity: 'idle' })
  const odd = await ask('/api/sessions/s1', { method: 'PATCH', body: { titel: 'x' } })
  expect([odd.status, await odd.text()]).toEqual([400, expect.stringContaining('titel')])
  const copied = await readJson(ask('/api/sessions/s1/fork', { body: { before: 's1-two' } }))
  const copy = await readJson(ask(`/api/sessions/${copied.id}/messages`))
  expect(listIds(copy.messages)).toEqual(['s1-one', 't1'])
  const exported = await readJson(ask('/api/sessions/s1/export'))
  expect(exported.messages).toHaveLength(4)
  expect((await ask('/api/sessions/s1', { method: 'DELETE' })).status).toBe(200)
  expect(listIds((await readJson(ask('/api/sessions'))).sessions)).toEqual([copied.id])
})

test('requests for a session that is being removed do not make another one', async () => {
  const memory = createMemoryStore()
  const gate = Promise.withResolvers<void>()
  const remove: Store['remove'] = async (...given) => {
    await gate.promise
    await memory.remove(...given)
  }
  const { ask, say } = start({ authenticate }, { ...memory, remove })
  await say('s', 'one')
  const removed = ask('/api/sessions/s', { method: 'DELETE' })
  await turnLoop(2)
  const asked = ['', '/messages', '/events', '/export'].map((address) => ask(`/api/sessions/s${address}`))
  const stopped = ask('/api/chat/s/stop', { method: 'POST' })
  await turnLoop(2)
  gate.resolve()
  expect((await removed).status).toBe(200)
  for (const response of [...asked, stopped]) expect((await response).status).toBe(404)
  expect((await readJson(ask('/api/sessions'))).sessions).toEqual([])
})

test.each(['/', '/api', '/api/none'])(
  'the address %s has nothing, and the answer says where something is',
  async (address) => {
    const { ask } = start()
    const response = await ask(address)
    expect([response.status, await response.json()]).toEqual([
      404,
      {
        error: {
          code: 'invalid_event',
          message: 'there is nothing at this address',
          hint: 'Chats use POST /api/chat; sessions are listed by GET /api/sessions. See docs/chat.md for all addresses.',
        },
      },
    ])
  },
)

test('to ask for a session makes none', async () => {
  const { ask } = start()
  for (const address of ['', '/messages', '/events', '/export']) {
    const response = await ask(`/api/sessions/nobody${address}`)
    expect([address, response.status]).toEqual([address, 404])
    expect(await response.json()).toMatchObject({
      error: { code: 'unknown_session', hint: expect.any(String) as string },
    })
  }
  expect((await ask('/api/chat/nobody/stream')).status).toBe(204)
  expect((await ask('/api/chat/nobody/stop', { method: 'POST' })).status).toBe(404)
  expect((await ask('/api/sessions/nobody', { method: 'DELETE' })).status).toBe(404)
  expect((await readJson(ask('/api/sessions'))).sessions).toEqual([])
})

test('pages of messages go back to the first one', async () => {
  const { ask, say } = start()
  for (const text of ['one', 'two', 'three']) await say('s1', text)
  const newest = await readJson(ask('/api/sessions/s1/messages?limit=2'))
  expect(listIds(newest.messages)).toEqual(['s1-three', 't3'])
  const older = await readJson(ask('/api/sessions/s1/messages?limit=200&before=s1-three'))
  expect([older.messages.length, older.more]).toEqual([4, false])
  expect((await ask('/api/sessions/s1/messages?limit=x')).status).toBe(400)
})

test('an export has all messages, the oldest first, however many there are', async () => {
  const { ask, say, host } = start()
  await say('s1', 'first')
  const session = await host.session('s1', { principal: { id: 'ann' } })
  for (let at = 0; at < 110; at += 1) await session.send('on', { inputId: `m${at}` }).answer
  const { messages } = await readJson(ask('/api/sessions/s1/export'))
  const ids = listIds(messages)
  expect([ids.length, ids[0], ids[2], ids.at(-2)]).toEqual([222, 's1-first', 'm0', 'm109'])
})

test('an export is whole although its oldest message so far is taken back meanwhile', async () => {
  const { host } = start()
  const session = await host.session('s1')
  for (let at = 0; at < 110; at += 1) await session.send('on', { inputId: `m${at}` }).answer
  let isTakenBack = false
  const messages: typeof session.messages = async (query) => {
    if (query?.before !== undefined && !isTakenBack) {
      isTakenBack = true
      await session.rewind({ message: 'm5' })
    }
    return await session.messages(query)
  }
  const get = (own: typeof session, name: keyof typeof session) => (name === 'messages' ? messages : own[name])
  const rewinding: Host = { ...host, session: (async () => new Proxy(session, { get })) as Host['session'] } // as in the host
  const handler = createHandler(rewinding)
  const response = await handler(new Request('http://localhost/api/sessions/s1/export'))
  expect(response.status).toBe(200)
  const exported = await readJson(Promise.resolve(response))
  expect(listIds(exported.messages)).toEqual(['m0', 't1', 'm1', 't2', 'm2', 't3', 'm3', 't4', 'm4', 't5'])
})

test('events continue after any of them, by the id that a browser sends', async () => {
  const { ask, say } = start()
  await say('s1', 'one')
  const all = await readEvents(ask('/api/sessions/s1/events?from=start'), 'live')
  expect(all.map(({ type }) => type)).toContain('turn-finished')
  for (const [index, event] of all.slice(0, -1).entries()) {
    const headers = { 'last-event-id': JSON.stringify(event.cursor) }
    const rest = await readEvents(ask('/api/sessions/s1/events', { headers }), 'live')
    // The position of `live` moves, because each opening of a session at rest is a record.
    expect(rest.slice(0, -1)).toEqual(all.slice(index + 1, -1))
  }
  // A reconnecting browser requests the same address.
  const last = { 'last-event-id': JSON.stringify(all.at(-2)?.cursor) }
  expect(await readEvents(ask('/api/sessions/s1/events?from=start', { headers: last }), 'live')).toHaveLength(1)
  expect((await ask('/api/sessions/s1/events?from=yesterday')).status).toBe(400)
  expect((await ask('/api/sessions/s1/events?from={"pos":9999}')).status).toBe(400)
})

test('a response that is larger than what may wait is read whole, at the reader’s own pace', async () => {
  const { ask, say } = start({ authenticate, limits: { waitingBytes: 64 } })
  for (let turn = 0; turn < 20; turn++) await say('s1', `word ${turn}`)
  const events = await readEvents(ask('/api/sessions/s1/events?from=start'), 'live')
  expect(events.filter(({ type }) => type === 'turn-finished')).toHaveLength(20)
})

test('a body over the limit, a body that is no JSON, an address that is none', async () => {
  const { ask, fetch } = start({ limits: { bodyBytes: 100 } })
  expect((await ask('/api/chat', { body: { id: 'x'.repeat(200) } })).status).toBe(413)
  const post = (body: string, type: string) =>
    fetch('/api/chat', { method: 'POST', headers: { 'content-type': type }, body })
  expect((await post('{', 'application/json')).status).toBe(400)
  expect((await post('{}', 'text/plain')).status).toBe(400)
  expect((await fetch('/api/nothing')).status).toBe(404)
  expect((await fetch('/elsewhere')).status).toBe(404)
  expect((await fetch('/api/sessions/%E0%A4%A')).status).toBe(400)
})

test('pages of other origins, and names of others', async () => {
  const { fetch } = start({ origins: ['https://app.example'], hosts: ['localhost'] })
  const ask = async (headers: Readonly<Record<string, string>>) => await fetch('/api/sessions', { headers })
  expect((await ask({ origin: 'http://localhost' })).status).toBe(200)
  expect((await ask({ origin: 'https://evil.example' })).status).toBe(403)
  const allowed = await ask({ origin: 'https://app.example' })
  expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example'])
  expect((await fetch('http://evil.example/api/sessions')).status).toBe(403)
})

/** Reads events up to the first of this type. */
async function readEvents(asked: Promise<Response>, last: SessionEvent['type']): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = []
  let text = ''
  const decoder = new TextDecoder()
  for await (const bytes of (await asked).body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    const whole = text.split('\n\n')
    text = whole.pop() ?? ''
    for (const one of whole) {
      const data = one.split('\n').find((line) => line.startsWith('data: '))
      if (data === undefined) continue
      const event = JSON.parse(data.slice('data: '.length)) as SessionEvent // as the server writes it
      events.push(event)
      if (event.type === last) return events
    }
  }
  return events
}

test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
  'a request that a page of another origin can send without asking is refused: %s',
  async (type) => {
    const { ask } = start()
    const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'pay' }] }]
    const refused = await ask('/api/chat', { body: { id: 's', messages }, headers: { 'content-type': type } })
    expect(refused.status).toBe(400)
    expect(await refused.text()).toContain('must be application/json')
    expect((await ask('/api/sessions/s')).status).toBe(404)
  },
)
