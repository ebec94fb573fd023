// Access of strangers, owners, and operators with one power each, at every address.
import { defineAgent } from '@baton/core'
import type { SessionPage } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { createHandler } from './handler.ts'
import type { OperatorParts } from './operators.test-kit.ts'
import { startOperators } from './operators.test-kit.ts'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

function start(parts?: OperatorParts) {
  const started = startOperators(parts)
  running.push(started)
  return started
}

const POWERS = ['see', 'decide', 'act', 'export', 'remove'] as const
type Power = (typeof POWERS)[number]

interface Address {
  readonly address: string
  /** Present for a POST. */
  readonly body?: object
  readonly method?: string
  /** The power that it needs; undefined: any. */
  readonly power: Power | undefined
  /** Status for an ordinary client, and for an operator with another power. */
  readonly stranger: number
  readonly without: number
  readonly status?: number
}

const NEW = { stranger: 404, without: 403 }
const OLD = { stranger: 403, without: 403 }
const ADDRESSES: readonly Address[] = [
  { address: 'me', power: undefined, stranger: 404, without: 200 },
  { address: 'cost', power: 'see', ...NEW },
  { address: 'sessions/trip/log', power: 'see', ...NEW },
  { address: 'sessions/trip/children', power: 'see', ...NEW },
  { address: 'sessions/trip/requests/1', power: 'see', ...NEW },
  { address: 'sessions/trip/results/x', power: 'see', ...NEW, status: 404 },
  { address: 'sessions/trip', power: 'see', ...OLD },
  { address: 'sessions/trip/messages', power: 'see', ...OLD },
  { address: 'sessions/trip/media/x', power: 'see', ...OLD, status: 404 },
  { address: 'sessions/trip/export', power: 'export', ...OLD },
  { address: 'sessions/trip/fork', body: {}, power: 'act', ...OLD, status: 201 },
  { address: 'sessions/trip/interrupt', body: {}, power: 'act', ...NEW },
  { address: 'sessions/trip/rewind', body: { message: 'none' }, power: 'act', ...NEW, status: 404 },
  { address: 'sessions/trip/retry', body: {}, power: 'act', ...NEW },
  { address: 'sessions/trip/continue', body: {}, power: 'act', ...NEW, status: 400 },
  { address: 'sessions/trip/tasks/none/cancel', body: {}, power: 'act', ...NEW, status: 409 },
  { address: 'sessions/trip', method: 'DELETE', power: 'remove', ...OLD },
]

test.each(ADDRESSES)('each power alone at $address', async (row) => {
  const { address, body, method, power, stranger, without, status = 200 } = row
  const { ask, say } = start()
  await say('trip')
  const answers = [(await ask(address, 'bob', body, method)).status]
  for (const other of POWERS)
    if (other !== power) answers.push((await ask(address, `bob ${other}`, body, method)).status)
  const expected = power === undefined ? POWERS.map(() => 200) : POWERS.slice(1).map(() => without)
  expect(answers).toEqual([stranger, ...expected])
  expect((await ask(address, `bob ${power ?? 'see'}`, body, method)).status).toBe(status)
})

test('without operators in its options, a server has none of their addresses, and lists nobody else’s sessions', async () => {
  const { host, say } = start()
  await say('trip')
  const handle = createHandler(host)
  const ask = (address: string): Promise<Response> => handle(new Request(`http://localhost/api/${address}`))
  for (const { address, stranger } of ADDRESSES.filter((row) => row.stranger === 404 && !row.body))
    expect([address, (await ask(address)).status]).toEqual([address, stranger])
  expect(await (await ask('sessions?all=true&search=trip')).json()).toEqual({ sessions: [] })
  expect(await (await ask('approvals?all=true')).json()).toEqual({ approvals: [] })
})

test('an owner without powers gets what it got before, beside operators', async () => {
  const { ask, read, say } = start()
  await say('trip')
  await say('other', 'eve')
  const { sessions } = await read<{ sessions: { id: string }[] }>('sessions?all=true', 'ann')
  expect(sessions.map(({ id }) => id)).toEqual(['trip'])
  expect((await ask('sessions/trip/messages', 'ann')).status).toBe(200)
  expect((await ask('sessions/trip/log', 'ann')).status).toBe(404)
  expect((await ask('sessions/other', 'ann')).status).toBe(403)
})

test('lists show all sessions to who may see them, also by a text, an owner and an agent', async () => {
  const { read, say } = start()
  await say('trip')
  await say('holiday', 'eve')
  const list = async (query: string, as = 'mia see'): Promise<readonly string[]> => {
    const { sessions } = await read<{ sessions: { id: string }[] }>(`sessions?${query}`, as)
    return sessions.map(({ id }) => id).toSorted()
  }
  expect(await list('all=true')).toEqual(['holiday', 'trip'])
  expect(await list('all=true&search=HOLI')).toEqual(['holiday'])
  expect(await list('all=true&search=ann')).toEqual(['trip'])
  expect(await list('all=true&principal=eve')).toEqual(['holiday'])
  expect(await list('all=true&search=shop&limit=1')).toEqual(['holiday', 'trip'])
  expect(await list('')).toEqual([])
  expect(await list('all=true', 'mia decide')).toEqual([])
})

test('a search in pages finds each session once, however few a page may have', async () => {
  const { host, ask } = start()
  const names = Array.from({ length: 45 }, (_, index) => `trip-${index}`)
  for (const name of names) await (await host.session(name, { principal: { id: 'ann' } })).close()
  const found: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const words = new URLSearchParams({ all: 'true', search: 'trip', limit: '3', ...(cursor !== '' && { cursor }) })
    const page = (await (await ask(`sessions?${words.toString()}`, 'mia see')).json()) as SessionPage
    found.push(...page.sessions.map(({ id }) => id))
    cursor = page.cursor
  }
  expect(found.toSorted()).toEqual(names.toSorted())
})

test('the list is live: an operator hears of sessions of all owners', async () => {
  const { ask, say, host } = start()
  const response = await ask('sessions/changes', 'mia see')
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (what: string): Promise<void> => {
    while (!text.includes(what)) text += (await reader?.read())?.value ?? ''
  }
  await until('{"type":"live"}')
  await say('trip')
  await until('"id":"trip"')
  await host.remove('trip')
  await until('{"type":"removed","id":"trip","principal":{"id":"ann"}}')
  await reader?.cancel()
})

test('a session that only left the newest ones was not removed', async () => {
  const model = createScriptedModel({
    steps: ({ messages }) =>
      JSON.stringify(messages).includes('Wait.') ? { text: 'Well', hangs: 'until-aborted' } : { text: 'Hello.' },
  })
  const { ask, host } = start({ agent: defineAgent({ name: 'desk', model }) })
  const open = (id: string) => host.session(id, { principal: { id: 'ann' } })
  const slow = await open('slow')
  const waiting = slow.send('Wait.')
  waiting.answer.catch(() => {})
  await expect.poll(() => model.requests.length).toBe(1)
  const beganMs = Date.now()
  await expect.poll(() => Date.now()).toBeGreaterThan(beganMs + 1)
  for (let count = 0; count < 199; count++) await (await open(`other-${count}`)).send('Hello.').answer
  const response = await ask('sessions/changes', 'mia see')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const until = async (what: string): Promise<void> => {
    while (!text.includes(what)) text += (await reader?.read())?.value ?? ''
  }
  await until('{"type":"live"}')
  // It ends last, but has its place in the list by its beginning.
  await slow.interrupt()
  await until('"id":"slow"')
  await (await open('new')).send('Hello.').answer
  await until('"id":"new"')
  await host.remove('other-100')
  await until('"type":"removed","id":"other-100"')
  await reader?.cancel()
  expect(text).not.toContain('"type":"removed","id":"slow"')
})

test('a session that is named like an address of operators can be renamed and removed by its owner', async () => {
  const { ask, say, host } = start()
  const approvalId = await say('changes', 'mia')
  await host.decide('changes', { approvalId, decision: 'deny' }, { by: { id: 'mia' } })
  expect((await ask('sessions/changes', 'mia see', { title: 'A' }, 'PATCH')).status).toBe(200)
  expect((await ask('sessions/changes', 'mia see', undefined, 'PUT')).headers.get('allow')).toBe('GET, PATCH, DELETE')
  expect((await ask('sessions/changes', 'eve see', undefined, 'DELETE')).status).toBe(403)
  expect((await ask('sessions/changes', 'mia see', undefined, 'DELETE')).status).toBe(200)
})

test('powers that do not exist are an error of the server, and let nobody in', async () => {
  const { ask, logged } = start({ handler: { operators: () => ['everything' as 'see'] } })
  const response = await ask('me', 'mia')
  const error = { code: 'internal', hint: 'The log of the server says why (its option log).' }
  expect([response.status, await response.json()]).toMatchObject([500, { error }])
  expect(logged.join()).toContain(
    'operators must return an array of the powers see, decide, act, export, remove, without',
  )
})
