// Server-sent events, split in every place where a network may split them.
import { isBatonError } from '@baton/core'
import { expect, test } from 'vitest'
import type { SseEvent } from './sse.ts'
import { createSseReader } from './sse.ts'

const toBytes = (text: string) => new TextEncoder().encode(text)

function read(pieces: readonly Uint8Array[]): SseEvent[] {
  const events: SseEvent[] = []
  const reader = createSseReader((event) => events.push({ event: event.event, data: event.data }))
  for (const piece of pieces) reader.push(piece)
  return events
}

test('characters and line ends that are split across pieces', () => {
  const bytes = toBytes('event: a\r\ndata: {"t":"ä€🦀"}\r\n\r\n: comment\n\ndata: x\ndata: y\n\n')
  const whole = read([bytes])
  expect(whole).toEqual([
    { event: 'a', data: '{"t":"ä€🦀"}' },
    { event: undefined, data: 'x\ny' },
  ])
  expect(read(Array.from(bytes, (_byte, index) => bytes.subarray(index, index + 1)))).toEqual(whole)
})

test('an event that is cut off at the end is not given', () => {
  expect(read([toBytes('data: 1\n\ndata: 2\n')])).toEqual([{ event: undefined, data: '1' }])
})

test('an event without end is refused at the bound', () => {
  const reader = createSseReader(() => undefined, 1000)
  reader.push(toBytes('data: '))
  const push = () => {
    for (let count = 0; count < 3; count++) reader.push(toBytes('x'.repeat(400)))
  }
  const describeError = () => {
    try {
      push()
      return undefined
    } catch (thrown) {
      return isBatonError(thrown) ? thrown.code : thrown
    }
  }
  expect(describeError()).toBe('model_malformed_answer')
  expect(describeError(), 'and stays so').toBe('model_malformed_answer')
})
