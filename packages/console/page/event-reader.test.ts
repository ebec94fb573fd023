// Server-sent events in pieces of any size.
import { expect, test } from 'vitest'
import { createEventCutter, readEvents } from './event-reader.ts'

const STREAM = ': hello\n\ndata: {"a":1}\n\nid: 7\ndata: {"b":\ndata: 2}\n\ndata: {"text":"ä⟩"}\r\n\r\n'

test('events come whole, however the stream is cut', () => {
  const whole = createEventCutter()(STREAM)
  expect(whole).toEqual(['{"a":1}', '{"b":\n2}', '{"text":"ä⟩"}'])
  const cut = createEventCutter()
  expect(Array.from(STREAM).flatMap((char) => cut(char))).toEqual(whole)
})

test('bytes that halve a character are joined, and what is not JSON is left out', async () => {
  const bytes = new TextEncoder().encode(`${STREAM}data: nonsense\n\ndata: {"c":3}\n\n`)
  const body = new ReadableStream({
    start: (controller) => {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
      controller.close()
    },
  })
  const taken: unknown[] = []
  await readEvents(new Response(body), (value) => taken.push(value))
  expect(taken).toEqual([{ a: 1 }, { b: 2 }, { text: 'ä⟩' }, { c: 3 }])
})
