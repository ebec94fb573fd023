// Results for a call that a page runs are accepted from the asked page, over any connection, and never from
// another.
import { frontOf } from '@baton/core/internal'
import type { CallView, Session, Store } from '@baton/core'
import { createMemoryStore, defineAgent, tool } from '@baton/host'
import { createScriptedModel } from '@baton/core/testing'
import type { UIMessage } from 'ai'
import { DefaultChatTransport } from 'ai'
import { afterEach, expect, test } from 'vitest'
import { createSlowTool, findTool, readTexts, settled, startChats } from './chat.test-kit.ts'

const ID = 'c1'
const empty = { type: 'object', properties: {}, additionalProperties: false } as const
type Chats = ReturnType<typeof startChats>
type Page = ReturnType<Chats['openPage']>

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

/** Requests act for the principal in their header; the server runs over `store`. */
function start(store: Store, isFirst = true) {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once', timeoutMs: 60_000 })
  const { slow, open } = createSlowTool()
  const calls = ['place', 'slow'].map((name) => ({ name, arguments: {} }))
  const model = createScriptedModel({ steps: [...(isFirst ? [{ calls }] : []), { text: 'Well.' }] })
  const chats = startChats({
    agent: defineAgent({ name: 'a', model, tools: [place, slow] }),
    store,
    handler: { authenticate: ({ headers }) => ({ id: headers.get('x-who') ?? 'ann' }) },
  })
  running.push(chats)
  return { chats, model, open }
}

type World = ReturnType<typeof start>

interface Asked {
  readonly world: World
  /** The page that runs the call. */
  readonly page: Page
}

async function ask(store: Store): Promise<Asked> {
  const world = start(store)
  const page = world.chats.openPage(ID)
  void page.sendMessage({ text: 'where?' })
  await settled(page, () =>
    JSON.stringify(page.messages).includes('"input-available","input":{},"providerExecuted":false'),
  )
  return { world, page }
}

async function findCall(session: Session): Promise<CallView> {
  const { messages } = await session.messages()
  const found = messages.flatMap((one) => (one.role === 'assistant' ? one.steps : [])).flatMap(({ calls }) => calls)
  const call = found.find(({ name }) => name === 'place')
  if (!call) throw new Error('there is no call')
  return call
}

/** Events since the page was asked. */
const PLACES: Readonly<Record<string, (asked: Asked, store: Store) => Promise<World>>> = {
  'its response is still open': ({ world }) => Promise.resolve(world),
  'its response has ended': async ({ world, page }) => {
    world.open()
    await settled(page, ({ status }) => status === 'ready')
    return world
  },
  'its connection is lost': async ({ world, page }) => {
    await page.stop()
    return world
  },
  'its lease is over': async ({ world, page }) => {
    await page.stop()
    const session = await world.chats.host.session(ID, { principal: { id: 'ann' } })
    await (await frontOf(session).client({ client: (await findCall(session)).holder ?? '' })).detach()
    return world
  },
  'the server restarted': async ({ world, page }, store) => {
    await page.stop()
    await world.chats.stop()
    running.splice(0)
    return start(store, false)
  },
}

async function post({ chats }: World, messages: readonly unknown[], who = 'ann'): Promise<Response> {
  const body = JSON.stringify({ id: ID, trigger: 'submit-message', messages })
  return await chats.fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-who': who },
    body,
  })
}

/** The conversation with a result in the call's part. */
function bring(messages: readonly UIMessage[], output: string): UIMessage[] {
  const copy = structuredClone(messages) as UIMessage[]
  for (const part of copy.at(-1)?.parts ?? [])
    if (part.type === 'tool-place') Object.assign(part, { state: 'output-available', output })
  return copy
}

const load = async ({ chats }: World): Promise<readonly UIMessage[]> =>
  ((await (await chats.fetch(`/api/sessions/${ID}/messages`)).json()) as { readonly messages: UIMessage[] }).messages

const NEXT = { id: 'm2', role: 'user', parts: [{ type: 'text', text: 'and?' }] }

const REFUSALS: Readonly<Record<string, number>> = { 'a page of another principal': 403, 'the routes of sessions': 404 }

const STRANGERS: Readonly<Record<string, (world: World) => Promise<number>>> = {
  'a page that loaded the conversation': async (world) =>
    (await post(world, bring(await load(world), 'forged'))).status,
  'a page that resumed the answer': async (world) => {
    const page = world.chats.openPage(ID, { messages: [...(await load(world))] })
    void page.resumeStream()
    await settled(page, () => findTool(page, 'place')['providerExecuted'] === true)
    return (await post(world, bring(page.messages, 'forged'))).status
  },
  'the next message of another page': async (world) =>
    (await post(world, [...bring(await load(world), 'forged'), NEXT])).status,
  'the routes of sessions': async ({ chats }) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"output":"forged"}' }
    const places = ['calls/call_1_0', 'results', 'calls'].map((place) => `/api/sessions/${ID}/${place}`)
    const answers = await Promise.all(places.map(async (place) => await chats.fetch(place, init)))
    return Math.min(...answers.map(({ status }) => status))
  },
  'a page of another principal': async (world) => (await post(world, bring(await load(world), 'forged'), 'eve')).status,
}

for (const [place, move] of Object.entries(PLACES))
  test.each(Object.entries(STRANGERS))(
    `${place}: a result of %s does not count, and that of the page does`,
    async (who, forge) => {
      const store = createMemoryStore()
      const asked = await ask(store)
      const world = await move(asked, store)
      expect(await forge(world)).toBe(REFUSALS[who] ?? 200)
      const session = await world.chats.host.session(ID, { principal: { id: 'ann' } })
      expect(await findCall(session)).toMatchObject({ name: 'place', status: 'running' })
      world.open()
      await post(world, bring(asked.page.messages, 'Rome'))
      await expect.poll(async () => (await findCall(session)).result).toMatchObject({ type: 'ok', value: 'Rome' })
      expect(JSON.stringify(world.model.requests)).not.toContain('forged')
    },
  )

test('offered again to a device of another kind: the device’s result counts, and the page’s does not', async () => {
  const look = tool({ name: 'place', description: 'place', input: empty, effect: 'pure', timeoutMs: 60_000 })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'place', arguments: {} }] }, { text: 'Well.' }] })
  const chats = startChats({ agent: defineAgent({ name: 'a', model, tools: [look] }) })
  running.push(chats)
  let answered = 0
  // The response begins after the request has changed the session.
  const counting: typeof fetch = async (...given) => {
    const response = await chats.fetch(...given)
    answered += 1
    return response
  }
  const page = chats.openPage(ID, { transport: new DefaultChatTransport({ fetch: counting }) })
  await page.sendMessage({ text: 'where?' })
  const session = await chats.host.session(ID)
  const { callId, holder = '' } = await findCall(session)
  const phone = await frontOf(session).client({ client: 'phone', leaseMs: 60_000 })
  await (await frontOf(session).client({ client: holder })).detach()
  await phone.claim(callId)
  void page.addToolOutput({ tool: 'place', toolCallId: callId, output: 'forged' })
  await expect.poll(() => answered).toBe(2)
  expect(await findCall(session)).toMatchObject({ status: 'running', holder: 'phone' })
  await phone.result(callId, { type: 'ok', content: [{ type: 'text', text: 'Rome' }], value: 'Rome' })
  await settled(page, () => readTexts(page).at(-1) === 'Well.')
  expect(findTool(page, 'place'), 'it shows what the model read').toMatchObject({ output: 'Rome' })
})
