// The client of version 2 with servers that violate the protocol: it reports an error, and nothing is thrown at the
// app.
import type { JsonObject } from '@baton/core'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import type { ClientError } from '../index.ts'
import type { ToolHandler } from './client-tools.ts'
import { openSession } from '../index.ts'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close()
})

const INFO = {
  id: 's',
  agent: 'a',
  principal: { id: 'p' },
  meta: {},
  activity: 'idle',
  model: 'm',
  models: ['m'],
  head: { pos: 1 },
}
const OPENED = { session: 's', info: INFO, next: { pos: 1 }, messages: [], more: false }

interface Asked {
  readonly id: string
  readonly type: string
  readonly device?: { readonly name: string }
}

/** `answer` returns the frames to send for a request. */
async function open(answer: (asked: Asked) => readonly JsonObject[], camera: ToolHandler = () => 'seen') {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  closers.push(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  server.on('connection', (socket) => {
    const send = (frame: JsonObject): void => socket.send(JSON.stringify(frame))
    const limits = { frameBytes: 1_000_000, resultBytes: 100_000 }
    send({ type: 'hello', protocol: 2, nowMs: 0, limits })
    // A frame of the client has these fields.
    socket.on('message', (data: Buffer) => answer(JSON.parse(data.toString()) as Asked).forEach(send))
  })
  const { port } = server.address() as AddressInfo // it listens on TCP
  const reconnect = { baseMs: 1, mostMs: 10 }
  const client = openSession({ url: `ws://127.0.0.1:${port}/ws`, session: 's', tools: { camera }, reconnect })
  const errors: ClientError[] = []
  client.on('error', (error) => void errors.push(error))
  closers.push(() => client.close())
  return { client, errors }
}

test('an answer that cannot be read is an error, and the next connection may bring a better one', async () => {
  let opens = 0
  const { client, errors } = await open(({ id }) => {
    opens += 1
    return [{ type: 'ok', re: id, ...OPENED, ...(opens === 1 && { messages: [null] }) }]
  })
  await expect.poll(() => client.getSnapshot().status).toBe('open')
  expect(errors.map(({ code }) => code)).toEqual(['internal'])
})

test.each([
  ['no call', {}],
  ['another call', { call: { callId: 'c2', name: 'camera', input: {} } }],
])('a claim that brings %s begins nothing', async (_situation, claimed) => {
  let begun = 0
  const { errors } = await open(
    ({ id, type, device }) => {
      if (type !== 'session.open') return [{ type: 'ok', re: id, ...claimed }]
      const call = { callId: 'c1', message: 't1', step: 1, name: 'camera', input: {}, runs: 'client', effect: 'once' }
      const offer = {
        type: 'call',
        call: { ...call, status: 'waiting', holder: device?.name ?? '' },
        cursor: { pos: 1 },
      }
      const events = [{ type: 'live', cursor: { pos: 1 } }, offer]
      return [
        { type: 'ok', re: id, ...OPENED },
        { type: 'events', events, next: { pos: 1 } },
      ]
    },
    () => void (begun += 1),
  )
  await expect.poll(() => errors[0]?.code).toBe('internal')
  expect(begun).toBe(0)
})
