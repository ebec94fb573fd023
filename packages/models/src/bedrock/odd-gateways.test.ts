// Streams that only gateways to Bedrock send: blocks misnumbered or without ends, arguments and errors in other places.
import type { JsonObject } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createBedrockDecoder, decodeBedrockMessage } from './decode-stream.ts'

const options = { model: 'm', names: createToolNames(['a']) }
const X1 = '{"x":1}'
type Event = readonly [type: string, payload: unknown]
const start = (contentBlockIndex: unknown, given: object): Event => [
  'contentBlockStart',
  { contentBlockIndex, start: given },
]
const use = (index: unknown, more: object = {}) => start(index, { toolUse: { toolUseId: 't', name: 'a', ...more } })
const delta = (contentBlockIndex: unknown, given: object): Event => [
  'contentBlockDelta',
  { contentBlockIndex, delta: given },
]
const json = (input: unknown, index: unknown = 0) => delta(index, { toolUse: { input } })
const text = (words: string, index: unknown = 0) => delta(index, { text: words })
const finish = (contentBlockIndex: unknown): Event => ['contentBlockStop', { contentBlockIndex }]
const stop = (stopReason: unknown): Event => ['messageStop', { stopReason }]
const call = [use(0), json(X1), finish(0)]

function answer(events: readonly Event[]) {
  const decoder = createBedrockDecoder(options)
  for (const [type, payload] of JSON.parse(JSON.stringify(events)) as readonly (readonly [string, JsonObject])[])
    decoder.push({ type, isException: false, payload })
  return decoder.end()
}

function read(outcome: ReturnType<typeof answer>): readonly unknown[] {
  if (isBatonError(outcome)) return [outcome.code]
  const parts = outcome.parts.map((part) =>
    part.type === 'call' ? [part.name, part.arguments] : 'text' in part ? [part.type, part.text] : part.type,
  )
  return [...parts, outcome.finish]
}

const CALL = [['a', X1], 'tool-calls']
const BOTH = [['text', 'Hi '], ['a', X1], 'tool-calls']

describe('blocks', () => {
  test.each<[string, readonly Event[], readonly unknown[]]>([
    ['a text that was not ended under the same index', [text('Hi '), use(0), json(X1), finish(0)], BOTH],
    ['pieces under another index than the start', [use(1), json(X1, 0), finish(1)], CALL],
    ['pieces under the index of an ended text', [text('Hi '), finish(0), use(1), json(X1, 0), finish(1)], BOTH],
    [
      'a text that goes on under an ended index',
      [text('Hi '), finish(0), text('you'), finish(0)],
      [['text', 'Hi '], ['text', 'you'], 'end'],
    ],
    ['a start that comes twice', [use(0), use(0), json(X1), finish(0)], CALL],
    ['a start in the piece', [delta(0, { toolUse: { toolUseId: 't', name: 'a', input: X1 } }), finish(0)], CALL],
    [
      'calls without ends',
      [use(0), json(X1), use(1, { toolUseId: 'u' }), json('{"x":2}', 1)],
      [['a', X1], ['a', '{"x":2}'], 'tool-calls'],
    ],
    [
      'a start of a text, with its beginning',
      [
        start(0, { text: 'H' }),
        text('i '),
        finish(0),
        ...call.map(([type, given]): Event => [type, { ...(given as object), contentBlockIndex: 1 }]),
      ],
      BOTH,
    ],
  ])('%s', (_situation, events, parts) => {
    expect(read(answer([...events, stop(parts.at(-1) === 'end' ? 'end_turn' : 'tool_use')]))).toEqual(parts)
  })

  test('half a call without an end is malformed', () => {
    expect(read(answer([use(0), json('{"x"'), stop('tool_use')]))).toEqual(['model_malformed_answer'])
  })
})

describe('arguments', () => {
  test.each<[string, readonly Event[], string]>([
    ['as an object', [use(0), json({ x: 1 })], X1],
    ['at the start', [use(0, { input: { x: 1 } })], X1],
    ['an empty object at the start, then the whole', [use(0, { input: {} }), json(X1)], X1],
    ['null', [use(0), json('null')], '{}'],
    ['an empty list (PHP)', [use(0), json([])], '{}'],
    ['in a field that nobody knows', [use(0), delta(0, { toolUse: { json: X1 } })], ''],
  ])('%s', (_situation, events, whole) => {
    expect(read(answer([...events, finish(0), stop('tool_use')]))).toEqual([['a', whole], 'tool-calls'])
  })
})

describe('why it stopped', () => {
  test.each<[unknown, string]>([
    ['TOOL_USE', 'tool-calls'],
    ['tool_calls', 'tool-calls'],
    ['length', 'max-tokens'],
    [undefined, 'tool-calls'],
    ['brand_new', 'other'],
  ])('%s', (reason, end) => {
    expect(read(answer([...call, stop(reason)]))).toEqual([['a', X1], end])
  })

  test('without a reason, a text has ended, and a call without arguments has not', () => {
    expect(read(answer([text('x'), finish(0), stop(null)]))).toEqual([['text', 'x'], 'end'])
    expect(read(answer([use(0), finish(0), stop(null)]))).toEqual([['a', ''], 'other'])
  })

  test.each(['tool_use', 'end_turn', null])('the limit, then %s with nothing between', (reason) => {
    expect(read(answer([...call, stop('max_tokens'), stop(reason)]))).toEqual([['a', X1], 'max-tokens'])
  })
})

test('the cache in words of 2024', () => {
  const usage = { inputTokens: 10, outputTokens: 4, cacheReadInputTokenCount: 7351, totalTokens: 7365 }
  expect(answer([text('x'), stop('end_turn'), ['metadata', { usage }]])).toMatchObject({
    usage: { inputTokens: 7361, cacheReadTokens: 7351, outputTokens: 4 },
  })
})

test('zeros behind counts change nothing', () => {
  const counts = (inputTokens: number, outputTokens: number): Event => [
    'metadata',
    { usage: { inputTokens, outputTokens } },
  ]
  expect(answer([text('x'), stop('end_turn'), counts(10, 5), counts(0, 0)])).toMatchObject({
    usage: { inputTokens: 10, outputTokens: 5 },
  })
})

test.each<[string, Event, string]>([
  ['an exception', ['throttlingException', { message: 'it broke' }], 'model_rate_limited'],
  ['an error', ['error', { message: 'it broke' }], 'model_provider_failed'],
])('%s that is framed as an event', (_situation, event, code) => {
  expect(answer([text('x'), event])).toMatchObject({ code, message: expect.stringContaining('it broke') })
})

test.each<[string, object, string]>([
  ['a message', { message: 'it broke' }, 'model_provider_failed'],
  ['a message of AWS, with its type', { __type: 'ThrottlingException', Message: 'it broke' }, 'model_rate_limited'],
  ['an error of a gateway', { error: { message: 'it broke' } }, 'model_provider_failed'],
  ['an empty object', {}, 'model_malformed_answer'],
])('a whole body that is %s', (_situation, body, code) => {
  const message = code === 'model_malformed_answer' ? 'not an answer' : 'it broke'
  expect(decodeBedrockMessage(JSON.parse(JSON.stringify(body)), options)).toMatchObject({
    code,
    message: expect.stringContaining(message),
  })
})
