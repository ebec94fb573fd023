// Events are read as JSON.parse reads them, whatever stands in them.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readEvent } from './read-event.ts'

const kind = fc.constantFrom('text', 'thinking', 'signature')
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('"', '\\', '"}}', '\n', '\u2028', '\ud800'),
)
const delta = fc
  .record({ kind, field: kind, text, index: fc.nat(), pad: fc.constantFrom('', ' ', '    ', '\n', 'x', '}') })
  .map(({ kind: type, field, text: said, index, pad }) => {
    const event = { type: 'content_block_delta', index, delta: { type: `${type}_delta`, [field]: said } }
    return `${JSON.stringify(event).slice(0, -1)}${pad}}`
  })

/** What is read, or that it is not JSON. */
function outcome(read: (data: string) => unknown, data: string): unknown {
  try {
    return { read: read(data) }
  } catch (cause) {
    return cause instanceof SyntaxError ? 'not JSON' : cause
  }
}

test('any delta', () => {
  fc.assert(
    fc.property(delta, (data) => {
      expect(outcome(readEvent, data)).toEqual(outcome(JSON.parse, data))
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['a tab that JSON forbids', '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\tb"}}'],
  ['an index that JSON forbids', '{"type":"content_block_delta","index":01,"delta":{"type":"text_delta","text":"a"}}'],
  [
    'a space that JSON forbids',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}\u00a0}',
  ],
  ['a field that is new', '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"},"n":1}'],
  [
    'a field that is there twice',
    '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a","text":"b"}}',
  ],
  ['no JSON at all', 'hello'],
])('%s', (_situation, data) => {
  expect(outcome(readEvent, data)).toEqual(outcome(JSON.parse, data))
})
