// Events from outside over HTTP: signed or authenticated, refused before anything is stored, and one input each.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test } from 'vitest'
import { startChats } from './chat.test-kit.ts'
import type { HandlerOptions } from './handler-parts.ts'
import { createHandler } from './handler.ts'
import { startPeer } from './peers.test-kit.ts'

const running: { stop(): unknown }[] = []
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop()
})

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const STRANGE = `whsec_${Buffer.alloc(32, 8).toString('base64')}`
const PAID = { type: 'order.paid', timestamp: '2026-11-30T10:00:00Z', data: { order: 'A-1', cents: 4000 } }

const events = {
  'order.paid': {
    data: {
      type: 'object',
      properties: { order: { type: 'string' }, cents: { type: 'integer' } },
      required: ['order'],
      additionalProperties: false,
    },
  },
  'order.sent': {},
  'mail.received': { trust: 'untrusted' },
} as const

const createAgent = () =>
  defineAgent({ name: 'shop', events, model: createScriptedModel({ steps: () => ({ text: 'Noted.' }) }) })
const authenticate = ({ headers }: Request) => {
  const id = headers.get('x-user')
  return id === null ? undefined : { id }
}
const webhooks = { shop: { secret: [STRANGE.replace('CAgI', 'BAgI'), SECRET], principal: { id: 'ann' } } } as const

function start(handler: HandlerOptions = {}) {
  const store = createMemoryStore()
  const chats = startChats({ agent: createAgent(), store, handler: { authenticate, webhooks, ...handler } })
  running.push(chats)
  const post = async (body: object | string, headers: Readonly<Record<string, string>>, id = 's'): Promise<Told> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const response = await chats.fetch(`/api/sessions/${id}/events`, { method: 'POST', headers, body: text })
    return { status: response.status, ...((await response.json()) as Omit<Told, 'status'>) }
  }
  const keyed = (body: object, headers: Readonly<Record<string, string>> = {}, id = 's'): Promise<Told> =>
    post(body, { 'content-type': 'application/json', 'x-user': 'ann', ...headers }, id)
  const signed = (body: object | string, init: Parameters<typeof sign>[1] = {}, id = 's'): Promise<Told> =>
    post(body, sign(body, init), id)
  const countRecords = async (): Promise<number> => {
    let count = 0
    for await (const _ of store.read('s', 0)) count += 1
    return count
  }
  const open = () => chats.host.session('s', { principal: { id: 'ann' } })
  /** Events that became messages, oldest first. */
  const listEvents = async (): Promise<readonly object[]> => {
    const session = await open()
    const { messages } = await session.messages({ limit: 200 })
    await session.close()
    return messages.filter((message) => message.role === 'user')
  }
  return { ...chats, store, open, keyed, signed, post, countRecords, listEvents }
}

interface Told {
  readonly status: number
  readonly id?: string
  readonly pos?: number
  readonly error?: { readonly code: string; readonly message: string }
}

function sign(
  body: object | string,
  { id = 'msg_1', secret = SECRET, atMs = Date.now() }: { id?: string; secret?: string; atMs?: number } = {},
): Record<string, string> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(atMs / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, new Date(atMs), text),
  }
}

interface Wrong {
  readonly body: object | string
  readonly init: Parameters<typeof sign>[1]
  readonly status: number
  readonly message: string
}

test('a signed event becomes one input of the session, and its repeat none', async () => {
  const { open, signed, listEvents } = start()
  const session = await open()
  const first = await signed(PAID)
  expect(first).toEqual({ status: 202, id: 'shop:msg_1', pos: 1 })
  expect(await session.turn('shop:msg_1').answer).toMatchObject({ text: 'Noted.' })
  expect(await signed(PAID)).toEqual(first)
  expect(await listEvents()).toMatchObject([{ from: 'event', name: 'order.paid', detail: PAID.data }])
})

test('an event of a closed session is accepted once, in another process and after 300 other inputs', async () => {
  const { open, signed, store, host } = start()
  await (await open()).close()
  const first = await signed(PAID)
  const session = await open()
  for (let serial = 0; serial < 300; serial++) await session.notify({ name: 'order.sent', inputId: `n-${serial}` })
  await session.close()
  await host.stop()
  const later = startChats({ agent: createAgent(), store, handler: { authenticate, webhooks } })
  running.push(later)
  const headers = sign(PAID)
  const again = await later.fetch('/api/sessions/s/events', { method: 'POST', headers, body: JSON.stringify(PAID) })
  expect([again.status, await again.json()]).toEqual([202, { id: first.id, pos: first.pos }])
  let accepted = 0
  for await (const { facts } of store.read('s', 0))
    accepted += facts.filter((fact) => fact.type === 'input-accepted' && fact.inputId === 'shop:msg_1').length
  expect(accepted).toBe(1)
})

test('an authenticated event needs no signature; its Idempotency-Key is the id of its input', async () => {
  const { open, keyed, listEvents } = start()
  await open()
  const first = await keyed(PAID, { 'idempotency-key': '"8e03978e"' })
  expect(first).toEqual({ status: 202, id: '8e03978e', pos: 1 })
  expect(await keyed(PAID, { 'idempotency-key': '"8e03978e"' })).toEqual(first)
  expect((await keyed({ type: 'order.sent' })).status).toBe(202)
  expect((await keyed({ type: 'order.sent' })).status).toBe(202)
  expect(await listEvents()).toMatchObject([{ name: 'order.paid' }, { name: 'order.sent' }, { name: 'order.sent' }])
})

test.each<[string, Wrong]>([
  ['another secret', { body: PAID, init: { secret: STRANGE }, status: 401, message: 'does not match' }],
  ['a time of an hour ago', { body: PAID, init: { atMs: Date.now() - 3_600_000 }, status: 401, message: 's away' }],
  [
    'a kind that the agent does not declare',
    { body: { type: 'order.lost', data: {} }, init: {}, status: 400, message: 'it accepts order.paid, order.sent' },
  ],
  [
    'data that does not fit',
    { body: { type: 'order.paid', data: { cents: 1 } }, init: {}, status: 400, message: 'order' },
  ],
  ['no data where some is needed', { body: { type: 'order.paid' }, init: {}, status: 400, message: 'order' }],
  ['a body that is no JSON', { body: 'order.paid', init: {}, status: 400, message: 'must be JSON' }],
  ['no type', { body: { data: {} }, init: {}, status: 400, message: 'must be JSON such as' }],
  [
    'data that is a list',
    { body: { type: 'order.sent', data: [1] }, init: {}, status: 400, message: 'data must be a JSON object' },
  ],
])('a signed event with %s is refused, and nothing is stored', async (_, { body, init, status, message }) => {
  const { open, signed, countRecords } = start()
  await open()
  const before = await countRecords()
  const told = await signed(body, init)
  expect([told.status, told.error?.message]).toEqual([status, expect.stringContaining(message)])
  expect(await countRecords()).toBe(before)
})

test('a body that was changed on its way is refused', async () => {
  const { open, post, countRecords } = start()
  await open()
  const told = await post({ ...PAID, data: { order: 'A-2' } }, sign(PAID))
  expect([told.status, await countRecords()]).toEqual([401, 1])
})

test('a signed event of more than 262,144 bytes is refused', async () => {
  const { open, signed } = start()
  await open()
  expect((await signed({ type: 'order.sent', data: { text: 'x'.repeat(262_144) } })).status).toBe(413)
})

test('a server without webhooks refuses a signature, also where everybody may come in', async () => {
  const chats = startChats({ agent: createAgent() })
  running.push(chats)
  await chats.host.session('s')
  const response = await chats.fetch('/api/sessions/s/events', {
    method: 'POST',
    headers: { ...sign(PAID), 'content-type': 'application/json' },
    body: JSON.stringify(PAID),
  })
  expect(response.status).toBe(401)
})

test('a sender reaches the sessions of its principal alone, and of the owner that a function names', async () => {
  const { open, signed } = start({
    webhooks: {
      shop: { secret: SECRET, principal: { id: 'bob' } },
      mail: {
        secret: STRANGE,
        principal: (session) => (session === 's' ? { id: 'ann' } : undefined),
        kinds: ['mail.received'],
      },
    },
  })
  await open()
  expect(await signed(PAID)).toMatchObject({ status: 403, error: { code: 'unauthorized' } })
  const mail = { type: 'mail.received', data: { text: 'Hi' } }
  expect(await signed(mail, { secret: STRANGE })).toMatchObject({ status: 202, id: 'mail:msg_1' })
  expect(await signed(PAID, { secret: STRANGE })).toMatchObject({ status: 403, error: { code: 'not_permitted' } })
  expect(await signed(mail, { secret: STRANGE }, 't')).toMatchObject({ status: 403 })
})

test('a sender whose owner cannot be found now may try again', async () => {
  const principal = () => Promise.reject(new Error('the directory is down'))
  const { open, signed } = start({ webhooks: { shop: { secret: SECRET, principal } } })
  await open()
  expect(await signed(PAID)).toMatchObject({ status: 503 })
})

test('a sender whose owner the program names with a misspelt field is told to try again, and the log says why', async () => {
  const logged: unknown[] = []
  const log = { info: () => {}, warn: (_: string, data?: object) => void logged.push(data) }
  const principal = () => ({ id: 'ann', role: 'manager' }) as never
  const { open, signed } = start({ log, webhooks: { shop: { secret: SECRET, principal } } })
  await open()
  expect(await signed(PAID)).toMatchObject({ status: 503 })
  expect(JSON.stringify(logged)).toContain('has no field \\"role\\"; it is called \\"roles\\" here')
})

test('an event makes no session', async () => {
  const { signed, keyed } = start()
  expect((await signed(PAID)).status).toBe(404)
  expect((await keyed(PAID)).status).toBe(404)
})

test('an authenticated event with a field that is none, or of another principal, is refused', async () => {
  const { open, keyed, countRecords } = start()
  await open()
  expect(await keyed({ ...PAID, detail: {} })).toMatchObject({ status: 400 })
  expect(await keyed({ data: {} })).toMatchObject({ status: 400 })
  expect((await keyed(PAID, { 'x-user': 'bob' })).status).toBe(403)
  expect(await countRecords()).toBe(1)
})

test('an event for a session that another server holds is one input there', async () => {
  const store = createMemoryStore({ leaseMs: 60_000 })
  const options = { agent: createAgent(), store, handler: { authenticate, webhooks } }
  const [holder, other] = [await startPeer(options), await startPeer(options)]
  running.push(holder, other)
  const session = await holder.host.session('s', { principal: { id: 'ann' } })
  const post = async (): Promise<unknown> => {
    const response = await other.ask('/api/sessions/s/events', {
      method: 'POST',
      headers: sign(PAID),
      body: JSON.stringify(PAID),
    })
    return [response.status, await response.json()]
  }
  const first = await post()
  expect(first).toEqual([202, { id: 'shop:msg_1', pos: 1 }])
  expect(await post()).toEqual(first)
  expect((await session.messages()).messages.filter(({ role }) => role === 'user')).toHaveLength(1)
})

test('an event that strangers wrote counts as untrusted', async () => {
  const { open, signed, store } = start()
  await open()
  await signed({ type: 'mail.received', data: { text: 'Click here.' } })
  const bodies: unknown[] = []
  for await (const { facts } of store.read('s', 0))
    for (const fact of facts) if (fact.type === 'input-accepted') bodies.push(fact.body)
  expect(bodies).toMatchObject([{ type: 'urgent', name: 'mail.received', untrusted: 'mail.received' }])
})

test.each<[string, object]>([
  ['a secret that is none', { shop: { secret: 'abc', principal: { id: 'ann' } } }],
  ['no secret', { shop: { secret: [], principal: { id: 'ann' } } }],
  ['no principal', { shop: { secret: SECRET } }],
  ['a misspelt field', { shop: { secret: SECRET, principal: { id: 'ann' }, kind: [] } }],
  ['a name with a colon', { 'a:b': { secret: SECRET, principal: { id: 'ann' } } }],
])('webhooks with %s are refused at the start', (_, wrong) => {
  const { host } = start()
  expect(() => createHandler(host, { webhooks: wrong as HandlerOptions['webhooks'] & object })).toThrow(
    expect.objectContaining({ code: 'invalid_option' }),
  )
})

test('an event that came before its session is taken once the session is there', async () => {
  const { signed, keyed, open, listEvents } = start()
  expect((await signed(PAID, { id: 'early' })).status).toBe(404)
  expect((await keyed(PAID, { 'idempotency-key': 'early' })).status).toBe(404)
  const session = await open()
  expect(await signed(PAID, { id: 'early' })).toMatchObject({ status: 202, id: 'shop:early' })
  expect(await keyed(PAID, { 'idempotency-key': 'early' })).toMatchObject({ status: 202, id: 'early' })
  await session.close()
  expect(await listEvents()).toHaveLength(2)
})

test('an event for two sessions of one owner reaches both, and one that is sent again otherwise is the first one', async () => {
  const { signed, host, open, listEvents } = start()
  const session = await open()
  const other = await host.session('other', { principal: { id: 'ann' } })
  const first = await signed(PAID, { id: 'both' })
  expect(await signed(PAID, { id: 'both' }, 'other')).toMatchObject({ status: 202, id: 'shop:both' })
  expect(await signed({ ...PAID, data: { order: 'A-2' } }, { id: 'both' })).toEqual(first)
  for (const one of [session, other]) await one.close()
  expect(await listEvents()).toHaveLength(1)
})

test('an address that cannot be decoded is refused, also where the owner is found by a function', async () => {
  const { signed } = start({ webhooks: { shop: { secret: SECRET, principal: () => ({ id: 'ann' }) } } })
  expect((await signed(PAID, {}, '%zz')).status).toBe(400)
})

test.each<[string, unknown, RegExp]>([
  ['a secret in place of a sender', { shop: SECRET }, /webhooks\["shop"\] must be an object of options, not text/],
  ['a sender without an owner', { shop: { secret: SECRET } }, /principal must be an object with an id or a function/],
  ['an owner’s id', { shop: { secret: SECRET, principal: 'ann' } }, /or a function, not "ann"/],
  ['kinds under another name', { shop: { secret: SECRET, principal: { id: 'ann' }, events: [] } }, /called "kinds"/],
  ['a list of senders', [{ secret: SECRET, principal: { id: 'ann' } }], /an object with a field for each sender/],
])('%s is refused before the server runs, and no secret is in the error', (_, given, message) => {
  const chats = startChats({ agent: createAgent(), store: createMemoryStore() })
  running.push(chats)
  const create = () => createHandler(chats.host, { webhooks: given as never })
  expect(create).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(message) as string }),
  )
  expect(create).not.toThrow(SECRET.slice('whsec_'.length))
})

test.each(['Käse 7', 'a/b', '100%'])('the owner of the session "%s" is looked for by this name', async (name) => {
  const asked: string[] = []
  const principal = (session: string) => {
    asked.push(session)
    return { id: 'ann' }
  }
  const { signed, host } = start({ webhooks: { shop: { secret: SECRET, principal } } })
  await (await host.session(name, { principal: { id: 'ann' } })).close()
  expect(await signed(PAID, {}, encodeURIComponent(name))).toMatchObject({ status: 202, id: 'shop:msg_1' })
  expect(asked).toEqual([name])
})
