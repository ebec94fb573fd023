// Events that relays have mangled, whole and one byte at a time.
import { describe, expect, test } from 'vitest'
import { createSseReader } from './sse.ts'

const A = '{"a":"Sunny."}'
const B = '{"b":2}'

function read(body: string): readonly (readonly (string | undefined)[])[] {
  const bytes = new TextEncoder().encode(body)
  const [whole, split] = [[bytes], Array.from(bytes, (byte) => Uint8Array.of(byte))].map((pieces) => {
    const events: (readonly (string | undefined)[])[] = []
    const reader = createSseReader(({ event, data }) => events.push([event, data]))
    for (const piece of pieces) reader.push(piece)
    reader.end()
    return events
  })
  expect(split).toEqual(whole)
  return whole ?? []
}

describe('what was meant', () => {
  test.each([
    ['the prefix twice', `data: data: ${A}\n\ndata: data:${B}\n\n`],
    ['a comment as data', `data: : OPENROUTER PROCESSING\n\ndata: ${A}\n\ndata: ${B}\n\n`],
    ['fields as data', `data: event: x\ndata: data: ${A}\n\ndata: id: 1\n\ndata: ${B}\n\n`],
    ['blanks before the field', `  data: ${A}\n\n\tdata: ${B}\n\n`],
    ['no blank lines', `data: ${A}\ndata: ${B}\n`],
    ['a string that is split', `data: {"a":"Sun\ndata: ny."}\n\ndata: ${B}\n\n`],
    [
      'keep-alives as words',
      `data: ping\n\ndata: ${A}\n\ndata: [PING]\n\ndata: heartbeat\n\ndata: ${B}\n\ndata: keep-alive\n\n`,
    ],
    [
      'keep-alives by name',
      `event: ping\ndata: x\n\ndata: ${A}\n\nevent: heartbeat\ndata: 2026-11-28T00:00:00Z\n\ndata: ${B}\n\n`,
    ],
  ])('%s', (_situation, body) => {
    expect(read(body).map(([, data]) => data)).toEqual([A, B])
  })

  test('JSON in several lines stays whole', () => {
    expect(read('data: {\ndata: "a": 1\ndata: }\n\n')).toEqual([[undefined, '{\n"a": 1\n}']])
  })

  test('a named keep-alive with JSON is an event', () => {
    expect(read('event: ping\ndata: {"type":"ping"}\n\n')).toEqual([['ping', '{"type":"ping"}']])
  })

  test('a text is passed on', () => {
    expect(read('data: upstream failed\n\n')).toEqual([[undefined, 'upstream failed']])
  })

  test('a long line with blanks before its field is joined once, however small its pieces', () => {
    const [body, piece] = [`  data: "${'x'.repeat(3_000_000)}"\n\n`, 64]
    const bytes = new TextEncoder().encode(body)
    let length = 0
    const reader = createSseReader(({ data }) => (length += data.length))
    for (let at = 0; at < bytes.length; at += piece) reader.push(bytes.subarray(at, at + piece))
    expect(length).toBe(3_000_002)
  })

  test('a line with blanks before its field that never ends is too long', () => {
    const reader = createSseReader(() => {}, 1000)
    const piece = new TextEncoder().encode(' data: x'.repeat(10))
    expect(() => {
      for (let pieces = 0; pieces < 20; pieces++) reader.push(piece)
    }).toThrow('longer than 1000 characters')
  })

  test('a line that begins with error:, also in pieces', () => {
    expect(read(`data: ${A}\n\nerror: {"code":500}\n\n`)).toEqual([
      [undefined, A],
      ['error', '{"code":500}'],
    ])
  })
})
