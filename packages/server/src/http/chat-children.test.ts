// A chat page in front of an agent that asks others: what they ask reaches the page as its own, also after a reload, and the
// page answers it as ever.
import type { Agent, AgentOptions, SessionEvent } from '@baton/core'
import { defineAgent, delegate, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { afterEach, expect, test } from 'vitest'
import { findTool, readTexts, settled, startChats } from './chat.test-kit.ts'

const empty = { type: 'object', properties: {} } as const
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** A boss that asks a helper, whose first answer calls the tool. */
function createTeam(tools: NonNullable<AgentOptions['tools']>, name: string): Agent {
  const helper = defineAgent({
    name: 'helper',
    model: createScriptedModel({
      steps: ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? { text: `Helped: ${JSON.stringify(messages.at(-1)?.parts)}` }
          : { calls: [{ name, arguments: {} }] },
    }),
    tools,
  })
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? { text: 'Done.' }
        : { calls: [{ name: 'helper', arguments: { task: 'Help.' } }] },
  })
  return defineAgent({ name: 'boss', model, tools: [delegate({ agent: helper, description: 'Helps' })] }) as Agent
}

function createPayers() {
  const ran: string[] = []
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: empty,
    effect: 'once',
    approval: true,
    execute: (_, { callId }) => {
      ran.push(callId)
      return 'paid'
    },
  })
  return { agent: createTeam([pay], 'pay'), ran }
}

test.each([
  ['approved', true, 1],
  ['denied', false, 0],
])('an approval below is %s on the page', async (_, approved, times) => {
  const { agent, ran } = createPayers()
  const { openPage, stop } = startChats({ agent })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Pay.' })
  const asked = findTool(page, 'pay')
  expect(asked).toMatchObject({ state: 'approval-requested' })
  const { id } = asked['approval'] as { readonly id: string }
  await page.addToolApprovalResponse({ id, approved })
  await settled(page, ({ status }) => status === 'ready' && (readTexts(page).at(-1) ?? '').includes('Done.'))
  expect(ran).toHaveLength(times)
  expect(findTool(page, 'helper')).toMatchObject({ state: 'output-available' })
})

test('a page that was loaded again sees the approval below, and decides it', async () => {
  const { agent, ran } = createPayers()
  const { openPage, fetch, stop } = startChats({ agent })
  stops.push(stop)
  await openPage('c').sendMessage({ text: 'Pay.' })
  const { messages } = (await (await fetch('/api/sessions/c/messages')).json()) as { readonly messages: never[] }
  const again = openPage('c', { messages })
  expect(findTool(again, 'pay')).toMatchObject({ state: 'approval-requested', title: 'helper › pay' })
  await again.resumeStream()
  const asked = findTool(again, 'pay')
  expect(asked).toMatchObject({ state: 'approval-requested' })
  await again.addToolApprovalResponse({ id: (asked['approval'] as { readonly id: string }).id, approved: true })
  await settled(again, ({ status }) => status === 'ready' && (readTexts(again).at(-1) ?? '').includes('Done.'))
  expect(ran).toHaveLength(1)
})

test('a client tool below runs on the page', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const { openPage, stop } = startChats({ agent: createTeam([place], 'place') })
  stops.push(stop)
  const page = openPage('c', {
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      if (toolName === 'place') void page.addToolOutput({ tool: toolName, toolCallId, output: 'Rome' })
    },
  })
  await page.sendMessage({ text: 'Where?' })
  await settled(page, ({ status }) => status === 'ready' && (readTexts(page).at(-1) ?? '').includes('Done.'))
  expect(JSON.stringify(findTool(page, 'helper'))).toContain('Rome')
})

const calls = (...names: readonly string[]) => ({ calls: names.map((name) => ({ name, arguments: {} })) })
const asks = { name: 'helper', arguments: { task: 'Help.' } }

/** Tools that note when they ran, each after an approval. */
function createAsking(ran: string[], ...names: readonly string[]) {
  return names.map((name) =>
    tool({
      name,
      description: name,
      input: empty,
      effect: 'once',
      approval: true,
      execute: () => `${name} ${ran.push(name)}`,
    }),
  )
}

type Steps = Parameters<typeof createScriptedModel>[0]['steps']
interface Pair {
  readonly helper: { readonly steps: Steps; readonly tools?: NonNullable<AgentOptions['tools']> }
  readonly boss?: { readonly steps: Steps; readonly tools?: NonNullable<AgentOptions['tools']> }
}

function createPair({ helper, boss = { steps: [{ calls: [asks] }, { text: 'Done.' }] } }: Pair): Agent {
  const below = defineAgent({
    name: 'helper',
    model: createScriptedModel({ steps: helper.steps }),
    tools: helper.tools ?? [],
  })
  const tools = [delegate({ agent: below as Agent, description: 'Helps' }), ...(boss.tools ?? [])]
  return defineAgent({ name: 'boss', model: createScriptedModel({ steps: boss.steps }), tools }) as Agent
}

type Page = ReturnType<ReturnType<typeof startChats>['openPage']>

async function decide(page: Page, name: string, approved = true): Promise<void> {
  const { id } = findTool(page, name)['approval'] as { readonly id: string }
  await page.addToolApprovalResponse({ id, approved })
}

/** The states of the page's calls by name, an output that may change marked. */
function showStates(page: Page): Readonly<Record<string, unknown>> {
  const parts = page.messages.at(-1)?.parts ?? []
  const states = parts.flatMap((part) =>
    part.type.startsWith('tool-') && 'state' in part ? [[part.type.slice(5), part.state]] : [],
  )
  return Object.fromEntries(states) as Record<string, unknown>
}

const isDone = (page: Page): boolean => page.status === 'ready' && (readTexts(page).at(-1) ?? '').endsWith('Done.')
const isAsked = (page: Page, name: string): boolean =>
  page.status === 'ready' && showStates(page)[name] === 'approval-requested'

test('two approvals below at once are decided one after the other', async () => {
  const ran: string[] = []
  const helper = { steps: [calls('pay', 'mail'), { text: 'Both.' }], tools: createAsking(ran, 'pay', 'mail') }
  const { openPage, stop } = startChats({ agent: createPair({ helper }) })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Go.' })
  expect(showStates(page)).toMatchObject({ pay: 'approval-requested', mail: 'approval-requested' })
  expect(findTool(page, 'pay')).toMatchObject({ title: 'helper › pay' })
  await decide(page, 'mail', false)
  await decide(page, 'pay')
  await settled(page, isDone)
  expect(ran).toEqual(['pay'])
  expect(showStates(page)).toEqual({ helper: 'output-available', pay: 'output-available', mail: 'output-denied' })
})

test('an agent below that asks again after a decision is decided again, with a reload between', async () => {
  const ran: string[] = []
  const helper = { steps: [calls('pay'), calls('mail'), { text: 'Both.' }], tools: createAsking(ran, 'pay', 'mail') }
  const { openPage, fetch, stop } = startChats({ agent: createPair({ helper }) })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Go.' })
  await decide(page, 'pay')
  await settled(page, () => isAsked(page, 'mail'))
  const { messages } = (await (await fetch('/api/sessions/c/messages')).json()) as { readonly messages: never[] }
  const again = openPage('c', { messages })
  await again.resumeStream()
  expect(isAsked(again, 'mail')).toBe(true)
  await decide(again, 'mail')
  await settled(again, isDone)
  expect(ran).toEqual(['pay', 'mail'])
  expect(readTexts(again).at(-1)).toBe('Done.')
})

test.each([
  ['below first', ['pay', 'mail']],
  ['own first', ['mail', 'pay']],
])('an approval of the caller’s own tool beside one below, %s', async (_, order) => {
  const ran: string[] = []
  const { openPage, stop } = startChats({
    agent: createPair({
      helper: { steps: [calls('pay'), { text: 'Paid.' }], tools: createAsking(ran, 'pay') },
      boss: {
        steps: [{ calls: [asks, { name: 'mail', arguments: {} }] }, { text: 'Done.' }],
        tools: createAsking(ran, 'mail'),
      },
    }),
  })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Go.' })
  expect(showStates(page)).toMatchObject({ pay: 'approval-requested', mail: 'approval-requested' })
  for (const name of order) await decide(page, name)
  await settled(page, isDone)
  expect(ran.toSorted()).toEqual(['mail', 'pay'])
})

test('a client tool below beside an approval below', async () => {
  const ran: string[] = []
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const helper = {
    steps: [calls('pay', 'place'), { text: 'Both.' }],
    tools: [...createAsking(ran, 'pay'), place],
  }
  const { openPage, stop } = startChats({ agent: createPair({ helper }) })
  stops.push(stop)
  let asked = 0
  const page = openPage('c', {
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      if (toolName !== 'place') return
      asked += 1
      void page.addToolOutput({ tool: toolName, toolCallId, output: 'Rome' })
    },
  })
  await page.sendMessage({ text: 'Go.' })
  await settled(page, () => isAsked(page, 'pay') && showStates(page)['place'] === 'output-available')
  await decide(page, 'pay')
  await settled(page, isDone)
  expect([ran, asked]).toEqual([['pay'], 1])
})

test('messages after the turn show the delegated call with what was asked below it', async () => {
  const ran: string[] = []
  const helper = { steps: [calls('pay'), { text: 'Paid.' }], tools: createAsking(ran, 'pay') }
  const { openPage, fetch, stop } = startChats({ agent: createPair({ helper }) })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Go.' })
  await decide(page, 'pay')
  await settled(page, isDone)
  const { messages } = (await (await fetch('/api/sessions/c/messages')).json()) as { readonly messages: never[] }
  const loaded = openPage('c', { messages })
  expect(findTool(loaded, 'helper')).toMatchObject({ state: 'output-available', output: 'Paid.' })
  expect(readTexts(loaded).at(-1)).toBe('Done.')
})

test('a message sent while an approval below waits ends the turn with cancelWaiting', async () => {
  const ran: string[] = []
  const { openPage, stop } = startChats({
    agent: createPair({
      helper: { steps: [calls('pay'), { text: 'Paid.' }], tools: createAsking(ran, 'pay') },
      boss: { steps: ({ messages }) => (messages.length > 1 ? { text: 'Done.' } : { calls: [asks] }) },
    }),
    handler: { cancelWaiting: true },
  })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Go.' })
  expect(isAsked(page, 'pay')).toBe(true)
  await page.sendMessage({ text: 'Never mind.' })
  await settled(page, isDone)
  expect(ran).toEqual([])
})

test('a message sent while a question below waits says what it waits for', async () => {
  const choose = tool({
    name: 'choose',
    description: 'choose',
    input: empty,
    effect: 'once',
    execute: async (_, { ask }) => JSON.stringify(await ask({ message: 'Which?', schema: empty })),
  })
  const data: unknown[] = []
  const { openPage, host, stop } = startChats({
    agent: createPair({ helper: { steps: [calls('choose'), { text: 'Chosen.' }], tools: [choose] } }),
  })
  stops.push(stop)
  const page = openPage('c', { onData: (part) => void data.push(part) })
  const first = page.sendMessage({ text: 'Go.' })
  await settled(page, () => JSON.stringify(page.messages.at(-1)).includes('data-question'))
  const [question] = page.messages.at(-1)?.parts.filter(({ type }) => type === 'data-question') ?? []
  expect(question).toMatchObject({ data: { message: 'Which?', path: [{ agent: 'helper' }] } })
  const other = openPage('c', { onData: (part) => void data.push(part) })
  const second = other.sendMessage({ text: 'And?' })
  await settled(other, () => data.some((part) => JSON.stringify(part).includes('data-waiting')))
  expect(data).toContainEqual(
    expect.objectContaining({
      type: 'data-waiting',
      data: [expect.objectContaining({ name: 'helper', waitsFor: 'question' })],
    }),
  )
  const session = await host.session('c')
  const [open] = await session.questions()
  await session.answer({ questionId: open?.questionId ?? '', value: {} })
  await Promise.all([first, second])
})

test('the stop endpoint ends the turn while an approval below waits', async () => {
  const ran: string[] = []
  const helper = { steps: [calls('pay'), { text: 'Paid.' }], tools: createAsking(ran, 'pay') }
  const { openPage, fetch, host, stop } = startChats({ agent: createPair({ helper }) })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Go.' })
  expect(isAsked(page, 'pay')).toBe(true)
  await fetch('/api/chat/c/stop', { method: 'POST' })
  const session = await host.session('c')
  await expect.poll(async () => (await session.info()).activity).toBe('idle')
  await decide(page, 'pay')
  await settled(page, ({ status }) => status === 'ready')
  expect([ran, await session.approvals()]).toEqual([[], []])
})

test('a page runs a client tool in one turn, and one of an agent below in the next', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const agent = createPair({
    helper: { steps: [calls('place'), { text: 'There.' }], tools: [place] },
    boss: { steps: [calls('place'), { text: 'Done.' }, { calls: [asks] }, { text: 'Done.' }], tools: [place] },
  })
  const { openPage, stop } = startChats({ agent })
  stops.push(stop)
  const page = openPage('c', {
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      if (toolName === 'place') void page.addToolOutput({ tool: toolName, toolCallId, output: 'Rome' })
    },
  })
  for (const text of ['Where?', 'And the helper?']) {
    await page.sendMessage({ text })
    await settled(page, isDone)
  }
  expect(findTool(page, 'helper')).toMatchObject({ output: 'There.' })
})

/** Server-sent events of a request, up to the end of the session's own turn. */
async function readStream(response: Response): Promise<readonly SessionEvent[]> {
  const text = await response.text()
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice('data: '.length)) as SessionEvent) // as the server writes it
}

test('a page reads what an agent below said and did: its messages, its state, its events and its images', async () => {
  const picture = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'iVBORw0KGgo=' } } as const
  const look = tool({
    name: 'look',
    description: 'look',
    input: empty,
    effect: 'pure',
    execute: () => ({ content: [picture] }),
  })
  const { openPage, fetch, stop } = startChats({ agent: createTeam([look], 'look') })
  stops.push(stop)
  const page = openPage('c')
  await page.sendMessage({ text: 'Look.' })
  const { toolCallId } = findTool(page, 'helper') as unknown as { readonly toolCallId: string }
  const read = async (address: string) => (await (await fetch(address)).json()) as Record<string, never>
  expect(await read(`/api/sessions/c?child=${toolCallId}`)).toMatchObject({ agent: 'helper', activity: 'idle' })
  const { messages } = await read(`/api/sessions/c/messages?child=${toolCallId}`)
  expect(JSON.stringify(messages)).toContain('Helped: ')
  const [link = ''] = /\/api\/sessions\/c\/media\/[^"]+/.exec(JSON.stringify(messages)) ?? []
  expect(link).toContain(`child=${toolCallId}`)
  const image = await fetch(link)
  expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png'])
  expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe('iVBORw0KGgo=')
  const below = await readStream(await fetch(`/api/sessions/c/events?from=start&child=${toolCallId}`))
  expect(below.map(({ type }) => type)).toContain('message-added')
  expect(below.some(({ type, path }) => type === 'turn-finished' && path === undefined)).toBe(true)
  const exported = await read(`/api/sessions/c/export?child=${toolCallId}`)
  expect(exported['messages']).toEqual(messages)
})

test('one stream has the events of all agents, and a wrong child is refused', async () => {
  const { openPage, fetch, stop } = startChats({
    agent: createTeam(
      [tool({ name: 'look', description: 'l', input: empty, effect: 'pure', execute: () => 's' })],
      'look',
    ),
  })
  stops.push(stop)
  const controller = new AbortController()
  await openPage('c').sendMessage({ text: 'Look.' })
  const stream = await fetch('/api/sessions/c/events?from=start&children=true', { signal: controller.signal })
  const read: string[] = []
  for await (const chunk of (stream.body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())) {
    read.push(chunk)
    if (read.join('').includes('"type":"live"')) break
  }
  controller.abort()
  expect(read.join('')).toContain('"agent":"helper"}]')
  const refuse = async (address: string, init?: RequestInit) => {
    const response = await fetch(address, init)
    return [response.status, ((await response.json()) as { readonly error: { readonly code: string } }).error.code]
  }
  expect(await refuse('/api/sessions/c/messages?child=call_0_0')).toEqual([404, 'unknown_session'])
  expect(await refuse(`/api/sessions/c/messages?${'child=a&'.repeat(6)}`)).toEqual([400, 'invalid_event'])
  expect(await refuse('/api/sessions/c/events?children=yes')).toEqual([400, 'invalid_event'])
  const patch = { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"title":"x"}' }
  expect(await refuse('/api/sessions/c?child=call_0_0', patch)).toEqual([400, 'invalid_event'])
  expect(await refuse('/api/sessions/c?child=call_0_0', { method: 'DELETE' })).toEqual([400, 'invalid_event'])
})
