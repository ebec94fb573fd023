// Chats whose page has more than the session: messages whose requests failed, and messages sent instead of a decision.
import type { Agent } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { frontOf } from '@baton/core/internal'
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

const empty = { type: 'object', properties: {}, additionalProperties: false } as const
const user = (id: string, text: string) => ({ id, role: 'user', parts: text === '' ? [] : [{ type: 'text', text }] })

test('messages whose requests failed are answered with the next one, each under its id', async () => {
  const model = createScriptedModel({ steps: [{ text: 'One.' }, { text: 'All three.' }, { text: 'On.' }] })
  const { openPage, host, fetch } = start(defineAgent({ name: 'a', model }))
  let isDown = false
  const failing: typeof fetch = (...given) => (isDown ? Promise.reject(new TypeError('no network')) : fetch(...given))
  const page = openPage('u1', { transport: new DefaultChatTransport({ fetch: failing }) })
  await page.sendMessage({ text: 'first' })
  isDown = true
  await page.sendMessage({ text: 'second' })
  await page.sendMessage({ text: 'third' })
  expect(page.status).toBe('error')
  isDown = false
  await page.sendMessage({ text: 'fourth' })
  expect(readTexts(page)).toEqual(['first', 'One.', 'second', 'third', 'fourth', 'All three.'])
  expect(model.requests).toHaveLength(2)
  const read = JSON.stringify(model.requests[1]?.messages)
  expect(['second', 'third', 'fourth'].map((text) => read.indexOf(text))).toEqual(
    ['second', 'third', 'fourth'].map((text) => read.indexOf(text)).toSorted((a, b) => a - b),
  )
  expect(read).toContain('second')
  await page.sendMessage({ text: 'fifth' })
  const { messages } = await (await host.session('u1')).messages()
  expect(messages.map(({ id }) => id)).toEqual(page.messages.map(({ id }) => id))
})

test('messages that the session knows, that say nothing or that were edited are not taken again', async () => {
  const model = createScriptedModel({ steps: () => ({ text: 'Yes.' }) })
  const { fetch, host } = start(defineAgent({ name: 'a', model }))
  const post = async (...messages: readonly object[]): Promise<number> => {
    const body = JSON.stringify({ id: 'u2', messages })
    const response = await fetch('/api/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    await response.text()
    return response.status
  }
  expect(await post(user('a', 'first'))).toBe(200)
  // Its answer is lost in transit.
  expect(await post(user('a', 'first'), user('b', ''))).toBe(400)
  expect(await post(user('a', 'first'), user('b', ''), user('c', 'third'))).toBe(200)
  expect(await post(user('a', 'first'), user('b', ''), user('c', 'third'))).toBe(200)
  const session = await host.session('u2')
  await session.rewind({ message: 'c', replace: 'changed', inputId: 'c~1' })
  expect(await post(user('x', 'unsent'), user('c', 'third'), user('d', 'fourth'))).toBe(200)
  const { messages } = await session.messages()
  expect(messages.flatMap(({ id, role }) => (role === 'user' ? [id] : []))).toEqual(['a', 'c~1', 'd'])
})

test.each(['approval', 'client'] as const)('a message waits, and the stream says at once for what: %s', async (by) => {
  const steps = [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'Not paid.' }]
  const { openPage, fetch } = start(
    defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [payBy(by)] }),
  )
  const page = openPage('u3', { sendAutomaticallyWhen: () => false })
  await page.sendMessage({ text: 'pay' })
  const body = JSON.stringify({ id: 'u3', messages: [user('m2', 'never mind')] })
  const response = await fetch('/api/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader()
  const { value } = await reader.read()
  const first = JSON.parse(
    new TextDecoder()
      .decode(value)
      .replace(/^data: /, '')
      .split('\n')[0] ?? '',
  ) as object
  expect(first).toEqual({
    type: 'data-waiting',
    data: [{ callId: expect.any(String) as string, name: 'pay', waitsFor: by }],
    transient: true,
  })
  await reader.cancel()
})

test.each(['approval', 'client'] as const)('with cancelWaiting a message ends the turn that waits: %s', async (by) => {
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'pay', arguments: {} }] }, { text: 'Not paid.' }] })
  const agent = defineAgent({ name: 'a', model, tools: [payBy(by)] })
  const { openPage } = start(agent, { handler: { cancelWaiting: true } })
  const page = openPage('u4', { sendAutomaticallyWhen: () => false })
  await page.sendMessage({ text: 'pay' })
  await page.sendMessage({ text: 'never mind' })
  expect(readTexts(page)).toEqual(['pay', '', 'never mind', 'Not paid.'])
  const read = JSON.stringify(model.requests[1]?.messages)
  expect(read).toContain('never mind')
  expect(read).toContain(by === 'approval' ? 'cancelled (it has no effect)' : 'it may have run')
})

function payBy(by: 'approval' | 'client') {
  const shared = { name: 'pay', description: 'pay', input: empty, effect: 'once' } as const
  return by === 'client'
    ? tool(shared)
    : tool({ ...shared, approval: true, execute: () => Promise.reject(new Error('it must not run')) })
}

test('a result that comes with the next message, after its call was stopped, is read by the model with it, once', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const model = createScriptedModel({ steps: [{ calls: [{ name: 'place', arguments: {} }] }, { text: 'In Rome.' }] })
  const { openPage, host, fetch } = start(defineAgent({ name: 'a', model, tools: [place] }))
  const page = openPage('u5', { sendAutomaticallyWhen: () => false })
  await page.sendMessage({ text: 'where?' })
  const session = frontOf(await host.session('u5'))
  await session.control('stop')
  await session.control('start')
  await page.addToolOutput({ tool: 'place', toolCallId: String(findTool(page, 'place')['toolCallId']), output: 'Rome' })
  const body = JSON.stringify({ id: 'u5', messages: [...page.messages, user('m2', 'and?')] })
  const post = () =>
    fetch('/api/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then((one) =>
      one.text(),
    )
  expect(await post()).toContain('In Rome.')
  expect(await post(), 'the page did not get the answer').toContain('In Rome.')
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('finished after all: \\"Rome\\"')
  expect(model.requests).toHaveLength(2)
})

test('a result that comes with a message while another call runs settles its call', async () => {
  const { slow, open } = createSlowTool()
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const calls = ['place', 'slow'].map((name) => ({ name, arguments: {} }))
  const model = createScriptedModel({ steps: [{ calls }, { text: 'In Rome.' }, { text: 'Well.' }] })
  const { openPage, fetch } = start(defineAgent({ name: 'a', model, tools: [place, slow] }))
  const page = openPage('u6', { sendAutomaticallyWhen: () => false })
  const sent = page.sendMessage({ text: 'where?' })
  await settled(page, () => page.messages.at(-1)?.parts.some(({ type }) => type === 'tool-slow') === true)
  await settled(page, () => findTool(page, 'place')['providerExecuted'] === false)
  await page.addToolOutput({ tool: 'place', toolCallId: String(findTool(page, 'place')['toolCallId']), output: 'Rome' })
  const body = JSON.stringify({ id: 'u6', messages: [...page.messages, user('m2', 'and?')] })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  const later = await fetch('/api/chat', init)
  open()
  expect(await later.text()).toContain('Well.')
  await sent
  expect(JSON.stringify(model.requests[1]?.messages)).toMatch(/Rome.*ready/)
})

/**
 * The messages that each model request contains for the first time, when the page sends all of them with its newest
 * one.
 */
async function sendAtOnce(chat: string, texts: readonly string[]): Promise<readonly string[]> {
  const model = createScriptedModel({ steps: () => ({ text: 'Yes.' }) })
  const { fetch } = start(defineAgent({ name: 'a', model }))
  const messages = texts.map((text, at) => user(`m${at}`, `<${at}>${text}`))
  const response = await fetch('/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: chat, messages }),
  })
  expect(await response.text()).toContain('Yes.')
  expect(model.requests).toHaveLength(1)
  const read = JSON.stringify(model.requests[0]?.messages)
  return messages.filter((_, at) => read.includes(`<${at}>`)).map(({ id }) => id)
}

test('messages whose requests failed are answered together, however long they are', async () => {
  expect(
    await sendAtOnce(
      'long',
      ['x', 'y', 'z'].map((letter) => letter.repeat(5000)),
    ),
  ).toEqual(['m0', 'm1', 'm2'])
})

test('of more than 50 messages before the newest one, 50 are answered together with it', async () => {
  const many = Array.from({ length: 60 }, () => '')
  expect(await sendAtOnce('many', many)).toEqual(many.slice(9).map((_, at) => `m${at + 9}`))
})
