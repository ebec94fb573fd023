// Slack over a real Temporal service: workers have the destination, and gateways answer what Slack delivers.
import { defineAgent, tool } from '@baton/core'
import type { ScriptedModelOptions } from '@baton/core/testing'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { createSlack } from '@baton/notices/slack'
import { bundleWorkflows, createMemoryBus, createTemporalHost, sendTemporalLogs } from '@baton/temporal'
import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { findTemporal, startTemporal } from '../components/temporal.ts'
import { createDeliveries, findButtons, SIGNING_SECRET } from '../fake-slack/deliveries.ts'
import type { FakeMessage } from '../fake-slack/fake-slack.ts'
import { BOT_TOKEN, BOT_USER, startSlackFake } from '../fake-slack/fake-slack.ts'
import { startWorker, untilSo } from './temporal-telling.test-kit.ts'

const program = findTemporal('Slack over Temporal', (message) => console.warn(message))
const server = program === undefined ? undefined : await startTemporal(program)
const bundle = server && bundleWorkflows()
if (server) sendTemporalLogs({ info: () => {}, warn: () => {} })
afterAll(() => server?.close())

const CHANNEL = 'C0PAY'
const [MANAGER, STRANGER, ANN] = ['U0MANAGER', 'U0STRANGER', 'U0ANN']
const PAYING: ScriptedModelOptions['steps'] = [
  { calls: [{ name: 'pay', arguments: { euros: 4000 } }] },
  { text: 'It is **paid**.' },
]

/** Two gateways, with a Slack of their own each, and a worker with another. */
async function createWorld(steps: ScriptedModelOptions['steps'] = PAYING) {
  if (!server) throw new Error('there is no service')
  const fake = await startSlackFake()
  fake.channels.set(CHANNEL, { members: new Set([BOT_USER, MANAGER, STRANGER, ANN]) })
  const paid: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: { type: 'object', properties: { euros: { type: 'number', maximum: 10_000 } }, required: ['euros'] },
    effect: 'once',
    approval: true,
    deciders: { people: [`slack:T0TEAM:${MANAGER}`] },
    execute: (input) => {
      paid.push(input)
      return 'paid'
    },
  })
  const agent = defineAgent({ name: 'desk', model: createScriptedModel({ steps }), tools: [pay] })
  const taskQueue = `slack-${randomUUID()}`
  const place = { address: server.address, taskQueue, logStore: createMemoryStore(), redis: createMemoryBus(), agent }
  const connect = () =>
    createSlack({
      botToken: BOT_TOKEN,
      signingSecret: SIGNING_SECRET,
      channel: CHANNEL,
      apiUrl: fake.apiUrl,
      retriesMs: Array.from({ length: 10 }, () => 100),
    })
  const start = async () =>
    await startWorker({
      ...place,
      ...(bundle && { workflowBundle: await bundle }),
      drainMs: 500,
      notify: [connect().notices],
    })
  const hosts = [await createTemporalHost(place), await createTemporalHost(place)] as const
  const apps = hosts.map((host) => createDeliveries({ slack: fake, app: connect().handler(host) }))
  const [app, other] = apps as [(typeof apps)[0], (typeof apps)[0]]
  const workers = new Set<Awaited<ReturnType<typeof start>>>()
  onTestFinished(async () => {
    for (const host of hosts) await host.stop()
    for (const worker of workers) await worker.end()
    await fake.close()
  })
  const work = async (): Promise<void> => void workers.add(await start())
  const thread = (ts: string): readonly FakeMessage[] =>
    fake.messages.filter((one) => one.threadTs === ts && one.user === BOT_USER)
  return { fake, paid, host: hosts[0], app, other, work, thread, store: place.logStore }
}

type World = Awaited<ReturnType<typeof createWorld>>

/** The message with buttons, once there is one. */
async function findAsked({ fake }: World): Promise<FakeMessage> {
  const find = (): FakeMessage | undefined => fake.messages.find((one) => findButtons(one).length > 0)
  await untilSo(() => find() !== undefined)
  return find() as FakeMessage // waited for
}

describe.skipIf(!server)('Slack over Temporal', () => {
  test('a request is decided by a click at any gateway, a stranger decides nothing, and the thread hears the end', async () => {
    const world = await createWorld()
    const { fake, paid, host, app, other, work, thread } = world
    await work()
    const session = await host.session(`s-${randomUUID()}`, { principal: { id: 'ann' } })
    const turn = session.send('Pay.')
    const message = await findAsked(world)
    expect(JSON.stringify(message.blocks)).toContain('4000')
    await other.click(message, 'Approve', { user: STRANGER })
    await untilSo(() => fake.ephemeral.length === 1)
    expect(fake.ephemeral[0]?.text).toMatch(/others decide this request/)
    expect(paid).toEqual([])
    const shown = { blocks: message.blocks }
    await other.click(message, 'Approve', { user: MANAGER })
    expect((await turn.answer).text).toBe('It is **paid**.')
    expect(paid).toEqual([{ euros: 4000 }])
    await untilSo(() => findButtons(message).length === 0)
    expect(JSON.stringify(message.blocks)).toContain(`<@${MANAGER}>`)
    await untilSo(() => thread(message.ts).some(({ text }) => text.includes('answered')))
    // A person who still sees the buttons learns who decided.
    await app.click(message, 'Deny', { user: STRANGER }, shown)
    await untilSo(() => fake.ephemeral.length === 2)
    expect(fake.ephemeral[1]?.text).toBe(`It was approved by <@${MANAGER}>`)
  })

  test('arguments are edited in a view, which shows what does not fit', async () => {
    const world = await createWorld()
    const { fake, paid, host, app, work } = world
    await work()
    const session = await host.session(`s-${randomUUID()}`, { principal: { id: 'ann' } })
    const turn = session.send('Pay.')
    const by = { user: MANAGER }
    await app.click(await findAsked(world), 'Edit', by)
    await untilSo(() => fake.views.length === 1)
    const submit = (text: string) => app.submit({ 'baton.arguments': text, 'baton.note': '' }, by)
    expect((await submit('{"euros":"many"}'))?.['baton.arguments']).toContain('euros')
    expect(await submit('{"euros":40}')).toBeUndefined()
    await turn.answer
    expect(paid).toEqual([{ euros: 40 }])
  })

  test('a mention begins a conversation in its thread, where its requests and answers come', async () => {
    const world = await createWorld()
    const { fake, app, other, work, thread, paid } = world
    await work()
    const first = fake.say(CHANNEL, ANN, `<@${BOT_USER}> Pay Acme`)
    expect(await app.mention(first, { repeat: 1 })).toEqual([200, 200])
    const asked = await findAsked(world)
    expect(asked.threadTs).toBe(first.ts)
    await other.click(asked, 'Approve', { user: MANAGER })
    await untilSo(() => thread(first.ts).some(({ text }) => text.includes('It is **paid**.')))
    expect(paid).toHaveLength(1)
  })

  test('a message while no worker runs is delivered again, and is one input', async () => {
    const { fake, app, work, thread, store } = await createWorld(() => ({ text: 'Hello.' }))
    const first = fake.say(CHANNEL, ANN, `<@${BOT_USER}> Hello`)
    expect(await app.mention(first)).toEqual([503, 503, 503, 503])
    await work()
    await app.mention(first)
    await untilSo(() => thread(first.ts).length > 0)
    const second = fake.say(CHANNEL, ANN, 'And now?', first.ts)
    await app.message(second)
    await untilSo(() => thread(first.ts).length > 1)
    expect(thread(first.ts).map(({ text }) => text)).toEqual(['Hello.', 'Hello.'])
    const inputs: string[] = []
    for await (const { session } of store.list())
      for await (const { facts } of store.read(session, 0))
        for (const fact of facts) if (fact.type === 'input-accepted') inputs.push(fact.inputId)
    expect(inputs).toEqual([first, second].map(({ ts }) => `slack:${CHANNEL}:${ts}`))
  })
})
