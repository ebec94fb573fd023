// The client against the real front over real sockets: a conversation with client tools, and a connection that breaks.
import { BatonError, defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { createHost, createNodeEnvironment } from '@baton/host'
import { createWebSocketFront } from '@baton/server/websocket'
import { afterEach, expect, test } from 'vitest'
import type { V1Client, V1ClientEvents, WebSocketLike } from './index.ts'
import { createV1Client, platformWorld } from './index.ts'

const environment = createNodeEnvironment({ post: () => Promise.reject(new Error('no network in this test')) })
const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function serve(
  steps: Parameters<typeof createScriptedModel>[0]['steps'],
  effect: 'pure' | 'once' = 'pure',
): Promise<string> {
  const model = createScriptedModel({ steps })
  const look = tool({ name: 'phone.look', description: 'looks', input: { type: 'object' }, effect })
  const host = createHost({ environment, agent: defineAgent({ name: 'a', model, tools: [look] }) })
  const front = createWebSocketFront({ ...environment, host, log: { info: () => {}, warn: () => {} }, port: 0 })
  closers.push(() => host.stop())
  closers.push(() => front.close())
  return (await front.listen()).url
}

/** Resolves with the first matching event of this name. */
function next<Name extends keyof V1ClientEvents>(
  client: V1Client,
  name: Name,
  fits = (_event: V1ClientEvents[Name]) => true,
) {
  return new Promise<V1ClientEvents[Name]>((resolve) => {
    const off = client.on(name, (event) => {
      if (!fits(event)) return
      off()
      resolve(event)
    })
  })
}

const STEPS = [
  { text: 'Let me look.', calls: [{ name: 'phone.look', arguments: { at: 'sky' } }] },
  { text: 'It is blue.' },
]

test('a conversation with a client tool and a voice', async () => {
  const url = await serve(STEPS)
  const spoken: string[] = []
  const client = createV1Client({
    url,
    session: 's',
    tools: { 'phone.look': ({ at }: { at: string }) => ({ seen: `${at}: blue` }) },
    speak: (text) => spoken.push(text),
  })
  closers.push(() => client.close())
  const result = next(client, 'result')
  const final = next(client, 'final')
  const idle = next(client, 'state', (state) => state === 'idle')
  client.say('What colour is the sky?')
  expect(await result).toMatchObject({ result: '{"seen":"sky: blue"}', error: null })
  expect(await final).toBe('Let me look.\n\nIt is blue.')
  await idle
  expect(spoken.join(' | ').replaceAll('\n', ' ')).toMatch(/^Let me look. +It is blue.$/)
})

test('an app hears an answer while it is written, and the failure of a model with a code', async () => {
  const error = new BatonError({ code: 'model_auth_failed', message: 'the key is wrong' })
  const url = await serve([{ pieces: ['It is ', 'blue.'], pieceMs: 1 }, { error }])
  const client = createV1Client({ url, session: 's' })
  closers.push(() => client.close())
  const partial = next(client, 'partial')
  const final = next(client, 'final')
  client.say('What colour is the sky?')
  expect(await partial).toMatch(/^It is/)
  expect(await final).toBe('It is blue.')
  const failed = next(client, 'error')
  client.say('And the sea?')
  expect(await failed).toMatchObject({ code: 'model_provider_failed' })
})

test('a connection that breaks while a tool runs: the tool runs once, and the turn ends', async () => {
  const url = await serve(STEPS)
  const sockets: WebSocketLike[] = []
  const world = platformWorld()
  const openSocket = (to: string): WebSocketLike => {
    const socket = world.openSocket(to)
    sockets.push(socket)
    return socket
  }
  let runs = 0
  const gate = Promise.withResolvers<void>()
  const look = async (): Promise<string> => {
    runs += 1
    await gate.promise
    return 'blue'
  }
  const client = createV1Client({
    url,
    session: 's',
    tools: { 'phone.look': look },
    reconnect: { baseMs: 1 },
    world: { ...world, openSocket },
  })
  closers.push(() => client.close())
  const final = next(client, 'final')
  client.say('What colour is the sky?')
  await next(client, 'call')
  const again = next(client, 'connection', (state) => state === 'open')
  sockets[0]?.close()
  await again
  gate.resolve()
  expect(await final).toBe('Let me look.\n\nIt is blue.')
  expect(runs).toBe(1)
})

test('a result that was lost with its connection is sent again: nobody else will ask for it', async () => {
  const url = await serve(STEPS, 'once')
  const world = platformWorld()
  let lost = 0
  const openSocket = (to: string): WebSocketLike => {
    const socket = world.openSocket(to)
    const send = socket.send.bind(socket)
    return Object.assign(socket, {
      send: (text: string) => {
        if (!text.includes('phone.look seen') || lost > 0) send(text)
        else {
          lost += 1
          socket.close()
        }
      },
    })
  }
  const client = createV1Client({
    url,
    session: 's',
    tools: { 'phone.look': () => 'phone.look seen' },
    reconnect: { baseMs: 1 },
    world: { ...world, openSocket },
  })
  closers.push(() => client.close())
  const final = next(client, 'final')
  client.say('What colour is the sky?')
  expect(await final).toBe('Let me look.\n\nIt is blue.')
  expect(lost).toBe(1)
})

test('what is said without a connection is sent when there is one', async () => {
  const url = await serve([{ text: 'Hello.' }])
  const world = platformWorld()
  let tries = 0
  const openSocket = (to: string): WebSocketLike => world.openSocket((tries += 1) === 1 ? 'ws://127.0.0.1:9/ws' : to)
  const client = createV1Client({ url, session: 's', reconnect: { baseMs: 1 }, world: { ...world, openSocket } })
  closers.push(() => client.close())
  const final = next(client, 'final')
  client.say('Hi')
  expect(await final).toBe('Hello.')
})

test('a tool that the app does not have, and one that throws, are results', async () => {
  const calls = [{ name: 'phone.look', arguments: {} }]
  const url = await serve([{ calls }, { text: 'Sorry.' }])
  const client = createV1Client({ url, session: 's' })
  closers.push(() => client.close())
  const result = next(client, 'result')
  client.say('Look')
  expect(await result).toMatchObject({ result: null, error: 'this app has no tool "phone.look"' })
})

test('a tool that throws what cannot be read is a result all the same', async () => {
  const url = await serve(STEPS)
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  const client = createV1Client({ url, session: 's', tools: { 'phone.look': () => Promise.reject(proxy as Error) } })
  closers.push(() => client.close())
  const result = next(client, 'result')
  const final = next(client, 'final')
  client.say('What colour is the sky?')
  expect(await result).toMatchObject({ result: null, error: 'the tool did not say why it failed' })
  await final
})

test('listeners that throw are reported, and keep neither a call, its result, nor a text from their way', async () => {
  const url = await serve(STEPS)
  const world = platformWorld()
  const thrown: unknown[] = []
  const start = (delayMs: number, callback: () => void) =>
    world.start(delayMs, () => {
      try {
        callback()
      } catch (cause) {
        thrown.push(cause)
      }
    })
  const tools = { 'phone.look': () => 'blue' }
  const client = createV1Client({ url, session: 's', tools, world: { ...world, start } })
  closers.push(() => client.close())
  for (const name of ['connection', 'call', 'result', 'state'] as const)
    client.on(name, () => {
      throw new Error(name)
    })
  const final = next(client, 'final')
  client.say('What colour is the sky?')
  expect(await final).toBe('Let me look.\n\nIt is blue.')
  const reported = () => new Set(thrown.map((cause) => (cause instanceof Error ? cause.message : '')))
  await expect.poll(() => [...reported()].toSorted()).toEqual(['call', 'connection', 'result', 'state'])
})
