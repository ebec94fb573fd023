// Reading by operators: logs, requests as the provider got them, children, results and costs; without a lease, and without the
// host's secrets.
import { defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore, openSqliteStore } from '@baton/host'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { OperatorParts } from './operators.test-kit.ts'
import { createShop, SECRET, startOperators } from './operators.test-kit.ts'

const folder = mkdtempSync(join(tmpdir(), 'baton-operators-'))
afterAll(() => rmSync(folder, { recursive: true }))
const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of running.splice(0).toReversed()) await one.stop()
})

function start(parts?: OperatorParts) {
  const started = startOperators(parts)
  running.push(started)
  return started
}

interface LogPage {
  readonly records: readonly { readonly pos: number; readonly facts: readonly { readonly type: string }[] }[]
  readonly next: number
  readonly more: boolean
}

interface Rebuilt {
  readonly request: { readonly instructions: string; readonly tools: readonly object[] }
  readonly notes: readonly string[]
}

const MIA = 'mia see'

test('each request is rebuilt exactly as the model got it', async () => {
  const shop = createShop()
  const look = tool({
    name: 'look',
    description: 'Looks',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => ({ content: [{ type: 'text', text: 'x'.repeat(100_000) }] }),
  })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'I see.' } : { calls: [{ name: 'look', arguments: {} }] },
  })
  const agent = defineAgent({
    name: 'shop',
    instructions: 'Look well.',
    model,
    tools: [look, ...shop.agent.tools],
    output: { type: 'object', properties: { a: { type: 'string' } } },
    settings: { temperature: 0.2 },
  })
  const { host, read } = start({ agent })
  const session = await host.session('trip', { principal: { id: 'ann' } })
  for (const text of ['Look.', 'Again.'])
    await session.send(text, { settings: { maxOutputTokens: 77 } }).answer.catch(() => {})
  await session.close()
  const log = await read<LogPage>('sessions/trip/log?limit=1000', MIA)
  const attempts = log.records.flatMap(({ facts }) => facts.filter(({ type }) => type === 'model-started'))
  expect(attempts).toHaveLength(model.requests.length)
  expect(model.requests.length).toBeGreaterThan(3)
  for (const [at, sent] of model.requests.entries()) {
    const rebuilt = await host.views.request('trip', at + 1)
    expect(rebuilt.request).toEqual(sent)
    expect(rebuilt.notes).toEqual([])
  }
})

test('a request of a closed session says if its agent has changed, or is not known', async () => {
  const store = createMemoryStore()
  const first = startOperators({ store })
  const approvalId = await first.say('trip')
  await first.host.decide('trip', { approvalId, decision: 'deny' }, { by: { id: 'ann' } })
  await first.stop()
  const { agent } = createShop()
  const changed = start({ store, agent: { ...agent, instructions: 'You pay nothing.' } })
  const told = await changed.read<Rebuilt>('sessions/trip/requests/1', MIA)
  expect([told.request.instructions, told.notes]).toEqual([
    'You pay nothing.',
    ['The agent has changed since: its instructions and tools are shown as they are now.'],
  ])
  const missing = await changed.ask('sessions/trip/requests/99', MIA)
  expect([missing.status, await missing.json()]).toMatchObject([404, { error: { code: 'unknown_input' } }])
})

test.each([
  ['in memory', () => Promise.resolve(createMemoryStore())],
  ['in a file', () => openSqliteStore(join(folder, 'store.db'))],
])(
  'a session that another host runs is read without its lease, and changed by nobody else: %s',
  async (_what, open) => {
    const store = await open()
    const holder = startOperators({ store })
    const approvalId = await holder.say('trip')
    const other = start({ store })
    running.unshift({ stop: () => store.close() }, holder)
    const before = await other.read<LogPage>('sessions/trip/log', MIA)
    const info = await other.read<{ activity: unknown }>('sessions/trip', MIA)
    expect(info).toMatchObject({ agent: 'shop', principal: { id: 'ann' }, approvals: [{ approvalId }] })
    const { messages } = await other.read<{ messages: readonly object[] }>('sessions/trip/messages?format=baton', MIA)
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
    expect((await other.ask('sessions/trip/requests/1', MIA)).status).toBe(200)
    expect((await other.ask('sessions/trip/interrupt', 'mia act', {})).status).toBe(503)
    expect(await other.read<LogPage>('sessions/trip/log', MIA)).toEqual(before)
    const events = await other.ask('sessions/trip/events?from=start', MIA)
    const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
    let heard = ''
    const until = async (what: string): Promise<void> => {
      while (!heard.includes(what)) heard += (await reader?.read())?.value ?? ''
    }
    await until('"type":"live"')
    await holder.host.decide('trip', { approvalId, decision: 'approve' }, { by: { id: 'ann' } })
    await until('It is paid.')
    await reader?.cancel()
  },
)

test('the log is paged or read from its end, and long texts are cut', async () => {
  const model = createScriptedModel({ steps: [{ text: 'y'.repeat(70_000), pieces: ['y'.repeat(70_000)] }] })
  const { host, read, ask } = start({ agent: defineAgent({ name: 'a', model }) })
  const session = await host.session('trip', { principal: { id: 'ann' } })
  await session.send('Write a lot.').answer
  await session.close()
  const all = await read<LogPage>('sessions/trip/log?limit=1000', MIA)
  const length = all.records.length
  expect([length > 3, all.next, all.more]).toEqual([true, length, false])
  const page = await read<LogPage>('sessions/trip/log?from=1&limit=2', MIA)
  expect([page.records.map(({ pos }) => pos), page.next, page.more]).toEqual([[1, 2], 3, true])
  const rest = await read<LogPage>(`sessions/trip/log?from=1&limit=${length - 1}`, MIA)
  expect([rest.records.length, rest.next, rest.more]).toEqual([length - 1, length, false])
  expect(await read<LogPage>('sessions/trip/log?last=2', MIA)).toEqual({
    records: all.records.slice(-2),
    next: length,
    more: false,
  })
  expect(await read<LogPage>('sessions/trip/log?last=1000', MIA)).toEqual(all)
  const text = JSON.stringify(all)
  expect(text).toContain('… [4464 more characters]')
  expect(text.length).toBeLessThan(200_000)
  for (const beyond of [length, length + 5000])
    expect(await read<LogPage>(`sessions/trip/log?from=${beyond}`, MIA)).toEqual({
      records: [],
      next: beyond,
      more: false,
    })
  for (const wrong of ['limit=1001', 'last=1001', 'last=0'])
    expect([wrong, (await ask(`sessions/trip/log?${wrong}`, MIA)).status]).toEqual([wrong, 400])
  expect((await ask('sessions/none/log', MIA)).status).toBe(404)
})

test('a page of a long log reads no further than its records', async () => {
  const store = createMemoryStore()
  const readAll = store.read.bind(store)
  let count = 0
  store.read = async function* (session, fromPos) {
    for await (const record of readAll(session, fromPos)) {
      count += 1
      yield record
    }
  }
  const { host, read } = start({
    store,
    agent: defineAgent({ name: 'a', model: createScriptedModel({ steps: () => ({ text: 'Hello.' }) }) }),
  })
  const session = await host.session('trip', { principal: { id: 'ann' } })
  for (let turn = 0; turn < 10; turn++) await session.send('Hello?').answer
  count = 0
  const page = await read<LogPage>('sessions/trip/log?from=3&limit=2', MIA)
  expect(page.records).toHaveLength(2)
  // The first record names the owner; one after the page says that there is more.
  expect(count).toBeLessThanOrEqual(4)
})

test('the host’s secrets are hidden wherever an operator reads', async () => {
  const { say, ask } = start()
  await say('trip')
  const every = 'mia see,decide,act,export'
  for (const address of [
    'sessions/trip',
    'sessions/trip/messages?format=baton',
    'sessions/trip/messages',
    'sessions/trip/log',
    'sessions/trip/requests/1',
    'sessions/trip/export',
    'approvals?all=true',
  ]) {
    const text = await (await ask(address, every)).text()
    expect([address, text.includes(SECRET)]).toEqual([address, false])
  }
  expect(await (await ask('sessions/trip/log', every)).text()).toContain('[redacted]')
  const events = await ask('sessions/trip/events?from=start', every)
  const reader = events.body?.pipeThrough(new TextDecoderStream()).getReader()
  let heard = ''
  while (!heard.includes('"type":"live"')) heard += (await reader?.read())?.value ?? ''
  await reader?.cancel()
  expect([heard.includes(SECRET), heard.includes('[redacted]')]).toEqual([false, true])
  // Its owner wrote it, and sees it as before.
  expect(await (await ask('sessions/trip/messages?format=baton', 'ann')).text()).toContain(SECRET)
})

test('half a secret does not stay where a text is cut, and names of fields hide secrets too', async () => {
  const text = `${'y'.repeat(65_526)}${SECRET}`
  const note = tool({
    name: 'note',
    description: 'Notes',
    input: { type: 'object' },
    effect: 'pure',
    execute: () => text,
  })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text, pieces: [text] }
        : { calls: [{ name: 'note', arguments: { [SECRET]: { [`a ${SECRET}`]: 1 } } }] },
  })
  const { host, ask } = start({ agent: defineAgent({ name: 'a', model, tools: [note] }) })
  const session = await host.session('trip', { principal: { id: 'ann' } })
  await session.send('Note it.').answer
  await session.close()
  for (const part of ['log', 'requests/2', 'messages', 'messages?format=baton', 'export']) {
    const shown = await (await ask(`sessions/trip/${part}`, 'mia see,export')).text()
    expect([part, shown.includes(`y${SECRET.slice(0, 3)}`), shown.includes(SECRET)]).toEqual([part, false, false])
  }
})

test('a page of the log is bounded in size, and says that there is more', async () => {
  const text = 'z'.repeat(60_000)
  const model = createScriptedModel({ steps: () => ({ text, pieces: [text] }) })
  const { host, read, ask } = start({ agent: defineAgent({ name: 'a', model }) })
  const session = await host.session('trip', { principal: { id: 'ann' } })
  for (let turn = 0; turn < 160; turn++) await session.send('Write a lot.').answer
  await session.close()
  const first = await (await ask('sessions/trip/log?limit=1000', MIA)).text()
  expect([first.length < 9 * 1024 * 1024, (JSON.parse(first) as LogPage).more]).toEqual([true, true])
  const positions: number[] = []
  for (let [from, more] = [0, true]; more;) {
    const page = await read<LogPage>(`sessions/trip/log?from=${from}&limit=1000`, MIA)
    positions.push(...page.records.map(({ pos }) => pos))
    ;({ next: from, more } = page)
  }
  const whole: number[] = []
  for await (const { pos } of host.views.log('trip')) whole.push(pos)
  expect(positions).toEqual(whole)
})

test('sessions of other agents below a session are listed, and their logs and requests read', async () => {
  const inner = createScriptedModel({ steps: [{ text: 'Forty-two.' }] })
  const answerer = defineAgent({ name: 'answerer', instructions: 'Answer.', model: inner })
  const outer = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'It is 42.' }
        : { calls: [{ name: 'ask', arguments: { task: 'What is it?' } }] },
  })
  const asking = delegate({ name: 'ask', description: 'Asks', agent: answerer })
  const { host, read } = start({ agent: defineAgent({ name: 'asker', model: outer, tools: [asking] }) })
  const session = await host.session('trip', { principal: { id: 'ann' } })
  await session.send('Ask.').answer
  await session.close()
  const { children } = await read<{ children: readonly { path: readonly string[] }[] }>('sessions/trip/children', MIA)
  expect(children).toMatchObject([{ tools: ['ask'], agent: 'answerer' }])
  const child = `child=${children[0]?.path[0]}`
  const log = await read<LogPage>(`sessions/trip/log?${child}`, MIA)
  expect(log.records[0]?.facts.map(({ type }) => type)).toContain('child-opened')
  const rebuilt = await host.views.request('trip', 1, children[0]?.path)
  expect([rebuilt.request, rebuilt.notes]).toEqual([inner.requests[0], []])
  const { messages } = await read<{ messages: readonly object[] }>(`sessions/trip/messages?format=baton&${child}`, MIA)
  expect(JSON.stringify(messages)).toContain('Forty-two.')
})

test('costs are counted by day, agent and model, tools by their durations, and failures by code', async () => {
  const shop = createShop()
  const { host, say, read, ask } = start({ agent: { ...shop.agent, name: '=shop()' } })
  const asked = [await say('trip'), await say('holiday', 'eve')]
  await host.decide('trip', { approvalId: asked[0] ?? '', decision: 'approve' }, { by: { id: 'ann' } })
  await host.decide('holiday', { approvalId: asked[1] ?? '', decision: 'deny' }, { by: { id: 'eve' } })
  interface Report {
    readonly rows: readonly { readonly steps: number }[]
  }
  await expect.poll(async () => (await read<Report>('cost', MIA)).rows[0]?.steps).toBe(4)
  const report = await read<Report>('cost', MIA)
  expect(report).toMatchObject({
    rows: [{ agent: '=shop()', model: 'shop/model', steps: 4, inputTokens: 300, outputTokens: 20, costMicros: 50 }],
    tools: [{ name: 'pay', calls: 2, failed: 1 }],
    failures: [{ code: 'call_denied', tool: 'pay', count: 1, example: { session: 'holiday' } }],
    failed: [{ session: 'holiday', principal: 'eve', agent: '=shop()', code: 'call_denied', tool: 'pay' }],
    sessionsRead: 2,
    sessionsLeft: 0,
    more: false,
  })
  const csv = await ask('cost?format=csv', MIA)
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [heading, row] = (await csv.text()).split('\r\n')
  expect(heading).toBe('day,agent,model,steps,inputTokens,outputTokens,cachedTokens,costMicros')
  expect(row).toMatch(/^\d{4}-\d\d-\d\d,'=shop\(\),shop\/model,4,300,20,0,50$/)
  expect(await read<Report>('cost?from=0&to=1', MIA)).toMatchObject({ rows: [], sessionsRead: 0 })
  expect(await read<Report>('cost?to=1970-01-02', MIA)).toMatchObject({ rows: [], toMs: 86_400_000 })
  expect(await read('cost?from=2026-11-01T00:00+01:00', MIA)).toMatchObject({ fromMs: Date.UTC(2026, 9, 31, 23) })
  for (const from of ['yesterday', '2026-02-30', '2026-13-01', '2026-11-01T00:00', '-1']) {
    const refused = await ask(`cost?from=${from}`, MIA)
    const { error } = (await refused.json()) as { readonly error: { readonly message: string } }
    expect([refused.status, error.message]).toEqual([
      400,
      `from must be milliseconds since 1970, or a date such as 2026-11-30, not "${from}"`,
    ])
  }
  expect(await read('cost?principal=ann', MIA)).toMatchObject({ failed: [], sessionsRead: 1 })
  expect(await read('cost?principal=eve', MIA)).toMatchObject({ failed: [{ session: 'holiday' }], sessionsRead: 1 })
})

test('a report that nobody waits for any more reads no other log', async () => {
  const store = createMemoryStore()
  const model = createScriptedModel({ steps: () => ({ text: 'Hello.' }) })
  const { host, handle } = start({ store, agent: defineAgent({ name: 'a', model }) })
  for (const id of ['first', 'second', 'third'])
    await (await host.session(id, { principal: { id: 'ann' } })).send('Hello?').answer
  const leaving = new AbortController()
  const readAll = store.read.bind(store)
  const logs = new Set<string>()
  store.read = (session, fromPos) => {
    logs.add(session)
    leaving.abort()
    return readAll(session, fromPos)
  }
  const headers = { authorization: `Bearer ${MIA}` }
  await handle(new Request('http://localhost/api/cost', { headers, signal: leaving.signal }))
  expect([...logs]).toEqual(['third'])
})
