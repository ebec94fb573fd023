// The client of version 1 over breaking connections, with a server played by the test: resent frames and their ids, and
// actions that must happen once.
import { expect, onTestFinished, test } from 'vitest'
import type { V1Client, V1ClientOptions } from './index.ts'
import { createV1Client } from './index.ts'
import type { PlayedServer, SentFrame } from './played-server.test-kit.ts'
import { createPlayedServer, settle } from './played-server.test-kit.ts'

let frames = 0
const frame = (type: string, payload: object, id = `f${(frames += 1)}`): object => ({
  id,
  type,
  sessionId: 's',
  timestamp: '2026-01-01T00:00:00Z',
  payload,
})
const call = (callId: string, name: string, input: object = {}): object =>
  frame('tool.call', { callId, name, arguments: JSON.stringify(input) })

/** Opens the newest connection and starts the session. */
function start(server: PlayedServer): void {
  server.newest().onopen?.(undefined as never) // the event's fields are not read
  server.say(frame('session.started', { sessionId: 's' }))
}

function reconnect(server: PlayedServer): void {
  server.breakWith(1006)
  server.advance(10_000)
  start(server)
}

function open(init: Partial<V1ClientOptions> = {}) {
  const server = createPlayedServer()
  const client: V1Client = createV1Client({ url: 'ws://127.0.0.1:9/ws', session: 's', world: server.world, ...init })
  onTestFinished(() => client.close())
  return { server, client }
}

const texts = (sent: readonly SentFrame[]): unknown =>
  sent.flatMap(({ id, type, payload }) =>
    type === 'user.audio.transcript.final' ? [[id, (payload as { readonly text: string }).text]] : [],
  )
const results = (sent: readonly SentFrame[]): unknown =>
  sent.flatMap(({ type, payload }) => (type === 'tool.result' ? [payload] : []))

test('texts are sent again under their ids until the server shows them, and two that are alike are two', () => {
  const { server, client } = open()
  client.say('yes')
  client.say('yes')
  // Nothing is sent before the session is started.
  expect(server.newest().sent).toEqual([])
  start(server)
  const first = texts(server.newest().sent)
  expect(first).toEqual([
    [expect.any(String), 'yes'],
    [expect.any(String), 'yes'],
  ])
  reconnect(server)
  expect(texts(server.newest().sent)).toEqual(first)
  server.say(call('d1', 'convo.appendMessage', { role: 'user', text: 'yes' }))
  expect(server.sockets).toHaveLength(2)
})

test('a text that was shown is not sent again, but for another one that is alike', async () => {
  const { server, client } = open()
  start(server)
  client.say('yes')
  client.say('yes')
  server.say(call('d1', 'convo.appendMessage', { role: 'user', text: 'yes' }))
  await settle()
  reconnect(server)
  expect(texts(server.newest().sent)).toHaveLength(1)
})

test('a frame that comes again over the next connection is told once, and a call that comes again is run once', async () => {
  let runs = 0
  const { server, client } = open({ tools: { look: () => `seen ${(runs += 1)}` } })
  const finals: string[] = []
  client.on('final', (text) => void finals.push(text))
  start(server)
  const said = frame('assistant.speech.final', { text: 'Blue.' })
  server.say(said)
  server.say(call('c1', 'look'))
  await settle()
  reconnect(server)
  server.say(said)
  // The server did not get the result: the call arrives in another frame.
  server.say(call('c1', 'look'))
  await settle()
  const seen = { callId: 'c1', result: 'seen 1', error: null }
  expect([finals, runs, results(server.newest().sent)]).toEqual([['Blue.'], 1, [seen, seen]])
})

test('results of a turn are sent again until it is over, and a hundred of them at most', async () => {
  const { server } = open({ tools: { look: (_: unknown, { callId }: { readonly callId: string }) => callId } })
  start(server)
  for (let index = 0; index < 101; index++) server.say(call(`c${index}`, 'look'))
  await settle()
  reconnect(server)
  expect(results(server.newest().sent)).toHaveLength(100)
  expect(results(server.newest().sent)).toContainEqual({ callId: 'c100', result: 'c100', error: null })
  server.say(call('d1', 'convo.setState', { state: 'idle' }))
  await settle()
  reconnect(server)
  expect(results(server.newest().sent)).toEqual([])
})

test('what is shown is shown in its order, each after the one before, and a failure is told', async () => {
  const gate = Promise.withResolvers<void>()
  const shown: string[] = []
  const { server, client } = open({
    speak: async (text) => {
      if (text === 'loud') throw new Error('no sound')
      await gate.promise
      shown.push(text)
    },
  })
  client.on('message', ({ text }) => void shown.push(text))
  start(server)
  server.say(call('d1', 'tts.speak', { text: 'long' }))
  server.say(call('d2', 'convo.appendMessage', { role: 'assistant', text: 'after' }))
  server.say(call('d3', 'tts.speak', { text: 'loud' }))
  await settle()
  expect(shown).toEqual([])
  gate.resolve()
  await settle()
  expect(shown).toEqual(['long', 'after'])
  expect(results(server.newest().sent)).toEqual([
    { callId: 'd1', result: 'ok', error: null },
    { callId: 'd2', result: 'ok', error: null },
    { callId: 'd3', result: null, error: 'no sound' },
  ])
})

test('results go with their own turn, also where its end is shown late, behind a long speech', async () => {
  const gate = Promise.withResolvers<void>()
  const look = (_: unknown, { callId }: { readonly callId: string }): string => `seen ${callId}`
  const { server } = open({ tools: { look }, speak: () => gate.promise })
  start(server)
  server.say(call('c1', 'look'))
  await settle()
  server.say(call('d1', 'tts.speak', { text: 'long' }))
  server.say(call('d2', 'convo.setState', { state: 'idle' }))
  reconnect(server)
  expect(results(server.newest().sent)).toEqual([])
  server.say(call('c2', 'look'))
  await settle()
  gate.resolve()
  await settle()
  reconnect(server)
  expect(results(server.newest().sent)).toEqual([{ callId: 'c2', result: 'seen c2', error: null }])
})

test('a server that does not start the session is left after ten seconds, and one that has is not', () => {
  const { server, client } = open()
  const states: string[] = []
  client.on('connection', (state) => void states.push(state))
  const left = server.newest()
  server.advance(10_000)
  expect([left.isClosed, states]).toEqual([true, ['waiting']])
  server.advance(1000)
  // The old connection still delivers a frame, and closes.
  server.say(frame('session.started', { sessionId: 's' }), left)
  expect(client.connection).toBe('connecting')
  server.breakWith(1006, left)
  start(server)
  server.advance(60_000)
  expect(states).toEqual(['waiting', 'connecting', 'open'])
  client.interrupt()
  expect(server.newest().sent.at(-1)).toMatchObject({ type: 'audio.output.interrupted' })
})

test('a client that is closed by who hears that it connects again stays closed', () => {
  const { server, client } = open()
  client.on('connection', (state) => {
    if (state === 'connecting') client.close()
  })
  server.breakWith(1006)
  server.advance(60_000)
  expect([server.sockets.length, server.waiting(), client.connection]).toEqual([1, 0, 'closed'])
})

test('a hundred texts wait at most', () => {
  const { client } = open()
  for (let index = 0; index < 100; index++) client.say('again')
  expect(() => client.say('more')).toThrow('100 texts are already waiting')
})
