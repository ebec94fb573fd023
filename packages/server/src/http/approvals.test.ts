// The inbox over HTTP: deciders see requests of others' sessions, and not their conversations, and decide by name and role.
import type { Principal } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { Deciders } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { startChats } from './chat.test-kit.ts'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

/** A login such as `mia manager`: a name, then roles. */
const authenticate = ({ headers }: Request): Principal | undefined => {
  const [id, ...roles] = headers.get('authorization')?.split(' ').slice(1) ?? []
  return id === undefined ? undefined : { id, roles }
}

function start(
  deciders: Deciders = { roles: ['manager'], notAsker: true },
  invoices: readonly { readonly amount: number; readonly text?: string }[] = [{ amount: 90 }],
) {
  const paid: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] },
    effect: 'once',
    approval: true,
    deciders,
    execute: (input) => {
      paid.push(input)
      return 'paid'
    },
  })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'Done.' }
        : { calls: invoices.map((invoice) => ({ name: 'pay', arguments: { ...invoice } })) },
  })
  const chats = startChats({ agent: defineAgent({ name: 'shop', model, tools: [pay] }), handler: { authenticate } })
  running.push(chats)
  const ask = async (address: string, as: string, body?: object, headers: object = {}): Promise<Response> =>
    await chats.fetch(address, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${as}`, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
  const read = async (address: string, as: string): Promise<Told> => (await (await ask(address, as)).json()) as Told // as the test expects
  const say = async (id: string, as = 'ann'): Promise<void> => {
    const messages = [{ id: `${id}-1`, role: 'user', parts: [{ type: 'text', text: 'Pay the invoice.' }] }]
    void (await ask('/api/chat', as, { id, messages })).text().catch(() => {})
    await expect.poll(async () => (await read('/api/approvals', 'mia manager')).approvals.length).toBeGreaterThan(0)
  }
  return { ...chats, ask, read, say, paid }
}

interface Told {
  readonly approvals: readonly { readonly session: string; readonly approvalId: string; readonly cut?: true }[]
  readonly input?: { readonly text: string }
  readonly sessions: readonly { readonly id: string }[]
  readonly messages: readonly object[]
  readonly decisions: readonly object[]
  readonly error: { readonly code: string }
}

test('a manager finds a request of another person, edits the sum and approves; the owner hears who did', async () => {
  const { ask, read, say, paid, host } = start()
  await say('trip')
  const session = await host.session('trip', { principal: { id: 'ann' } })
  const events = session.events({ from: 'now' })[Symbol.asyncIterator]()
  const [asked] = (await read('/api/approvals', 'mia manager')).approvals
  expect(asked).toMatchObject({ session: 'trip', name: 'pay', input: { amount: 90 }, principal: { id: 'ann' } })
  const address = `/api/approvals/trip/${asked?.approvalId}`
  expect((await ask(address, 'mia manager', { decision: 'edit', input: { amount: 70 }, note: 'ok' })).status).toBe(200)
  await expect.poll(() => paid).toEqual([{ amount: 70 }])
  let event = (await events.next()).value
  while (event && event.type !== 'approval-decided') event = (await events.next()).value
  expect(event).toMatchObject({ principal: { id: 'mia' }, decision: 'edit', note: 'ok' })
  expect((await ask(address, 'mia manager', { decision: 'approve' })).status).toBe(409)
  const decision = { type: 'approval-decided', decision: 'edit', principal: { id: 'mia' }, note: 'ok' }
  expect((await read('/api/sessions/trip/export', 'ann')).decisions).toMatchObject([decision])
  await session.close()
})

test('whoever may not decide sees no request, no conversation, and is refused; the asker sees what was asked', async () => {
  const { ask, read, say, paid } = start()
  await say('trip')
  const [asked] = (await read('/api/approvals', 'mia manager')).approvals
  const address = `/api/approvals/trip/${asked?.approvalId}`
  for (const as of ['eve', 'ann', 'ann manager']) {
    expect((await read('/api/approvals', as)).approvals).toEqual([])
    expect((await ask(address, as, { decision: 'approve' })).status).toBe(409)
  }
  expect([(await ask(address, 'eve')).status, (await ask(address, 'ann')).status]).toEqual([409, 200])
  expect((await read('/api/approvals?asked=true', 'ann')).approvals).toMatchObject([{ session: 'trip' }])
  expect((await ask('/api/sessions/trip/messages', 'mia manager')).status).toBe(403)
  expect((await ask(`${address}/messages`, 'mia manager')).status).toBe(403)
  expect((await ask('/api/approvals/other/approval_x', 'mia manager', { decision: 'approve' })).status).toBe(409)
  expect(paid).toEqual([])
})

test('a request with arguments too long for the list is whole at its own address', async () => {
  const invoices = Array.from({ length: 6 }, (_, amount) => ({ amount, text: 'x'.repeat(60_000) }))
  const { read, say } = start(undefined, invoices)
  await say('trip')
  await expect.poll(async () => (await read('/api/approvals', 'mia manager')).approvals.length).toBe(6)
  const { approvals } = await read('/api/approvals', 'mia manager')
  const cut = approvals.filter((one) => one.cut)
  expect(cut).toHaveLength(2)
  for (const { approvalId } of cut)
    expect((await read(`/api/approvals/trip/${approvalId}`, 'mia manager')).input?.text).toHaveLength(60_000)
})

test('deciders that may read the conversation read it, and only while they may decide', async () => {
  const { ask, read, say } = start({ roles: ['manager'], reads: true })
  await say('trip')
  const [asked] = (await read('/api/approvals', 'mia manager')).approvals
  const address = `/api/approvals/trip/${asked?.approvalId}/messages`
  expect((await read(address, 'mia manager')).messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }])
  expect((await ask(address, 'eve')).status).toBe(409)
  await ask(`/api/approvals/trip/${asked?.approvalId}`, 'mia manager', { decision: 'approve' })
  await expect.poll(async () => (await ask(address, 'mia manager')).status).toBe(409)
})

test('an event stream has the inbox, and again when it changes', async () => {
  const { ask, say, read } = start()
  const response = await ask('/api/approvals', 'mia manager', undefined, { accept: 'text/event-stream' })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const pages = (): readonly Told[] =>
    [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Told)
  const reading = (async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value
  })()
  await expect.poll(() => pages().map(({ approvals }) => approvals.length)).toEqual([0])
  await say('trip')
  await expect.poll(() => pages().map(({ approvals }) => approvals.length)).toEqual([0, 1])
  const [asked] = (await read('/api/approvals', 'mia manager')).approvals
  await ask(`/api/approvals/trip/${asked?.approvalId}`, 'mia manager', { decision: 'deny' })
  await expect.poll(() => pages().map(({ approvals }) => approvals.length)).toEqual([0, 1, 0])
  await reader.cancel()
  await reading
})

test('sessions are listed by activity, agent, time, metadata and order, for their owner', async () => {
  const { ask, read, say, host } = start()
  await say('trip')
  await (await host.session('quiet', { principal: { id: 'ann' }, description: { meta: { room: 7 } } })).close()
  const list = async (query: string) => (await read(`/api/sessions?${query}`, 'ann')).sessions.map(({ id }) => id)
  expect(await list('')).toEqual(['quiet', 'trip'])
  expect(await list('order=oldest')).toEqual(['trip', 'quiet'])
  expect(await list('activity=waiting')).toEqual(['trip'])
  expect(await list('agent=shop&activity=idle')).toEqual(['quiet'])
  expect(await list(`meta=${encodeURIComponent('{"room":7}')}`)).toEqual(['quiet'])
  expect(await list(`since=${Date.now() + 60_000}`)).toEqual([])
  expect((await read('/api/sessions', 'mia manager')).sessions).toEqual([])
  for (const wrong of ['order=best', 'activity=busy', 'cursor=x', 'meta=7', 'since=soon', 'limit=0'])
    expect([wrong, (await ask(`/api/sessions?${wrong}`, 'ann')).status]).toEqual([wrong, 400])
  for (const wrong of ['order=best', 'asked=yes', 'cursor=x'])
    expect([wrong, (await ask(`/api/approvals?${wrong}`, 'ann')).status]).toEqual([wrong, 400])
})
