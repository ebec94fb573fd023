// Each kind of request over HTTP while each other one is under way: what it is answered, that no answer is that of
// another one, and that it is done once, also if it is sent twice or its client leaves. Expected: docs/chat.md.
import type { Message, Session, SessionEvent } from '@baton/core'
import { defineAgent, tool } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createGatedStore } from '../shared/gated-store.test-kit.ts'
import { turnLoop } from '../websocket/v2-memory-app.test-kit.ts'
import { startChats } from './chat.test-kit.ts'
import { SESSION_METHODS } from './session-routes.ts'

const PAGE = readFileSync(fileURLToPath(new URL('../../../../docs/chat.md', import.meta.url)), 'utf8')
const empty = { type: 'object', properties: {} } as const
const TOOLS = [
  tool({ name: 'place', description: 'place', input: empty, effect: 'once' }),
  tool({ name: 'pay', description: 'pay', input: empty, effect: 'once', approval: true, execute: () => 'paid' }),
  tool({
    name: 'choose',
    description: 'choose',
    input: empty,
    effect: 'once',
    execute: async (_, { ask }) => await ask({ message: 'Which?', schema: empty }),
  }),
]

interface Stage {
  readonly session: Session
  readonly callId: string
  readonly payId: string
  readonly approvalId: string
  readonly questionId: string
}

interface Row {
  readonly ask: (stage: Stage, tag: string) => readonly [method: string, path: string, body?: object]
  /** Statuses of an accepted request. */
  readonly ok: readonly number[]
  /** Its mark in the log: once if it was accepted, and at most once. */
  readonly mark?: (event: SessionEvent, stage: Stage, tag: string) => boolean
  /** The words of its answer, if it streams one. */
  readonly says?: (tag: string) => string
  /** Kinds that may be refused or cut short beside it. */
  readonly ends?: readonly string[]
  /** The status of the same request while or after the first one is done. */
  readonly again?: number
}

const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
const chat = (...messages: readonly object[]) => ({ id: 's', messages })
const isAdded = (event: SessionEvent, id: string): boolean => event.type === 'message-added' && event.message.id === id
const OF_TURN = ['continue', 'POST approvals', 'POST answers', 'GET stream']
const ASKED_AGAIN = [...OF_TURN, 'edit', 'regenerate', 'send']

const ROWS: Readonly<Record<string, Row>> = {
  send: {
    ask: (_, tag) => ['POST', '/api/chat', chat(user(`said-${tag}`, `words of ${tag}`))],
    ok: [200],
    mark: (event, _, tag) => isAdded(event, `said-${tag}`),
    says: (tag) => `words of ${tag}`,
  },
  edit: {
    // The second edits an earlier message, so that both are accepted.
    ask: (_, tag) => {
      const message = tag === 'a' ? 'm2' : 'm1'
      return ['POST', '/api/chat', { ...chat(user(message, `edit of ${tag}`)), messageId: message }]
    },
    ok: [200],
    says: (tag) => `edit of ${tag}`,
    ends: ASKED_AGAIN,
    again: 404,
  },
  regenerate: {
    ask: () => ['POST', '/api/chat', { ...chat(user('m1', 'Hi')), trigger: 'regenerate-message', messageId: 't1' }],
    ok: [200],
    says: () => 'Answer to Hi.',
    ends: ASKED_AGAIN,
    again: 404,
  },
  continue: {
    ask: ({ callId, payId, approvalId }) => [
      'POST',
      '/api/chat',
      chat({
        id: 't2',
        role: 'assistant',
        parts: [
          { type: 'step-start' },
          { type: 'tool-place', toolCallId: callId, state: 'output-available', input: {}, output: 'Rome' },
          {
            type: 'tool-pay',
            toolCallId: payId,
            state: 'approval-responded',
            input: {},
            approval: { id: approvalId, approved: true },
          },
        ],
      }),
    ],
    ok: [200],
    mark: (event, { callId }) =>
      event.type === 'call' && event.call.callId === callId && event.call.status === 'settled',
    ends: ['continue', 'POST approvals'],
  },
  'GET stream': { ask: () => ['GET', '/api/chat/s/stream'], ok: [200, 204] },
  'POST stop': { ask: () => ['POST', '/api/chat/s/stop'], ok: [200], ends: OF_TURN },
  'POST approvals': {
    ask: ({ approvalId }) => ['POST', '/api/chat/s/approvals', { approvalId, decision: 'approve' }],
    ok: [200],
    mark: (event) => event.type === 'approval-decided',
    ends: ['POST approvals'],
    again: 409,
  },
  'POST answers': {
    ask: ({ questionId }) => ['POST', '/api/chat/s/answers', { questionId, value: {} }],
    ok: [200],
    mark: (event) => event.type === 'question-answered',
    ends: ['POST answers'],
    again: 409,
  },
  'GET sessions': { ask: () => ['GET', '/api/sessions'], ok: [200] },
  'GET ': { ask: () => ['GET', '/api/sessions/s'], ok: [200] },
  'PATCH ': { ask: (_, tag) => ['PATCH', '/api/sessions/s', { title: `title of ${tag}` }], ok: [200] },
  'DELETE ': { ask: () => ['DELETE', '/api/sessions/s'], ok: [200], ends: ['all'], again: 404 },
  'GET messages': { ask: () => ['GET', '/api/sessions/s/messages'], ok: [200] },
  'GET events': { ask: () => ['GET', '/api/sessions/s/events'], ok: [200] },
  'POST events': { ask: () => ['POST', '/api/sessions/s/events', { type: 'unknown' }], ok: [400] },
  'GET media': { ask: () => ['GET', '/api/sessions/s/media/none'], ok: [404] },
  'GET export': { ask: () => ['GET', '/api/sessions/s/export'], ok: [200] },
  'POST fork': { ask: () => ['POST', '/api/sessions/s/fork', { before: 't1' }], ok: [201] },
}
const ALL = Object.keys(ROWS)
const HARMLESS = ALL.filter((kind) => ROWS[kind]?.ends === undefined)
const MILD = ['continue', 'POST approvals', 'POST answers']
const OTHERS = [HARMLESS, MILD, ...ALL.filter((kind) => ![...HARMLESS, ...MILD].includes(kind)).map((kind) => [kind])]

test('each kind of request has a row, and the page lists it', () => {
  const routes = [...SESSION_METHODS].flatMap(([part, methods]) => methods.map((method) => `${method} ${part}`))
  const ofSessions = ALL.filter((kind) => ROWS[kind]?.ask({} as Stage, '')[1].startsWith('/api/sessions/s'))
  expect(ofSessions.toSorted()).toEqual(routes.toSorted())
  const chats = ALL.filter((kind) => ROWS[kind]?.ask({} as Stage, '')[1].startsWith('/api/chat'))
  const listed = (PAGE.split('## Without the AI SDK')[1] ?? '').split('\n## ')[0]?.match(/^\| (?:`(?:POST|GET) |to )/gm)
  // One of its rows is of approvals and answers.
  expect(chats).toHaveLength((listed?.length ?? 0) + 1)
  expect([...PAGE.matchAll(/^\| `[A-Z]+ \/api\/sessions/gm)]).toHaveLength(routes.length + 1)
})

interface Sent {
  readonly kind: string
  readonly tag: string
  /** Whether the same request was sent before. */
  readonly isAgain: boolean
  readonly status: Promise<number>
  readonly body: Promise<string>
  readonly leave: () => void
}

/** Words of the user that no answer follows yet. */
function listSaid(messages: readonly Message[]): readonly string[] {
  const answered = messages.findLastIndex(({ role }) => role !== 'user')
  return messages
    .slice(answered + 1)
    .flatMap((message) => (message.role === 'user' ? message.parts : []))
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
}

async function start() {
  const { store, hold, go } = createGatedStore()
  const model = createScriptedModel({
    steps: ({ messages }) => {
      const said = listSaid(messages)
      if (said.includes('call')) return { calls: TOOLS.map(({ name }) => ({ name, arguments: {} })) }
      return { text: `Answer to ${said.join(' and ')}.` }
    },
  })
  const chats = startChats({ agent: defineAgent({ name: 'a', model, tools: TOOLS }), store })
  const sent: Sent[] = []
  const send = (stage: Stage, kind: string, tag: string, key?: string): Sent => {
    const [method, path, body] = readRow(kind).ask(stage, tag)
    const leaving = new AbortController()
    const headers = { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) }
    const init = { method, headers, signal: leaving.signal, ...(body && { body: JSON.stringify(body) }) }
    const response = chats.fetch(path, init)
    const read = async (): Promise<string> => {
      const answer = await response
      if (kind !== 'GET events') return await answer.text()
      await answer.body?.cancel()
      return ''
    }
    const isAgain = sent.some((other) => other.kind === kind && other.tag === tag)
    const status = response.then((answer) => answer.status).catch(() => 0)
    const one: Sent = { kind, tag, isAgain, status, body: read().catch(() => 'broken'), leave: () => leaving.abort() }
    sent.push(one)
    return one
  }
  return { host: chats.host, stop: () => chats.stop(), stage: await openStage(chats), send, sent, hold, go }
}

type World = Awaited<ReturnType<typeof start>>

/** A chat whose second answer waits for its page, an approval and a question. */
async function openStage({ host, fetch }: ReturnType<typeof startChats>): Promise<Stage> {
  const post = (body: object): Promise<Response> =>
    fetch('/api/chat', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  await (await post(chat(user('m1', 'Hi')))).text()
  void (await post(chat(user('m2', 'call')))).text()
  const session = await host.session('s')
  let [callId, payId, approvalId, questionId] = ['', '', '', '']
  for await (const event of session.events({ from: 'turn' })) {
    if (event.type === 'call' && event.call.name === 'place' && event.call.status === 'waiting')
      callId = event.call.callId
    if (event.type === 'approval-requested') [payId, approvalId] = [event.call.callId, event.approvalId]
    if (event.type === 'question-asked') questionId = event.questionId
    if (callId !== '' && approvalId !== '' && questionId !== '') break
  }
  return { session, callId, payId, approvalId, questionId }
}

function readRow(kind: string): Row {
  const row = ROWS[kind]
  if (!row) throw new Error(`no row of ${kind}`)
  return row
}

const SITUATIONS: readonly (readonly [
  string,
  (world: World, first: string, others: readonly string[]) => Promise<void>,
])[] = [
  [
    'two requests beside each other have an answer each, and what was accepted is in the log once',
    async ({ hold, go, send, stage }, first, others) => {
      hold()
      send(stage, first, 'a')
      await turnLoop(2)
      for (const kind of others) send(stage, kind, 'b')
      await turnLoop(2)
      go()
    },
  ],
  [
    'a request that is sent twice at once is done once',
    async ({ hold, go, send, stage }, first, others) => {
      hold()
      send(stage, first, 'a')
      send(stage, first, 'a')
      for (const kind of others) send(stage, kind, 'b')
      await turnLoop(2)
      go()
    },
  ],
  [
    'a request whose client leaves is done once when it is sent again',
    async ({ hold, go, send, stage }, first, others) => {
      hold()
      const left = send(stage, first, 'a')
      await turnLoop(2)
      for (const kind of others) send(stage, kind, 'b')
      left.leave()
      go()
      await left.body
      send(stage, first, 'a')
    },
  ],
]

test.each(SITUATIONS)('%s', async (_name, situation) => {
  const wrong = await Promise.all(
    ALL.map(async (first) => {
      const issues: string[] = []
      for (const others of situation === SITUATIONS[0]?.[1] ? OTHERS : [HARMLESS, MILD]) {
        const world = await start()
        await situation(world, first, others)
        issues.push(...(await check(world)).map((issue) => `${first} and ${others.join(', ')}: ${issue}`))
        await world.stop()
      }
      return issues
    }),
  )
  expect(wrong.flat()).toEqual([])
})

function isEnded({ sent }: World, one: Sent): boolean {
  return sent.some((other) => {
    const ends = readRow(other.kind).ends ?? []
    const isSame = other.kind === one.kind && other.tag === one.tag
    return !isSame && (ends.includes(one.kind) || ends.includes('all'))
  })
}

interface Answered extends Sent {
  readonly answer: { readonly status: number; readonly body: string; readonly text: string }
}

async function check(world: World): Promise<readonly string[]> {
  const { sent, stage } = world
  await Promise.all(sent.map(({ status }) => status))
  // The calls that nobody answers end, so that each stream does.
  await stage.session.interrupt({ turn: 't2' }).catch(() => {})
  const answered: Answered[] = []
  for (const one of sent) {
    const body = await one.body
    answered.push({ ...one, answer: { status: await one.status, body, text: readText(body) } })
  }
  const log = sent.some(({ kind }) => kind === 'DELETE ') ? [] : await readLog(world.host)
  const issues = answered.flatMap((one, index) => checkOne(world, [one, sent[index] as Sent], log))
  return [...issues, ...checkEdits(answered, log)]
}

/** The text of an answer's stream. */
function readText(body: string): string {
  const deltas = body.matchAll(/"type":"text-delta","id":"[^"]*","delta":("(?:[^"\\]|\\.)*")/g)
  return [...deltas].map(([, text = '""']) => JSON.parse(text) as string).join('')
}

function checkOne(
  world: World,
  [one, sent]: readonly [Answered, Sent],
  log: readonly SessionEvent[],
): readonly string[] {
  const { kind, tag, isAgain, answer } = one
  const { status, body, text } = answer
  const { ok, again, mark, says } = readRow(kind)
  const isOver = isEnded(world, sent)
  const isAccepted = ok.includes(status)
  const issues: string[] = []
  if (status === 500 || (!isAccepted && status > 0 && !isOver && !(isAgain && status === again)))
    issues.push(`${kind} ${tag}: ${status} ${body.slice(0, 200)}`)
  if (log.length === 0) return issues
  if (isAccepted && says && !isOver && body !== 'broken' && !text.includes(says(tag)))
    issues.push(`${kind} ${tag}: it is told ${text}`)
  const times = mark ? log.filter((event) => mark(event, world.stage, tag)).length : 1
  if (times > 1 || (isAccepted && times === 0 && !isOver)) issues.push(`${kind} ${tag}: ${times} times in the log`)
  return issues
}

/** The last of several edits has its answer, and none has that of another one. */
function checkEdits(answered: readonly Answered[], log: readonly SessionEvent[]): readonly string[] {
  const edits = answered.filter(
    ({ kind, answer }) => kind === 'edit' && answer.status === 200 && answer.body !== 'broken',
  )
  const words = log.flatMap((event) => (event.type === 'message-added' ? [JSON.stringify(event.message)] : []))
  const last = words.findLast((message) => message.includes('edit of '))
  return edits.flatMap(({ tag, answer: { text } }) => {
    const isLast = last?.includes(`edit of ${tag}`) === true
    const isOwn = text === '' || text.includes(`edit of ${tag}`)
    return isOwn && (!isLast || text !== '') ? [] : [`edit ${tag}: it is told ${JSON.stringify(text)}`]
  })
}

async function readLog(host: World['host']): Promise<readonly SessionEvent[]> {
  const session = await host.session('s')
  const events: SessionEvent[] = []
  for await (const event of session.events({ from: 'start' })) {
    events.push(event)
    if (event.type === 'live') break
  }
  await session.close()
  return events
}

const KEYED = ['POST stop', 'POST approvals', 'POST answers', 'PATCH ', 'DELETE ', 'POST fork']

test.each(KEYED)('of two requests with one key, one is done and the other one is told to wait: %s', async (kind) => {
  const world = await start()
  const { hold, go, send, stage } = world
  hold()
  const both = [send(stage, kind, 'a', 'k'), send(stage, kind, 'a', 'k')]
  // The one that came second is refused while the first one is under way.
  expect(await Promise.race(both.map(({ status }) => status))).toBe(409)
  go()
  const statuses = await Promise.all(both.map(({ status }) => status))
  const [done] = readRow(kind).ok
  expect(statuses.toSorted((one, other) => one - other)).toEqual([done, 409])
  const again = send(stage, kind, 'a', 'k')
  const first = both[statuses.indexOf(done ?? 0)]
  expect([await again.status, await again.body]).toEqual([done, await first?.body])
  await world.stop()
})
