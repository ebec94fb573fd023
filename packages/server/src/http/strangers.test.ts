// Requests of strangers and broken clients over HTTP, and their cost.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { startChats } from './chat.test-kit.ts'
import type { HandlerOptions } from './handler-parts.ts'
import { createNodeListener } from './node-listener.ts'

const running: { stop(): Promise<unknown> }[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.stop()))
})

function start(handler: HandlerOptions = {}) {
  const model = createScriptedModel({ steps: () => ({ text: 'Good morning.' }) })
  const chats = startChats({ agent: defineAgent({ name: 'a', model }), handler })
  running.push(chats)
  const post = async (address: string, body: object): Promise<Response> =>
    await chats.fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const say = async (id: string, message: string, more: object = {}): Promise<Response> =>
    await post('/api/chat', {
      id,
      messages: [{ id: message, role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
      ...more,
    })
  return { ...chats, post, say }
}

/** Openings of sessions wait for the gate; opened and closed sessions are counted. */
function holdSessions(host: ReturnType<typeof startChats>['host']) {
  const seen = { asked: 0, opened: 0, closed: 0 }
  let gate = Promise.withResolvers<void>()
  const open = host.session.bind(host)
  Object.assign(host, {
    session: async (...args: Parameters<typeof open>) => {
      seen.asked += 1
      await gate.promise
      const session = await open(...args)
      seen.opened += 1
      const close = session.close.bind(session)
      return Object.assign(session, {
        close: async () => {
          seen.closed += 1
          await close()
        },
      })
    },
  })
  const shut = (): void => {
    gate = Promise.withResolvers()
    seen.asked = 0
  }
  return { seen, shut, open: () => gate.resolve() }
}

const allow = { temperature: true, maxOutputTokens: 100, models: ['nobody/nothing'] }

test.each([
  ['an id that is too long', 'x'.repeat(300), {}],
  ['an id with a control character', 'a\u001Bb', {}],
  ['a temperature that is none', 'm1', { temperature: -5 }],
  ['a count that is none', 'm1', { maxOutputTokens: 0.5 }],
  ['a model that there is not', 'm1', { model: 'nobody/nothing' }],
])('a message that the session refuses gets its reason: %s', async (_what, message, more) => {
  const { say } = start({ allow })
  const response = await say('s1', message, more)
  expect([response.status, await response.text()]).toEqual([400, expect.stringMatching(/.{10}/)])
})

test('a file with invalid base64 is refused', async () => {
  const { post } = start()
  const parts = [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,!!!!' }]
  expect((await post('/api/chat', { id: 's1', messages: [{ id: 'm1', role: 'user', parts }] })).status).toBe(400)
})

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('there is no act %s', async (act) => {
  const { say, post } = start()
  await (await say('s1', 'm1')).text()
  expect((await post(`/api/chat/s1/${act}`, {})).status).toBe(404)
})

test('a conversation without an answer cannot continue or repeat one', async () => {
  const { post, host } = start()
  const messages = [{ id: 'q', role: 'assistant', parts: [] }]
  const regenerate = async (id: string): Promise<readonly [number, string]> => {
    const response = await post('/api/chat', { id, messages: [], trigger: 'regenerate-message' })
    return [response.status, await response.text()]
  }
  expect((await post('/api/chat', { id: 's1', messages })).status).toBe(404)
  expect(await regenerate('s1')).toEqual([404, 'there is no such chat'])
  expect(await host.has('s1')).toBe(false)
  await host.session('s1')
  expect((await post('/api/chat', { id: 's1', messages })).status).toBe(404)
  expect(await regenerate('s1')).toEqual([404, 'the conversation has no answer yet'])
})

test('all responses that stream are counted, from the moment they are asked for', async () => {
  const { say, fetch, host } = start({ limits: { streams: 3 } })
  await (await say('s1', 'm1')).text()
  const sessions = holdSessions(host)
  const { seen } = sessions
  const count = async (ask: (index: number) => Promise<Response>): Promise<number> => {
    sessions.shut()
    let refused = 0
    const responses = Array.from({ length: 10 }, async (_, index) => {
      const response = await ask(index)
      refused += response.status === 200 ? 0 : 1
      return response
    })
    // Each has been counted by now, or will be when it gets its session.
    await expect.poll(() => seen.asked + refused).toBe(10)
    sessions.open()
    const answered = await Promise.all(responses)
    await Promise.all(answered.map(async (one) => await one.body?.cancel()))
    await expect.poll(() => seen.opened - seen.closed).toBe(0)
    return answered.filter(({ status }) => status === 200).length
  }
  const readEvents = (): Promise<Response> => fetch('/api/sessions/s1/events')
  for (const isAgain of [false, true]) {
    expect(await count((index) => say(`${isAgain}${index}`, 'm1'))).toBe(3)
    expect(await count(readEvents)).toBe(3)
  }
})

test('after a body that was refused its connection takes the next request', async () => {
  const { port } = await listen(start({ authenticate: () => undefined }).handler)
  const body = 'x'.repeat(1_000_000)
  const one = 'POST /api/chat HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\n'
  const socket = connect(port, '127.0.0.1')
  socket.write(
    `${one}content-length: ${body.length}\r\n\r\n${body}GET /api/next HTTP/1.1\r\nHost: localhost\r\nconnection: close\r\n\r\n`,
  )
  let told = ''
  for await (const piece of socket) told += String(piece)
  expect(told.match(/HTTP\/1\.1 401/g)).toHaveLength(2)
})

test('a client that leaves before the answer begins leaves nothing open', async () => {
  const { say, handler, host } = start()
  await (await say('s1', 'm1')).text()
  const sessions = holdSessions(host)
  const { seen } = sessions
  const { port, server } = await listen(handler)
  const left = once(server, 'connection').then(([socket]) => once(socket as Socket, 'close')) // as documented by Node
  const socket = connect(port, '127.0.0.1')
  socket.write('GET /api/sessions/s1/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await expect.poll(() => seen.asked).toBe(1)
  socket.destroy()
  await left
  sessions.open()
  await expect.poll(() => [seen.opened, seen.closed]).toEqual([1, 1])
})

async function listen(handler: (request: Request) => Promise<Response>) {
  const server = createServer(createNodeListener(handler))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  running.push({
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  })
  return { ...(server.address() as AddressInfo), server } // it listens on a port
}

test('a model and settings that are not allowed get 400, and nothing is asked', async () => {
  const { say, host } = start({ allow: { models: ['one/small'], temperature: true, maxOutputTokens: 2000 } })
  const wrong = [{ model: 'one/large' }, { maxOutputTokens: 2001 }, { temperature: 'hot' }]
  for (const [at, more] of wrong.entries()) {
    const response = await say(`c${at}`, 'm', more)
    expect([response.status, more]).toEqual([400, more])
  }
  expect((await host.sessions({ principal: { id: 'anonymous' } })).sessions).toEqual([])
  expect((await say('c', 'm', { temperature: 0.5, maxOutputTokens: 2000 })).status).toBe(200)
})
