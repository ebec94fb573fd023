// A client of version 2 in front of an agent that asks others: their approvals, questions and client calls are those of
// its session, with their path, also after a break, a reload, and with two devices.
import type { Agent, AgentOptions, SessionEvent, Tool } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { expect, onTestFinished, test } from 'vitest'
import type { SessionClient } from '../index.ts'
import { createCuttableWorld, open, serveAgent, until } from './session.test-kit.ts'

const EMPTY = { type: 'object', properties: {} } as const
const calls = (name: string, args: object = {}) => ({ calls: [{ name, arguments: args }] })

async function serveTeam(name: string, tools: readonly Tool[], more: Partial<AgentOptions> = {}) {
  const helper = createScriptedModel({ steps: [calls(name), { text: 'Helped.' }] })
  const below = defineAgent({ name: 'helper', model: helper, tools: [...tools] }) as Agent
  const boss = createScriptedModel({ steps: [calls('helper', { task: 'Help.' }), { text: 'Done.' }] })
  const agent = defineAgent({
    name: 'boss',
    model: boss,
    ...more,
    tools: [delegate({ agent: below, description: 'Helps' }), ...((more.tools ?? []) as Tool[])],
  }) as Agent
  const server = await serveAgent({ agent, store: createMemoryStore() })
  onTestFinished(() => server.stop())
  return { ...server, helper, boss, read: () => JSON.stringify(helper.requests.at(-1)?.messages.at(-1)) }
}

function createPay(ran: string[]): Tool {
  const rules = { name: 'pay', description: 'pay', input: EMPTY, effect: 'once', approval: true } as const
  return tool({ ...rules, execute: (input) => `paid ${ran.push(JSON.stringify(input))}` }) as Tool
}

const choose = tool({
  name: 'choose',
  description: 'choose',
  input: EMPTY,
  effect: 'once',
  execute: async (_, { ask }) => JSON.stringify(await ask({ message: 'Which?', schema: EMPTY })),
}) as Tool

const place = tool({ name: 'place', description: 'place', input: EMPTY, effect: 'once' }) as Tool

const PATH = [{ callId: expect.any(String) as string, agent: 'helper' }]

async function asked(client: SessionClient): Promise<string> {
  await until(client, ({ approvals }) => approvals.length > 0)
  const [approval] = client.getSnapshot().approvals
  expect(approval).toMatchObject({ name: 'pay', path: PATH })
  return approval?.approvalId ?? ''
}

test.each([
  ['approve', {}, ['{}']],
  ['edit', { input: { sum: 3 } }, ['{"sum":3}']],
  ['deny', { reason: 'too much' }, []],
])('a person decides an approval below: %s', async (decision, more, expected) => {
  const ran: string[] = []
  const { url, read } = await serveTeam('pay', [createPay(ran)])
  const client = open({ url, session: 's' })
  const { answer } = client.send('Pay.')
  const approvalId = await asked(client)
  await client.decide({ approvalId, decision, ...more } as Parameters<SessionClient['decide']>[0])
  expect((await answer).text).toBe('Done.')
  expect(ran).toEqual(expected)
  expect(client.getSnapshot().approvals).toEqual([])
  expect(read()).toContain(decision === 'deny' ? 'too much' : 'paid 1')
})

test('a person answers a question below', async () => {
  const { url, read } = await serveTeam('choose', [choose])
  const client = open({ url, session: 's' })
  const { answer } = client.send('Choose.')
  await until(client, ({ questions }) => questions.length > 0)
  const [question] = client.getSnapshot().questions
  expect(question).toMatchObject({ message: 'Which?', path: PATH })
  await client.answer({ questionId: question?.questionId ?? '', value: { wine: 'red' } })
  await answer
  expect(client.getSnapshot().questions).toEqual([])
  expect(read()).toContain('red')
})

test('a client that opens later has what was asked below, from info, and decides it', async () => {
  const ran: string[] = []
  const { url } = await serveTeam('pay', [createPay(ran)])
  const first = open({ url, session: 's' })
  const { answer } = first.send('Pay.')
  await asked(first)
  const second = open({ url, session: 's' })
  const approvalId = await asked(second)
  expect((await second.info()).approvals).toMatchObject([{ approvalId, path: PATH }])
  await second.decide({ approvalId, decision: 'approve' })
  await answer
  await until(first, ({ approvals }) => approvals.length === 0)
  expect(ran).toHaveLength(1)
})

test('a client that names the tool runs the call of an agent below, and a client beside it does not', async () => {
  const { url, read } = await serveTeam('place', [place])
  const taken: string[] = []
  const other = open({ url, session: 's', tools: {} })
  const client = open({
    url,
    session: 's',
    tools: {
      place: () => {
        taken.push('client')
        return 'Rome'
      },
    },
  })
  await until(client, ({ status }) => status === 'open')
  expect((await other.send('Where?').answer).text).toBe('Done.')
  expect(taken).toEqual(['client'])
  expect(read()).toContain('Rome')
})

test('a call below waits for a client that comes later', async () => {
  const { url, host, read } = await serveTeam('place', [place])
  const session = await host.session('s')
  const { answer } = session.send('Where?')
  const watching = open({ url, session: 's' })
  await until(watching, (shown) =>
    shown.calls.some(({ call }) => call.waitsForClient === true && call.path !== undefined),
  )
  open({ url, session: 's', tools: { place: () => 'Rome' } })
  expect((await answer).text).toBe('Done.')
  expect(read()).toContain('Rome')
})

test('a connection that breaks at any frame loses and repeats nothing', async () => {
  const before = 60
  let cuts = 0
  for (let frames = 2; frames < before; frames += 3) {
    const ran: string[] = []
    const { url, read } = await serveTeam('place', [place])
    const { world, cutAfter, connections } = createCuttableWorld()
    const client = open({
      url,
      session: 's',
      world,
      tools: { place: () => `Rome ${ran.push('place')}` },
    } as Parameters<typeof open>[0])
    cutAfter(frames)
    expect((await client.send('Where?').answer).text).toBe('Done.')
    expect(ran).toHaveLength(1)
    expect(read()).toContain('Rome 1')
    if (connections() > 1) cuts += 1
    client.close()
  }
  expect(cuts).toBeGreaterThan(3)
})

test('a reader that begins at any cursor of the turn reads the rest of it', async () => {
  const ran: string[] = []
  const { host } = await serveTeam('pay', [createPay(ran)])
  const session = await host.session('s')
  const all: SessionEvent[] = []
  for await (const event of session.send('Pay.')) {
    all.push(event)
    if (event.type === 'approval-requested') await session.decide({ approvalId: event.approvalId, decision: 'approve' })
  }
  const kinds = (events: readonly SessionEvent[]): readonly unknown[] =>
    events.map((event) => JSON.stringify({ ...event, cursor: null })).filter((text) => !text.includes('"live"'))
  expect(JSON.stringify(all)).toContain('"path"')
  for (const [index, { cursor }] of all.slice(0, -1).entries()) {
    const rest: SessionEvent[] = []
    for await (const event of session.events({ from: cursor })) {
      rest.push(event)
      if (event.type === 'turn-finished') break
    }
    expect(kinds(rest).filter((text) => !String(text).includes('"session"'))).toEqual(
      kinds(all.slice(index + 1)).filter((text) => !String(text).includes('"session"')),
    )
  }
})

test('a request below that ends with its turn leaves the client', async () => {
  const ran: string[] = []
  const { url } = await serveTeam('pay', [createPay(ran)])
  const client = open({ url, session: 's' })
  const { answer } = client.send('Pay.')
  await asked(client)
  await client.interrupt()
  expect((await answer).stop).toBe('cancelled')
  await until(client, ({ approvals, calls: open }) => approvals.length === 0 && open.length === 0)
  expect(ran).toEqual([])
})

const DONE_BELOW = [
  ['Help.', ''],
  ['place', 'Helped.'],
]

/** The task of each agent below, and the calls and the text of its answers, once the helper has answered. */
async function readChildren(client: SessionClient): Promise<readonly unknown[]> {
  // Their code is loaded with the first use.
  await until(client, ({ children }) => JSON.stringify(children).includes('Helped.'))
  return client
    .getSnapshot()
    .children.map(({ path, messages }) => [
      path.map(({ agent }) => agent).join('/'),
      messages.map((message) =>
        'steps' in message
          ? [
              message.steps.flatMap((step) => step.calls.map(({ name }) => name)).join(),
              message.steps.map(({ text }) => text).join(''),
            ]
          : [message.parts.map((part) => (part.type === 'text' ? part.text : '')).join(), ''],
      ),
    ])
}

test('with children, an app shows what the agents below say and call, and runs their calls once', async () => {
  const { url, read } = await serveTeam('place', [place])
  const ran: string[] = []
  const client = open({ url, session: 's', children: true, tools: { place: () => `Rome ${ran.push('place')}` } })
  expect((await client.send('Where?').answer).text).toBe('Done.')
  expect(ran).toHaveLength(1)
  expect(read()).toContain('Rome 1')
  expect(await readChildren(client)).toEqual([['helper', DONE_BELOW]])
  expect(client.getSnapshot().messages.map(({ role }) => role)).toEqual(['user', 'assistant'])
})

test('with children, an app that joins while an agent below waits has what was said before', async () => {
  const ran: string[] = []
  const { url } = await serveTeam('pay', [createPay(ran)])
  const first = open({ url, session: 's' })
  const { answer } = first.send('Pay.')
  const approvalId = await asked(first)
  const second = open({ url, session: 's', children: true })
  await until(second, ({ children }) => children.length > 0)
  await second.decide({ approvalId, decision: 'approve' })
  await answer
  await until(second, ({ messages }) => messages.some((message) => 'stop' in message && message.stop === 'end'))
  expect(await readChildren(second)).toEqual([
    [
      'helper',
      [
        ['Help.', ''],
        ['pay', 'Helped.'],
      ],
    ],
  ])
  expect(first.getSnapshot().children).toEqual([])
})

test('with children, a connection that breaks at any frame shows the same', async () => {
  let cuts = 0
  for (let frames = 2; frames < 60; frames += 4) {
    const ran: string[] = []
    const { url } = await serveTeam('place', [place])
    const { world, cutAfter, connections } = createCuttableWorld()
    const tools = { place: () => `Rome ${ran.push('place')}` }
    const client = open({ url, session: 's', world, children: true, tools } as Parameters<typeof open>[0])
    cutAfter(frames)
    await client.send('Where?').answer
    expect(ran).toHaveLength(1)
    expect(await readChildren(client)).toEqual([['helper', DONE_BELOW]])
    if (connections() > 1) cuts += 1
    client.close()
  }
  expect(cuts).toBeGreaterThan(3)
})

test('with children, removing the question removes them', async () => {
  const { url } = await serveTeam('place', [place])
  const client = open({ url, session: 's', children: true, tools: { place: () => 'Rome' } })
  await client.send('Where?', { id: 'm1' }).answer
  expect(await readChildren(client)).toHaveLength(1)
  await client.rewind({ message: 'm1' }).accepted
  await until(client, ({ messages }) => messages.length === 0)
  expect(client.getSnapshot().children).toEqual([])
})

test('a voice says nothing of what the agents below say', async () => {
  const { url } = await serveTeam('place', [place])
  const client = open({ url, session: 's', children: true, speech: true, tools: { place: () => 'Rome' } })
  const said: string[] = []
  client.on('sentence', ({ text }) => said.push(text))
  await client.send('Where?').answer
  expect(said).toEqual(['Done.'])
  expect(await readChildren(client)).toEqual([['helper', DONE_BELOW]])
})
