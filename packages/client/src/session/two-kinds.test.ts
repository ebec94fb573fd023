// Each kind of request of a session's client while each other one waits for its answer: answers in another order,
// refusals, a connection that breaks, the client's end. The test plays the server. Expected: docs/client.md and
// docs/protocol-2.md.
import type { RequestType } from '@baton/protocol'
import { REQUESTS } from '@baton/protocol'
import { expect, onTestFinished, test } from 'vitest'
import type { SessionClient } from '../index.ts'
import { openDirectory, openSession } from '../index.ts'
import type { PlayedServer, SentFrame } from '../played-server.test-kit.ts'
import { createPlayedServer, INFO, outcomeOf, settle, waitingCall } from '../played-server.test-kit.ts'

interface Row {
  readonly ask: (client: SessionClient, tag: string) => Promise<unknown>
  /** The server's answer to it, and the value that its caller gets. */
  readonly answer?: (tag: string) => readonly [fields: object, value: unknown]
  /** An input: one after another, in their order. */
  readonly isInput?: true
  /** Not repeated after a break: it would be done twice. */
  readonly once?: true
  /** An event that shows the next connection that it was done. */
  readonly done?: object
}

const USER = { role: 'user', from: 'user', parts: [], atMs: 1 }
const MESSAGES = [
  { ...USER, id: 'q', waits: false, exchange: 1 },
  { role: 'assistant', id: 't1', turn: 1, exchange: 1, atMs: 1, steps: [] },
  { ...USER, id: 'w', waits: true },
]
const CALL = waitingCall('c1', 'x', { status: 'awaiting-approval' })

const ROWS: Partial<Readonly<Record<RequestType, Row>>> = {
  'input.send': { ask: (client, tag) => client.send('words', { id: `said-${tag}` }).accepted, isInput: true },
  'input.hear': { ask: (client) => client.hear('Ann', 'words').accepted, isInput: true },
  'input.notify': { ask: (client) => client.notify({ name: 'bell' }).accepted, isInput: true },
  'input.rewind': { ask: (client) => client.edit('q', 'words').accepted, isInput: true },
  'input.withdraw': {
    ask: (client) => client.withdraw('w'),
    done: { type: 'message-withdrawn', message: 'w' },
  },
  'turn.interrupt': {
    ask: (client) => client.interrupt(),
    done: { type: 'turn-finished', message: 't1', turn: 1, stop: 'cancelled', text: '', usage: {} },
  },
  'call.tasks': { ask: (client) => client.tasks(), answer: () => [{ tasks: [] }, []] },
  'call.cancel': { ask: (client) => client.cancel('c1') },
  'speech.played': { ask: (client) => client.played({ message: 't1', chars: 3 }) },
  'approval.decide': {
    ask: (client) => client.decide({ approvalId: 'p1', decision: 'approve' }),
    done: { type: 'approval-decided', approvalId: 'p1', callId: 'c1', decision: 'approve', principal: { id: 'p' } },
  },
  'question.answer': {
    ask: (client) => client.answer({ questionId: 'q1', value: {} }),
    done: { type: 'question-answered', questionId: 'q1', callId: 'c1' },
  },
  'session.describe': { ask: (client, tag) => client.describe({ title: tag }) },
  'session.configure': { ask: (client) => client.configure({ model: 'm' }) },
  'session.control': { ask: (client) => client.control('pause') },
  'session.fork': {
    ask: (client) => client.fork(),
    answer: (tag) => [{ session: `copy of ${tag}` }, `copy of ${tag}`],
    once: true,
  },
  'session.info': {
    ask: (client) => client.info(),
    answer: (tag) => [{ info: { ...INFO, title: tag } }, { ...INFO, title: tag }],
  },
  'session.messages': {
    ask: (client) => client.older(),
    answer: () => [{ messages: [{ ...USER, id: 'p', waits: false, exchange: 0 }], more: true }, true],
  },
}

/** Sent by the connection, for calls and models, or by the list of sessions: their tests are beside them. */
const ELSEWHERE: readonly RequestType[] = [
  'ping',
  'session.open',
  'session.close',
  'session.list',
  'approval.list',
  'session.watch',
  'session.delete',
  'device.attach',
  'device.release',
  'call.claim',
  'call.result',
  'model.pieces',
  'model.result',
]
const KINDS = Object.keys(ROWS) as readonly RequestType[] // its keys by type
const PAIRS = KINDS.flatMap((first) => KINDS.map((second) => [first, second] as const))

test('each kind of request has a row, or is sent by another part', () => {
  expect([...KINDS, ...ELSEWHERE].toSorted()).toEqual(Object.keys(REQUESTS).toSorted())
})

function open() {
  const server = createPlayedServer()
  const client = openSession({ url: 'ws://127.0.0.1:9/ws', session: 's', world: server.world })
  server.begin()
  const opened = { session: 's', info: INFO, next: { pos: 0 }, messages: MESSAGES, more: true }
  server.accept(server.asked('session.open')[0], opened)
  const { approvalId, expiresAtMs } = { approvalId: 'p1', expiresAtMs: 9 }
  const question = { questionId: 'q1', callId: 'c1', message: 'Which?', schema: {}, expiresAtMs }
  server.tell(
    { type: 'call', call: CALL },
    { type: 'approval-requested', approvalId, expiresAtMs, call: CALL },
    { type: 'question-asked', ...question },
    { type: 'live' },
  )
  return { server, client }
}

interface Asked {
  readonly type: RequestType
  readonly tag: string
  readonly outcome: Promise<unknown>
}

function ask(client: SessionClient, type: RequestType, tag: string): Asked {
  const asked = readRow(type).ask(client, tag)
  return { type, tag, outcome: outcomeOf(asked) }
}

function readRow(type: RequestType): Row {
  const row = ROWS[type]
  if (!row) throw new Error(`no row of ${type}`)
  return row
}

/** The frames of requests on the newest connection, without those that open it. */
const sent = (server: PlayedServer): readonly SentFrame[] =>
  server.newest().sent.filter(({ type }) => !ELSEWHERE.includes(type as RequestType))

function answer(server: PlayedServer, frame: SentFrame | undefined, { type, tag }: Asked): unknown {
  const [fields, value] = readRow(type).answer?.(tag) ?? [{}, 'done']
  server.accept(frame, fields)
  return value
}

/** Both requests are sent at once, unless both are inputs. */
const isQueued = (first: RequestType, second: RequestType): boolean =>
  readRow(first).isInput === true && readRow(second).isInput === true

test('answers in the other order belong to their requests', async () => {
  for (const [first, second] of PAIRS) {
    const { server, client } = open()
    const asked = [ask(client, first, 'a'), ask(client, second, 'b')] as const
    const what = `${first}, ${second}`
    expect([what, sent(server).map(({ type }) => type)]).toEqual([
      what,
      isQueued(first, second) ? [first] : [first, second],
    ])
    const frames = sent(server)
    const values: unknown[] = []
    if (!isQueued(first, second)) values[1] = answer(server, frames[1], asked[1])
    values[0] = answer(server, frames[0], asked[0])
    if (isQueued(first, second)) values[1] = answer(server, sent(server)[1], asked[1])
    expect([what, await asked[0].outcome, await asked[1].outcome]).toEqual([what, ...values])
    client.close()
  }
})

test('a request that is refused takes no other one along', async () => {
  for (const [first, second] of PAIRS) {
    const { server, client } = open()
    const asked = [ask(client, first, 'a'), ask(client, second, 'b')] as const
    server.refuse(sent(server)[0], 'invalid_option')
    const value = answer(server, sent(server)[1], asked[1])
    const what = `${first}, ${second}`
    expect([what, await asked[0].outcome, await asked[1].outcome]).toEqual([what, 'invalid_option', value])
    expect([what, sent(server)]).toEqual([what, sent(server).slice(0, 2)])
    client.close()
  }
})

/** Breaks the connection, and opens the next one, which reads these events. */
function reopen(server: PlayedServer, ...events: readonly object[]): void {
  server.breakWith(1006)
  server.advance(1000)
  server.begin()
  server.accept(server.asked('session.open')[0], { session: 's', info: INFO, next: { pos: 0 } })
  server.tell(...events, { type: 'live' })
}

test('after a break each request is sent once more, unless it must not be repeated', async () => {
  for (const [first, second] of PAIRS) {
    const { server, client } = open()
    const asked = [ask(client, first, 'a'), ask(client, second, 'b')] as const
    reopen(server)
    const answered = new Set<string>()
    const repeated = asked.filter(({ type }) => !readRow(type).once)
    for (const _ of repeated) {
      const frame = sent(server).find(({ id }) => !answered.has(id))
      const one = repeated.find(({ type, tag }) => type === frame?.type && !answered.has(`of ${tag}`))
      if (!frame || !one) break
      answered.add(frame.id).add(`of ${one.tag}`)
      answer(server, frame, one)
    }
    const what = `${first}, ${second}`
    const told = sent(server).map(({ type }) => type)
    expect([what, told.toSorted()]).toEqual([what, repeated.map(({ type }) => type).toSorted()])
    const ends = await Promise.all(asked.map(({ outcome }) => outcome))
    const isLost = ends.map((end) => end === 'connection_failed')
    expect([what, isLost]).toEqual([what, asked.map(({ type }) => readRow(type).once === true)])
    client.close()
  }
})

test('a request that was done before the break is not repeated, and the other one is', async () => {
  for (const [first, second] of PAIRS) {
    const { done } = readRow(first)
    if (!done || first === second || readRow(second).once) continue
    const { server, client } = open()
    const asked = [ask(client, first, 'a'), ask(client, second, 'b')] as const
    reopen(server, done)
    const what = `${first}, ${second}`
    expect([what, await asked[0].outcome, sent(server).map(({ type }) => type)]).toEqual([what, 'done', [second]])
    const value = answer(server, sent(server)[0], asked[1])
    expect([what, await asked[1].outcome]).toEqual([what, value])
    client.close()
  }
})

test('the end of the client ends both', async () => {
  for (const [first, second] of PAIRS) {
    const { client } = open()
    const asked = [ask(client, first, 'a'), ask(client, second, 'b')] as const
    client.close()
    const ends = [await asked[0].outcome, await asked[1].outcome]
    expect([first, second, ...ends]).toEqual([first, second, 'session_closed', 'session_closed'])
  }
})

test('a message that is taken back while it is being sent is not sent again over the next connection', async () => {
  const { server, client } = open()
  const { accepted } = client.send('words', { id: 'said' })
  const withdrawn = outcomeOf(client.withdraw('said'))
  reopen(server)
  expect([await withdrawn, await outcomeOf(accepted)]).toEqual(['done', 'cancelled'])
  expect(sent(server)).toEqual([])
  expect(client.getSnapshot().messages.map(({ id }) => id)).not.toContain('said')
  client.close()
})

test('a message that is taken back while it is being sent, and had arrived, is withdrawn there', async () => {
  const { server, client } = open()
  const { accepted } = client.send('words', { id: 'said' })
  const withdrawn = outcomeOf(client.withdraw('said'))
  reopen(server, { type: 'message-added', message: { ...USER, id: 'said' } })
  expect(sent(server)).toMatchObject([{ type: 'input.withdraw', input: 'said' }])
  server.accept(sent(server)[0])
  expect([await withdrawn, await outcomeOf(accepted)]).toEqual(['done', 'done'])
  client.close()
})

test('a session whose creation was given up is left, so that the next one can be created', async () => {
  const server = createPlayedServer()
  const directory = openDirectory({ url: 'ws://127.0.0.1:9/ws', world: server.world })
  onTestFinished(() => directory.close())
  server.begin()
  server.accept(server.asked('session.watch')[0])
  server.accept(server.asked('session.list')[0], { sessions: [] })
  const first = outcomeOf(directory.create())
  await settle()
  const second = outcomeOf(directory.create())
  server.advance(19_000)
  server.accept(server.asked('ping')[0])
  server.advance(11_000)
  expect(await first).toBe('connection_failed')
  await settle()
  expect(
    server
      .newest()
      .sent.slice(2)
      .flatMap(({ type }) => (type === 'ping' ? [] : [type])),
  ).toEqual(['session.open', 'session.close', 'session.open'])
  server.accept(server.asked('session.open')[0], { session: 'one' })
  server.accept(server.asked('session.close')[0])
  server.accept(server.asked('session.open')[1], { session: 'two' })
  await settle()
  server.accept(server.asked('session.close')[1])
  expect(await second).toBe('two')
})
