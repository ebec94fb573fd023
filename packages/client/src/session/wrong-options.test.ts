// Mistakes of programs when they open a session: they fail at once, with an error that says what to do.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocketServer } from 'ws'
import type { OpenSessionOptions, SessionClientEvents } from '../index.ts'
import { ClientError, createV1Client, createMemoryOutbox, openDirectory, openSession } from '../index.ts'
import { platformWorld } from '../world.ts'
import { open, serve, until } from './session.test-kit.ts'

const url = 'ws://127.0.0.1:9/ws'

test.each(['id', 'sessionId', 'sesion', 'token'])(
  'an option that does not exist, %s, is refused by its name',
  (name) => {
    expect(() => openSession({ url, [name]: 'x' })).toThrow(
      expect.objectContaining({
        code: 'invalid_option',
        message: `openSession has no option "${name}"`,
        hint: expect.stringContaining('session, title'),
      }),
    )
  },
)

test('every option that exists is taken', () => {
  const options: Required<OpenSessionOptions> = {
    url,
    session: 's',
    title: 'a title',
    meta: {},
    messages: 5,
    tools: {},
    otherTool: () => 1,
    ownTools: {},
    models: {},
    asks: false,
    children: true,
    speech: true,
    leaseMs: 5000,
    outbox: createMemoryOutbox(),
    reconnect: {},
    world: platformWorld(),
  }
  const client = openSession(options)
  expect(client.id).toBe('s')
  client.close()
})

test.each(['nonsense', 'ftp://127.0.0.1/ws', '', undefined])('%s is refused as a url', (wrong) => {
  const refusal = expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining('url') })
  const given = wrong as string
  expect(() => openSession({ url: given })).toThrow(refusal)
  expect(() => openDirectory({ url: given })).toThrow(refusal)
  expect(() => createV1Client({ url: given, session: 's' })).toThrow(refusal)
})

test('an address without its path is told, and tried on', async () => {
  const server = await serve([])
  const client = open({ url: server.url.replace('/ws', ''), session: 's' })
  const { error, status } = await until(client, (snapshot) => snapshot.error !== undefined)
  expect(error).toMatchObject({ code: 'connection_failed', message: 'HTTP 404: does the url end with /ws?' })
  expect(status).not.toBe('closed')
})

test('a server that is not running is told without the token, and tried on', async () => {
  const server = await serve([])
  await server.stop()
  const client = open({ url: `${server.url}?token=hidden`, session: 's' })
  const { error, status } = await until(client, (snapshot) => snapshot.error !== undefined)
  expect(error).toMatchObject({ code: 'connection_failed', message: `no server answers at ${server.url}` })
  expect(status).not.toBe('closed')
})

test.each([
  ['a list of tools', [{ name: 'place' }], '"0"'],
  ['a tool in place of its function', { place: { name: 'place', execute: () => 'Rome' } }, '"place"'],
])('tools that are %s are told', async (_, tools, name) => {
  const errors: ClientError[] = []
  const client = openSession({ url, tools: tools as unknown as NonNullable<OpenSessionOptions['tools']> }) // as in JavaScript
  onTestFinished(() => client.close())
  client.on('error', (error) => void errors.push(error))
  await expect
    .poll(() => errors.map(({ message }) => message).join('\n'))
    .toContain(`functions by name; ${name} is not`)
})

test('every event that exists has listeners', () => {
  const client = openSession({ url })
  const events: Readonly<Record<keyof SessionClientEvents, true>> = {
    event: true,
    sentence: true,
    'sentences.dropped': true,
    status: true,
    error: true,
    call: true,
    outcome: true,
  }
  for (const name of Object.keys(events)) client.on(name as keyof SessionClientEvents, () => {})() // its own keys
  client.close()
})

test('a listener of the first protocol for an event that never happens is refused', () => {
  const client = createV1Client({ url, session: 's' })
  onTestFinished(() => client.close())
  client.on('connection', () => {})
  expect(() => client.on('event' as 'state', () => {})).toThrow('a client has no event "event"')
})

test.each(['message', 'text', 'change', 'toString'])('a listener for %s, which never happens, is refused', (name) => {
  const client = openSession({ url })
  onTestFinished(() => client.close())
  expect(() => client.on(name as 'event', () => {})).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: `a session has no event "${name}"`,
      hint: expect.stringContaining('event, sentence'),
    }),
  )
})

test('a server that says hello twice is left, and asked once for each connection', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  let [connections, asked] = [0, 0]
  const hello = JSON.stringify({ type: 'hello', protocol: 2, nowMs: 0, limits: { frameBytes: 9e6, resultBytes: 9e6 } })
  server.on('connection', (socket) => {
    connections += 1
    socket.on('message', () => {
      asked += 1
      socket.send(hello)
    })
    socket.send(hello)
  })
  const { port } = server.address() as AddressInfo // it listens on TCP
  const client = open({ url: `ws://127.0.0.1:${port}/ws`, session: 's' })
  const { error } = await until(client, (snapshot) => snapshot.error !== undefined)
  expect(error).toMatchObject({ code: 'internal', message: expect.stringContaining('a second hello') })
  await expect.poll(() => connections).toBeGreaterThan(2)
  expect(asked).toBeLessThanOrEqual(connections)
})

test('an error prints its code and hint, and nothing that it has not', () => {
  const text = inspect(new ClientError({ code: 'invalid_option', message: 'it is wrong', hint: 'Mend it.' }))
  expect(text).toMatch(/it is wrong[^]*code: 'invalid_option',\s+hint: 'Mend it.'/)
  expect(text).not.toContain('undefined')
})
