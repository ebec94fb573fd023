// Streams that only gateways to the Messages API send: events left out, repeated, misnumbered or in other words.
import { isBatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createAnthropicDecoder, decodeAnthropicMessage } from './decode-stream.ts'

const options = { model: 'claude-haiku-4-5', names: createToolNames(['a']) }
const X1 = '{"x":1}'
const start = { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 10 } } }
const stop = { type: 'message_stop' }
const begin = (index: unknown, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: unknown, piece: object) => ({ type: 'content_block_delta', index, delta: piece })
const finish = (index: unknown) => ({ type: 'content_block_stop', index })
const text = (words: string, index: unknown = 0) => delta(index, { type: 'text_delta', text: words })
const json = (partial_json: unknown, index: unknown = 0) => delta(index, { type: 'input_json_delta', partial_json })
const use = (more: object = {}) => ({ type: 'tool_use', id: 't', name: 'a', input: {}, ...more })
const said = (words: string) => [begin(0, { type: 'text', text: '' }), text(words), finish(0)]
const reason = (stop_reason: unknown, usage: object = {}) => ({ type: 'message_delta', delta: { stop_reason }, usage })
const call = [begin(0, use()), json(X1), finish(0)]

function answer(events: readonly (object | string)[], event?: string) {
  const decoder = createAnthropicDecoder(options)
  for (const one of events) decoder.push({ event, data: typeof one === 'string' ? one : JSON.stringify(one) })
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
const SUNNY = [['text', 'Sunny.'], 'end']

describe('blocks', () => {
  test.each<[string, readonly object[], readonly unknown[]]>([
    ['all pieces have the number 0', [...said('Hi '), begin(1, use()), json(X1, 0), finish(1)], BOTH],
    ['all pieces and ends have the number 0', [...said('Hi '), begin(1, use()), json(X1, 0), finish(0)], BOTH],
    ['the start of a call comes twice', [begin(0, use()), begin(0, use()), json(X1), finish(0)], CALL],
    [
      'the start of a call comes with each piece',
      [begin(0, use()), json('{"x"'), begin(0, use()), json(':1}'), finish(0)],
      CALL,
    ],
    ['the name comes with the second start', [begin(0, use({ name: '' })), begin(0, use()), json(X1), finish(0)], CALL],
    ['a text has no start', [text('Hi '), finish(0), begin(1, use()), json(X1, 1), finish(1)], BOTH],
    ['a text has neither start nor end', [text('Hi '), begin(1, use()), json(X1, 1), finish(1)], BOTH],
    [
      'a thought has no start',
      [delta(0, { type: 'thinking_delta', thinking: 'hm' }), ...call.map((one) => ({ ...one, index: 1 }))],
      [['reasoning', 'hm'], ...CALL],
    ],
    [
      'pieces have no type',
      [
        begin(0, { type: 'text', text: '' }),
        delta(0, { text: 'Hi ' }),
        finish(0),
        begin(1, use()),
        delta(1, { partial_json: X1 }),
        finish(1),
      ],
      BOTH,
    ],
  ])('%s', (_situation, events, parts) => {
    expect(read(answer([start, ...events, reason('tool_use'), stop]))).toEqual(parts)
  })
})

describe('arguments', () => {
  test.each<[string, object, readonly unknown[], string]>([
    ['as an object', {}, [{ x: 1 }], X1],
    ['at the start, and an empty object behind', { input: { x: 1 } }, ['{}'], X1],
    ['an empty list at the start (PHP)', { input: [] }, [], '{}'],
    ['an empty list at the start, then the whole', { input: [] }, [X1], X1],
    ['an empty list', {}, ['[]'], '{}'],
    ['null', {}, ['null'], '{}'],
  ])('%s', (_situation, more, pieces, whole) => {
    const events = [begin(0, use(more)), ...pieces.map((piece) => json(piece)), finish(0)]
    expect(read(answer([start, ...events, reason('tool_use'), stop]))).toEqual([['a', whole], 'tool-calls'])
  })

  test('in a field of the piece that nobody knows are lost, not none', () => {
    const events = [begin(0, use()), delta(0, { type: 'input_json_delta', json: X1 }), finish(0)]
    expect(read(answer([start, ...events, reason('tool_use'), stop]))).toEqual([['a', ''], 'tool-calls'])
  })
})

describe('starts and ends', () => {
  test.each<[string, readonly object[], readonly unknown[]]>([
    ['no message_start', [...call, reason('tool_use'), stop], CALL],
    ['a message_start without a message', [{ type: 'message_start' }, ...call, reason('tool_use'), stop], CALL],
    ['no message_delta, a text', [start, ...said('Sunny.'), stop], SUNNY],
    ['no message_delta, a call', [start, ...call, stop], CALL],
    ['no message_delta, a call without arguments', [start, begin(0, use()), finish(0), stop], [['a', ''], 'other']],
    ['no reason, a call', [start, ...call, reason(null), stop], CALL],
    ['a reason in capitals', [start, ...call, reason('TOOL_USE'), stop], CALL],
    [
      'a reason of another provider',
      [start, ...said('Sun'), reason('max_output_tokens'), stop],
      [['text', 'Sun'], 'max-tokens'],
    ],
    [
      'a reason beside the delta',
      [start, ...said('Sun'), { type: 'message_delta', stop_reason: 'max_tokens' }, stop],
      [['text', 'Sun'], 'max-tokens'],
    ],
    [
      'a reason in message_stop',
      [start, ...said('Sun'), { ...stop, stop_reason: 'max_tokens' }],
      [['text', 'Sun'], 'max-tokens'],
    ],
    [
      'the limit, then another reason',
      [start, ...call, reason('max_tokens'), reason('tool_use'), stop],
      [['a', X1], 'max-tokens'],
    ],
    ['a reason before the call', [start, reason('tool_use'), ...call, stop], CALL],
  ])('%s', (_situation, events, parts) => {
    expect(read(answer(events))).toEqual(parts)
  })
})

describe('counts', () => {
  test.each<[string, readonly object[]]>([
    ['a zero behind the input', [{ input_tokens: 0, output_tokens: 20 }]],
    ['zeros behind all', [{ output_tokens: 20 }, { input_tokens: 0, output_tokens: 0 }]],
    ['in words of Chat Completions', [{ input_tokens: null, prompt_tokens: 10, completion_tokens: 20 }]],
  ])('%s', (situation, told) => {
    const begun = situation.startsWith('in words') ? { ...start, message: { content: [] } } : start
    const outcome = answer([begun, ...said('x'), ...told.map((usage) => reason('end_turn', usage)), stop])
    expect(outcome).toMatchObject({ usage: { inputTokens: 10, outputTokens: 20 } })
  })
})

test.each<[string, object, object]>([
  ['an id in place of the object', { container: 'c' }, {}],
  ['an id alone at the end', { container: { id: 'c' } }, { delta: { container: 'c' } }],
  ['an empty object at the end', { container: { id: 'c' } }, { delta: { container: {} } }],
  ['null at the end', { container: { id: 'c' } }, { delta: { container: null } }],
  ['beside the delta', {}, { container: { id: 'c' } }],
  ['null at the start', { container: null }, { delta: { container: { id: 'c' } } }],
])('the container of an answer: %s', (_situation, begun, ended) => {
  const begin = { ...start, message: { ...start.message, ...begun } }
  const outcome = answer([begin, ...said('x'), { type: 'message_delta', ...ended }, reason('end_turn'), stop])
  expect(outcome).toMatchObject({ parts: [{ type: 'text' }, { state: { data: { container: { id: 'c' } } } }] })
})

describe('whole answers', () => {
  const whole = { type: 'message', content: [{ type: 'text', text: 'Sunny.' }], stop_reason: 'end_turn' }

  test('as one event', () => {
    expect(read(answer([whole]))).toEqual(SUNNY)
    expect(read(answer([whole, '[DONE]']))).toEqual(SUNNY)
  })

  test.each<[string, object, readonly unknown[]]>([
    ['a text as the content', { ...whole, content: 'Sunny.' }, SUNNY],
    ['a block as the content', { ...whole, content: { type: 'text', text: 'Sunny.' } }, SUNNY],
    ['a call without a reason', { type: 'message', content: [use({ input: { x: 1 } })], stop_reason: null }, CALL],
    ['an error without a type', { error: { type: 'overloaded_error', message: 'x' } }, ['model_overloaded']],
    ['an error that is a message', { message: 'no route' }, ['model_provider_failed']],
    ['an answer of Chat Completions', { choices: [{ message: { content: 'x' } }] }, ['model_malformed_answer']],
    ['an empty object', {}, ['model_malformed_answer']],
  ])('%s', (_situation, body, parts) => {
    expect(read(decodeAnthropicMessage(JSON.parse(JSON.stringify(body)), options))).toEqual(parts)
  })
})

describe('errors', () => {
  test.each<[string, object | string, string, string]>([
    ['without a type', { error: { type: 'rate_limit_error', message: 'slow' } }, 'model_rate_limited', 'slow'],
    ['with a status', { error: { message: 'slow', code: 429 } }, 'model_rate_limited', 'slow'],
    ['as a text', { type: 'error', error: 'it broke' }, 'model_provider_failed', 'it broke'],
    ['with its message beside the type', { type: 'error', message: 'it broke' }, 'model_provider_failed', 'it broke'],
    ['without JSON', 'it broke', 'model_provider_failed', 'it broke'],
    ['as a detail', { detail: 'it broke' }, 'model_provider_failed', 'it broke'],
  ])('%s', (_situation, event, code, words) => {
    const name = typeof event === 'string' ? 'error' : undefined
    expect(answer([event], name)).toMatchObject({ code, message: expect.stringContaining(words) })
  })

  test('null in each event is none', () => {
    const events = [start, ...said('Sunny.'), reason('end_turn'), stop]
    expect(read(answer(events.map((one) => ({ ...one, error: null }))))).toEqual(SUNNY)
  })
})
