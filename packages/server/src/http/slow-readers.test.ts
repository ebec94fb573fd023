// Pages that read slowly or not at all over the chat socket: an answer longer than the buffer is still delivered.
import type { Timers } from '@baton/core/internal'
import { defineAgent, tool } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { once } from 'node:events'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { Socket } from '../shared/socket.ts'
import { createChatSocket } from './chat-socket.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A session whose newest answer has this many steps, each with this much text. */
async function createLongAnswer(steps: number, chars: number) {
  const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
  const nod = tool({ name: 'nod', description: 'nod', input: { type: 'object' }, effect: 'pure', execute: () => 'yes' })
  const model = createScriptedModel({
    steps: (_request, at) => ({
      text: 'x'.repeat(chars),
      ...(at < steps - 1 && { calls: [{ name: 'nod', arguments: {} }] }),
    }),
  })
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model, tools: [nod] }) })
  closers.push(() => host.stop())
  const session = await host.session('s', { principal: { id: 'anonymous' } })
  await session.send('go').answer
  return { host, environment }
}

/** Sent data waits until the test reads it. */
function createPipe() {
  const waiting: string[] = []
  const read: string[] = []
  let closed: readonly [number, string] | undefined
  let deliver = (_text: string): void => {}
  let tellClosed = (): void => {}
  let most = 0
  const countBytes = (): number => waiting.reduce((sum, { length }) => sum + length, 0)
  const socket: Socket = {
    send: (text) => {
      waiting.push(text)
      most = Math.max(most, countBytes())
      return true
    },
    close: (code, reason) => {
      closed = [code, reason]
      tellClosed()
    },
    bufferedBytes: countBytes,
    onMessage: (listener) => {
      deliver = listener
    },
    onClose: (listener) => {
      tellClosed = listener
    },
  }
  return {
    socket,
    read,
    takeOne: () => void read.push(...waiting.splice(0, 1)),
    deliver: (frame: object) => deliver(JSON.stringify(frame)),
    closed: () => closed,
    most: () => most,
  }
}

function readText(frames: readonly string[]): string {
  return frames
    .map((text) => (JSON.parse(text) as { chunk?: { type: string; delta?: string } }).chunk)
    .map((chunk) => (chunk?.type === 'text-delta' ? (chunk.delta ?? '') : ''))
    .join('')
}

const STEPS = 8
const CHARS = 2000

test('an answer longer than the buffer reaches a slow reader completely', async () => {
  const { host } = await createLongAnswer(STEPS, CHARS)
  const pipe = createPipe()
  createChatSocket(host, { limits: { waitingBytes: 1000 } })(pipe.socket, { id: 'anonymous' })
  pipe.deliver({ type: 'resume', requestId: 'r', id: 's' })
  await expect
    .poll(
      () => {
        pipe.takeOne()
        return pipe.read.at(-1)
      },
      { interval: 5 },
    )
    .toContain('"end"')
  expect(readText(pipe.read)).toHaveLength(STEPS * CHARS)
  // The limit on unsent data, plus one event.
  expect(pipe.most()).toBeLessThan(1000 + 2 * CHARS)
  expect(pipe.closed()).toBeUndefined()
})

test('a reader that reads nothing for a minute is let go', async () => {
  const { host, environment } = await createLongAnswer(STEPS, CHARS)
  const looks: (() => void)[] = []
  const timers = {
    start: (ms: number, callback: () => void, options?: object) => {
      if (ms !== 20) return environment.timers.start(ms, callback, options)
      looks.push(callback)
      return () => {}
    },
  }
  const look = async (times: number): Promise<void> => {
    for (let at = 0; at < times; at++) {
      await expect.poll(() => looks.length, { interval: 0 }).toBe(1)
      looks.shift()?.()
    }
  }
  const pipe = createPipe()
  const open = createChatSocket(host, { limits: { waitingBytes: 1000 }, timers })
  const connection = open(pipe.socket, { id: 'anonymous' })
  pipe.deliver({ type: 'resume', requestId: 'r', id: 's' })
  await look(2999)
  pipe.takeOne() // a sign of life
  await look(2999)
  expect([pipe.closed(), connection.isBusy()]).toEqual([undefined, true])
  await look(2)
  await expect.poll(pipe.closed).toEqual([1013, 'the reader is too slow'])
  await expect.poll(() => connection.isBusy()).toBe(false)
})

test('unread refusals do not accumulate', async () => {
  const { host } = await createLongAnswer(1, 1)
  const pipe = createPipe()
  createChatSocket(host, { limits: { waitingBytes: 1000 } })(pipe.socket, { id: 'anonymous' })
  for (let at = 0; at < 100; at++) pipe.deliver({ type: 'dance', requestId: `r${at}`, id: 's' })
  await expect.poll(pipe.closed).toEqual([1013, 'the reader is too slow'])
})

test('over a real connection that is paused, nothing is lost', async () => {
  const { host, environment } = await createLongAnswer(30, 300_000)
  let looks = 0
  const timers: Timers = {
    start: (ms, callback, options) => {
      if (ms === 20) looks += 1
      return environment.timers.start(ms, callback, options)
    },
  }
  const chats = createChatSocket(host, { limits: { waitingBytes: 100_000 }, timers })
  const front = createWebSocketFront(host, { ...environment, port: 0, chats })
  const { port } = await front.listen()
  closers.push(() => front.close())
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/chat`)
  await once(socket, 'open')
  const read: string[] = []
  const ended = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      const text = data.toString()
      read.push(text)
      if (text.includes('"type":"end"')) resolve()
    })
  })
  socket.pause()
  socket.send(JSON.stringify({ type: 'resume', requestId: 'r', id: 's' }))
  // The answer is being sent and waits, because the network accepts nothing further.
  await expect.poll(() => looks).toBeGreaterThan(2)
  socket.resume()
  await ended
  expect(readText(read)).toHaveLength(9_000_000)
  socket.terminate()
})
