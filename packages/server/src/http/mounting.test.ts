// The handler mounted elsewhere: behind Express, for pages of other origins, and for pages started by `useChat`.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { Chat } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { DefaultChatTransport } from 'ai'
import { once } from 'node:events'
import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { findTool, readTexts, settled, startChats } from './chat.test-kit.ts'
import { createNodeListener } from './node-listener.ts'

const running: { stop(): unknown }[] = []
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.stop()
})

function start(handler?: Parameters<typeof startChats>[0]['handler']) {
  const model = createScriptedModel({ steps: () => ({ text: 'At nine.' }) })
  const chats = startChats({ agent: defineAgent({ name: 'shop', model }), ...(handler && { handler }) })
  running.push(chats)
  return chats
}

const body = JSON.stringify({
  id: 'c1',
  messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'When do you open?' }] }],
})
const headers = { 'content-type': 'application/json' }

/** As in Express: a parser reads the body first, and a mount removes its path from the address. */
async function readFirst(request: IncomingMessage): Promise<void> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const text = Buffer.concat(pieces).toString()
  Object.assign(request, { body: JSON.parse(text) as unknown })
}

test.each([
  ['under a path', (request: IncomingMessage) => Object.assign(request, { originalUrl: request.url, url: '/chat' })],
  ['behind a parser of bodies', readFirst],
])('in Express, %s', async (_where, prepare) => {
  const listener: RequestListener = createNodeListener(start().handler)
  const server = createServer((request, response) => {
    void Promise.resolve(prepare(request)).then(() => listener(request, response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  running.push({ stop: () => server.close() })
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}/api/chat`, { method: 'POST', headers, body })
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('[DONE]')])
})

test('useChat gets every refusal as text, and a page of another origin may read its code', async () => {
  const { fetch } = start({
    origins: (origin) => origin === 'https://app.example',
    authenticate: () => undefined,
  })
  const post = async (origin: string) => {
    const response = await fetch('/api/chat', { method: 'POST', headers: { ...headers, origin }, body })
    const read = (name: string) => response.headers.get(name)
    return [response.status, await response.text(), read('x-baton-error'), read('access-control-expose-headers')]
  }
  expect(await post('https://app.example')).toEqual([
    401,
    'authentication failed',
    'unauthorized',
    'x-baton-error, retry-after, idempotency-replayed',
  ])
  expect(await post('http://localhost:5173')).toEqual([
    403,
    'pages from the origin http://localhost:5173 may not send requests to localhost',
    'unauthorized',
    null,
  ])
  const listed = await fetch('/api/sessions', { headers: { origin: 'http://localhost:5173' } })
  expect(await listed.text()).toContain('--allow-origin')
})

test('a page without sendAutomaticallyWhen hands in what its tool gave with the next message', async () => {
  const place = tool({ name: 'place', description: 'place', input: { type: 'object' }, effect: 'pure' })
  const steps = [{ calls: [{ name: 'place', arguments: {} }] }, { text: 'In Rome.' }, { text: 'Hello.' }]
  const model = createScriptedModel({ steps })
  const chats = startChats({ agent: defineAgent({ name: 'a', model, tools: [place] }) })
  running.push(chats)
  const page: Chat<UIMessage> = new Chat<UIMessage>({
    id: 'p1',
    transport: new DefaultChatTransport({ fetch: chats.fetch }),
    onToolCall: ({ toolCall: { toolCallId } }) =>
      void page.addToolOutput({ tool: 'place', toolCallId, output: 'Rome' }),
  })
  await page.sendMessage({ text: 'where?' })
  await settled(page, ({ status }) => status === 'ready')
  expect(findTool(page, 'place')).toMatchObject({ state: 'output-available' })
  await page.sendMessage({ text: 'Hello' })
  await settled(page, ({ status }) => status === 'ready')
  expect(JSON.stringify(model.requests[1]?.messages)).toContain('Rome')
  expect(readTexts(page).at(-1)).not.toBe('')
})

test('an answer that another message waited for is resumed, not the end of the one before', async () => {
  const model = createScriptedModel({
    steps: [
      { text: 'One', hangs: 'until-aborted' },
      { text: 'Two', hangs: 'until-aborted' },
    ],
  })
  const chats = startChats({ agent: defineAgent({ name: 'a', model }) })
  running.push(chats)
  const session = await chats.host.session('q1', { principal: { id: 'anonymous' } })
  session.send('one', { inputId: 'one' }).answer.catch(() => {})
  const second = session.send('two', { inputId: 'two' })
  second.answer.catch(() => {})
  await expect.poll(() => model.requests.length).toBe(1)
  await session.interrupt({ reason: 'next' })
  await expect.poll(() => model.requests.length).toBe(2)
  const response = await chats.fetch('/api/chat/q1/stream')
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let told = ''
  while (!told.includes('Two')) {
    const { value, done = true } = (await reader?.read()) ?? {}
    if (done) break
    told += value
  }
  expect(told).toContain('"type":"start"')
  expect(told).toContain('Two')
  expect(told).not.toContain('"type":"finish"')
  await reader?.cancel()
})

test('a chat whose id no address can name is refused before there is one', async () => {
  const { fetch } = start()
  const response = await fetch('/api/chat', { method: 'POST', headers, body: body.replace('c1', '..') })
  expect([response.status, await response.text()]).toEqual([
    400,
    'a session’s id must not be "..", which an HTTP address cannot contain',
  ])
  expect(await (await fetch('/api/sessions')).json()).toEqual({ sessions: [] })
})

test('on Node a handler learns that its client has left, but not of a client that got its answer', async () => {
  const asked = new Map<string, AbortSignal>()
  const listener = createNodeListener(async ({ url, signal }) => {
    asked.set(new URL(url).pathname, signal)
    if (url.endsWith('/left')) await once(signal, 'abort')
    return new Response('an answer')
  })
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  running.push({ stop: () => server.close() })
  const { port } = server.address() as AddressInfo
  const leaving = new AbortController()
  const left = fetch(`http://127.0.0.1:${port}/left`, { signal: leaving.signal })
  await expect.poll(() => asked.size).toBe(1)
  leaving.abort()
  await expect(left).rejects.toThrow('abort')
  expect(await (await fetch(`http://127.0.0.1:${port}/stays`)).text()).toBe('an answer')
  await expect.poll(() => asked.get('/left')?.aborted).toBe(true)
  expect(asked.get('/stays')?.aborted).toBe(false)
})
