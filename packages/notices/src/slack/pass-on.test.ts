// Deliveries of Slack to two servers over one store: the server that has the session takes them, whichever gets them.
import { createNodeListener } from '@baton/server/http'
import type { FakeMessage } from '@baton/testing/fake-slack'
import { BOT_USER } from '@baton/testing/fake-slack'
import { findButtons } from '@baton/testing/fake-slack-deliveries'
import { createMemoryStore } from '@baton/host'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { CHANNEL, createSlackWorld, MANAGER, startFake } from './slack-world.test-kit.ts'
import type { SlackWorldOptions } from './slack-world.test-kit.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

/** `holder` can be reached by the other one, unless it has no address. */
async function startTwo(options: SlackWorldOptions = {}, isReachable = true) {
  const [store, fake] = [createMemoryStore({ leaseMs: 60_000 }), await startFake()]
  closers.push(() => fake.close())
  const handlers: ((request: Request) => Promise<Response>)[] = []
  const server = createServer(
    createNodeListener(async (request) => (await handlers[0]?.(request)) ?? new Response('', { status: 500 })),
  )
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  closers.push(() => server.close())
  const address = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const shared = { store, fake, ...options }
  const holder = await createSlackWorld({ ...shared, ...(isReachable && { address }) })
  handlers.push(holder.handler)
  const other = await createSlackWorld(shared)
  closers.push(
    () => holder.host.stop(),
    () => other.host.stop(),
  )
  return { holder, other, fake }
}

async function ask({ holder }: Awaited<ReturnType<typeof startTwo>>): Promise<FakeMessage> {
  const session = await holder.host.session('s-1', { principal: { id: 'ann' } })
  session.send('Pay Acme.').answer.catch(() => {})
  await expect.poll(() => holder.newest()?.blocks.length ?? 0).toBeGreaterThan(0)
  return holder.newest() as FakeMessage // polled for
}

test('a click is decided by the server that has the session, whichever it reaches', async () => {
  const two = await startTwo()
  const message = await ask(two)
  await two.other.deliveries.click(message, 'Approve', { user: MANAGER })
  await expect.poll(() => findButtons(message)).toEqual([])
  await expect.poll(() => [two.holder.paid.length, two.other.paid.length]).toEqual([1, 0])
  expect(two.fake.ephemeral).toEqual([])
})

test('so is a submitted form, and its answer is shown', async () => {
  const two = await startTwo()
  const message = await ask(two)
  await two.other.deliveries.click(message, 'Edit', { user: MANAGER })
  await expect.poll(() => two.fake.views.length).toBe(1)
  const submit = (value: string) =>
    two.other.deliveries.submit({ 'baton.arguments': value, 'baton.note': '' }, { user: MANAGER })
  expect(JSON.stringify(await submit('{"euros":99999,"to":"Acme"}'))).toContain('10000')
  expect(await submit('{"euros":40,"to":"Acme"}')).toBeUndefined()
  await expect.poll(() => two.holder.paid).toEqual([{ euros: 40, to: 'Acme' }])
})

test('a message of a conversation is taken once by the server that has it', async () => {
  const two = await startTwo({ steps: () => ({ text: 'Hello.' }) })
  const first = two.fake.say(CHANNEL, 'U0ANN', `<@${BOT_USER}> Hello`)
  expect(await two.holder.deliveries.mention(first)).toEqual([200])
  const answers = () => two.fake.messages.filter((one) => one.threadTs === first.ts && one.user === BOT_USER).length
  await expect.poll(answers).toBe(1)
  const second = two.fake.say(CHANNEL, 'U0ANN', 'And then?', first.ts)
  expect(await two.other.deliveries.message(second)).toEqual([200])
  await expect.poll(answers).toBe(2)
})

test('a server without an address is not reached: the click is told to try again, and stays possible', async () => {
  const two = await startTwo({}, false)
  const message = await ask(two)
  await two.other.deliveries.click(message, 'Approve', { user: MANAGER })
  await expect.poll(() => two.fake.ephemeral.map(({ text }) => text).join()).toContain('Try again')
  await two.holder.deliveries.click(message, 'Approve', { user: MANAGER })
  await expect.poll(() => two.holder.paid.length).toBe(1)
})
