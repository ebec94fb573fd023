// The AI SDK's chats over its own WebSocket transport, unmodified, on the server's port.
import { Chat } from '@ai-sdk/react'
import type { Agent } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import type { ChatInit, UIMessage } from 'ai'
import { lastAssistantMessageIsCompleteWithToolCalls, WebSocketChatTransport } from 'ai'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createSlowTool, findTool, readTexts, settled } from './chat.test-kit.ts'
import { createChatSocket } from './chat-socket.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function start(agent: Agent) {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const host = createHost({ environment, agent })
  const front = createWebSocketFront(host, { ...environment, port: 0, chats: createChatSocket(host) })
  const { port } = await front.listen()
  closers.push(async () => {
    await front.close()
    await host.stop()
  })
  const url = `ws://127.0.0.1:${port}/api/chat`
  const openPage = (id: string, more: Partial<ChatInit<UIMessage>> = {}) => {
    const transport = new WebSocketChatTransport({ url })
    closers.push(() => transport.close())
    const sendAutomaticallyWhen = lastAssistantMessageIsCompleteWithToolCalls
    return new Chat<UIMessage>({ id, transport, sendAutomaticallyWhen, ...more })
  }
  return { url, openPage, host }
}

const empty = { type: 'object', properties: {} } as const

test('text, a client tool, another answer and an edit', async () => {
  const place = tool({ name: 'place', description: 'place', input: empty, effect: 'once' })
  const steps = [
    { text: 'Let me see.', calls: [{ name: 'place', arguments: {} }] },
    { text: 'Rome.' },
    { text: 'Oslo.' },
    { text: 'Lima.' },
  ]
  const { openPage } = await start(defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [place] }))
  const asked: string[] = []
  const page = openPage('w1', {
    onToolCall: ({ toolCall: { toolName, toolCallId } }) => {
      asked.push(toolName)
      void page.addToolOutput({ tool: toolName, toolCallId, output: 'Rome' })
    },
  })
  await page.sendMessage({ text: 'where?' })
  await settled(page, ({ status }) => status === 'ready' && readTexts(page).at(-1) === 'Let me see.Rome.')
  expect(findTool(page, 'place')).toMatchObject({ state: 'output-available', output: 'Rome' })
  await page.regenerate()
  expect(readTexts(page)).toEqual(['where?', 'Oslo.'])
  await page.sendMessage({ text: 'and where now?', messageId: page.messages[0]?.id ?? '' })
  expect(readTexts(page)).toEqual(['and where now?', 'Lima.'])
  expect(asked).toEqual(['place'])
})

test('another page reads the whole answer while it is written; with nothing to resume it stays ready', async () => {
  const { slow, open } = createSlowTool()
  const steps = [{ text: 'Wait.', calls: [{ name: 'slow', arguments: {} }] }, { text: 'Here.' }]
  const { openPage } = await start(defineAgent({ name: 'a', model: createScriptedModel({ steps }), tools: [slow] }))
  const first = openPage('w2')
  const idle = openPage('w2-none')
  await idle.resumeStream()
  expect(idle.status).toBe('ready')
  const sent = first.sendMessage({ text: 'go' })
  await settled(first, () => first.messages.at(-1)?.parts.some(({ type }) => type === 'tool-slow') === true)
  const second = openPage('w2', { messages: structuredClone(first.messages) })
  const resumed = second.resumeStream()
  await settled(second, () => second.status === 'streaming')
  open()
  await Promise.all([sent, resumed])
  expect(readTexts(second)).toEqual(['go', 'Wait.Here.'])
  expect(readTexts(first)).toEqual(['go', 'Wait.Here.'])
})

test('a refused request gets an error; the connection stays open', async () => {
  const { openPage } = await start(
    defineAgent({ name: 'a', model: createScriptedModel({ steps: [{ text: 'Fine.' }] }) }),
  )
  const page = openPage('w3')
  await page.sendMessage({ parts: [] })
  expect([page.status, page.error?.message]).toEqual(['error', expect.stringContaining('is empty')])
  page.messages = []
  page.clearError()
  await page.sendMessage({ text: 'hi' })
  expect(readTexts(page)).toEqual(['hi', 'Fine.'])
})

test.each([
  ['no JSON', '{'],
  ['no request', '{"type":"send"}'],
  ['bytes', Buffer.from([1, 2])],
])('a frame that is %s closes the connection', async (_what, frame) => {
  const { url } = await start(defineAgent({ name: 'a', model: createScriptedModel({ steps: [] }) }))
  const socket = new WebSocket(url)
  await once(socket, 'open')
  socket.send(frame)
  const [code] = (await once(socket, 'close')) as [number]
  expect(code).toBe(1008)
})

test.each([
  [{ type: 'dance' }, 'type must be'],
  [{ type: 'send', id: '' }, 'id must be'],
  [{ type: 'send', id: 'w4', messages: 7 }, 'messages must be'],
  [{ type: 'send', id: 'w4', messages: [], trigger: 'x' }, 'trigger must be'],
])('%j is refused in words', async (frame, words) => {
  const { url } = await start(defineAgent({ name: 'a', model: createScriptedModel({ steps: [] }) }))
  const socket = new WebSocket(url)
  await once(socket, 'open')
  socket.send(JSON.stringify({ requestId: 'r', ...frame }))
  const [data] = (await once(socket, 'message')) as [Buffer]
  expect(JSON.parse(data.toString())).toEqual({
    type: 'error',
    requestId: 'r',
    errorText: expect.stringContaining(words),
  })
  socket.close()
})
