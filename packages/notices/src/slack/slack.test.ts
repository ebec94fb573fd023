// Approvals in Slack, at a strict fake: messages, deciders, clicks and edits.
import { SYSTEM_TIME } from '@baton/runtime'
import { afterEach, expect, test } from 'vitest'
import type { SlackOptions } from './slack.ts'
import { createSlack } from './slack.ts'
import { createSlackApi } from './slack-api.ts'
import {
  createDeliveries as createDeliveriesOf,
  findButtons,
  SIGNING_SECRET,
} from '@baton/testing/fake-slack-deliveries'
import { BOT_TOKEN, type FakeMessage } from '@baton/testing/fake-slack'
import type { SlackWorldOptions } from './slack-world.test-kit.ts'
import { createSlackWorld, MANAGER, MANAGER_ID, STRANGER, wordsOf } from './slack-world.test-kit.ts'

type World = Awaited<ReturnType<typeof createSlackWorld>>
const worlds: World[] = []
afterEach(async () => {
  for (const { host, fake } of worlds.splice(0)) {
    await host.stop()
    await fake.close()
  }
})

/** Ann's session asks to pay, and the request is in the channel. */
async function ask(options: SlackWorldOptions = {}) {
  const world = await createSlackWorld(options)
  worlds.push(world)
  const session = await world.host.session('s-1', { principal: { id: 'ann' } })
  const turn = session.send('Pay Acme.')
  turn.answer.catch(() => {})
  await expect.poll(() => world.newest()?.blocks.length ?? 0).toBeGreaterThan(0)
  const message = world.newest() as FakeMessage // polled for
  return { ...world, session, turn, message }
}

const whispers = ({ fake }: World): readonly string[] => fake.ephemeral.map(({ user, text }) => `${user}: ${text}`)
const labels = (message: FakeMessage): readonly string[] => findButtons(message).map(({ text }) => text)

test('a request shows what is decided, who asked and until when; a click decides it, and the message and thread say so', async () => {
  const { message, deliveries, turn, paid, session, fake } = await ask()
  const words = wordsOf(message)
  for (const part of ['Pay 4000 euros to Acme', 'euros', '4000', 'Acme', 'agent desk', 'ann', '<!date^'])
    expect(words).toContain(part)
  expect(labels(message)).toEqual(['Approve', 'Deny', 'Edit'])
  const before = { blocks: message.blocks }
  expect((await deliveries.click(message, 'Approve', { user: MANAGER })).status).toBe(200)
  expect((await turn.answer).text).toBe('It is paid.')
  expect(paid).toEqual([{ euros: 4000, to: 'Acme' }])
  await expect.poll(() => labels(message)).toEqual([])
  expect(wordsOf(message)).toContain('Approved by')
  expect(wordsOf(message)).toContain(`<@${MANAGER}>`)
  await expect.poll(() => fake.messages.findLast(({ threadTs }) => threadTs === message.ts)?.text).toMatch(/answered/)
  const decided = []
  for await (const event of session.events({ from: 'start' })) {
    if (event.type === 'approval-decided') decided.push(event.principal.id)
    if (event.type === 'live') break
  }
  expect(decided).toEqual([MANAGER_ID])

  // A person who still sees the buttons learns the decision.
  await deliveries.click(message, 'Deny', { user: STRANGER }, before)
  await expect.poll(() => fake.ephemeral.length).toBe(1)
  expect(fake.ephemeral[0]).toMatchObject({ user: STRANGER, text: `It was approved by <@${MANAGER}>` })
  expect(paid).toHaveLength(1)
})

test('a request whose message was not noted by a host that died is decided meanwhile: the channel hears it all the same', async () => {
  const gate = Promise.withResolvers<void>()
  const { message, deliveries, turn, fake, newest } = await ask({ forgets: gate.promise })
  expect((await deliveries.click(message, 'Approve', { user: MANAGER })).status).toBe(200)
  expect((await turn.answer).text).toBe('It is paid.')
  gate.resolve()
  const findOutcome = (): FakeMessage | undefined => fake.messages.findLast(({ threadTs }) => threadTs === undefined)
  await expect.poll(() => wordsOf(findOutcome())).toMatch(/Pay 4000 euros.*Approved by.*<@U0MANAGER>/)
  expect(labels(findOutcome() as FakeMessage)).toEqual([])
  await expect.poll(() => newest()?.threadTs).toBe(findOutcome()?.ts)
  expect(newest()?.text).toMatch(/answered/)
})

test('a stranger is told, and changes nothing', async () => {
  const world = await ask()
  const { message, deliveries, session, paid } = world
  for (const label of ['Approve', 'Deny']) await deliveries.click(message, label, { user: STRANGER })
  await deliveries.click(message, 'Approve', { user: MANAGER, team: 'T0FOREIGN' }) // of another workspace
  await deliveries.click(message, 'Edit', { user: STRANGER })
  await expect.poll(() => world.fake.ephemeral.length).toBe(4)
  expect(world.fake.views).toEqual([])
  for (const text of whispers(world)) expect(text).toMatch(/: Nothing was decided: others decide this request\.$/)
  expect(await session.approvals()).toHaveLength(1)
  expect(labels(message)).toHaveLength(3)
  expect(paid).toEqual([])
})

test('a person whom the program does not know decides nothing, whatever the channel', async () => {
  const world = await ask({ slack: { principalOf: () => undefined } })
  await world.deliveries.click(world.message, 'Approve', { user: MANAGER })
  await expect.poll(() => whispers(world)).toEqual([`${MANAGER}: You are not known here, so nothing was decided.`])
  expect(await world.session.approvals()).toHaveLength(1)
})

test('a person whom the program describes with a misspelt field decides nothing, and the log says why', async () => {
  const world = await ask({ slack: { principalOf: () => ({ id: MANAGER_ID, role: 'manager' }) as never } })
  await world.deliveries.click(world.message, 'Approve', { user: MANAGER })
  await expect.poll(() => whispers(world).join()).toContain('This click could not be handled now.')
  expect(world.warnings.join()).toMatch(/the result of principalOf has no field .+role.+ it is called .+roles/)
  expect(await world.session.approvals()).toHaveLength(1)
})

test('Slack is answered in time while a person is looked up, who hears later what became of it', async () => {
  const timers = createHeldTimers()
  let isFound = true
  const principalOf: SlackOptions['principalOf'] = () => (isFound ? { id: MANAGER_ID } : new Promise(() => {}))
  const world = await ask({ slack: { principalOf, timers } })
  const { message, deliveries, fake, session } = world
  await deliveries.click(message, 'Edit', { user: MANAGER })
  await expect.poll(() => fake.views.length).toBe(1)
  isFound = false
  const arguments40 = { 'baton.arguments': '{"euros":40,"to":"Acme"}', 'baton.note': '' }
  const submitted = deliveries.submit(arguments40, { user: MANAGER })
  await expect.poll(() => timers.waits()).toEqual([2500, 10_000])
  timers.pass(2500)
  expect(await submitted).toBeUndefined()
  timers.pass(10_000)
  await expect.poll(() => whispers(world).join()).toMatch(/Nothing was decided: .*principalOf took more than 10000 ms/)
  expect((await deliveries.click(message, 'Approve', { user: MANAGER })).status).toBe(200)
  await expect.poll(() => timers.waits()).toEqual([10_000])
  timers.pass(10_000)
  await expect.poll(() => whispers(world).length).toBe(2)
  expect(whispers(world)[1]).toContain('This click could not be handled now.')
  expect(world.warnings.join()).toContain('principalOf took more than 10000 ms')
  expect(await session.approvals()).toHaveLength(1)
})

/** Timers that wait until a test lets them pass. */
function createHeldTimers() {
  const waiting = new Map<object, { readonly delayMs: number; readonly callback: () => void }>()
  return {
    start: (delayMs: number, callback: () => void): (() => void) => {
      const key = {}
      waiting.set(key, { delayMs, callback })
      return () => void waiting.delete(key)
    },
    waits: () => [...waiting.values()].map(({ delayMs }) => delayMs).toSorted((one, other) => one - other),
    pass: (upToMs: number): void => {
      for (const [key, { delayMs, callback }] of waiting) if (delayMs <= upToMs && waiting.delete(key)) callback()
    },
  }
}

test('arguments are edited in a view, which shows what is wrong with them', async () => {
  const { message, deliveries, turn, paid, fake, session } = await ask()
  const by = { user: MANAGER }
  await deliveries.click(message, 'Edit', by)
  await expect.poll(() => fake.views.length).toBe(1)
  expect(JSON.stringify(fake.views[0]?.view)).toContain('4000')
  const submit = (text: string) => deliveries.submit({ 'baton.arguments': text, 'baton.note': 'too much' }, by)
  expect(await submit('{')).toEqual({ 'baton.arguments': 'This is not a JSON object.' })
  expect(await submit('{"euros":"many","to":"Acme"}')).toEqual({
    'baton.arguments': expect.stringContaining('euros') as string,
  })
  expect((await submit('{"euros":"many","to":"Acme"}'))?.['baton.arguments']).not.toContain('approval_')
  expect(await session.approvals()).toHaveLength(1)
  expect(await submit('{"euros":40,"to":"Acme"}')).toBeUndefined()
  await turn.answer
  expect(paid).toEqual([{ euros: 40, to: 'Acme' }])
  await expect.poll(() => wordsOf(message)).toContain('Approved with other arguments by')
})

test('a denial denies the call', async () => {
  const { message, deliveries, turn, paid } = await ask()
  await deliveries.click(message, 'Deny', { user: MANAGER })
  await turn.answer
  expect(paid).toEqual([])
  await expect.poll(() => wordsOf(message)).toContain('Denied by')
})

test('a request that expires loses its buttons without a click, and its thread hears of it', async () => {
  const world = await ask({ limits: { approvalMs: 300 } })
  const { message, deliveries, fake, paid } = world
  const before = { blocks: message.blocks }
  await expect.poll(() => labels(message)).toEqual([])
  expect(wordsOf(message)).toContain('Expired: nobody decided it in time.')
  const inThread = () => fake.messages.flatMap(({ threadTs, text }) => (threadTs === message.ts ? [text] : []))
  await expect.poll(inThread).toContain('The request expired: nobody decided it in time.')
  await deliveries.click(message, 'Approve', { user: MANAGER }, before)
  await expect.poll(() => whispers(world).join()).toContain('no longer open')
  expect(paid).toEqual([])
})

test('notices that are repeated post nothing twice: the request, its end, and that of the turn', async () => {
  const { message, fake } = await ask({ limits: { approvalMs: 300 }, repeats: true })
  const inThread = () => fake.messages.flatMap(({ threadTs, text }) => (threadTs === message.ts ? [text] : []))
  await expect
    .poll(inThread)
    .toEqual(['The request expired: nobody decided it in time.', 'Done: the turn was answered.'])
  expect(fake.messages.filter(({ threadTs }) => threadTs === undefined)).toHaveLength(1)
})

test('a request whose turn is interrupted loses its buttons without a click', async () => {
  const { message, session } = await ask()
  await session.interrupt()
  await expect.poll(() => labels(message)).toEqual([])
  expect(wordsOf(message)).toContain('Withdrawn')
})

test('an expired request is rewritten at a click, if its host has not told it yet', async () => {
  const world = await ask()
  const { message, deliveries, clock, paid } = world
  clock.aheadMs = 11 * 60_000
  await deliveries.click(message, 'Approve', { user: MANAGER })
  await expect.poll(() => labels(message)).toEqual([])
  await expect.poll(() => whispers(world).join()).toContain('no longer open')
  expect(paid).toEqual([])
})

test('what Slack refuses is tried again after seconds and minutes first, because requests expire', () => {
  const { notices } = createSlack({ botToken: BOT_TOKEN, signingSecret: SIGNING_SECRET })
  const [second, minute, hour] = [1000, 60_000, 3_600_000]
  const early = [5 * second, 15 * second, minute, 2 * minute, 5 * minute, 30 * minute]
  expect(notices.retriesMs).toEqual([...early, 2 * hour, 5 * hour, 10 * hour])
})

test('while Slack limits a method, no session calls it', async () => {
  const calls: string[] = []
  const api = createSlackApi({
    ...SYSTEM_TIME,
    botToken: BOT_TOKEN,
    apiUrl: 'https://slack.example/api/',
    fetch: async (url, init) => {
      calls.push(new URL(new Request(url, init).url).pathname)
      return await Promise.resolve(new Response('', { status: 429, headers: { 'retry-after': '60' } }))
    },
  })
  const limited = expect.objectContaining({ code: 'api_rate_limited' }) as unknown
  await expect(api.call('chat.postMessage', {})).rejects.toEqual(limited)
  const again = await api.call('chat.postMessage', {}).catch((cause: unknown) => cause)
  expect(again).toEqual(limited)
  expect((again as { data: { retryAfterMs: number } }).data.retryAfterMs).toBeGreaterThan(0)
  await expect(api.call('chat.update', {})).rejects.toEqual(limited)
  expect(calls).toEqual(['/api/chat.postMessage', '/api/chat.update'])
})

test('a button works after a restart, in a process that did not post it', async () => {
  const first = await ask()
  await first.host.stop()
  const next = await createSlackWorld({ fake: first.fake, store: first.store, steps: [{ text: 'It is paid.' }] })
  worlds.push(next)
  await next.deliveries.click(first.message, 'Approve', { user: MANAGER })
  await expect.poll(() => next.paid).toEqual([{ euros: 4000, to: 'Acme' }])
  await expect.poll(() => wordsOf(first.message)).toContain(`<@${MANAGER}>`)
})

test('the value of a button says nothing, and a value that was not sealed here decides nothing', async () => {
  const world = await ask()
  const { message, deliveries, session } = world
  const [{ value } = { value: '' }] = findButtons(message)
  const [request] = await session.approvals()
  for (const text of [value, Buffer.from(value, 'base64url').toString('latin1')])
    for (const part of ['s-1', 'ann', request?.approvalId ?? '?']) expect(text).not.toContain(part)
  const forge = (forged: string): FakeMessage => ({
    ...message,
    blocks: JSON.parse(JSON.stringify(message.blocks).replaceAll(value, forged)) as FakeMessage['blocks'],
  })
  const flipped = Buffer.from(value, 'base64url')
  flipped[20] = (flipped[20] ?? 0) ^ 1
  const forged = ['', 's-1', flipped.toString('base64url'), Buffer.alloc(80, 1).toString('base64url')]
  for (const one of forged) await deliveries.click(message, 'Approve', { user: MANAGER }, forge(one))
  await expect.poll(() => whispers(world).length).toBe(forged.length)
  for (const text of whispers(world)) expect(text).toContain('not valid')
  expect(await session.approvals()).toHaveLength(1)
})

test('what Slack did not sign is refused before it is read', async () => {
  const { handler, deliveries } = await ask()
  const body = JSON.stringify({ type: 'url_verification', challenge: 'c-1' })
  const good = await deliveries.send('/slack/events', 'application/json', body)
  expect([good.status, await good.text()]).toEqual([200, 'c-1'])
  const other = createWith('another-secret-of-an-app')
  const old = createWith(SIGNING_SECRET, () => Date.now() - 301_000)
  const early = createWith(SIGNING_SECRET, () => Date.now() + 302_000)
  for (const send of [other, old, early]) expect((await send(body)).status).toBe(401)
  expect((await handler(new Request('http://app.example/slack/events', { method: 'POST', body }))).status).toBe(401)
  expect((await handler(new Request('http://app.example/slack/events'))).status).toBe(405)
  expect((await handler(new Request('http://app.example/slack', { method: 'POST', body }))).status).toBe(404)
  const large = new Request('http://app.example/slack/events', { method: 'POST', body: 'x'.repeat(1_048_577) })
  expect((await handler(large)).status).toBe(413)

  function createWith(secret: string, nowMs: () => number = Date.now) {
    const { fake } = worlds[0] as World // of `ask`
    const signed = createDeliveriesOf({ slack: fake, app: handler, secret, nowMs })
    return (text: string) => signed.send('/slack/events', 'application/json', text)
  }
})

test('Slack’s limits are obeyed, its refusals with status 200 are failures, and the request is posted in the end', async () => {
  const world = await createSlackWorld()
  worlds.push(world)
  const { fake, host } = world
  fake.refuse('chat.postMessage', 'ratelimited', { seconds: 1 })
  fake.refuse('chat.postMessage', 'not_in_channel')
  const session = await host.session('s-1', { principal: { id: 'ann' } })
  session.send('Pay Acme.').answer.catch(() => {})
  await expect.poll(() => world.newest()?.blocks.length ?? 0).toBeGreaterThan(0)
  const posts = fake.calls.filter(({ method }) => method === 'chat.postMessage')
  expect(posts.map(({ error }) => error)).toEqual(['ratelimited', 'not_in_channel', undefined])
  expect(fake.messages).toHaveLength(1)
})

test('texts of a model mention, link and format nothing, and arguments that do not fit are not decided here', async () => {
  const evil = '<!channel> <@U0BOB> *bold* ```` ``` https://evil.example'
  const hostile = await ask({
    steps: [{ calls: [{ name: 'pay', arguments: { euros: 1, to: evil } }] }, { text: 'well' }],
  })
  const formatted = JSON.stringify(hostile.message.blocks).match(/"type":"mrkdwn","text":"[^"]*"/g) ?? []
  expect(formatted.join()).not.toMatch(/channel>|U0BOB|evil/)
  expect(hostile.message.text).not.toMatch(/[<>]/)
  expect(wordsOf(hostile.message)).toContain('evil.example')
  const long = await ask({
    steps: [{ calls: [{ name: 'pay', arguments: { euros: 1, to: 'x'.repeat(20_000) } }] }, { text: 'well' }],
  })
  expect(labels(long.message)).toEqual([])
  expect(wordsOf(long.message)).toContain('too long for Slack')
  const middle = await ask({
    steps: [{ calls: [{ name: 'pay', arguments: { euros: 1, to: 'x'.repeat(5000) } }] }, { text: 'well' }],
  })
  expect(labels(middle.message)).toEqual(['Approve', 'Deny']) // a field of Slack has no room for it
})

test.each<[string, object, RegExp]>([
  ['no token', { botToken: undefined }, /botToken/],
  ['a token of another kind', { botToken: 'sesame-1234' }, /botToken/],
  ['no secret', { signingSecret: undefined }, /signingSecret/],
  ['an empty secret', { signingSecret: '' }, /signingSecret/],
  ['a channel that is none', { channel: 7 }, /channel/],
  ['the name of another library', { token: 'x' }, /it is called "botToken" here/],
])('%s is refused, and no secret is in the error', (_, given, message) => {
  const options = { botToken: BOT_TOKEN, signingSecret: SIGNING_SECRET, ...given }
  expect(() => createSlack(options as never)).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringMatching(message) as string }),
  )
  expect(() => createSlack(options as never)).not.toThrow(/sesame|8f742231/)
})

test('a handler without its host is refused at once, not at the first click', () => {
  const slack = createSlack({ botToken: BOT_TOKEN, signingSecret: SIGNING_SECRET })
  for (const host of [undefined, 'ann', {}])
    expect(() => slack.handler(host as never)).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        hint: expect.stringContaining('slack.handler(host)') as string,
      }),
    )
})
