// Turns whose connection breaks, and whose session is then read again, because the server no longer knows the place of
// the last event, for example after its store was restored from a backup. No event says how such a turn ended.
import type { ClientError, SessionClient, SessionMessage, SessionSnapshot } from '@baton/client'
import type { SentInput, SessionAnswer } from '@baton/client/internal'
import type { CallView, EventBody } from '@baton/core/internal'
import { expect, test } from 'vitest'
import type { ConversationTurn } from '../terminal/conversation.ts'
import { createRemoteTurns } from './remote-turns.ts'

const CALL = { callId: 'c1', name: 'look', input: {}, status: 'running' } as unknown as CallView // the fields in use
const SETTLED = {
  ...CALL,
  status: 'settled',
  result: { type: 'ok', content: [], value: 'seen' },
} as unknown as CallView

const QUESTION = { role: 'user', id: 'q', from: 'user', parts: [], atMs: 1, waits: false, exchange: 1 } as const
/** An answer with this text in each step. */
const createAnswer = (texts: readonly string[], more: object = {}) =>
  ({
    role: 'assistant',
    id: 't1',
    turn: 1,
    exchange: 1,
    steps: texts.map((text, index) => ({ step: index + 1, text, calls: [] })),
    ...more,
  }) as unknown as SessionMessage

/** A client whose events and messages the test plays. */
function createPlayedClient(messages: readonly SessionMessage[] = []) {
  const listeners = { event: new Set<(event: never) => void>(), status: new Set<(status: never) => void>() }
  const subscribers = new Set<() => void>()
  let shown = messages
  const client = {
    getSnapshot: () => ({ messages: shown, approvals: [], questions: [], calls: [] }) as unknown as SessionSnapshot,
    subscribe: (listener: () => void) => {
      subscribers.add(listener)
      return () => void subscribers.delete(listener)
    },
    on: (name: 'event' | 'status', listener: (value: never) => void) => {
      listeners[name].add(listener)
      return () => void listeners[name].delete(listener)
    },
  } as unknown as SessionClient // the methods in use
  const answer = Promise.withResolvers<SessionAnswer>()
  const sent: SentInput = { id: 'q', accepted: Promise.resolve(), answer: answer.promise }
  return {
    turns: createRemoteTurns(client, () => {}),
    sent,
    answer,
    tell: (...events: readonly EventBody[]) => {
      for (const event of events) for (const listener of listeners.event) listener(event as never)
    },
    /** The session is read again, and has these messages. */
    load: (loaded: readonly SessionMessage[]) => {
      shown = loaded
      for (const listener of subscribers) listener()
    },
    listening: () => subscribers.size,
  }
}

const ENTERED = { type: 'message-entered', message: 'q', exchange: 1 } as EventBody // the fields in use
const text = (step: number, said: string): EventBody => ({ type: 'text', message: 't1', step, offset: 0, text: said })

async function watch(turn: ConversationTurn): Promise<readonly string[]> {
  const shown: string[] = []
  for await (const event of turn) {
    if (event.type === 'text') shown.push(event.text)
    if (event.type === 'step-reset') shown.push(event.type)
    if (event.type === 'call') shown.push(`${event.call.name} ${event.call.status}`)
    if (event.type === 'turn-finished') shown.push(event.stop)
  }
  return shown
}

test('the rest of an answer that ended during a break is shown, with its calls and its end', async () => {
  const { turns, sent, answer, tell, load } = createPlayedClient()
  const turn = turns.begin(sent)
  const shown = watch(turn)
  tell(ENTERED, text(1, 'I look.'), { type: 'call', call: CALL }, text(2, 'It is '))
  const ended = createAnswer(['I look.', 'It is red.'], { stop: 'limit' })
  Object.assign((ended as unknown as { steps: object[] }).steps[0] ?? {}, { calls: [SETTLED] })
  load([QUESTION, ended])
  answer.resolve({ stop: 'limit', text: 'I look.\n\nIt is red.', usage: {} })
  expect(await shown).toEqual(['I look.', 'look running', 'It is ', 'look settled', 'red.', 'limit'])
  expect(await turn.answer).toEqual({ outcome: 'answered' })
})

test('an answer of which nothing was read before the break is shown as a whole, and no other one', async () => {
  const { turns, sent, answer, load } = createPlayedClient()
  const shown = watch(turns.begin(sent))
  load([QUESTION, createAnswer(['It is red.'], { stop: 'end' }), createAnswer(['Other.'], { id: 't2', exchange: 2 })])
  answer.resolve({ stop: 'end', text: 'It is red.', usage: {} })
  expect(await shown).toEqual(['It is red.', 'end'])
})

test('an answer that began otherwise after the break is shown from its beginning', async () => {
  const { turns, sent, answer, tell, load } = createPlayedClient()
  const shown = watch(turns.begin(sent, 'anew'))
  tell(ENTERED, text(1, 'It is bl'))
  load([QUESTION, createAnswer(['It is red.'], { stop: 'end' })])
  answer.resolve({ stop: 'end', text: 'It is red.', usage: {} })
  expect(await shown).toEqual(['It is bl', 'step-reset', 'It is red.', 'end'])
})

test('an answer whose end is an event is shown once', async () => {
  const { turns, sent, answer, tell, load } = createPlayedClient()
  const shown = watch(turns.begin(sent))
  load([QUESTION, createAnswer(['Yes.'], { stop: 'end' })])
  answer.resolve({ stop: 'end', text: 'Yes.', usage: {} })
  tell(ENTERED, text(1, 'Yes.'), {
    type: 'turn-finished',
    message: 't1',
    turn: 1,
    stop: 'end',
    text: 'Yes.',
    usage: {},
  })
  expect(await shown).toEqual(['Yes.', 'end'])
})

const AFTER: readonly (readonly [string, readonly SessionMessage[], readonly string[], object | string])[] = [
  ['has ended', [createAnswer(['It is red.'], { stop: 'end' })], ['It is ', 'red.', 'end'], { outcome: 'answered' }],
  [
    'has failed',
    [createAnswer(['It is '], { stop: 'failed', error: { code: 'store_failed', message: 'x' } })],
    ['It is '],
    'store_failed',
  ],
  ['is no longer there', [], ['It is '], 'cancelled'],
]

test.each(AFTER)(
  'a turn of an earlier chat that %s when the session is read again is over',
  async (_, after, shown, ended) => {
    const { turns, load, listening } = createPlayedClient([createAnswer(['It is '])])
    const turn = turns.resume()
    if (!turn) throw new Error('a turn is running')
    const watched = watch(turn)
    load([createAnswer(['It is '])]) // it is still running
    load(after)
    expect(await watched).toEqual(shown)
    const outcome = turn.answer.catch((cause: unknown) => (cause as ClientError).code)
    expect(await outcome).toEqual(ended)
    expect(listening()).toBe(0)
  },
)
