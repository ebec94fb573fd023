// Inputs and interrupts that the user takes back, or that nobody can send, around a connection that breaks. The test plays
// the server.
import type { JsonObject } from '@baton/core'
import { expect, onTestFinished, test } from 'vitest'
import type { ClientError, SessionClient } from '../index.ts'
import { openSession } from '../index.ts'
import type { Outbox, OutboxEntry } from '../outbox/outbox.ts'
import { createPlayedServer, INFO, openPlayed, outcomeOf, settle } from '../played-server.test-kit.ts'

const url = 'ws://127.0.0.1:9/ws'

/** Keeps saved entries, and reports those left by a former copy. */
function createKeptOutbox(left: readonly OutboxEntry[] = []) {
  const kept = new Map<string, OutboxEntry>()
  const outbox: Outbox = {
    join: ({ onLeft }) => {
      if (left.length > 0) void Promise.resolve().then(() => onLeft(left))
      return {
        save: (entry) => void kept.set(`${entry.kind} ${entry.id}`, entry),
        remove: (kind, id) => void kept.delete(`${kind} ${id}`),
        leave: () => Promise.resolve(),
      }
    },
  }
  return { outbox, keys: () => [...kept.keys()] }
}

function open(left: readonly OutboxEntry[] = []) {
  const server = createPlayedServer()
  const kept = createKeptOutbox(left)
  const client = openSession({ url, session: 's', world: server.world, outbox: kept.outbox })
  onTestFinished(() => client.close())
  const errors: ClientError[] = []
  client.on('error', (error) => void errors.push(error))
  const codes = (): readonly string[] => errors.map(({ code }) => code)
  return { server, kept, client, codes }
}

const delivery = (client: SessionClient): unknown =>
  client.getSnapshot().messages.map((message) => (message.role === 'user' ? [message.id, message.delivery] : 'answer'))

test('an input that cannot be written as JSON fails, and later ones are sent, also over the next connection', async () => {
  const { server, client, codes, kept } = open()
  openPlayed(server)
  const round: { self?: unknown } = {}
  round.self = round
  const { accepted } = client.notify({ name: 'bad', detail: round as JsonObject })
  expect(await outcomeOf(accepted)).toBe('invalid_event')
  client.send('later', { id: 'later' })
  expect(server.asked('input.send')).toMatchObject([{ input: 'later' }])
  expect([codes(), kept.keys()]).toEqual([['invalid_event'], ['input later']])
  // The same while there is no connection.
  server.breakWith(1006)
  const again = client.notify({ name: 'bad', detail: round as JsonObject })
  const info = outcomeOf(client.info())
  server.advance(10_000)
  openPlayed(server)
  server.accept(server.asked('input.send')[0])
  expect(await outcomeOf(again.accepted)).toBe('invalid_event')
  server.accept(server.asked('session.info')[0], { info: INFO })
  expect(await info).toMatchObject({ agent: 'a' })
})

const begins = (id: string, turn: number): object => ({
  type: 'message-added',
  message: { role: 'assistant', id, turn, exchange: turn, atMs: 1 },
})
const ends = (message: string): object => ({
  type: 'turn-finished',
  message,
  turn: 1,
  stop: 'completed',
  text: '',
  usage: {},
})

test('an interrupt without a connection ends the answer that was shown, never the next one', async () => {
  const { server, client } = open()
  openPlayed(server)
  server.tell(begins('t1', 1))
  const here = client.interrupt({ heard: { type: 'none' } })
  expect(server.asked('turn.interrupt')).toMatchObject([{ turn: 't1', heard: { type: 'none' } }])
  server.accept(server.asked('turn.interrupt')[0])
  await here
  server.breakWith(1006)
  const away = outcomeOf(client.interrupt())
  server.advance(10_000)
  server.begin()
  server.accept(server.asked('session.open')[0], { session: 's', info: INFO, next: { pos: 0 } })
  server.tell(ends('t1'), begins('t2', 2), { type: 'live' })
  // The server ends nothing: a newer answer has begun.
  expect(server.asked('turn.interrupt')).toMatchObject([{ turn: 't1' }])
  server.accept(server.asked('turn.interrupt')[0])
  expect(await away).toBe('done')
})

test('an interrupt names no answer that has ended, if the app names one, or if it takes back what waits', () => {
  const { server, client } = open()
  openPlayed(server)
  server.tell(begins('t1', 1))
  for (const given of [{ turn: 't0' }, { queue: 'withdraw' as const }]) client.interrupt(given).catch(() => {})
  server.tell(ends('t1'))
  client.interrupt().catch(() => {})
  expect(server.asked('turn.interrupt').map(({ turn }) => turn)).toEqual(['t0', undefined, undefined])
})

test.each(['before', 'after'])(
  'a message that the server has postponed can be taken back (%s the refusal), and does not hold up the next',
  async (when) => {
    const { server, client, kept } = open()
    openPlayed(server)
    const { accepted } = client.send('one', { id: 'one' })
    client.send('two', { id: 'two' })
    const postpone = (): void =>
      server.refuse(server.asked('input.send')[0], 'rate_limited', { retryable: true, retryAfterMs: 5000 })
    if (when === 'after') postpone()
    const withdrawn = outcomeOf(client.withdraw('one'))
    if (when === 'before') {
      postpone()
      server.refuse(server.asked('input.withdraw')[0], 'unknown_input')
    }
    expect(await withdrawn).toBe('done')
    expect(await outcomeOf(accepted)).toBe('cancelled')
    expect(server.asked('input.send').map(({ input }) => input)).toEqual(['one', 'two'])
    expect([delivery(client), kept.keys()]).toEqual([[['two', 'pending']], ['input two']])
    server.advance(5000)
    expect(server.asked('input.send')).toHaveLength(2)
  },
)

test.each([true, false])(
  'a message that was sent and then taken back without a connection is gone, also if the server has it: %s',
  async (isAtServer) => {
    const { server, client, kept } = open()
    openPlayed(server)
    const { answer } = client.send('one', { id: 'one' })
    expect(server.asked('input.send')).toHaveLength(1)
    server.breakWith(1006)
    const withdrawn = outcomeOf(client.withdraw('one'))
    server.advance(10_000)
    server.begin()
    server.accept(server.asked('session.open')[0], { session: 's', info: INFO, next: { pos: 0 } })
    const message = { role: 'user', id: 'one', from: 'user', parts: [], atMs: 1, waits: true }
    server.tell(...(isAtServer ? [{ type: 'message-added', message }] : []), { type: 'live' })
    const [request] = server.asked('input.withdraw')
    expect(request).toMatchObject({ input: 'one' })
    if (isAtServer) {
      server.tell({ type: 'message-withdrawn', message: 'one' })
      server.accept(request)
    } else server.refuse(request, 'unknown_input')
    expect([await withdrawn, await outcomeOf(answer)]).toEqual(['done', 'cancelled'])
    expect([server.asked('input.send'), delivery(client), kept.keys()]).toEqual([[], [], []])
  },
)

test('a message that was not sent is taken back at once, and one that nobody knows is not', async () => {
  const { server, client } = open()
  openPlayed(server)
  client.send('one', { id: 'one' })
  server.breakWith(1006)
  client.send('two', { id: 'two' })
  const early = outcomeOf(client.withdraw('two'))
  server.advance(10_000)
  openPlayed(server)
  expect(await early).toBe('done')
  const unknown = outcomeOf(client.withdraw('nobody'))
  server.refuse(server.asked('input.withdraw')[0], 'unknown_input')
  expect(await unknown).toBe('unknown_input')
})

test('a message of a former page that it may have sent is not gone before the server has said so', async () => {
  const entry = {
    kind: 'input',
    id: 'old',
    type: 'input.send',
    given: { input: 'old', content: 'old' },
    atMs: 1,
  } as const
  const { server, client } = open([entry])
  await settle()
  const withdrawn = outcomeOf(client.withdraw('old'))
  server.begin()
  server.accept(server.asked('session.open')[0], { session: 's', info: INFO, next: { pos: 0 } })
  const message = { role: 'user', id: 'old', from: 'user', parts: [], atMs: 1, waits: true }
  server.tell({ type: 'message-added', message }, { type: 'live' })
  server.tell({ type: 'message-withdrawn', message: 'old' })
  server.accept(server.asked('input.withdraw')[0])
  expect([await withdrawn, server.asked('input.send')]).toEqual(['done', []])
})
