// The fold of events into messages as a front uses it: started with a page, extended backwards, and rendered
// repeatedly.
import { expect, test } from 'vitest'
import type { ChatMessage } from './conversation.ts'
import { Conversation } from './conversation.ts'
import type { EventBody } from './session-event.ts'

const said = (id: string, exchange: number): readonly EventBody[] => [
  { type: 'message-added', message: { role: 'user', id, from: 'user', parts: [{ type: 'text', text: id }], atMs: 0 } },
  { type: 'message-entered', message: id, exchange },
  { type: 'message-added', message: { role: 'assistant', id: `t${exchange}`, turn: exchange, exchange, atMs: 0 } },
  { type: 'step-started', message: `t${exchange}`, step: exchange, attempt: 1, model: 'm' },
]
const write = (exchange: number, offset: number, text: string): EventBody => ({
  type: 'text',
  message: `t${exchange}`,
  step: exchange,
  offset,
  text,
})

function fold(events: readonly EventBody[], page?: readonly ChatMessage[]): Conversation {
  const conversation = new Conversation(page)
  for (const event of events) conversation.take(event)
  return conversation
}

test('views stay the same while nothing changes, and only what changes is new', () => {
  const conversation = fold([...said('one', 1), write(1, 0, 'Yes.'), ...said('two', 2)])
  const before = conversation.messages()
  expect(conversation.messages()).toBe(before)
  conversation.take({ type: 'live' })
  expect(conversation.messages()).toBe(before)
  conversation.take(write(2, 0, 'No.'))
  const after = conversation.messages()
  expect(after).not.toBe(before)
  expect(after.map((message, index) => message === before[index])).toEqual([true, true, true, false])
  expect(before[3]).toMatchObject({ steps: [{ text: '' }] })
})

test('a conversation that begins with a page in the midst of an answer goes on there', () => {
  const events = [...said('one', 1), write(1, 0, 'It is '), write(1, 6, 'blue.')]
  const page = fold(events.slice(0, 5)).messages()
  const goesOn = fold(events.slice(5), page)
  expect(goesOn.messages()).toEqual(fold(events).messages())
  expect(page.at(-1)).toMatchObject({ steps: [{ text: 'It is ' }] })
})

test('older pages stand before what is known, each message once', () => {
  const all = fold([...said('one', 1), ...said('two', 2)]).messages()
  const conversation = new Conversation(all.slice(2))
  expect([conversation.has('two'), conversation.has('one')]).toEqual([true, false])
  conversation.addOlder(all.slice(0, 3))
  expect(conversation.messages()).toEqual(all)
  conversation.take({ type: 'messages-removed', fromExchange: 1, keep: [], keepSteps: [] })
  expect([conversation.messages(), conversation.has('one')]).toEqual([[], false])
})

test('a piece that repeats what is known changes nothing of it', () => {
  const conversation = fold([...said('one', 1), write(1, 0, 'It is '), write(1, 3, 'is '), write(1, 6, 'blue.')])
  expect(conversation.messages().at(-1)).toMatchObject({ steps: [{ text: 'It is blue.' }] })
})

test('an answer that failed says why', () => {
  const conversation = new Conversation()
  const answer = { role: 'assistant', id: 't1', turn: 1, exchange: 1, atMs: 0 } as const
  const error = { code: 'model_overloaded', message: 'busy' } as const
  conversation.take({ type: 'message-added', message: answer })
  conversation.take({ type: 'turn-finished', message: 't1', turn: 1, stop: 'failed', text: '', usage: {}, error })
  expect(conversation.messages()).toMatchObject([{ id: 't1', stop: 'failed', error }])
})

test('queued messages come last, also beside an answer, in a page, and after one is withdrawn', () => {
  const queue = (id: string): EventBody => ({
    type: 'message-added',
    message: { role: 'user', id, from: 'user', parts: [], atMs: 0 },
  })
  const ids = (conversation: Conversation): readonly string[] => conversation.messages().map(({ id }) => id)
  const events = [
    ...said('one', 1).slice(0, 2),
    queue('two'),
    queue('three'),
    queue('four'),
    ...said('one', 1).slice(2),
  ]
  const conversation = fold(events)
  expect(ids(conversation)).toEqual(['one', 't1', 'two', 'three', 'four'])
  const resumed = fold([], conversation.messages())
  for (const one of [conversation, resumed]) {
    one.take({ type: 'message-withdrawn', message: 'three' })
    one.take({ type: 'message-entered', message: 'four', exchange: 2 })
    expect(ids(one)).toEqual(['one', 't1', 'four', 'two'])
    one.addOlder([{ role: 'user', id: 'zero', from: 'user', parts: [], atMs: 0, waits: false, exchange: 0 }])
    one.take({ type: 'messages-removed', fromExchange: 1, keep: [], keepSteps: [] })
    expect(ids(one)).toEqual(['zero', 'two'])
  }
})
