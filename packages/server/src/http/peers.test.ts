// Servers over one store: any request whose session is held by the other one is answered by it.
import { Chat } from '@ai-sdk/react'
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createMemoryStore } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import type { UIMessage } from 'ai'
import { DefaultChatTransport, WebSocketChatTransport } from 'ai'
import { afterEach, expect, test } from 'vitest'
import { createChatSocket } from './chat-socket.ts'
import { createSlowTool, readTexts, settled } from './chat.test-kit.ts'
import type { HandlerOptions } from './handler-parts.ts'
import type { StartedPeer } from './peers.test-kit.ts'
import { postJson, SECRET, startPeer } from './peers.test-kit.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const authenticate = ({ headers }: Request) => ({ id: headers.get('x-user') ?? 'ann' })

/** The first server holds the session `s`, in a turn that waits for its tool. */
async function startPair(handler: HandlerOptions = {}) {
  const { slow, open } = createSlowTool()
  const model = createScriptedModel({
    steps: ({ messages }) =>
      messages.at(-1)?.role === 'user'
        ? { text: 'Wait. ', calls: [{ name: 'slow', arguments: {} }] }
        : { text: 'Done.' },
  })
  const agent = defineAgent({ name: 'a', model, tools: [slow] })
  const store = createMemoryStore({ leaseMs: 60_000 })
  const start = async (): Promise<StartedPeer> => {
    const peer = await startPeer({ agent, store, handler: { authenticate, ...handler } })
    closers.push(peer.stop)
    return peer
  }
  const [holder, other] = [await start(), await start()]
  closers.push(open)
  const answer = await holder.say('s', 'go')
  return { holder, other, open, answer, store }
}

const openPage = (url: string) =>
  new Chat<UIMessage>({ id: 's', transport: new DefaultChatTransport({ api: `${url}/api/chat` }) })

test('a page resumes at the other server, and sees the same answer', async () => {
  const { other, open, answer } = await startPair()
  const page = openPage(other.url)
  void page.resumeStream()
  await settled(page, ({ messages }) => messages.length > 0)
  open()
  await settled(page, ({ status }) => status === 'ready')
  expect(readTexts(page)).toEqual(['Wait. Done.'])
  const told = await answer.text()
  expect(told).toContain('[DONE]')
})

test('a message for the other server is answered there, byte for byte as by itself', async () => {
  const { holder, other, open } = await startPair()
  const passed = await other.say('s', 'more')
  const direct = await holder.ask('/api/chat/s/stream')
  expect([passed.status, passed.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const [names, directNames] = [[...passed.headers.keys()], [...direct.headers.keys()]]
  expect(names.filter((name) => name.startsWith('x-'))).toEqual(['x-accel-buffering', 'x-vercel-ai-ui-message-stream'])
  expect(directNames).toEqual(expect.arrayContaining(names))
  open()
  expect(await passed.text()).toMatch(/Done\.[^]*data: \[DONE\]\n\n$/)
  const session = await other.ask('/api/sessions/s/messages?format=baton')
  const { messages } = (await session.json()) as { readonly messages: readonly { readonly role: string }[] }
  expect(messages.map(({ role }) => role).slice(0, 2)).toEqual(['user', 'assistant'])
})

test('every route that opens the session is answered by the peer that holds it', async () => {
  const { holder, other, open } = await startPair()
  const json = async (response: Promise<Response>) => {
    const answered = await response
    return [answered.status, (await answered.json()) as Record<string, unknown>] as const
  }
  expect(await json(other.ask('/api/sessions/s'))).toMatchObject([200, { activity: 'running' }])
  const patch = { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"title":"A trip"}' }
  expect(await json(other.ask('/api/sessions/s', patch))).toMatchObject([200, { title: 'A trip' }])
  expect(await json(other.ask('/api/sessions/s/messages?limit=1'))).toMatchObject([200, { messages: [{}] }])
  expect(await json(other.ask('/api/sessions/s/export'))).toMatchObject([200, { session: { title: 'A trip' } }])
  const refusedAnswer = await json(
    postJson(other.ask, '/api/chat/s/answers', { questionId: 'none', action: 'decline' }),
  )
  expect(refusedAnswer[0]).not.toBe(503)
  const refusedApproval = await json(
    postJson(other.ask, '/api/chat/s/approvals', { approvalId: 'x', decision: 'deny' }),
  )
  expect(refusedApproval).toMatchObject([409, { error: { code: 'approval_refused' } }])
  expect(await json(other.ask('/api/sessions/s/media/none'))).toMatchObject([404, {}])
  const events = await other.ask('/api/sessions/s/events?from=start')
  expect(events.headers.get('content-type')).toBe('text/event-stream')
  await readUntil(events, '"live"')
  expect(await json(postJson(other.ask, '/api/chat/s/stop', {}))).toEqual([200, { ok: true }])
  open()
  expect(await json(postJson(other.ask, '/api/sessions/s/fork', {}))).toMatchObject([201, { id: expect.any(String) }])
  expect(await json(other.ask('/api/sessions/s', { method: 'DELETE' }))).toEqual([200, { ok: true }])
  expect((await holder.ask('/api/sessions/s')).status).toBe(404)
})

test('events continue on the other server from the cursor sent by a browser', async () => {
  const { holder, other } = await startPair()
  const events = await readUntil(await holder.ask('/api/sessions/s/events?from=start'), '"live"')
  const ids = [...events.matchAll(/^id: (.*)$/gm)].map(([, id]) => id ?? '')
  const after = ids.at(-2) ?? ''
  const more = await readUntil(
    await other.ask('/api/sessions/s/events', { headers: { 'last-event-id': after } }),
    '"live"',
  )
  expect([...more.matchAll(/^id: /gm)].length).toBeLessThan(3)
})

test('the peer believes who the client is: another principal gets nothing', async () => {
  const { other } = await startPair()
  const bob = { 'x-user': 'bob' }
  expect((await other.ask('/api/sessions/s', { headers: bob })).status).toBe(403)
  expect((await other.say('s', 'hello', bob)).status).toBe(403)
  expect((await other.ask('/api/sessions/s')).status).toBe(200)
})

test('neither a client’s headers nor the secret are passed on but between peers', async () => {
  const { holder, other } = await startPair()
  const headers = { authorization: 'Bearer of-the-client', cookie: 'sid=of-the-client', 'x-other': 'of-the-client' }
  const answered = await other.ask('/api/sessions/s', { headers })
  const passed = holder.heard.at(-1)
  expect(passed?.headers['x-baton-peer']).toBe(SECRET)
  expect(JSON.stringify(passed?.rawHeaders)).not.toContain('of-the-client')
  expect(JSON.stringify([[...answered.headers], await answered.text()])).not.toContain(SECRET)
  expect([...holder.logged, ...other.logged].join()).not.toContain(SECRET)
  expect(other.logged.join()).toContain('a request was passed on to the server that holds its session')
})

test('a client that leaves ends its request at the peer, and the turn continues', async () => {
  const { holder, other, open } = await startPair()
  const leaving = new AbortController()
  const response = await other.ask('/api/chat/s/stream', { signal: leaving.signal })
  const passed = holder.heard.at(-1)
  await response.body?.getReader().read()
  expect(passed?.socket.destroyed).toBe(false)
  leaving.abort()
  await expect.poll(() => passed?.socket.destroyed).toBe(true)
  open()
  const page = openPage(other.url)
  await page.resumeStream()
  expect(readTexts(page).at(-1)).toBe('Wait. Done.')
})

test('a large message is passed on completely, and one above the limit is refused first', async () => {
  const { holder, other } = await startPair({ limits: { bodyBytes: 1_000_000 } })
  const text = 'x'.repeat(900_000)
  const heard = holder.heard.length
  const passed = await other.say('s', text.slice(0, 60_000))
  const more = await postJson(other.ask, '/api/chat/s/approvals', { approvalId: 'a', decision: 'deny', feedback: text })
  expect([passed.status, more.status, holder.heard.length]).toEqual([200, 400, heard + 2])
  expect(Number(holder.heard.at(-1)?.headers['content-length'])).toBeGreaterThan(900_000)
  const tooLarge = await other.say('s', 'x'.repeat(1_000_001))
  expect([tooLarge.status, holder.heard.length]).toEqual([413, heard + 2])
})

test('requests count at the server that the client reached, and not at the peer', async () => {
  const { holder, other } = await startPair({ limits: { principalRequestsPerMinute: 2 } })
  const statuses = []
  for (let at = 0; at < 4; at++) statuses.push((await other.ask('/api/sessions/s')).status)
  expect(statuses).toEqual([200, 200, 429, 429])
  // The holder has counted one direct request, so a second one may pass.
  expect((await holder.ask('/api/sessions/s')).status).toBe(200)
})

test('streams count on the server that the client reached, until they end', async () => {
  const { other } = await startPair({ limits: { principalStreams: 2 } })
  const streams = [await other.ask('/api/chat/s/stream'), await other.ask('/api/chat/s/stream')]
  expect(streams.map(({ status }) => status)).toEqual([200, 200])
  expect((await other.ask('/api/chat/s/stream')).status).toBe(429)
  for (const stream of streams) await stream.body?.cancel()
  await expect.poll(async () => (await other.ask('/api/sessions/s')).status).toBe(200)
})

test('a turn counts at the server that runs it', async () => {
  const { other } = await startPair({ limits: { principalTurns: 1 } })
  expect((await other.say('s', 'more')).status).toBe(200)
  expect((await other.say('s2', 'hello')).status).toBe(200)
  expect((await other.say('s3', 'hello')).status).toBe(429)
})

test('a key gives the answer of a request that was passed on once more, and does nothing twice', async () => {
  const { holder, other } = await startPair()
  const name = async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k1' }
    const answered = await other.ask('/api/sessions/s', { method: 'PATCH', headers, body: '{"title":"A trip"}' })
    return [answered.headers.get('idempotency-replayed'), await answered.text()] as const
  }
  const [first, again] = [await name(), await name()]
  expect([first[0], again]).toEqual([null, ['true', first[1]]])
  expect(holder.heard.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
})

test('after the lease of its holder has expired, the session is opened by the server that gets the request', async () => {
  const { holder, other, open, store } = await startPair()
  holder.server.closeAllConnections()
  holder.server.close()
  const away = await other.ask('/api/sessions/s')
  expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await away.json()).toMatchObject({ error: { code: 'session_held' } })
  store.expireLeases()
  open()
  const page = openPage(other.url)
  await page.resumeStream()
  expect(readTexts(page).at(-1)).toContain('Wait. ')
  expect((await other.ask('/api/sessions/s')).status).toBe(200)
})

/** A chat over the AI SDK's WebSocket, at a server that does not hold its session. */
async function openSocketPage({ host, environment, options }: StartedPeer, id: string) {
  const front = createWebSocketFront(host, {
    ...environment,
    port: 0,
    chats: createChatSocket(host, options),
    authenticate: () => ({ id: 'ann' }),
  })
  const { port } = await front.listen()
  const transport = new WebSocketChatTransport({ url: `ws://127.0.0.1:${port}/api/chat` })
  closers.push(
    () => front.close(),
    () => transport.close(),
  )
  return new Chat<UIMessage>({ id, transport })
}

test('over the AI SDK’s WebSocket a chat continues on the other server, and accepts a message', async () => {
  const { other, open } = await startPair()
  const page = await openSocketPage(other, 's')
  void page.resumeStream()
  await settled(page, () => readTexts(page).at(-1) === 'Wait. ')
  open()
  await settled(page, ({ status }) => status === 'ready')
  expect(readTexts(page)).toEqual(['Wait. Done.'])
  await page.sendMessage({ text: 'again' })
  expect(readTexts(page).slice(1)).toEqual(['again', 'Wait. Done.'])
})

test('over it, a peer that dies in mid-answer is a broken connection for the page', async () => {
  const { holder, other } = await startPair()
  const page = await openSocketPage(other, 's')
  void page.resumeStream()
  await settled(page, () => readTexts(page).at(-1) === 'Wait. ')
  holder.server.closeAllConnections()
  await settled(page, ({ status }) => status === 'error')
  expect(page.messages.at(-1)?.parts.some((part) => part.type === 'text' && part.text.includes('Done'))).toBe(false)
})

test('over it, an unreachable peer is a lost connection too: the page reconnects', async () => {
  const { holder, other } = await startPair()
  holder.server.closeAllConnections()
  holder.server.close()
  const page = await openSocketPage(other, 's')
  await page.sendMessage({ text: 'are you there?' })
  expect([page.status, page.error instanceof TypeError]).toEqual(['error', true])
  expect(other.logged.join()).toContain('the server that holds a session cannot be reached')
})

test('over it, refusals by the peer are delivered', async () => {
  const { other } = await startPair()
  const page = await openSocketPage(other, 's')
  page.messages = [{ id: 'unknown', role: 'assistant', parts: [] }]
  await page.regenerate({ messageId: 'unknown' })
  expect([page.status, page.error?.message]).toEqual(['error', expect.stringContaining('no message "unknown"')])
})

/** Reads a response until it contains this text, and leaves it. */
async function readUntil(response: Response, text: string): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let read = ''
  while (!read.includes(text)) {
    const piece = await reader?.read()
    if (!piece || piece.done) throw new Error(`the response ended: ${read}`)
    read += piece.value
  }
  await reader?.cancel()
  return read
}
