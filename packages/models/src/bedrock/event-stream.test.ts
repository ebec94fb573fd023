// Frames in arbitrary pieces, frames with other headers, and invalid frames with valid checksums.
import { isBatonError } from '@baton/core'
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { createEventStreamReader } from './event-stream.ts'
import { encodeFrame } from './frames.ts'
import type { WireEvent } from './wire.ts'

const utf8 = new TextEncoder()
const event = (type: string, payload: unknown) =>
  encodeFrame({
    headers: { ':message-type': 'event', ':event-type': type },
    body: utf8.encode(JSON.stringify(payload)),
  })

function read(bytes: Uint8Array, pieceLength = bytes.length): readonly WireEvent[] {
  const events: WireEvent[] = []
  const reader = createEventStreamReader((one) => events.push(one))
  for (let start = 0; start < bytes.length; start += pieceLength) reader.push(bytes.slice(start, start + pieceLength))
  return events
}

/** A frame with valid checksums for arbitrary headers. */
function frameWith(headers: readonly number[], headersLength = headers.length): Uint8Array {
  const frame = Buffer.alloc(16 + headers.length + 2)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(headersLength, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  frame.set(headers, 12)
  frame.write('{}', 12 + headers.length)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

const [same, exception, error] = [
  Array.from({ length: 3 }, (_, n) => event('contentBlockDelta', { delta: { text: `größe 🙂 ${n}` } })),
  encodeFrame({
    headers: { ':message-type': 'exception', ':exception-type': 'throttlingException' },
    body: utf8.encode('{"message":"slow down"}'),
  }),
  encodeFrame({
    headers: { ':message-type': 'error', ':error-code': 'E1', ':error-message': 'broken' },
    body: new Uint8Array(),
  }),
]

const others = [event('contentBlockDeltb', {}), event('contentBlackDelta', {})]

test('headers that repeat, change by one letter and change back are those of each frame, in pieces of any length', () => {
  const stream = Buffer.concat([...same, ...others, ...same, exception, error, ...same.slice(0, 1)])
  const texts = [0, 1, 2].map((n) => ({
    type: 'contentBlockDelta',
    isException: false,
    payload: { delta: { text: `größe 🙂 ${n}` } },
  }))
  const expected = [
    ...texts,
    { type: 'contentBlockDeltb', isException: false, payload: {} },
    { type: 'contentBlackDelta', isException: false, payload: {} },
    ...texts,
    { type: 'throttlingException', isException: true, payload: { message: 'slow down' } },
    { type: 'E1', isException: true, payload: { message: 'broken' } },
    ...texts.slice(0, 1),
  ]
  for (let pieceLength = 1; pieceLength <= stream.length; pieceLength++)
    expect(read(stream, pieceLength)).toEqual(expected)
})

test('one wrong bit anywhere in a frame is found, also when the headers were seen before', () => {
  const [first = new Uint8Array(), second = new Uint8Array()] = same
  const missed: number[] = []
  for (let bit = 0; bit < second.length * 8; bit++) {
    const broken = second.slice()
    broken[bit >> 3] = (broken[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    if (findCode(() => read(Buffer.concat([first, broken]))) !== 'model_malformed_answer') missed.push(bit)
  }
  expect(missed).toEqual([])
})

test('headers of every type are stepped over; text is read', () => {
  const short = (name: string, type: number, ...value: readonly number[]) => [1, name.charCodeAt(0), type, ...value]
  const headers = [
    ...short('a', 0),
    ...short('b', 1),
    ...short('c', 2, 9),
    ...short('d', 3, 9, 9),
    ...short('e', 4, 9, 9, 9, 9),
    ...short('f', 5, ...Buffer.alloc(8)),
    ...short('g', 6, 0, 2, 9, 9),
    ...short('h', 8, ...Buffer.alloc(8)),
    ...short('i', 9, ...Buffer.alloc(16)),
  ].concat(11, ...utf8.encode(':event-type'), 7, 0, 4, ...utf8.encode('ping'))
  expect(read(frameWith(headers))).toEqual([{ type: 'ping', isException: false, payload: {} }])
})

test.each<[string, Uint8Array, string]>([
  ['a header of an unknown type', frameWith([1, 97, 10]), 'unknown type 10'],
  ['a text that is longer than the headers', frameWith([1, 97, 7, 0, 9, 120]), 'extends past the end of the headers'],
  ['a number that is longer than the headers', frameWith([1, 97, 4, 0]), 'extends past the end of the headers'],
  ['a name that is longer than the headers', frameWith([200, 97]), 'extends past the end of the headers'],
  ['headers that are longer than the frame', frameWith([1, 97, 0], 99), 'extend past its end'],
])('%s is an error', (_situation, frame, message) => {
  expect(() => read(frame)).toThrow(message)
  expect(findCode(() => read(frame))).toBe('model_malformed_answer')
})

function findCode(run: () => unknown): unknown {
  try {
    run()
    return undefined
  } catch (thrown) {
    return isBatonError(thrown) ? thrown.code : thrown
  }
}
