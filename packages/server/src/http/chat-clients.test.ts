// Which page runs a client tool as pages come and go, and what people are asked other than approvals.
import type { Agent, Store } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import type { SessionEvent } from '@baton/core/internal'
import { frontOf } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { afterEach, expect, test } from 'vitest'
import { createSlowTool, findTool, readTexts, settled, startChats } from './chat.test-kit.ts'

const running: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

function start(agent: Agent, store?: Store) {
  const chats = startChats({ agent, ...(store && { store }) })
  running.push(chats)
  return chats
}

const empty = { type: 'object', properties: {}, additionalProperties: false } as const

function createAgent(effect: 'pure' | 'idempotent' | 'once'): Agent {
  const place = tool({ name: 'place', description: 'place', input: empty, effect, timeoutMs: 60_000 })
  const steps = [{ calls: [{ name: 'place', arguments: {} }] }, { text: 'In Rome.' }]
  return defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [place] })
}

interface Shown {
  readonly messages: []
}

test.each(['pure', 'idempotent'] as const)('after a reload a call that is %s is offered again', async (effect) => {
  const { openPage, fetch } = start(createAgent(effect))
  const asked: string[] = []
  const first = openPage('r1', { onToolCall: ({ toolCall }) => void asked.push(`first ${toolCall.toolName}`) })
  await first.sendMessage({ text: 'where?' })
  expect(findTool(first, 'place')).toMatchObject({ state: 'input-available', providerExecuted: false })
  const { messages } = (await (await fetch('/api/sessions/r1/messages')).json()) as Shown
  const second = openPage('r1', {
    messages,
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      asked.push(`second ${toolName}`)
      void second.addToolOutput({ tool: toolName, toolCallId, output: 'Rome' })
    },
  })
  await second.resumeStream()
  await settled(second, () => readTexts(second).at(-1) === 'In Rome.' && second.status === 'ready')
  expect(asked).toEqual(['first place', 'second place'])
  expect(second.messages).toHaveLength(2)
  // The first page is late: its result changes nothing.
  await first.addToolOutput({
    tool: 'place',
    toolCallId: String(findTool(first, 'place')['toolCallId']),
    output: 'Oslo',
  })
  await settled(first, ({ status }) => status === 'ready' && readTexts(first).at(-1) === 'In Rome.')
  expect(asked).toHaveLength(2)
  expect(findTool(first, 'place'), 'it shows what the model read').toMatchObject({
    state: 'output-available',
    output: 'Rome',
  })
})

test('a page whose once call was stopped sends its result late, once, and the model reads it with the next message', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'place', arguments: {} }] }, { text: 'In Rome.' }] })
  const { openPage, host } = start(defineAgent({ name: 'a', model, tools: [place] }))
  const page = openPage('r2')
  await page.sendMessage({ text: 'where?' })
  const { toolCallId } = findTool(page, 'place')
  const session = frontOf(await host.session('r2'))
  await session.control('stop')
  await session.control('start')
  await page.addToolOutput({ tool: 'place', toolCallId: String(toolCallId), output: 'Rome' })
  await settled(page, ({ status }) => status === 'ready' && findTool(page, 'place')['state'] === 'output-error')
  await page.sendMessage({ text: 'and?' })
  expect(readTexts(page).at(-1)).toBe('In Rome.')
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('finished after all: \\"Rome\\"')
  const ignored: SessionEvent[] = []
  for await (const event of session.events({ from: 'start', delivery: true })) {
    if (event.type === 'live') break
    if (event.type === 'result-ignored') ignored.push(event)
  }
  expect(ignored).toMatchObject([{ callId: toolCallId, reason: 'late' }])
})

test('of two pages that decide differently, the later one shows the decision that counted', async () => {
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: empty,
    effect: 'once',
    approval: true,
    execute: () => 'paid',
  })
  const steps = [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'Done.' }]
  const { openPage, fetch } = start(defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [pay] }))
  const first = openPage('r9')
  await first.sendMessage({ text: 'pay' })
  const { messages } = (await (await fetch('/api/sessions/r9/messages')).json()) as Shown
  const second = openPage('r9', { messages })
  await second.resumeStream()
  const { id } = findTool(first, 'pay')['approval'] as { readonly id: string }
  await first.addToolApprovalResponse({ id, approved: true })
  await settled(first, ({ status }) => status === 'ready' && readTexts(first).at(-1) === 'Done.')
  await second.addToolApprovalResponse({ id, approved: false })
  await settled(second, ({ status }) => status === 'ready' && readTexts(second).at(-1) === 'Done.')
  const approval: unknown = expect.objectContaining({ id, approved: true })
  for (const page of [first, second])
    expect(findTool(page, 'pay')).toMatchObject({ state: 'output-available', output: 'paid', approval })
})

test('a page that only reads settled parts is not a client: nothing is added to the log', async () => {
  const { openPage, host } = start(createAgent('once'))
  const first = openPage('r0', {
    onToolCall: ({ toolCall: { toolName, toolCallId } }) =>
      void first.addToolOutput({ tool: toolName, toolCallId, output: 'Rome' }),
  })
  await first.sendMessage({ text: 'where?' })
  await settled(first, ({ status }) => status === 'ready' && readTexts(first).at(-1) === 'In Rome.')
  const session = await host.session('r0')
  const { head } = await session.info()
  const second = openPage('r0', { messages: first.messages.slice(0, 1) })
  await second.resumeStream()
  expect(readTexts(second).at(-1)).toBe('In Rome.')
  expect(findTool(second, 'place')).toMatchObject({ state: 'output-available', output: 'Rome' })
  const facts = []
  for await (const event of session.events({ from: head })) {
    if (event.type === 'live') break
    facts.push(event)
  }
  expect([facts, (await session.info()).head.pos - head.pos]).toEqual([[], 0])
})

test('after a reload a call that runs once is not offered again, and takes its result from the page that has it', async () => {
  const { openPage, fetch } = start(createAgent('once'))
  const asked: string[] = []
  const first = openPage('r2', { onToolCall: ({ toolCall }) => void asked.push(`first ${toolCall.toolName}`) })
  await first.sendMessage({ text: 'where?' })
  const { messages } = (await (await fetch('/api/sessions/r2/messages')).json()) as Shown
  const second = openPage('r2', {
    messages,
    onToolCall: ({ toolCall }) => void asked.push(`second ${toolCall.toolName}`),
  })
  const resumed = second.resumeStream()
  await settled(second, () => second.status === 'streaming')
  const toolCallId = String(findTool(first, 'place')['toolCallId'])
  await first.addToolOutput({ tool: 'place', toolCallId, output: 'Rome' })
  await resumed
  expect(readTexts(second).at(-1)).toBe('In Rome.')
  expect(asked).toEqual(['first place'])
})

test('a result of a page does not wait for a call that another page holds', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once', timeoutMs: 60_000 })
  const hour = tool({ name: 'hour', description: 'hour', input: empty, effect: 'pure', timeoutMs: 60_000 })
  const calls = ['place', 'hour'].map((name) => ({ name, arguments: {} }))
  const model = createScriptedModel({ steps: [{ calls }, { text: 'Rome, at nine.' }] })
  const { openPage, host } = start(defineAgent({ name: 'a', model, tools: [place, hour] }))
  const first = openPage('r8')
  await first.sendMessage({ text: 'where and when?' })
  const second = openPage('r8', {
    messages: structuredClone(first.messages),
    onToolCall: ({ toolCall: { toolName, toolCallId } }) =>
      void second.addToolOutput({ tool: toolName, toolCallId, output: 'nine' }),
  })
  const resumed = second.resumeStream()
  const session = await host.session('r8')
  for await (const event of session.events({ from: 'turn' }))
    if (event.type === 'call' && event.call.name === 'hour' && event.call.status === 'settled') break
  for (const [tool, output] of [
    ['place', 'Rome'],
    ['hour', 'ten'],
  ] as const)
    await first.addToolOutput({ tool, toolCallId: String(findTool(first, tool)['toolCallId']), output })
  await resumed
  await settled(second, ({ status }) => status === 'ready' && readTexts(second).at(-1) === 'Rome, at nine.')
  expect(JSON.stringify(model.requests[1]?.messages)).toMatch(/Rome.*nine/)
})

test('a page that has its results while an approval waits hands them in once', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'pure', timeoutMs: 60_000 })
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: empty,
    effect: 'once',
    approval: true,
    execute: () => 'paid',
  })
  const calls = ['place', 'pay'].map((name) => ({ name, arguments: {} }))
  const model = createScriptedModel({ steps: [{ calls }, { text: 'Paid in Rome.' }] })
  const { openPage, host } = start(defineAgent({ name: 'a', model, tools: [place, pay] }))
  let responses = 0
  const page = openPage('r9', {
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      if (toolName === 'place') void page.addToolOutput({ tool: toolName, toolCallId, output: 'Rome' })
    },
    onFinish: () => {
      responses += 1
      if (responses > 5) void page.stop()
    },
  })
  await page.sendMessage({ text: 'pay where I am' })
  await settled(page, ({ status }) => status === 'ready')
  expect(responses).toBe(2)
  const settledCalls: string[] = []
  for await (const event of (await host.session('r9')).events({ from: 'turn' })) {
    if (event.type === 'call' && event.call.status === 'settled') settledCalls.push(event.call.name)
    if (event.type === 'live') break
  }
  expect(settledCalls).toEqual(['place'])
  await page.addToolApprovalResponse({ id: (findTool(page, 'pay')['approval'] as { id: string }).id, approved: true })
  await settled(page, ({ status }) => status === 'ready' && readTexts(page).at(-1) === 'Paid in Rome.')
})

test('the same page that loses its connection is not asked twice for a call that runs once', async () => {
  const { openPage } = start(createAgent('once'))
  const asked: string[] = []
  const page = openPage('r3', { onToolCall: ({ toolCall }) => void asked.push(toolCall.toolCallId) })
  await page.sendMessage({ text: 'where?' })
  const resumed = page.resumeStream()
  await settled(page, () => page.status === 'streaming')
  await page.addToolOutput({ tool: 'place', toolCallId: asked[0] ?? '', output: 'Rome' })
  await page.stop()
  await resumed
  expect(asked).toHaveLength(1)
})

test.each([
  ['in mid-answer', true],
  ['after it was told to run the call', false],
])('a page that goes away %s keeps the call until its deadline', async (_when, isOpen) => {
  const wait = Promise.withResolvers<string>()
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once', timeoutMs: 600_000 })
  const slow = tool({ name: 'slow', description: 'slow', input: empty, effect: 'pure', execute: () => wait.promise })
  const calls = ['place', ...(isOpen ? ['slow'] : [])].map((name) => ({ name, arguments: {} }))
  const model = createScriptedModel({ steps: [{ calls }, { text: 'In Rome.' }] })
  const store = createMemoryStore()
  const { openPage } = start(defineAgent({ name: 'a', model, tools: [place, slow] }), store)
  const asked: string[] = []
  const page = openPage('r7', { onToolCall: ({ toolCall }) => void asked.push(toolCall.toolCallId) })
  const sent = page.sendMessage({ text: 'where?' })
  await settled(page, () => asked.length > 0)
  await page.stop()
  await sent
  const findLease = async (): Promise<number> => {
    for await (const { facts, nowMs } of store.read('r7', 0))
      for (const fact of facts)
        if (fact.type === 'client-renewed' && fact.untilMs - nowMs > 500_000) return fact.untilMs - nowMs
    return 0
  }
  expect(await findLease()).toBeGreaterThan(500_000)
  wait.resolve('done')
  await page.addToolOutput({ tool: 'place', toolCallId: asked[0] ?? '', output: 'Rome' })
  await page.resumeStream()
  await settled(page, ({ status }) => status === 'ready' && readTexts(page).at(-1) === 'In Rome.')
})

test('a tool asks: the page shows it, and answers through its own endpoint', async () => {
  const sizes = { type: 'object', properties: { size: { enum: ['S', 'M'] } }, required: ['size'] } as const
  const order = tool({
    name: 'order',
    description: 'order',
    input: empty,
    effect: 'pure',
    execute: async (_input, { ask }) => {
      const answer = await ask({ message: 'Which size?', schema: sizes })
      return JSON.stringify(answer)
    },
  })
  const steps = [{ calls: [{ name: 'order', arguments: {} }] }, { text: 'Ordered.' }]
  const { openPage, fetch } = start(defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [order] }))
  const page = openPage('r4')
  const sent = page.sendMessage({ text: 'a shirt' })
  const findQuestion = () => page.messages.at(-1)?.parts.find(({ type }) => type === 'data-question')
  await settled(page, () => findQuestion() !== undefined)
  const { data } = findQuestion() as { readonly data: { readonly questionId: string; readonly message: string } }
  expect(data.message).toBe('Which size?')
  const answer = (size: string) =>
    fetch('/api/chat/r4/answers', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ questionId: data.questionId, value: { size } }),
    })
  expect((await answer('XXL')).status).toBe(409)
  expect((await answer('M')).status).toBe(200)
  await sent
  expect(findTool(page, 'order')).toMatchObject({ state: 'output-available', output: expect.stringContaining('"M"') })
  expect(readTexts(page).at(-1)).toBe('Ordered.')
})

test('arguments are edited by an endpoint; the page shows what ran', async () => {
  const ran: unknown[] = []
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
    effect: 'once',
    approval: true,
    execute: (input) => {
      ran.push(input)
      return 'paid'
    },
  })
  const steps = [{ calls: [{ name: 'pay', arguments: { euros: 500 } }] }, { text: 'Paid.' }]
  const { openPage, fetch } = start(defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [pay] }))
  const page = openPage('r5')
  await page.sendMessage({ text: 'pay' })
  const { id } = findTool(page, 'pay')['approval'] as { readonly id: string }
  const edited = await fetch('/api/chat/r5/approvals', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ approvalId: id, decision: 'edit', input: { euros: 5 } }),
  })
  expect(edited.status).toBe(200)
  await page.resumeStream()
  expect(ran).toEqual([{ euros: 5 }])
  expect(findTool(page, 'pay')).toMatchObject({ state: 'output-available', input: { euros: 5 }, output: 'paid' })
  expect(readTexts(page).at(-1)).toBe('Paid.')
})

test('a message sent while the agent works is in the answer that read it', async () => {
  const { slow, open } = createSlowTool()
  const steps = [{ calls: [{ name: 'slow', arguments: {} }] }, { text: 'Both.' }]
  const agent = defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [slow] })
  const { openPage, host } = start(agent)
  const page = openPage('r6')
  const sent = page.sendMessage({ text: 'one' })
  await settled(page, () => page.messages.at(-1)?.parts.some(({ type }) => type === 'tool-slow') === true)
  const session = await host.session('r6')
  session.send('and two', { delivery: 'steer', inputId: 'm2' }).answer.catch(() => {})
  open()
  await sent
  const steered = page.messages.at(-1)?.parts.find(({ type }) => type === 'steering-message')
  expect(steered).toMatchObject({ id: 'm2', parts: [{ type: 'text', text: 'and two' }] })
  expect(readTexts(page).at(-1)).toBe('Both.')
})
