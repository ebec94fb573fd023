// Pieces read ahead equal what the parser and JSON.parse would have read, however the network splits the stream.
import type { ModelEvent } from '@baton/core'
import { isBatonError } from '@baton/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { readSseInto } from '../transport/answer-reader.ts'
import { createAnthropicDecoder } from './decode-stream.ts'
import { PieceReader } from './read-pieces.ts'

const type = fc.constantFrom('text_delta', 'thinking_delta', 'input_json_delta', 'signature_delta')
const field = fc.constantFrom('text', 'thinking', 'partial_json')
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '"}}', '\n\n', '\u2028', '\ud800', 'a'),
)
const pad = fc.constantFrom('', '', ' ', '    ', '\t', 'x', '}', ',"n":1')
const event = fc.record({ type, field, text, index: fc.constantFrom(0, 0, 0, 1, 2, 7), pad, end: pad })
const stream = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: event.map(writeEvent) },
    fc.constantFrom(': comment\n\n', 'event: ping\ndata: {"type": "ping"}\n\n', 'data: [1]\n\n', '\n', 'data: {\n\n'),
    fc.constantFrom('event: content_block_delta\r\ndata: {"type":"content_block_delta"}\r\n\r\n'),
  ),
  { maxLength: 12 },
)

function writeEvent({ type, field, text, index, pad, end }: Event): string {
  const written = JSON.stringify({ type: 'content_block_delta', index, delta: { type, [field]: text } })
  return `event: content_block_delta\ndata: ${written.slice(0, -1)}${pad}}${end}\n\n`
}

interface Event {
  readonly type: string
  readonly field: string
  readonly text: string
  readonly index: number
  readonly pad: string
  readonly end: string
}

const START = [
  '{"type":"message_start","message":{"model":"m","usage":{}}}',
  '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  '{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":""}}',
  '{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c","name":"t","input":{}}}',
].map((data) => `data: ${data}\n\n`)
const END = [
  '{"type":"content_block_stop","index":2}',
  '{"type":"message_delta","delta":{"stop_reason":"end_turn"}}',
  '{"type":"message_stop"}',
].map((data) => `data: ${data}\n\n`)

/** Pieces of each block, and the end. `cutAt`: byte offsets at which the network splits the stream. */
function read(written: string, cutAt: readonly number[], readsAhead: boolean): unknown {
  const said: Record<string, string> = {}
  const sink = (event: ModelEvent): void => {
    if ('text' in event) said[`${event.type}`] = (said[event.type] ?? '') + event.text
  }
  const decoder = createAnthropicDecoder({ model: 'm', names: createToolNames([]), sink })
  const { readAhead, push, end } = decoder
  const plain = {
    failure: undefined,
    progress: 'open' as const,
    heard: 0,
    push: push.bind(decoder),
    end: end.bind(decoder),
  }
  const reader = readSseInto(readsAhead ? { ...plain, readAhead } : plain)
  const bytes = new TextEncoder().encode(written)
  const cuts = [0, ...cutAt.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
  for (const [index, cut] of cuts.slice(0, -1).entries()) reader.push(bytes.subarray(cut, cuts[index + 1]))
  const answer = reader.end()
  return { said, answer: isBatonError(answer) ? answer.message : answer }
}

test('any stream, cut anywhere', () => {
  let answers = 0
  fc.assert(
    fc.property(stream, fc.array(fc.nat({ max: 2000 }), { maxLength: 5 }), (events, cuts) => {
      const written = [...START, ...events, ...END].join('')
      const ahead = read(written, cuts, true)
      if (typeof (ahead as { readonly answer: unknown }).answer === 'object') answers += 1
      expect(ahead).toEqual(read(written, [], false))
    }),
    { numRuns: 2000 },
  )
  expect(answers).toBeGreaterThan(100)
})

test('neighbours of one block are one piece, and another block begins another', () => {
  const piece = { type: 'text_delta', field: 'text', index: 0, pad: '', end: ' ' }
  const written = [
    writeEvent({ ...piece, text: 'one "two"' }),
    writeEvent({ ...piece, text: ' three' }),
    writeEvent({ ...piece, text: 'other', index: 3 }),
  ].join('')
  const reader = new PieceReader(() => true)
  reader.begin(`${written}event: ping\n`, 0)
  const delta = (index: number, text: string) => ({
    type: 'content_block_delta',
    index,
    delta: { type: 'text_delta', text },
  })
  expect([reader.next(), reader.next(), reader.next()]).toEqual([
    delta(0, 'one "two" three'),
    delta(3, 'other'),
    undefined,
  ])
  expect(reader.end).toBe(written.length)
})

test.each([
  ['a control that JSON forbids', '"text":"a\tb"}}\n\n'],
  ['an escape that JSON does not know', '"text":"a\\q"}}\n\n'],
  ['a field that is new', '"text":"a"},"n":1}\n\n'],
  ['a field that is there twice', '"text":"a","text":"b"}}\n\n'],
  ['no end yet', '"text":"a"}}\n'],
  ['a string without end', '"text":"a\\'],
])('%s is left to the parser', (_situation, rest) => {
  const written = `event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta",${rest}`
  const reader = new PieceReader(() => true)
  reader.begin(written, 0)
  expect(reader.next()).toBeUndefined()
  expect(reader.end).toBe(0)
})

test('arguments that a gateway repeats in each piece are one call, in whatever packets they come', () => {
  const pieces = ['{"a"', '{"a":1', '{"a":1}'].map((text) =>
    writeEvent({ type: 'input_json_delta', field: 'partial_json', index: 2, text, pad: '', end: '' }),
  )
  const written = [...START, ...pieces, ...END].join('')
  const cuts = Array.from({ length: written.length }, (_, index) => index + 1)
  const call = expect.objectContaining({
    type: 'call',
    arguments: '{"a":1}',
    repairs: ['repeated-arguments'],
  }) as object
  for (const packets of [[], cuts])
    expect(read(written, packets, true)).toMatchObject({ answer: { parts: expect.arrayContaining([call]) as object } })
})
