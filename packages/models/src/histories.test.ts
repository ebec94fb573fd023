// The cache of a history: encoded once, never reused for another history or past a change.
import type { Message } from '@baton/core'
import { expect, test } from 'vitest'
import { createHistories } from './histories.ts'

const said = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })

/** Encodes each message as itself and records which ones were encoded. */
function watched() {
  const encoded: Message[] = []
  const histories = createHistories<Message>()
  const create = () => {
    const wire: Message[] = []
    return {
      add: (message: Message) => {
        encoded.push(message)
        wire.push(message)
      },
      wire: () => [...wire],
    }
  }
  const encode = (messages: readonly Message[], key = '') => {
    encoded.length = 0
    return { wire: histories.encode(messages, key, create), encoded: [...encoded] }
  }
  return { encode }
}
const [a, b, c, d] = [said('a'), said('b'), said('c'), said('d')]

test('of a history that grew, what is new is encoded', () => {
  const { encode } = watched()
  expect(encode([a, b]).encoded).toEqual([a, b])
  expect(encode([a, b, c, d])).toEqual({ wire: [a, b, c, d], encoded: [c, d] })
})

test('of a history that grew in its own array, what is new is encoded', () => {
  const { encode } = watched()
  const history = [a, b]
  encode(history)
  history.push(c, d)
  expect(encode(history)).toEqual({ wire: [a, b, c, d], encoded: [c, d] })
  history.pop()
  expect(encode(history).wire).toEqual([a, b, c])
})

test('the same history again, as after a failed attempt, encodes nothing', () => {
  const { encode } = watched()
  encode([a, b])
  expect(encode([a, b])).toEqual({ wire: [a, b], encoded: [] })
})

test('a history that was shortened at its beginning is encoded anew', () => {
  const { encode } = watched()
  encode([a, b, c])
  expect(encode([b, c, d])).toEqual({ wire: [b, c, d], encoded: [b, c, d] })
})

test('a history that was wound back and went on differently is encoded anew, and then goes on', () => {
  const { encode } = watched()
  encode([a, b, c])
  expect(encode([a, b, d]).wire).toEqual([a, b, d])
  expect(encode([a, b, d, c])).toEqual({ wire: [a, b, d, c], encoded: [c] })
})

test('an equal message that is another one is not taken for it', () => {
  const { encode } = watched()
  encode([said('a'), b])
  expect(encode([said('a'), b]).encoded).toHaveLength(2)
})

test('two that share a beginning do not get into each other', () => {
  const { encode } = watched()
  encode([a])
  encode([a, b])
  expect(encode([a, c]).wire).toEqual([a, c])
  expect(encode([a, b, d]).wire).toEqual([a, b, d])
})

test('what depends on more than the messages is kept apart', () => {
  const { encode } = watched()
  encode([a, b], 'thinking')
  expect(encode([a, b], 'plain').encoded).toEqual([a, b])
  expect(encode([a, b, c], 'thinking').encoded).toEqual([c])
})

test('no messages at all', () => {
  const { encode } = watched()
  expect(encode([]).wire).toEqual([])
  expect(encode([a]).wire).toEqual([a])
})
