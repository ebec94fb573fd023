// Streams that only gateways to the Responses API send: items, ends, texts and errors in other places and words.
import { isBatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createOpenAiResponsesDecoder, decodeOpenAiResponse } from './decode-stream.ts'

const options = { model: 'gpt-5', names: createToolNames(['a']) }
const X1 = '{"x":1}'
const call = (more: object = {}) => ({ type: 'function_call', id: 'fc', call_id: 'c', name: 'a', ...more })
const whole = call({ arguments: X1, status: 'completed' })
const added = (item: object, more: object = { output_index: 0 }) => ({
  type: 'response.output_item.added',
  item,
  ...more,
})
const done = (item: object, more: object = { output_index: 0 }) => ({
  type: 'response.output_item.done',
  item,
  ...more,
})
const args = (delta: unknown, more: object = { output_index: 0 }) => ({
  type: 'response.function_call_arguments.delta',
  delta,
  ...more,
})
const text = (delta: unknown, more: object = { output_index: 0 }) => ({
  type: 'response.output_text.delta',
  delta,
  ...more,
})
const message = (content: unknown = []) => ({ type: 'message', id: 'msg', role: 'assistant', content })
const sunny = message([{ type: 'output_text', text: 'Sunny.' }])
const end = (more: object = {}) => ({
  type: 'response.completed',
  response: { status: 'completed', output: [], ...more },
})

function answer(events: readonly (object | string)[], event?: string) {
  const decoder = createOpenAiResponsesDecoder(options)
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
const SUNNY = [['text', 'Sunny.'], 'end']

describe('items', () => {
  test.each<[string, readonly object[], readonly unknown[]]>([
    [
      'another id in each event, and no index',
      [added(call(), {}), args(X1, { item_id: 'y' }), done({ ...whole, id: 'z' }, {})],
      CALL,
    ],
    [
      'the name and the id only at the start',
      [added(call()), args(X1), done({ ...whole, name: null, call_id: undefined })],
      CALL,
    ],
    [
      'a text under another index than its item',
      [added(message()), text('Sun', { output_index: 1 }), text('ny.', { output_index: 1 }), done(sunny)],
      SUNNY,
    ],
    [
      'a text without an item that ends under another index',
      [text('Sun', {}), text('ny.', {}), done(sunny, { output_index: 3 })],
      SUNNY,
    ],
    [
      'a text only in the end of its part',
      [
        added(message()),
        { type: 'response.content_part.done', output_index: 0, part: { type: 'output_text', text: 'Sunny.' } },
      ],
      SUNNY,
    ],
    ['a text as the content', [added(message()), done(message('Sunny.'))], SUNNY],
    ['one part as the content', [added(message()), done(message({ type: 'output_text', text: 'Sunny.' }))], SUNNY],
    ['strings as the content', [added(message()), done(message(['Sunny.']))], SUNNY],
    ['an object as a piece of text', [added(message()), text({ text: 'Sunny.' }), done(message())], SUNNY],
  ])('%s', (_situation, events, parts) => {
    expect(read(answer([...events, end()]))).toEqual(parts)
  })
})

describe('arguments', () => {
  const bare = { ...whole, arguments: undefined }
  test.each<[string, readonly object[], string]>([
    ['an object as the piece', [args({ x: 1 }), done(bare)], X1],
    [
      'an object in the end of the arguments',
      [{ type: 'response.function_call_arguments.done', output_index: 0, arguments: { x: 1 } }],
      X1,
    ],
    ['all so far in each piece, and nothing at the end', [args('{"x'), args('{"x":'), args(X1), done(bare)], X1],
    ['an empty object at the end of others', [args(X1), done({ ...whole, arguments: '{}' })], X1],
    ['null', [done({ ...whole, arguments: 'null' })], '{}'],
    ['an empty list (PHP)', [done({ ...whole, arguments: [] })], '{}'],
  ])('%s', (_situation, events, arguments_) => {
    expect(read(answer([added(call()), ...events, end()]))).toEqual([['a', arguments_], 'tool-calls'])
  })

  test('half of them, and an empty object at the end, do not run', () => {
    const events = [added(call()), args('{"x":'), done({ ...whole, arguments: '{}' }), end()]
    expect(read(answer(events))).toEqual([['a', '{"x":'], 'tool-calls'])
  })
})

describe('ends', () => {
  const cut = { incomplete_details: { reason: 'max_output_tokens' } }
  const called = [added(call()), done(whole)]
  test.each<[string, object, readonly unknown[]]>([
    ['response.done', { ...end(), type: 'response.done' }, CALL],
    ['completed, but incomplete', end({ status: 'incomplete', ...cut }), [['a', X1], 'max-tokens']],
    ['completed, with a reason for a cut', end({ status: undefined, ...cut }), [['a', X1], 'max-tokens']],
    [
      'incomplete in words of Chat Completions',
      { type: 'response.incomplete', response: { incomplete_details: { reason: 'length' } } },
      [['a', X1], 'max-tokens'],
    ],
    [
      'completed, but failed',
      end({ status: 'failed', error: { code: 'rate_limit_exceeded', message: 'x' } }),
      ['model_rate_limited'],
    ],
    ['failed with a text', { type: 'response.failed', response: { error: 'it broke' } }, ['model_provider_failed']],
    [
      'failed with the error beside',
      { type: 'response.failed', error: { code: 'rate_limit_exceeded' } },
      ['model_rate_limited'],
    ],
    [
      'an error in other words',
      { type: 'response.error', error: { code: 'rate_limit_exceeded' } },
      ['model_rate_limited'],
    ],
  ])('%s', (_situation, last, parts) => {
    expect(read(answer([...called, last]))).toEqual(parts)
  })

  test('an error without JSON', () => {
    expect(answer(['it broke'], 'error')).toMatchObject({
      code: 'model_provider_failed',
      message: expect.stringContaining('it broke'),
    })
  })
})

describe('counts', () => {
  const usage = { input_tokens: 5, output_tokens: 6 }
  test.each<[string, readonly object[]]>([
    ['in words of Chat Completions', [end({ usage: { prompt_tokens: 5, completion_tokens: 6 } })]],
    [
      'zeros behind them',
      [{ type: 'response.in_progress', response: { usage } }, end({ usage: { input_tokens: 0, output_tokens: 0 } })],
    ],
    ['beside the response', [{ ...end(), usage }]],
  ])('%s', (_situation, events) => {
    expect(answer([text('x'), ...events])).toMatchObject({ usage: { inputTokens: 5, outputTokens: 6 } })
  })
})

test.each<[string, object, object]>([
  [
    'a total that counts the cache beside the input',
    { input_tokens: 10, output_tokens: 30, total_tokens: 7391, input_tokens_details: { cached_tokens: 7351 } },
    { inputTokens: 7361, cacheReadTokens: 7351, outputTokens: 30 },
  ],
  [
    'reasoning beside the output',
    { input_tokens: 35, output_tokens: 12, total_tokens: 109 },
    { inputTokens: 35, outputTokens: 74, reasoningTokens: 62 },
  ],
  ['a total alone', { total_tokens: 15 }, { inputTokens: 15 }],
  [
    'Anthropic’s words',
    { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 4 },
    { inputTokens: 14, cacheReadTokens: 4, outputTokens: 5 },
  ],
])('counts: %s', (_situation, usage, told) => {
  expect(answer([text('x'), end({ usage })])).toMatchObject({ usage: told })
})

describe('whole answers', () => {
  const body = { object: 'response', status: 'completed', output: [sunny] }

  test('as one event', () => {
    expect(read(answer([body]))).toEqual(SUNNY)
    expect(read(answer([body, '[DONE]']))).toEqual(SUNNY)
  })

  test.each<[string, object, readonly unknown[]]>([
    ['the text of libraries alone', { status: 'completed', output_text: 'Sunny.' }, SUNNY],
    ['an answer of Chat Completions', { choices: [{ message: { content: 'x' } }] }, ['model_malformed_answer']],
    ['an empty object', {}, ['model_malformed_answer']],
    ['a message', { message: 'no route' }, ['model_provider_failed']],
  ])('%s', (_situation, given, parts) => {
    expect(read(decodeOpenAiResponse(JSON.parse(JSON.stringify(given)), options))).toEqual(parts)
  })
})
