// However a request ends, it leaves nothing open: no session handle, no counted stream, no timer.
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { afterEach, expect, test } from 'vitest'
import { createMemorySocket } from '../websocket/memory-socket.ts'
import { createSlowTool } from './chat.test-kit.ts'
import { createChatSocket } from './chat-socket.ts'
import { createHandler } from './handler.ts'

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()))
})

/**
 * A handler and a socket over one host, with counts of open handles and pending timers; session `idle` has an answer,
 * `empty` has none.
 */
async function start(limits = { principalStreams: 1, addressStreams: 1, streams: 1 }) {
  const { slow, open } = createSlowTool()
  const place = tool({ name: 'place', description: 'place', input: { type: 'object' }, effect: 'once' })
  const model = createScriptedModel({
    steps: (request) => {
      const said = JSON.stringify(request.messages)
      if (said.includes('slowly') && !said.includes('ready')) return { calls: [{ name: 'slow', arguments: {} }] }
      return { text: 'Good morning.' }
    },
  })
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model, tools: [slow, place] }) })
  stops.push(() => host.stop())
  const principal = { id: 'anonymous' }
  await (await host.session('idle', { principal })).send('hello').answer
  await (await host.session('empty', { principal })).describe({ title: 'Empty' })
  let handles = 0
  const timers = new Set<unknown>()
  const counted = {
    ...host,
    has: (id: string) => host.has(id),
    session: async (...given: Parameters<typeof host.session>) => {
      const session = await host.session(...given)
      handles += 1
      let isOpen = true
      const close = session.close.bind(session)
      Object.defineProperty(session, 'close', {
        value: async () => {
          handles -= isOpen ? 1 : 0
          isOpen = false
          await close()
        },
      })
      return session
    },
  }
  const options = {
    limits,
    timers: {
      start: (delayMs: number, callback: () => void) => {
        const timer = setTimeout(() => {
          timers.delete(timer)
          callback()
        }, delayMs)
        timers.add(timer)
        return () => {
          clearTimeout(timer)
          timers.delete(timer)
        }
      },
    },
  }
  const handler = createHandler(counted as typeof host, {
    ...options,
    authenticate: () => ({ principal, expiresAtMs: Date.now() + 3_600_000 }),
  })
  const ask = (path: string, body?: object, method = body ? 'POST' : 'GET') =>
    handler(
      new Request(`http://localhost/api${path}`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
      { address: '10.0.0.1' },
    )
  const connect = () => {
    const { socket, ...rest } = createMemorySocket()
    createChatSocket(counted as typeof host, options)(socket, principal, '10.0.0.1')
    return { ...rest, send: (frame: object) => rest.deliver(JSON.stringify(frame)) }
  }
  return { ask, connect, open, host, left: () => ({ handles, timers: timers.size }) }
}

const say = (id: string, text: string) => ({
  id,
  messages: [{ id: `${id}-${text}`, role: 'user', parts: [{ type: 'text', text }] }],
})
const again = (id: string) => ({ id, trigger: 'regenerate-message', messages: [] })

test.each<[string, string, object | undefined, number]>([
  ['a chat', '/chat', say('new', 'hi'), 200],
  ['a chat that is refused: a session without an answer has none to give again', '/chat', again('empty'), 404],
  ['a chat of a session that is not there', '/chat', again('nobody'), 404],
  ['a message of blanks alone, which the session refuses', '/chat', say('idle', '  '), 400],
  ['an answer that is resumed', '/chat/idle/stream', undefined, 200],
  ['nothing to resume', '/chat/empty/stream', undefined, 204],
  ['nothing to stop', '/chat/idle/stop', {}, 200],
  ['a decision about nothing', '/chat/idle/approvals', { approvalId: 'x', decision: 'approve' }, 409],
  ['events', '/sessions/idle/events', undefined, 200],
  ['events from nowhere', '/sessions/idle/events?from={"pos":9999}', undefined, 400],
  ['events from a cursor that is none', '/sessions/idle/events?from=yesterday', undefined, 400],
  ['messages', '/sessions/idle/messages', undefined, 200],
  ['messages in a form that is none', '/sessions/idle/messages?format=x', undefined, 400],
  ['an image that is not there', '/sessions/idle/media/x', undefined, 404],
])('%s leaves nothing open', async (_what, path, body, status) => {
  const { ask, left } = await start()
  const response = await ask(path, body)
  expect(response.status).toBe(status)
  if (path.includes('/events')) await response.body?.cancel()
  else await response.text()
  await expect.poll(left).toEqual({ handles: 0, timers: 0 })
  const next = await ask('/sessions/idle/events')
  expect(next.status, 'there is room for a response that streams').toBe(200)
  await next.body?.cancel()
})

test('a page that leaves during an answer gives up its stream, but keeps its handle until the turn has ended', async () => {
  const { ask, left, open } = await start()
  const response = await ask('/chat', say('new', 'slowly'))
  await response.body?.cancel()
  const next = await ask('/sessions/idle/events')
  expect(next.status).toBe(200)
  await next.body?.cancel()
  await expect.poll(left).toEqual({ handles: 1, timers: 0 })
  open()
  await expect.poll(left).toEqual({ handles: 0, timers: 0 })
})

test('over a socket, one request that is aborted leaves the others and their connection alone', async () => {
  const { connect, left, host, open } = await start()
  const { send, sent, closed } = connect()
  send({ type: 'send', requestId: 'a', ...say('new', 'slowly') })
  await expect.poll(() => sent.join()).toContain('"requestId":"a","sequence":')
  send({ type: 'abort', requestId: 'a' })
  await expect.poll(async () => (await host.sessions({ principal: { id: 'anonymous' } })).sessions.length).toBe(3)
  send({ type: 'resume', requestId: 'b', id: 'new' })
  await expect.poll(() => sent.join()).toContain('"requestId":"b","sequence":')
  send({ type: 'abort', requestId: 'b' })
  // One handle remains for the turn that the first one began; a reader leaves none.
  await expect.poll(left).toEqual({ handles: 1, timers: 0 })
  expect(closed()).toBeUndefined()
  open()
  await expect.poll(left).toEqual({ handles: 0, timers: 0 })
  send({ type: 'resume', requestId: 'b', id: 'new' })
  await expect.poll(() => sent.join()).toContain('{"type":"end","requestId":"b"}')
})

test('a closed socket ends all of its requests', async () => {
  const { connect, left, open } = await start({ principalStreams: 3, addressStreams: 3, streams: 3 })
  const { send, sent, drop } = connect()
  send({ type: 'send', requestId: 'a', ...say('new', 'slowly') })
  await expect.poll(() => sent.join()).toContain('"requestId":"a","sequence":')
  for (const requestId of ['b', 'c']) send({ type: 'resume', requestId, id: 'new' })
  await expect.poll(() => sent.join()).toMatch(/"requestId":"b","sequence":.*"requestId":"c","sequence":/s)
  expect(left().handles).toBe(3)
  drop()
  await expect.poll(left).toEqual({ handles: 1, timers: 0 })
  open()
  await expect.poll(left).toEqual({ handles: 0, timers: 0 })
})

test('a live inbox that finds no room for its stream stops watching', async () => {
  const host = createHost({ agent: defineAgent({ name: 'a', model: createScriptedModel({ steps: [] }) }) })
  stops.push(() => host.stop())
  const watching: AsyncIterator<object>[] = []
  const watchApprovals: typeof host.watchApprovals = (query) => {
    const pages = host.watchApprovals(query)
    watching.push(pages[Symbol.asyncIterator]())
    return pages
  }
  const handler = createHandler({ ...host, watchApprovals }, { limits: { streams: 1 } })
  const ask = () => handler(new Request('http://localhost/api/approvals', { headers: { accept: 'text/event-stream' } }))
  const first = await ask()
  expect([first.status, (await ask()).status]).toEqual([200, 503])
  expect(await watching[1]?.next()).toMatchObject({ done: true })
  await first.body?.cancel()
})
