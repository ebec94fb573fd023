// Server-sent events, split at every possible position.
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

test.each([
  ['no blank line', 'data: {"a":1}\n\ndata: {"b":2}\n', ['{"a":1}', '{"b":2}']],
  ['no line break', 'data: {"a":1}\n\nevent: b\ndata: {"b":2}', ['{"a":1}', '{"b":2}']],
  ['the mark of the end', 'data: {"a":1}\r\n\r\ndata: [DONE]', ['{"a":1}', '[DONE]']],
  ['half of its JSON', 'data: {"a":1}\n\ndata: {"b":', ['{"a":1}']],
  ['a number, which may be half', 'data: {"a":1}\n\ndata: 12', ['{"a":1}']],
  ['half of a field', 'data: {"a":1}\n\nda', ['{"a":1}']],
  ['all that it should', 'data: {"a":1}\n\n', ['{"a":1}']],
])('a body that ends with %s', (_situation, body, expected) => {
  const datas: string[] = []
  const reader = createSseReader(({ data }) => datas.push(data))
  reader.push(toBytes(body))
  reader.end()
  reader.end()
  expect(datas).toEqual(expected)
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
