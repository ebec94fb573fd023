// Requests of one client while others are pending: answers that are reordered, refused, postponed or lost with their
// connection, and what is sent again over the next one. The test plays the server.
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import type { ClientError, SessionClient, OpenSessionOptions } from '../index.ts'
import type { OutboxEntry } from '../outbox/outbox.ts'
import { openSession } from '../index.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { PlayedServer } from '../played-server.test-kit.ts'
import { createPlayedServer, INFO, openPlayed, outcomeOf, settle, waitingCall } from '../played-server.test-kit.ts'

const url = 'ws://127.0.0.1:9/ws?token=secret'

// A client loads this module when it has tools; preloading makes that immediate.
beforeAll(() => import('./client-calls.ts'))

/** Keeps saved entries, and reports those left by a former copy. */
function createKeptOutbox(left: readonly OutboxEntry[] = []) {
  const kept = new Map<string, OutboxEntry>()
  const scopes: string[] = []
  const outbox: Outbox = {
    join: ({ scope, onLeft }) => {
      scopes.push(scope)
      if (left.length > 0) void Promise.resolve().then(() => onLeft(left))
      return {
        save: (entry) => void kept.set(`${entry.kind} ${entry.id}`, entry),
        remove: (kind, id) => void kept.delete(`${kind} ${id}`),
        leave: () => Promise.resolve(),
      }
    },
  }
  return { outbox, scopes, keys: () => [...kept.keys()], entries: () => [...kept.values()] }
}

function open(options: Partial<OpenSessionOptions> = {}, left: readonly OutboxEntry[] = []) {
  const server = createPlayedServer()
  const kept = createKeptOutbox(left)
  const client = openSession({ url, session: 's', world: server.world, outbox: kept.outbox, ...options })
  onTestFinished(() => client.close())
  const errors: ClientError[] = []
  client.on('error', (error) => void errors.push(error))
  const codes = (): readonly string[] => errors.map(({ code }) => code)
  return { server, kept, client, codes }
}

/** Breaks the connection, and opens the next one. */
function reconnect(server: PlayedServer): void {
  server.breakWith(1006)
  server.advance(10_000)
  openPlayed(server)
}

const delivery = (client: SessionClient): unknown =>
  client.getSnapshot().messages.map((message) => (message.role === 'user' ? [message.id, message.delivery] : 'answer'))

const added = (id: string, text = id): object => ({
  type: 'message-added',
  message: { role: 'user', id, from: 'user', parts: [{ type: 'text', text }], atMs: 1 },
})

test('inputs go one after another, in their order, and one that is refused keeps no other from its way', async () => {
  const { server, client, kept } = open()
  openPlayed(server)
  const [one, two, three] = ['one', 'two', 'three'].map((id) => client.send(id, { id }))
  expect(server.asked('input.send').map(({ input }) => input)).toEqual(['one'])
  server.refuse(server.asked('input.send')[0], 'input_too_large')
  expect(server.asked('input.send').map(({ input }) => input)).toEqual(['one', 'two'])
  server.accept(server.asked('input.send')[1])
  server.accept(server.asked('input.send')[2])
  expect(await Promise.all([one, two, three].map((sent) => outcomeOf(sent?.accepted ?? Promise.resolve())))).toEqual([
    'input_too_large',
    'done',
    'done',
  ])
  expect(kept.keys()).toEqual([])
  expect(delivery(client)).toEqual([
    ['two', 'pending'],
    ['three', 'pending'],
    ['one', 'failed'],
  ])
  // Sent again under its id.
  client.retry('one')
  expect(server.asked('input.send').at(-1)).toMatchObject({ input: 'one', content: 'one' })
})

test('a refused message is said again also while as many wait as may, and does not vanish', async () => {
  const left = Array.from({ length: 100 }, (_, index) => {
    const given = { input: `${index}`, content: 'text' }
    return { kind: 'input', id: `${index}`, type: 'input.send', given, atMs: index } as const
  })
  const { server, client } = open({}, left)
  openPlayed(server)
  client.send('refused', { id: 'refused' }).accepted.catch(() => {})
  server.refuse(server.asked('input.send')[0], 'input_too_large')
  await settle()
  expect(delivery(client)).toContainEqual(['refused', 'failed'])
  client.retry('refused')
  expect(delivery(client)).toContainEqual(['refused', 'pending'])
})

test.each([
  ['that the server names', { retryAfterMs: 7000 }, [7000]],
  ['that grows with each try', {}, [1000, 2000, 3000]],
])('an input that is put off is sent again, under its id, after a time %s', (_, more, pauses) => {
  const { server, client } = open()
  openPlayed(server)
  client.send('one', { id: 'one' })
  for (const [index, pauseMs] of pauses.entries()) {
    server.refuse(server.asked('input.send')[index], 'quota_exceeded', { retryable: true, ...more })
    server.advance(pauseMs - 1)
    expect(server.asked('input.send')).toHaveLength(index + 1)
    server.advance(1)
  }
  expect(server.asked('input.send').map(({ input }) => input)).toEqual(['one', ...pauses.map(() => 'one')])
})

test('an input that is put off nine times is refused, and its connection breaking counts as none of them', async () => {
  const { server, client } = open()
  openPlayed(server)
  const { accepted } = client.send('one', { id: 'one' })
  for (const _ of Array.from({ length: 8 })) {
    server.refuse(server.asked('input.send').at(-1), 'quota_exceeded', { retryable: true })
    server.advance(9000)
    reconnect(server)
  }
  server.refuse(server.asked('input.send').at(-1), 'quota_exceeded', { retryable: true })
  expect(await outcomeOf(accepted)).toBe('quota_exceeded')
})

test('what is under way when the connection breaks is sent again once, and the answer of the old one counts no more', async () => {
  const { server, client, kept } = open()
  openPlayed(server)
  client.send('one', { id: 'one' })
  client.send('two', { id: 'two' })
  const old = server.newest()
  server.refuse(server.asked('input.send')[0], 'quota_exceeded', { retryable: true, retryAfterMs: 15_000 })
  reconnect(server)
  server.say({ type: 'ok', re: old.sent.at(-1)?.id }, old)
  // The old connection's wait ends with it.
  expect(server.asked('input.send').map(({ input }) => input)).toEqual(['one'])
  server.advance(6000)
  expect(server.asked('input.send').map(({ input }) => input)).toEqual(['one'])
  expect(kept.keys()).toEqual(['input one', 'input two'])
})

test('what is on its way when the client is closed stays in the outbox, for the next copy of the app', async () => {
  const { server, client, kept } = open()
  openPlayed(server)
  const { accepted } = client.send('one', { id: 'one' })
  client.send('two', { id: 'two' })
  client.close()
  expect(await outcomeOf(accepted)).toBe('session_closed')
  expect(kept.keys()).toEqual(['input one', 'input two'])
})

test('what waits for a connection ends with the client, at once', async () => {
  const { server, client } = open()
  openPlayed(server)
  server.breakWith(1006)
  const asked = [outcomeOf(client.info()), outcomeOf(client.send('one').answer)]
  client.close()
  expect(await Promise.all(asked)).toEqual(['session_closed', 'session_closed'])
  expect(server.waiting()).toBe(0)
})

test('what is on its way is not taken back here; what waits and what was refused is', async () => {
  const { server, client, kept } = open()
  openPlayed(server)
  const [sent, waits] = ['sent', 'waits'].map((id) => client.send(id, { id }))
  await client.withdraw('waits')
  expect(await outcomeOf(waits?.answer ?? Promise.resolve())).toBe('cancelled')
  void outcomeOf(client.withdraw('sent'))
  expect(server.asked('input.withdraw')).toMatchObject([{ input: 'sent' }])
  expect(kept.keys()).toEqual(['input sent'])
  server.refuse(server.asked('input.send')[0], 'illegal_input')
  expect(await outcomeOf(sent?.accepted ?? Promise.resolve())).toBe('illegal_input')
  await client.withdraw('sent')
  expect(delivery(client)).toEqual([])
})

test('a hundred inputs wait at most, those that were refused among them', () => {
  const { server, client, kept } = open()
  openPlayed(server)
  for (let index = 0; index < 100; index++) client.send(`${index}`, { id: `${index}` })
  // Entries have an order, even within one millisecond.
  expect(new Set(kept.entries().map(({ atMs }) => atMs)).size).toBe(100)
  for (let index = 0; index < 100; index++) server.refuse(server.asked('input.send')[index], 'illegal_input')
  expect(() => client.send('more')).toThrow('100 inputs are already waiting')
})

test('entries that a former copy has left come before what this one said, and none of them twice', async () => {
  const entry = (id: string, atMs: number): OutboxEntry => ({
    kind: 'input',
    id,
    atMs,
    type: 'input.send',
    given: { input: id, content: `${id} of the former copy` },
  })
  const { server, client, kept } = open({}, [entry('left', 1), entry('said', 2)])
  client.send('said here', { id: 'said' })
  await settle()
  openPlayed(server)
  server.accept(server.asked('input.send')[0])
  server.accept(server.asked('input.send')[1])
  expect(server.asked('input.send')).toMatchObject([
    { input: 'left', content: 'left of the former copy' },
    { input: 'said', content: 'said here' },
  ])
  expect(kept.scopes).toEqual(['ws://127.0.0.1:9/ws s'])
})

test('messages keep their order for the next copy of the app too, where the clock was set back between two copies', async () => {
  const left = [5_000, 6_000].map((atMs, index): OutboxEntry => ({
    kind: 'input',
    id: `left ${index}`,
    atMs,
    type: 'input.send',
    given: { input: `left ${index}`, content: 'from the former copy' },
  }))
  const { client, kept, server } = open({}, left)
  for (const id of ['said at once', 'and another']) client.send('before the former copy is known', { id })
  await settle()
  client.send('after it', { id: 'said then' })
  const order = ['left 0', 'left 1', 'said at once', 'and another', 'said then']
  // As outboxes hand entries over.
  const saved = [...left, ...kept.entries()].sort((one, other) => one.atMs - other.atMs)
  expect(saved.map(({ id }) => id)).toEqual(order)
  openPlayed(server)
  for (let index = 0; index < order.length; index++) server.accept(server.asked('input.send')[index])
  expect(server.asked('input.send').map(({ input }) => input)).toEqual(order)
  expect(kept.keys()).toEqual([])
})

test('each input gets the end of its own turn, and one that is entered later waits for its own', async () => {
  const { server, client } = open()
  openPlayed(server)
  const [one, two] = ['one', 'two'].map((id) => client.send(id, { id }))
  server.accept(server.asked('input.send')[0])
  server.tell(added('one'), { type: 'message-entered', message: 'one', exchange: 1 })
  server.accept(server.asked('input.send')[1])
  server.tell(added('two'))
  const end = { type: 'turn-finished', message: 't1', turn: 1, usage: {} }
  server.tell({ ...end, stop: 'end', text: 'first' })
  let isOver = false
  two?.answer.then(() => (isOver = true)).catch(() => {})
  expect(await one?.answer).toMatchObject({ text: 'first' })
  await settle()
  expect(isOver).toBe(false)
  server.tell({ type: 'message-entered', message: 'two', exchange: 2 })
  server.tell({ ...end, message: 't2', turn: 2, stop: 'failed', text: '' })
  expect(await outcomeOf(two?.answer ?? Promise.resolve())).toBe('internal')
})

test('an input that the model reads before its acceptance is told gets its answer all the same', async () => {
  const { server, client } = open()
  openPlayed(server)
  const { answer } = client.send('one', { id: 'one' })
  server.tell(added('one'), { type: 'message-entered', message: 'one', exchange: 1 })
  server.accept(server.asked('input.send')[0])
  server.tell({ type: 'turn-finished', message: 't1', turn: 1, stop: 'end', text: 'Yes.', usage: {} })
  expect(await answer).toMatchObject({ text: 'Yes.' })
})

test('an input that was taken back before it was sent once more is shown no longer than the turn', () => {
  const { server, client } = open()
  openPlayed(server)
  client.send('one', { id: 'one' })
  server.accept(server.asked('input.send')[0])
  expect(delivery(client)).toEqual([['one', 'pending']])
  server.tell({ type: 'turn-finished', message: 't1', turn: 1, stop: 'end', text: 'Yes.', usage: {} })
  expect(delivery(client)).toEqual([])
})

test.each([
  ['taken back by somebody', [{ type: 'message-withdrawn', message: 'one' }]],
  [
    'removed with its exchange',
    [
      { type: 'message-entered', message: 'one', exchange: 1 },
      { type: 'messages-removed', fromExchange: 1, keep: [], keepSteps: [] },
    ],
  ],
])('an input that is %s has no answer to wait for', async (_, events) => {
  const { server, client } = open()
  openPlayed(server)
  const { answer } = client.send('one', { id: 'one' })
  server.accept(server.asked('input.send')[0])
  server.tell(added('one'), ...events)
  expect(await outcomeOf(answer)).toBe('cancelled')
})

test('a question that is asked again waits for its new answer, and one that asks nothing for none', async () => {
  const { server, client } = open()
  openPlayed(server, {
    messages: [{ role: 'user', id: 'q', from: 'user', parts: [], atMs: 1, waits: false, exchange: 1 }],
  })
  const again = client.rewind({ message: 'q', again: true })
  const back = client.rewind({ message: 'q' })
  // Read again before it was sent: the existing answer is the old one.
  server.breakWith(1006)
  server.advance(1000)
  const old = { role: 'assistant', id: 't1', turn: 1, exchange: 1, atMs: 1, steps: [], stop: 'end' }
  server.begin()
  server.refuse(server.asked('session.open')[0], 'invalid_event')
  const messages = [{ role: 'user', id: 'q', from: 'user', parts: [], atMs: 1, waits: false, exchange: 1 }, old]
  server.accept(server.asked('session.open')[1], { session: 's', info: INFO, next: { pos: 9 }, messages })
  server.tell({ type: 'live' })
  let isOver = false
  again.answer.then(() => (isOver = true)).catch(() => {})
  await settle()
  expect(isOver).toBe(false)
  server.accept(server.asked('input.rewind')[0], { turn: 't2' })
  server.accept(server.asked('input.rewind')[1])
  expect(await outcomeOf(back.answer)).toBe('cancelled')
})

test('requests are asked over the next connection, but for what is done meanwhile and what must not be done twice', async () => {
  const approval = { approvalId: 'p1', expiresAtMs: 9, ...waitingCall('c1', 'x', { status: 'awaiting-approval' }) }
  const { server, client } = open()
  openPlayed(server)
  const { approvalId, expiresAtMs, ...call } = approval
  const question = { questionId: 'q1', callId: 'c1', message: 'Which?', schema: {}, expiresAtMs: 9 }
  server.tell(
    { type: 'call', call },
    { type: 'approval-requested', approvalId, expiresAtMs, call },
    { type: 'question-asked', ...question },
  )
  const asked = {
    decide: outcomeOf(client.decide({ approvalId: 'p1', decision: 'approve' })),
    answer: outcomeOf(client.answer({ questionId: 'q1', value: {} })),
    describe: outcomeOf(client.describe({ title: 'New' })),
    fork: outcomeOf(client.fork()),
  }
  expect(
    server
      .newest()
      .sent.slice(-4)
      .map(({ type }) => type),
  ).toEqual(['approval.decide', 'question.answer', 'session.describe', 'session.fork'])
  server.breakWith(1006)
  server.advance(1000)
  server.begin()
  server.accept(server.asked('session.open')[0], { session: 's', info: INFO, next: { pos: 0 } })
  server.tell(
    { type: 'approval-decided', approvalId: 'p1', callId: 'c1', decision: 'approve', principal: { id: 'p' } },
    { type: 'question-answered', questionId: 'q1', callId: 'c1' },
    { type: 'live' },
  )
  expect(server.newest().sent.map(({ type }) => type)).toEqual(['session.open', 'session.describe'])
  server.accept(server.asked('session.describe')[0])
  expect(await Promise.all(Object.values(asked))).toEqual(['done', 'done', 'done', 'connection_failed'])
})

test('a hundred requests wait at most, each for thirty seconds, and none of them is asked after that', async () => {
  const { server, client } = open()
  const waiting = Array.from({ length: 100 }, () => outcomeOf(client.info()))
  expect(await outcomeOf(client.info())).toBe('queue_full')
  server.advance(30_000)
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['connection_failed']))
  openPlayed(server)
  expect(server.asked('session.info')).toEqual([])
})

test('an older page that is asked for twice is shown once, and what was interrupted or taken back meanwhile is done', async () => {
  const user = { role: 'user', from: 'user', parts: [], atMs: 1 }
  const messages = [
    { ...user, id: 'q', waits: false, exchange: 1 },
    { role: 'assistant', id: 't1', turn: 1, exchange: 1, atMs: 1, steps: [] },
    { ...user, id: 'w', waits: true },
  ]
  const { server, client } = open()
  server.begin()
  const opened = { session: 's', info: INFO, next: { pos: 0 }, messages, more: true }
  server.accept(server.asked('session.open')[0], opened)
  server.tell({ type: 'live' })
  const pages = [client.older(), client.older()]
  const page = { messages: [{ ...user, id: 'p', waits: false, exchange: 0 }], more: false }
  for (const request of server.asked('session.messages')) server.accept(request, page)
  expect(await Promise.all(pages)).toEqual([false, false])
  expect(client.getSnapshot().messages.map(({ id }) => id)).toEqual(['p', 'q', 't1', 'w'])
  client.regenerate()
  expect(server.asked('input.rewind')).toMatchObject([{ message: 't1', again: true, interrupt: true }])
  const asked = [outcomeOf(client.interrupt()), outcomeOf(client.withdraw('w'))]
  server.breakWith(1006)
  server.advance(1000)
  server.begin()
  server.accept(server.asked('session.open')[0], { session: 's', info: INFO, next: { pos: 0 } })
  const answer = { role: 'assistant', id: 't2', turn: 2, exchange: 2, atMs: 1 }
  server.tell({ type: 'message-withdrawn', message: 'w' }, { type: 'message-added', message: answer }, { type: 'live' })
  expect(await Promise.all(asked)).toEqual(['done', 'done'])
  expect([server.asked('turn.interrupt'), server.asked('input.withdraw')]).toEqual([[], []])
})
