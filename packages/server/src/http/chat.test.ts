// Stock chats of the AI SDK over the handler: what their users see, and what the session records.
import type { Agent, AnswerVerdict, Model } from '@baton/core'
import { BatonError, defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { DefaultChatTransport } from 'ai'
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
  return chats
}

function scripted(steps: Parameters<typeof createScriptedModel>[0]['steps']): Model {
  return createScriptedModel({ steps })
}

const empty = { type: 'object', properties: {}, additionalProperties: false } as const

test('text, reasoning and metadata; a second message continues the chat', async () => {
  const model = scripted([{ reasoning: 'Hm.', text: 'Good morning.' }, { text: 'And again.' }])
  const { openPage, host } = start(defineAgent({ name: 'a', model }))
  const page = openPage('c1')
  await page.sendMessage({ text: 'hi' })
  expect(page.status).toBe('ready')
  expect(readTexts(page)).toEqual(['hi', 'Good morning.'])
  const [, answer] = page.messages
  expect(answer?.id).toBe('t1')
  expect(answer?.parts.map(({ type }) => type)).toEqual(['step-start', 'reasoning', 'text'])
  expect(answer?.metadata).toMatchObject({ turn: 1, stop: 'end' })
  await page.sendMessage({ text: 'go on' })
  expect(readTexts(page)).toEqual(['hi', 'Good morning.', 'go on', 'And again.'])
  const session = await host.session('c1')
  const { messages } = await session.messages()
  expect(messages.map(({ id }) => id)).toEqual([page.messages[0]?.id, 't1', page.messages[2]?.id, 't2'])
})

test('a server tool and a client tool in one step; the client tool runs once', async () => {
  const ran: string[] = []
  const time = tool({
    name: 'time',
    description: 'time',
    input: empty,
    effect: 'pure',
    execute: () => {
      ran.push('time')
      return 'noon'
    },
  })
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const steps = [{ text: 'Let me see.', calls: [call('time'), call('place')] }, { text: 'Noon in Rome.' }]
  const model = createScriptedModel({ steps })
  const { openPage } = start(defineAgent({ name: 'a', model, tools: [time, place] }))
  const page = openPage('c2', {
    onToolCall: ({ toolCall }) => {
      ran.push(toolCall.toolName)
      void page.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: { city: 'Rome' } })
    },
  })
  await page.sendMessage({ text: 'where and when?' })
  await settled(page, ({ status }) => status === 'ready' && readTexts(page).at(-1) === 'Let me see.Noon in Rome.')
  expect(ran.toSorted()).toEqual(['place', 'time'])
  expect(findTool(page, 'time')).toMatchObject({ state: 'output-available', output: 'noon', providerExecuted: true })
  expect(findTool(page, 'place')).toMatchObject({ state: 'output-available', output: { city: 'Rome' } })
  expect(page.messages).toHaveLength(2)
  const results = model.requests[1]?.messages.at(-1)
  expect(JSON.stringify(results)).toContain('Rome')
})

test('parallel client calls with a failing one', async () => {
  const one = tool({ name: 'one', description: 'one', input: empty, effect: 'pure' })
  const two = tool({ name: 'two', description: 'two', input: empty, effect: 'once' })
  const model = scripted([{ calls: [call('one'), call('two')] }, { text: 'Done.' }])
  const { openPage } = start(defineAgent({ name: 'a', model, tools: [one, two] }))
  const page = openPage('c3', {
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      if (toolName === 'one') void page.addToolOutput({ tool: toolName, toolCallId, output: 1 })
      else void page.addToolOutput({ tool: toolName, toolCallId, state: 'output-error', errorText: 'no camera' })
    },
  })
  await page.sendMessage({ text: 'both' })
  await settled(page, ({ status }) => status === 'ready' && readTexts(page).at(-1) === 'Done.')
  expect(findTool(page, 'two')).toMatchObject({ state: 'output-error', errorText: 'no camera' })
})

test.each([
  ['approved', true, 'output-available'],
  ['denied', false, 'output-denied'],
])('an approval that is %s', async (_how, approved, state) => {
  let ran = 0
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
    effect: 'once',
    approval: true,
    execute: () => {
      ran += 1
      return 'paid'
    },
  })
  const model = scripted([{ calls: [{ name: 'pay', arguments: { euros: 5 } }] }, { text: 'So be it.' }])
  const { openPage, fetch } = start(defineAgent({ name: 'a', model, tools: [pay] }))
  let asked = 0
  const counting: typeof fetch = (...given) => {
    asked += 1
    return fetch(...given)
  }
  const page = openPage(`c4-${approved}`, { transport: new DefaultChatTransport({ fetch: counting }) })
  await page.sendMessage({ text: 'pay' })
  expect(page.status).toBe('ready')
  const waiting = findTool(page, 'pay')
  expect(waiting).toMatchObject({ state: 'approval-requested', input: { euros: 5 } })
  const { id } = waiting['approval'] as { readonly id: string }
  await page.addToolApprovalResponse({ id, approved, reason: 'because' })
  await settled(page, ({ status }) => status === 'ready' && readTexts(page).at(-1) === 'So be it.')
  expect(findTool(page, 'pay')).toMatchObject({ state })
  expect(ran).toBe(approved ? 1 : 0)
  expect(page.messages).toHaveLength(2)
  // The answer to a decision continues until the turn ends, and is not requested twice.
  expect(asked).toBe(2)
})

test('a page tool after approvals: earlier decisions keep their outcome', async () => {
  const pay = tool({
    name: 'pay',
    description: 'pay',
    input: empty,
    effect: 'once',
    approval: true,
    execute: () => 'paid',
  })
  const burn = tool({ name: 'burn', description: 'burn', input: empty, approval: true, execute: () => 'burnt' })
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const model = scripted([{ calls: [call('pay'), call('burn')] }, { calls: [call('place')] }, { text: 'Done.' }])
  const { openPage } = start(defineAgent({ name: 'a', model, tools: [pay, burn, place] }))
  const page = openPage('c4-behind', {
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      if (toolName === 'place') void page.addToolOutput({ tool: toolName, toolCallId, output: 'Rome' })
    },
  })
  await page.sendMessage({ text: 'pay' })
  const states = new Set<unknown>()
  page['~registerMessagesCallback'](() => states.add(findTool(page, 'burn')['state']))
  const idOf = (name: string) => (findTool(page, name)['approval'] as { readonly id: string }).id
  await page.addToolApprovalResponse({ id: idOf('pay'), approved: true })
  await page.addToolApprovalResponse({ id: idOf('burn'), approved: false, reason: 'no' })
  states.clear()
  await settled(page, ({ status }) => status === 'ready' && readTexts(page).at(-1) === 'Done.')
  expect(findTool(page, 'pay')).toMatchObject({ state: 'output-available', output: 'paid' })
  expect(findTool(page, 'burn')).toMatchObject({ state: 'output-denied' })
  expect([...states], 'it is not asked for again').toEqual(['approval-responded', 'output-denied'])
})

test('another answer, and an edit; the session has what the page shows', async () => {
  const model = scripted([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }, { text: 'Four.' }, { text: 'Five.' }])
  const { openPage, host } = start(defineAgent({ name: 'a', model }))
  const page = openPage('c5')
  await page.sendMessage({ text: 'first' })
  await page.regenerate()
  expect(readTexts(page)).toEqual(['first', 'Two.'])
  await page.sendMessage({ text: 'second' })
  const [first] = page.messages
  await page.sendMessage({ text: 'first, changed', messageId: first?.id ?? '' })
  expect(readTexts(page)).toEqual(['first, changed', 'Four.'])
  // The page knows the message by its original id; the session has given it another one since.
  await page.sendMessage({ text: 'changed again', messageId: first?.id ?? '' })
  expect(readTexts(page)).toEqual(['changed again', 'Five.'])
  const { messages } = await (await host.session('c5')).messages()
  expect(messages.map((one) => (one.role === 'user' ? one.parts : one.steps.map(({ text }) => text)))).toEqual([
    [{ type: 'text', text: 'changed again' }],
    ['Five.'],
  ])
})

test('a reload in mid-answer reads the whole answer', async () => {
  const { slow, open } = createSlowTool()
  const model = scripted([{ text: 'Wait.', calls: [call('slow')] }, { text: 'Here it is.' }])
  const { openPage, fetch } = start(defineAgent({ name: 'a', model, tools: [slow] }))
  const first = openPage('c6')
  void first.sendMessage({ text: 'hi' })
  await settled(first, () => first.messages.at(-1)?.parts.some(({ type }) => type === 'tool-slow') === true)
  const loaded = (await (await fetch('/api/sessions/c6/messages')).json()) as { readonly messages: [] }
  const second = openPage('c6', { messages: loaded.messages })
  const resumed = second.resumeStream()
  await settled(second, ({ status }) => status === 'streaming')
  open()
  await resumed
  await settled(first, ({ status }) => status === 'ready')
  expect(readTexts(second)).toEqual(['hi', 'Wait.Here it is.'])
  expect(readTexts(first)).toEqual(['hi', 'Wait.Here it is.'])
  expect(second.messages.map(({ id }) => id)).toEqual(first.messages.map(({ id }) => id))
})

test('nothing to resume: a chat without a turn', async () => {
  const { openPage } = start(defineAgent({ name: 'a', model: scripted([]) }))
  const page = openPage('c7')
  await page.resumeStream()
  expect(page.status).toBe('ready')
})

test('a turn that fails is an error on the page, in words for apps', async () => {
  const error = new BatonError({ code: 'model_provider_failed', message: 'http://10.0.0.1 said 500', retryable: false })
  const { openPage } = start(defineAgent({ name: 'a', model: scripted([{ error }]) }))
  const page = openPage('c8')
  await page.sendMessage({ text: 'hi' })
  expect(page.status).toBe('error')
  expect(page.error?.message).not.toContain('10.0.0.1')
  expect(page.error?.message.length).toBeGreaterThan(5)
})

test('an attempt that is superseded is taken back', async () => {
  const error = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
  let calls = 0
  const model = scripted(() => (calls++ === 0 ? { text: 'Half of', error } : { text: 'All of it.' }))
  const { openPage } = start(defineAgent({ name: 'a', model }))
  const page = openPage('c9')
  await page.sendMessage({ text: 'hi' })
  expect(readTexts(page)).toEqual(['hi', 'All of it.'])
})

test('an answer that is not taken is taken back, and an answer that a person must approve is shown as an approval', async () => {
  const model = scripted([{ text: 'Perhaps.' }, { text: 'Yes.' }])
  const verdicts: AnswerVerdict[] = [{ again: 'be clear' }, { ask: 'it is a promise', title: 'Say yes' }]
  const checkAnswer = (): AnswerVerdict => verdicts.shift() ?? 'accept'
  const { openPage } = start(defineAgent({ name: 'a', model, checkAnswer }))
  const page = openPage('c7')
  await page.sendMessage({ text: 'may I?' })
  await settled(page, ({ messages }) => JSON.stringify(messages).includes('"state":"approval-requested"'))
  expect(readTexts(page)).toEqual(['may I?', 'Yes.'])
  const asked = findTool(page, 'answer.approve')
  expect(asked['input']).toEqual({ text: 'Yes.' })
  await page.addToolApprovalResponse({ id: (asked['approval'] as { readonly id: string }).id, approved: true })
  await settled(page, ({ messages }) => JSON.stringify(messages.at(-1)?.metadata ?? {}).includes('"stop":"end"'))
  expect(readTexts(page)).toEqual(['may I?', 'Yes.'])
})

test('stop is an endpoint: the answer keeps its text', async () => {
  const model = scripted([{ text: 'A long story', hangs: 'until-aborted' }])
  const { openPage, fetch } = start(defineAgent({ name: 'a', model }))
  const page = openPage('c10')
  const sent = page.sendMessage({ text: 'tell' })
  await settled(page, () => readTexts(page).at(-1) === 'A long story')
  const response = await fetch('/api/chat/c10/stop', { method: 'POST' })
  expect(response.status).toBe(200)
  await sent
  expect(page.messages.at(-1)?.metadata).toMatchObject({ stop: 'cancelled' })
})

test.each([['in a text'], ['after it']])('a page that resumes %s shows the thought before it', async (when) => {
  const ended = Promise.withResolvers<void>()
  const long = 'x'.repeat(20_000)
  const model: Model = {
    id: 'scripted/thinks',
    provider: 'scripted',
    capabilities: { tools: 'native', images: false },
    run: async (_request, sink) => {
      sink({ type: 'reasoning-delta', text: 'Hm.' })
      sink({ type: 'text-delta', text: long })
      await ended.promise
      const parts = [{ type: 'reasoning', text: 'Hm.' } as const, { type: 'text', text: long } as const]
      return { parts, finish: 'end', usage: {}, model: 'thinks' }
    },
  }
  const { openPage, host } = start(defineAgent({ name: 'a', model }))
  void openPage('c12').sendMessage({ text: 'write' })
  // By then the log has the text, but not the reasoning.
  const session = await host.session('c12', { principal: { id: 'anonymous' } })
  await expect.poll(async () => (await session.info()).head.pos).toBeGreaterThan(2)
  if (when === 'after it') ended.resolve()
  await expect.poll(async () => (await session.info()).activity).toBe(when === 'after it' ? 'idle' : 'running')
  const page = openPage('c12')
  void page.resumeStream()
  await settled(page, () => readTexts(page).at(-1) === long)
  const parts = page.messages.at(-1)?.parts.map(({ type }) => type)
  expect(parts).toEqual(['step-start', 'reasoning', 'text'])
  ended.resolve()
})

test('an image in', async () => {
  const model = createScriptedModel({ steps: [{ text: 'A dot.' }], capabilities: { images: true } })
  const { openPage, fetch } = start(defineAgent({ name: 'a', model }))
  const page = openPage('c11')
  const url = `data:image/png;base64,${btoa('not really a picture')}`
  await page.sendMessage({ text: 'what?', files: [{ type: 'file', mediaType: 'image/png', url }] })
  expect(readTexts(page).at(-1)).toBe('A dot.')
  expect(JSON.stringify(model.requests[0]?.messages)).toContain(btoa('not really a picture'))
  const { messages } = (await (await fetch('/api/sessions/c11/messages')).json()) as {
    readonly messages: readonly { readonly parts: readonly { readonly url?: string }[] }[]
  }
  const [picture] = messages[0]?.parts.filter((part) => part.url !== undefined) ?? []
  const media = await fetch(picture?.url ?? '')
  expect(media.headers.get('content-type')).toBe('image/png')
  // An uploaded page or script does not run in the app's origin, whatever the address says.
  const asPage = await fetch((picture?.url ?? '').replace(/type=[^&]*/, 'type=text%2Fhtml'))
  expect(asPage.headers.get('content-type')).toBe('application/octet-stream')
  for (const { headers } of [media, asPage]) {
    expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  }
  expect(await media.text()).toBe('not really a picture')
})

test.each([
  ['called PNG', 'image/png', 'data:image/png;base64,/9j/4AAQSkZJRg=='],
  ['of any type, without padding', 'image/*', 'data:image/*;base64,/9j/4AAQSkZJRg'],
  ['percent-encoded', 'IMAGE/JPG', 'data:image/jpg,%FF%D8%FF%E0%00%10JFIF'],
])('a JPEG that a page sends, %s', async (_name, mediaType, url) => {
  const model = createScriptedModel({ steps: [{ text: 'A dot.' }], capabilities: { images: true } })
  const { openPage } = start(defineAgent({ name: 'a', model }))
  const page = openPage('c13')
  await page.sendMessage({ text: 'what?', files: [{ type: 'file', mediaType, url }] })
  expect(readTexts(page).at(-1)).toBe('A dot.')
  const source = { type: 'base64', data: '/9j/4AAQSkZJRg==' }
  expect(model.requests[0]?.messages[0]?.parts).toContainEqual({ type: 'image', mediaType: 'image/jpeg', source })
})

test('a refusal by the session is a response with its status', async () => {
  const { fetch } = start(defineAgent({ name: 'a', model: scripted([{ text: 'x' }]) }))
  const post = async (body: object): Promise<[number, string]> => {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch('/api/chat', { method: 'POST', headers, body: JSON.stringify(body) })
    return [response.status, await response.text()]
  }
  const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] }
  expect(await post({})).toEqual([400, 'id must be the chat’s id'])
  expect(await post({ id: 'x', messages: [] })).toEqual([400, 'messages is empty: there is nothing to answer'])
  expect((await post({ id: 'x', messages: [{ ...message, parts: [] }] }))[0]).toBe(400)
  expect((await post({ id: 'x', messages: [message], model: 'other' }))[0]).toBe(400)
  expect((await post({ id: 'x\u0000', messages: [message] }))[0]).toBe(400)
  const unknown = { id: 'x', messages: [message], trigger: 'submit-message', messageId: 'nobody' }
  expect((await post(unknown))[0]).toBe(404)
})

function call(name: string): { readonly name: string; readonly arguments: {} } {
  return { name, arguments: {} }
}

test('an answer that has ended is resumed for as long as it may be, and then no more', async () => {
  const agent = defineAgent({ name: 'a', model: scripted(() => ({ text: 'Here it is.' })) })
  const resume = async ({ fetch, openPage }: ReturnType<typeof start>): Promise<readonly [number, string]> => {
    const page = openPage('c7')
    if (page.messages.length === 0)
      await page.sendMessage({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hi' }] })
    const response = await fetch('/api/chat/c7/stream')
    return [response.status, await response.text()]
  }
  expect(await resume(start(agent))).toEqual([200, expect.stringContaining('Here it is.')])
  const brief = start(agent, { handler: { limits: { replayMs: 1 } } })
  await expect.poll(() => resume(brief)).toEqual([204, ''])
})

test('to ask again interrupts the answer that is being written', async () => {
  const model = scripted([{ text: 'It is', pieces: ['It is', ' now'], hangs: 'until-aborted' }, { text: 'Noon.' }])
  const { openPage, host } = start(defineAgent({ name: 'a', model }))
  const page = openPage('c8')
  void page.sendMessage({ text: 'when?' })
  await settled(page, (chat) => readTexts(chat).at(-1)?.startsWith('It is') === true)
  const other = openPage('c8', { messages: page.messages })
  await other.regenerate()
  expect(readTexts(other)).toEqual(['when?', 'Noon.'])
  const { messages } = await (await host.session('c8')).messages()
  expect(JSON.stringify(messages)).not.toContain('It is')
})
