// Conversations in threads of Slack: each message is one input, the answer comes into the thread, and so do requests.
import { afterEach, expect, test } from 'vitest'
import type { ToolContext } from '@baton/core/internal'
import { splitText } from './slack-notices.ts'
import { findButtons, SIGNING_SECRET } from '@baton/testing/fake-slack-deliveries'
import { BOT_USER } from '@baton/testing/fake-slack'
import type { SlackWorldOptions } from './slack-world.test-kit.ts'
import { CHANNEL, createSlackWorld, PAYING } from './slack-world.test-kit.ts'

type World = Awaited<ReturnType<typeof createSlackWorld>>
const worlds: World[] = []
afterEach(async () => {
  for (const { host, fake } of worlds.splice(0)) {
    await host.stop()
    await fake.close()
  }
})

async function open(options: SlackWorldOptions = {}): Promise<World> {
  const world = await createSlackWorld({ steps: () => ({ text: 'Hello **Ann**.' }), ...options })
  worlds.push(world)
  return world
}

const answers = ({ fake }: World, threadTs: string): readonly string[] =>
  fake.messages.flatMap((one) => (one.threadTs === threadTs && one.user === BOT_USER ? [one.text] : []))

async function inputs({ store }: World): Promise<readonly string[]> {
  const ids: string[] = []
  for await (const { session } of store.list())
    for await (const { facts } of store.read(session, 0))
      for (const fact of facts) if (fact.type === 'input-accepted') ids.push(fact.inputId)
  return ids
}

async function sessions({ store }: World): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { session } of store.list()) names.push(session)
  return names
}

test('a mention begins a conversation in its thread; a delivery that Slack repeats is the same message', async () => {
  const world = await open()
  const { fake, deliveries } = world
  const first = fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Hello &amp; welcome`)
  expect(await deliveries.mention(first, { repeat: 2 })).toEqual([200, 200, 200])
  await deliveries.message(first) // the app also listens to all messages of the channel
  await expect.poll(() => answers(world, first.ts)).toEqual(['Hello **Ann**.'])
  const second = fake.say(CHANNEL, 'U0ANN', 'And then?', first.ts)
  await deliveries.message(second)
  await expect.poll(() => answers(world, first.ts).length).toBe(2)
  expect(await inputs(world)).toEqual([`slack:${CHANNEL}:${first.ts}`, `slack:${CHANNEL}:${second.ts}`])
  const [name = ''] = await sessions(world)
  expect(name).toContain(`slack.T0TEAM.${CHANNEL}.${first.ts}.`)
  const session = await world.host.session(name, {
    principal: { id: 'slack:T0TEAM:U0ANN' },
    existing: true,
  })
  expect(JSON.stringify((await session.messages()).messages[0])).toContain('Hello & welcome')
})

test('a direct message begins one without a mention; messages of apps, edits and talk of others do not', async () => {
  const world = await open()
  const { fake, deliveries } = world
  const direct = fake.say('D0ANN', 'U0ANN', 'Hello')
  await deliveries.message(direct)
  await expect.poll(() => answers(world, direct.ts)).toHaveLength(1)
  const talk = fake.say(CHANNEL, 'U0ANN', 'Hello Bob')
  await deliveries.message(talk)
  await deliveries.message(fake.say('D0ANN', 'U0ANN', 'edited'), { subtype: 'message_changed' })
  await deliveries.message(fake.say('D0ANN', BOT_USER, 'own'), { bot_id: 'B0BOT' })
  expect(await inputs(world)).toEqual([`slack:D0ANN:${direct.ts}`])
})

test('a conversation belongs to the person who began it', async () => {
  const world = await open()
  const { fake, deliveries } = world
  const first = fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Hello`)
  await deliveries.mention(first)
  const other = fake.say(CHANNEL, 'U0BOB', `<@${BOT_USER}> Pay me`, first.ts)
  expect(await deliveries.mention(other)).toEqual([200])
  await expect.poll(() => fake.ephemeral).toMatchObject([{ user: 'U0BOB', threadTs: first.ts }])
  await deliveries.message(fake.say(CHANNEL, 'U0BOB', 'I say!', first.ts)) // to Ann, not to the app
  expect(fake.ephemeral).toHaveLength(1)
  expect(await inputs(world)).toEqual([`slack:${CHANNEL}:${first.ts}`])
})

test('a request of a conversation asks in its thread, and the person who began it decides', async () => {
  const world = await open({ steps: PAYING, pay: { deciders: undefined } })
  const { fake, deliveries, paid } = world
  const first = fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Pay Acme`)
  await deliveries.mention(first)
  await expect.poll(() => world.newest()?.blocks.length ?? 0).toBeGreaterThan(0)
  const asked = world.newest()
  if (!asked) throw new Error('nothing was asked')
  expect([asked.threadTs, findButtons(asked).length]).toEqual([first.ts, 3])
  await deliveries.click(asked, 'Approve', { user: 'U0BOB' })
  await expect.poll(() => fake.ephemeral.length).toBe(1)
  expect(paid).toEqual([])
  await deliveries.click(asked, 'Approve', { user: 'U0ANN' })
  await expect.poll(() => answers(world, first.ts)).toContain('It is paid.')
  expect(paid).toHaveLength(1)
})

test('a long answer comes in several messages, and after a failure at each of them the rest follows', async () => {
  const text = Array.from({ length: 6000 }, (_, index) => `word${index}`).join(' ')
  const world = await open({ steps: () => ({ text }) })
  const { fake, deliveries } = world
  fake.refuse('chat.postMessage', 'fatal_error', { times: 2 })
  const first = fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Write`)
  await deliveries.mention(first)
  await expect.poll(() => answers(world, first.ts).length).toBeGreaterThan(1)
  fake.refuse('chat.postMessage', 'fatal_error', { times: 2 })
  await expect.poll(() => answers(world, first.ts).join(' ')).toBe(text)
  expect(fake.calls.filter(({ error }) => error === 'msg_too_long')).toEqual([])
})

test('files are not read, and the person hears it; a reply that is also sent to the channel is a message', async () => {
  const world = await open()
  const { fake, deliveries } = world
  const file = { subtype: 'file_share', files: [{ id: 'F0BILL', name: 'bill.pdf' }] }
  await deliveries.message(fake.say('D0ANN', 'U0ANN', ''), file)
  await expect
    .poll(() => fake.ephemeral.map(({ text }) => text))
    .toEqual(['The message was not taken. Files are not read here.'])
  const first = fake.say('D0ANN', 'U0ANN', 'Pay this')
  await deliveries.message(first, file)
  await expect.poll(() => fake.ephemeral.length).toBe(2)
  expect(fake.ephemeral[1]?.text).toBe('Files are not read here: only the text was taken.')
  const reply = fake.say('D0ANN', 'U0ANN', 'Thanks', first.ts)
  await deliveries.message(reply, { subtype: 'thread_broadcast' })
  expect(await inputs(world)).toEqual([`slack:D0ANN:${first.ts}`, `slack:D0ANN:${reply.ts}`])
  expect(await deliveries.mention(fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}>`))).toEqual([200])
  await expect.poll(() => fake.ephemeral[2]?.text).toBe('The message was not taken. It has no text.')
})

test('an answer of a model notifies no channel', async () => {
  const world = await open({ steps: () => ({ text: 'Hi <!channel> <!here|x> <!subteam^S1> <@U0ANN> <b>' }) })
  const first = world.fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Hello`)
  await world.deliveries.mention(first)
  await expect
    .poll(() => answers(world, first.ts))
    .toEqual(['Hi &lt;!channel> &lt;!here|x> &lt;!subteam^S1> <@U0ANN> <b>'])
})

test('a session that another front named like a thread does not speak there', async () => {
  const world = await open()
  const { fake, host } = world
  const first = fake.say(CHANNEL, 'U0BOB', 'Bob talks to Ann')
  for (const name of [`slack.T0TEAM.${CHANNEL}.${first.ts}`, `slack.T0TEAM.${CHANNEL}.${first.ts}.AAAAAAAAAAAAAAAA`]) {
    const session = await host.session(name, { principal: { id: 'eve' } })
    await session.send('Hello').answer
  }
  const later = fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Hello`)
  await world.deliveries.mention(later)
  await expect.poll(() => answers(world, later.ts)).toHaveLength(1)
  expect(answers(world, first.ts)).toEqual([])
})

test('a conversation goes on in its session after the signing secret was replaced', async () => {
  const world = await open()
  const { fake, store } = world
  const first = fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Hello`)
  await world.deliveries.mention(first)
  await expect.poll(() => answers(world, first.ts)).toHaveLength(1)
  await world.host.stop()
  const next = await open({ fake, store, slack: { signingSecret: ['the-next-secret-of-the-app', SIGNING_SECRET] } })
  await next.deliveries.message(fake.say(CHANNEL, 'U0ANN', 'And then?', first.ts))
  await expect.poll(() => answers(next, first.ts)).toHaveLength(2)
  expect(await sessions(next)).toHaveLength(1)
})

test('a question of a tool is told in the thread, and so is a turn that was interrupted', async () => {
  const schema = { type: 'object', properties: { size: { enum: ['S', 'M'] } }, required: ['size'] }
  const world = await open({
    steps: PAYING,
    pay: {
      approval: false,
      execute: async (_input: unknown, { ask }: ToolContext) => await ask({ message: 'Which size?', schema }),
    },
  })
  const first = world.fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Pay`)
  await world.deliveries.mention(first)
  await expect.poll(() => answers(world, first.ts).length).toBe(1)
  const [name = ''] = await sessions(world)
  expect(answers(world, first.ts)[0]).toContain(
    `cannot be answered in Slack. Answer it in the session ${name}, until <!date`,
  )
  expect(answers(world, first.ts)[0]).not.toContain('Which size')
  const session = await world.host.session(name, { principal: { id: 'slack:T0TEAM:U0ANN' }, existing: true })
  await session.interrupt()
  await expect.poll(() => answers(world, first.ts)[1]).toBe('The turn was interrupted.')
})

test('a person who is refused is told once, however slow Slack is', async () => {
  const calls: string[] = []
  const slow: typeof fetch = async (url, init) => {
    calls.push(new Request(url, init).url)
    return await new Promise(() => {}) // never
  }
  const world = await open({ slack: { principalOf: () => undefined, fetch: slow } })
  const first = world.fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Hello`)
  expect(await world.deliveries.mention(first)).toEqual([200])
  expect(calls).toHaveLength(1)
})

test('while no message can be stored, Slack is asked to deliver again', async () => {
  const world = await open()
  const { fake, deliveries, host } = world
  await host.stop()
  const first = fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Hello`)
  expect(await deliveries.mention(first)).toEqual([503, 503, 503, 503])
})

test.each<[string, string, readonly string[]]>([
  ['nothing', ' ', []],
  ['a short text', 'one two', ['one two']],
  ['words', 'one two three', ['one two', 'three']],
  ['one long word', 'a'.repeat(20), ['aaaaaaaaaa', 'aaaaaaaaaa']],
  ['half of a pair at the end', 'aaaaaaaaa😀a', ['aaaaaaaaa', '😀a']],
])('%s is cut where a reader would', (_, text, pieces) => {
  expect(splitText(text, 10)).toEqual(pieces)
})
