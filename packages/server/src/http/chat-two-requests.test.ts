// A second request of a chat while the first one's turn is running, waiting, or queued: what its page receives.
import type { Agent } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import type { PageParts } from './chat.test-kit.ts'
import { createSlowTool, findTool, readTexts, settled, startChats } from './chat.test-kit.ts'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

function start(agent: Agent, more: Omit<PageParts, 'agent'> = {}) {
  const chats = startChats({ agent, ...more })
  running.push(chats)
  const post = (chat: string, ...messages: readonly object[]): Promise<Response> =>
    chats.fetch('/api/chat', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: chat, messages }),
    })
  return { ...chats, post }
}

const empty = { type: 'object', properties: {}, additionalProperties: false } as const
const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
const call = (name: string) => ({ name, arguments: {} })

test('a server that drains takes the result that a turn waits for, and no new message', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const model = createScriptedModel({ steps: [{ calls: [call('place')] }, { text: 'In Rome.' }] })
  let isDraining = false
  const agent = defineAgent({ name: 'a', model, tools: [place] })
  const { openPage, post } = start(agent, { handler: { isDraining: () => isDraining } })
  const page = openPage('d1')
  await page.sendMessage({ text: 'where?' })
  isDraining = true
  expect((await post('d1', user('m2', 'and now?'))).status).toBe(503)
  const { toolCallId } = findTool(page, 'place') as { readonly toolCallId: string }
  await page.addToolOutput({ tool: 'place', toolCallId, output: 'Rome' })
  await settled(page, ({ status }) => status === 'ready' && readTexts(page).at(-1) === 'In Rome.')
})

test('with cancelWaiting a message does not end calls that run next to the waiting one', async () => {
  const { slow, open } = createSlowTool()
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: empty,
    effect: 'once',
    approval: true,
    execute: () => 'paid',
  })
  const steps = [{ calls: [call('slow'), call('pay')] }, { text: 'Both.' }, { text: 'Later.' }]
  const model = createScriptedModel({ steps })
  const agent = defineAgent({ name: 'a', model, tools: [slow, pay] })
  const { openPage, post, host } = start(agent, { handler: { cancelWaiting: true } })
  const page = openPage('d2', { sendAutomaticallyWhen: () => false })
  void page.sendMessage({ text: 'both' })
  await settled(page, () => findTool(page, 'pay')['state'] === 'approval-requested')
  const later = await post('d2', user('m2', 'and then?'))
  open()
  const session = await host.session('d2')
  await expect.poll(async () => (await session.info()).activity).toBe('waiting')
  const [asked] = await session.approvals()
  await session.decide({ approvalId: asked?.approvalId ?? '', decision: 'approve' })
  expect(await later.text()).toContain('Later.')
  expect(JSON.stringify(model.requests[1]?.messages)).toMatch(/ready.*paid/)
})

test('a message withdrawn before the model reads it ends its stream, and the turn continues', async () => {
  const { slow, open } = createSlowTool()
  const model = createScriptedModel({ steps: [{ calls: [call('slow')] }, { text: 'First.' }] })
  const { post, host } = start(defineAgent({ name: 'a', model, tools: [slow] }))
  const first = await post('d3', user('m1', 'one'))
  const second = await post('d3', user('m2', 'two'))
  const session = await host.session('d3')
  await session.withdraw('m2')
  expect(await second.text()).not.toContain('[DONE]')
  open()
  expect(await first.text()).toContain('First.')
  expect(model.requests).toHaveLength(2)
})

test.each([
  // It stays on the page, and the next message is answered without it.
  ['of more characters than an input may have', 'x'.repeat(200), 200],
  // It may pass later, so nothing behind it passes before it.
  ['for which the queue has no room', 'x'.repeat(90), 429],
])('a message whose request failed, and that is now one %s', async (_what, text, status) => {
  const { slow, open } = createSlowTool()
  const model = createScriptedModel({ steps: [{ calls: [call('slow')] }, ...Array(3).fill({ text: 'Yes.' })] })
  const agent = defineAgent({ name: 'a', model, tools: [slow], limits: { inputChars: 100, queueChars: 150 } })
  const { post, host } = start(agent)
  const first = await post('d4', user('m1', 'one'))
  const queued = await post('d4', user('m2', 'y'.repeat(80)))
  const third = await post('d4', user('m3', text), user('m4', 'z'))
  expect(third.status).toBe(status)
  open()
  await Promise.all([first, queued, third].map((one) => one.text()))
  const { messages } = await (await host.session('d4')).messages()
  const said = messages.flatMap(({ id, role }) => (role === 'user' ? [id] : []))
  expect(said).toEqual(status === 200 ? ['m1', 'm2', 'm4'] : ['m1', 'm2'])
})

test('a message that comes again when its first request has looked at the session is answered in both', async () => {
  const model = createScriptedModel({ steps: [{ text: 'Only once.' }] })
  const { post, host } = start(defineAgent({ name: 'a', model }))
  const session = await host.session('d9', { principal: { id: 'anonymous' } })
  const open = host.session.bind(host)
  let hasLooked = false
  const again = Promise.withResolvers<string>()
  host.session = async (...given) => {
    host.session = open
    const first = await open(...given)
    const { submit } = frontOf(first)
    return Object.assign(first, {
      submit: async (input: Parameters<typeof submit>[0]) => {
        if (!hasLooked) {
          hasLooked = true
          again.resolve(await (await post('d9', user('m1', 'one'))).text())
        }
        return await submit(input)
      },
    })
  }
  let told = ''
  post('d9', user('m1', 'one'))
    .then(async (response) => (told = await response.text()))
    .catch(again.reject)
  expect(await again.promise).toContain('Only once.')
  await expect.poll(() => told).toContain('Only once.')
  await session.close()
  expect(model.requests).toHaveLength(1)
})

test('an answer that waits for its page is resumed however long ago it stopped', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'pure', timeoutMs: 600_000 })
  const model = createScriptedModel({ steps: [{ text: 'Let me see.', calls: [call('place')] }] })
  let nowMs = Date.now()
  const agent = defineAgent({ name: 'a', model, tools: [place] })
  const { openPage, fetch } = start(agent, { handler: { limits: { replayMs: 1 }, clock: { nowMs: () => nowMs } } })
  await openPage('d6').sendMessage({ text: 'where?' })
  nowMs += 3_600_000
  const resumed = await fetch('/api/chat/d6/stream')
  expect([resumed.status, await resumed.text()]).toEqual([200, expect.stringContaining('Let me see.')])
})

test('an answer cannot be edited as if the user had said it', async () => {
  const model = createScriptedModel({ steps: () => ({ text: 'Yes.' }) })
  const { fetch, post, host } = start(defineAgent({ name: 'a', model }))
  await (await post('d7', user('m1', 'one'))).text()
  const body = JSON.stringify({ id: 'd7', messages: [user('m2', 'No.')], messageId: 't1' })
  const edited = await fetch('/api/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  expect([edited.status, await edited.text()]).toEqual([400, "message t1 is not a user's message"])
  expect((await (await host.session('d7')).messages()).messages.map(({ id }) => id)).toEqual(['m1', 't1'])
})

test('a preliminary output of a page is not yet the result of the call', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const model = createScriptedModel({ steps: [{ calls: [call('place')] }, { text: 'In Rome.' }, { text: 'Yes.' }] })
  const { openPage, post, host } = start(defineAgent({ name: 'a', model, tools: [place] }))
  const page = openPage('d8', { sendAutomaticallyWhen: () => false })
  await page.sendMessage({ text: 'where?' })
  const given = (output: string, preliminary: boolean) => {
    const messages = structuredClone(page.messages)
    for (const part of messages.at(-1)?.parts ?? [])
      if (part.type === 'tool-place') Object.assign(part, { state: 'output-available', output, preliminary })
    return messages
  }
  await (await post('d8', ...given('Ro', true))).body?.cancel()
  expect((await (await host.session('d8')).info()).activity).toBe('waiting')
  expect(await (await post('d8', ...given('Rome', false))).text()).toContain('In Rome.')
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('"Rome"')
})
