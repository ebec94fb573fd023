// Unusual methods and forms of addresses: each gets a plain answer, over real connections.
import { defineAgent } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createWebSocketFront } from '@baton/server/websocket'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { startChats } from './chat.test-kit.ts'
import type { HandlerOptions } from './handler-parts.ts'
import { createNodeListener } from './node-listener.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function start(handler: HandlerOptions = {}) {
  const model = createScriptedModel({ steps: () => ({ text: 'At nine.' }) })
  const chats = startChats({ agent: defineAgent({ name: 'shop', model }), handler })
  closers.push(chats.stop)
  const session = await chats.host.session('s', { principal: { id: 'anonymous' } })
  await session.send('when?').answer
  const requests = createNodeListener(chats.handler)
  const front = createWebSocketFront(chats.host, { ...chats.environment, port: 0, requests })
  const { port } = await front.listen()
  closers.push(front.close)
  /** The status, and the headers as one string. */
  const ask = async (line: string, host = 'localhost'): Promise<readonly [number, string]> => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    socket.write(`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    let told = ''
    socket.on('data', (text: string) => {
      told += text
    })
    await once(socket, 'close')
    const [head = ''] = told.split('\r\n\r\n')
    return [Number(head.split(' ')[1]), head.toLowerCase()]
  }
  return { ask }
}

test.each([
  ['TRACE /api/sessions', 'get, post, patch, delete, options'],
  ['CONNECT localhost:80', 'get, post, patch, delete, options'],
  ['PUT /api/sessions/s', 'get, patch, delete'],
  ['PROPFIND /api/sessions', 'get'],
  ['DELETE /api/sessions/s/messages', 'get'],
  ['GET /api/chat', 'post'],
  ['POST /api/chat/s/stream', 'get'],
  ['DELETE /api/chat/s/stop', 'post'],
  ['POST /healthz', 'get, head'],
  ['TRACE /ws', 'get, head'],
])('%s gets 405 and what is allowed', async (line, allow) => {
  const { ask } = await start()
  const [status, head] = await ask(line)
  expect([status, head]).toEqual([405, expect.stringContaining(`allow: ${allow}`)])
})

test.each([
  'GET /api/sessions/s/none',
  'GET /api/sessions/s/constructor',
  'GET /api/sessions/s/messages/more',
  'GET /api/sessions/s/media',
  'POST /api/chat/s/dance',
  'GET /api/none',
])('%s gets 404', async (line) => {
  const { ask } = await start()
  expect((await ask(line))[0]).toBe(404)
})

test.each([
  ['GET http://localhost/api/sessions/s', 200],
  ['GET https://ann:secret@localhost/api/sessions/s?token=1', 200],
  ['GET http://localhost/healthz', 200],
  ['GET http://eve.example/api/sessions/s', 403],
  ['GET http://localhost', 404],
  ['OPTIONS *', 204],
])('%s, a whole address, gets %i', async (line, status) => {
  const { ask } = await start({ hosts: ['localhost'] })
  expect((await ask(line))[0]).toBe(status)
})

test('the name in a whole address counts, not the Host header', async () => {
  const { ask } = await start({ hosts: ['localhost'] })
  expect((await ask('GET http://localhost/api/sessions/s', 'eve.example'))[0]).toBe(200)
  expect((await ask('GET /api/sessions/s', 'eve.example'))[0]).toBe(403)
})
