// Handwritten streams that no recording has: from the types of openai 7.57, and cut off as gateways were seen to do.
import type { ModelEvent } from '@baton/core'
import { isBatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createOpenAiResponsesDecoder, decodeOpenAiResponse } from './decode-stream.ts'

const options = { model: 'gpt-5', names: createToolNames(['agent.spawn']) }
const call = (more: object = {}) => ({ type: 'function_call', id: 'fc', call_id: 'call_1', name: 'a', ...more })
const added = (item: object, output_index = 0) => ({ type: 'response.output_item.added', output_index, item })
const done = (item: object, output_index = 0) => ({ type: 'response.output_item.done', output_index, item })
const args = (delta: string, output_index = 0) => {
  return { type: 'response.function_call_arguments.delta', output_index, delta }
}
const text = (delta: string, output_index = 0) => ({ type: 'response.output_text.delta', output_index, delta })
const message = (...content: readonly object[]) => ({ type: 'message', role: 'assistant', content })
const said = (value: string) => ({ type: 'output_text', text: value })
const end = (status: string, more: object = {}) => ({ type: `response.${status}`, response: { status, ...more } })
const incomplete = (reason: string, more: object = {}) => end('incomplete', { incomplete_details: { reason }, ...more })

function decode(events: readonly (object | string)[], more: object = {}) {
  const told: ModelEvent[] = []
  const decoder = createOpenAiResponsesDecoder({ ...options, ...more, sink: (event) => told.push(event) })
  for (const event of events) decoder.push({ data: typeof event === 'string' ? event : JSON.stringify(event) })
  return { answer: decoder.end(), told }
}

function readAnswer(events: readonly (object | string)[]) {
  const { answer } = decode(events)
  if (isBatonError(answer)) throw answer
  return answer
}

function describeFailure(events: readonly (object | string)[], more: object = {}) {
  const { answer } = decode(events, more)
  if (!isBatonError(answer)) throw new Error('no error')
  return answer
}

test('calls in turns, each with its own number', () => {
  const { answer, told } = decode([
    added(call({ name: 'agent_-dot-spawn', arguments: '' })),
    added(call({ call_id: 'call_2', name: 'b' }), 1),
    args('{"x":'),
    args('{}', 1),
    args('1}'),
    done(call({ call_id: 'call_2', name: 'b', arguments: '{}' }), 1),
    done(call({ name: 'agent_-dot-spawn', arguments: '{"x":1}' })),
    end('completed', { usage: { input_tokens: 3, output_tokens: 4 }, id: 'resp_1', model: 'gpt-5-x' }),
  ])
  const state = (id: string) => ({ provider: 'openai', model: 'gpt-5', data: { id } })
  expect(answer).toEqual({
    parts: [
      { type: 'call', name: 'agent.spawn', arguments: '{"x":1}', state: state('call_1') },
      { type: 'call', name: 'b', arguments: '{}', state: state('call_2') },
    ],
    finish: 'tool-calls',
    usage: { inputTokens: 3, outputTokens: 4 },
    model: 'gpt-5-x',
    requestId: 'resp_1',
  })
  expect(told.map(({ type, ...rest }) => [type, 'index' in rest ? rest.index : undefined])).toEqual([
    ['call-start', 0],
    ['call-start', 1],
    ['call-delta', 0],
    ['call-delta', 1],
    ['call-delta', 0],
    ['call-end', 1],
    ['call-end', 0],
    ['usage', undefined],
  ])
})

describe('ends', () => {
  test.each([
    ['max_output_tokens', 'max-tokens', undefined],
    ['content_filter', 'refusal', 'content_filter'],
    ['steered', 'pause', undefined],
    ['max_messages', 'other', undefined],
    ['of tomorrow', 'other', undefined],
  ])('incomplete for the reason %s', (reason, finish, refusal) => {
    const answer = readAnswer([added(message()), text('Half'), incomplete(reason)])
    expect([answer.finish, answer.refusal, answer.parts]).toEqual([finish, refusal, [{ type: 'text', text: 'Half' }]])
  })

  test('a call that the limit cut keeps its finish from being one of calls', () => {
    const answer = readAnswer([added(call()), args('{"city":"Ber'), incomplete('max_output_tokens')])
    expect(answer.finish).toBe('max-tokens')
    expect(answer.parts).toMatchObject([{ type: 'call', arguments: '{"city":"Ber' }])
    expect(readAnswer([added(call()), done(call({ arguments: '{}' })), incomplete('steered')]).finish).toBe('other')
  })

  test('a call that says of itself that it is not whole', () => {
    const item = call({ arguments: '{}', status: 'incomplete' })
    expect(readAnswer([added(call()), done(item), end('completed')]).finish).toBe('malformed-call')
  })

  test('a refusal', () => {
    const answer = readAnswer([
      added(message()),
      { type: 'response.refusal.delta', output_index: 0, delta: 'I can’t.' },
      done(message({ type: 'refusal', refusal: 'I can’t.' })),
      end('completed'),
    ])
    expect(answer).toMatchObject({
      finish: 'refusal',
      parts: [{ text: 'I can’t.', state: { data: { refusal: true } } }],
    })
  })

  test.each<[string, readonly (object | string)[], string]>([
    ['no event', [], 'model_cut_off'],
    ['a call that is whole, but not the response', [added(call()), done(call({ arguments: '{}' }))], 'model_cut_off'],
    ['[DONE] alone', [added(message()), text('x'), '[DONE]'], 'model_cut_off'],
    ['completed with an open call', [added(call()), args('{"a":1}'), end('completed')], 'model_malformed_answer'],
    ['no JSON', ['<html>'], 'model_malformed_answer'],
    ['cancelled', [end('cancelled')], 'model_provider_failed'],
    ['failed', [end('failed', { error: { code: 'server_error', message: 'x' } })], 'model_provider_failed'],
    ['failed without a reason', [end('failed')], 'model_provider_failed'],
    [
      'failed for its rate',
      [end('failed', { error: { code: 'rate_limit_exceeded', message: 'x' } })],
      'model_rate_limited',
    ],
    [
      'failed for an image',
      [end('failed', { error: { code: 'image_too_large', message: 'x' } })],
      'model_content_refused',
    ],
    ['an error event', [{ type: 'error', code: 'server_error', message: 'x', param: null }], 'model_provider_failed'],
    [
      'an error event with an object, then failed',
      [
        { type: 'error', error: { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'x' } },
        end('failed', { error: { code: 'server_error', message: 'y' } }),
      ],
      'context_overflow',
    ],
    ['an error without a type', [{ error: { message: 'busy', code: 503 } }], 'model_overloaded'],
  ])('%s is no answer', (_situation, events, code) => {
    expect(describeFailure(events).code).toBe(code)
  })
})

test('asking for the end changes nothing', () => {
  const decoder = createOpenAiResponsesDecoder(options)
  const push = (event: object) => decoder.push({ data: JSON.stringify(event) })
  push(added(message()))
  push(text('Hi'))
  expect([decoder.end(), decoder.end()]).toMatchObject([{ code: 'model_cut_off' }, { code: 'model_cut_off' }])
  push(done(message(said('Hi'))))
  push(end('completed'))
  expect(decoder.end()).toEqual(decoder.end())
  expect(decoder.end()).toMatchObject({ parts: [{ type: 'text', text: 'Hi' }], finish: 'end' })
})

describe('servers differ', () => {
  test('items come with the end alone', () => {
    const { answer, told } = decode([end('completed', { output: [message(said('Hi')), call({ arguments: '{}' })] })])
    expect(answer).toMatchObject({ finish: 'tool-calls', parts: [{ text: 'Hi' }, { name: 'a' }] })
    expect(told.map(({ type }) => type)).toEqual(['text-delta', 'call-start', 'call-delta', 'call-end'])
  })

  test('an item is ended by the response only, in the place where it was begun', () => {
    const output = [call({ arguments: '{"a":1}' })]
    expect(readAnswer([added(call()), args('{"a":1}'), end('completed', { output })])).toMatchObject({
      finish: 'tool-calls',
      parts: [{ arguments: '{"a":1}' }],
    })
  })

  test('an end that counts its items otherwise makes no second call of one', () => {
    const item = call({ arguments: '{}' })
    const output = [
      { type: 'reasoning', summary: [] },
      { ...item, id: 'another' },
    ]
    expect(readAnswer([added(item), done(item), end('completed', { output })]).parts).toHaveLength(1)
  })

  test('arguments as an object, and none', () => {
    const events = (item: object) => [added(call()), done(call(item)), end('completed')]
    expect(readAnswer(events({ arguments: { a: 1 } })).parts).toMatchObject([{ arguments: '{"a":1}' }])
    expect(readAnswer(events({ arguments: '' })).parts).toMatchObject([{ arguments: '{}' }])
  })

  test('events, items and parts that nobody knows', () => {
    const answer = readAnswer([
      { type: 'response.of.tomorrow', delta: 'x' },
      added({ type: 'telepathy', thing: 1 }),
      text('lost', 0),
      text('kept', 9),
      done({ type: 'telepathy', thing: 2 }),
      added(message(), 1),
      done(message({ type: 'hologram', text: 'seen' }), 1),
      { type: 'response.output_item.done', item: null },
      end('completed', { output: 'x', usage: { input_tokens: null } }),
    ])
    const item = { type: 'telepathy', thing: 2 }
    expect(answer.parts).toMatchObject([
      { type: 'provider', state: { data: { item } } },
      { text: 'kept' },
      { text: 'seen' },
    ])
  })

  test('a summary of several parts, and a thought in its own words', () => {
    const delta = (type: string, value: string) => ({ type: `response.${type}.delta`, output_index: 0, delta: value })
    const part = (summary_index: number) => {
      return { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index }
    }
    const summary = ['One', 'Two'].map((value) => ({ type: 'summary_text', text: value }))
    const item = { type: 'reasoning', summary, encrypted_content: 'E' }
    const thinking = [part(0), delta('reasoning_summary_text', 'One'), part(1), delta('reasoning_summary_text', 'Two')]
    const begun = added({ type: 'reasoning', summary: [] })
    const part0 = { type: 'reasoning', text: 'One\n\nTwo', state: { data: { summary, encrypted_content: 'E' } } }
    expect(readAnswer([begun, ...thinking, done(item), end('completed')]).parts).toMatchObject([part0])
    expect(readAnswer([begun, done(item), end('completed')]).parts).toMatchObject([part0])
    const raw = [begun, delta('reasoning_text', 'Hm.'), done({ type: 'reasoning', summary: [] }), end('completed')]
    expect(readAnswer(raw).parts).toEqual([{ type: 'reasoning', text: 'Hm.' }])
  })
})

test.each<[string, readonly object[]]>([
  ['text', [added(message()), text('x'.repeat(500))]],
  ['an item that was never streamed', [added(message()), done(message(said('x'.repeat(500))))]],
  ['items without anything in them', Array.from({ length: 9 }, (_, index) => added(message(), index))],
])('%s above the bound is no answer, and is not asked for again', (_what, events) => {
  const failure = describeFailure([...events, end('completed')], { answerLengthMax: 400 })
  expect([failure.code, failure.retryable]).toEqual(['model_malformed_answer', false])
})

test('the key is not in errors', () => {
  const secrets = ['sk-secret-0123456789']
  const all = [
    [`{${secrets[0]}`],
    [{ type: 'error', code: secrets[0], message: `bad ${secrets[0]}` }],
    [end(`${secrets[0]}`)],
  ]
  for (const events of all) expect(JSON.stringify(describeFailure(events, { secrets }))).not.toContain(secrets[0])
})

describe('answers that came whole', () => {
  const decodeWhole = (response: unknown) => decodeOpenAiResponse(JSON.parse(JSON.stringify(response)), options)

  test('an answer', () => {
    const answer = decodeWhole({ status: 'completed', error: null, output: [message(said('Hi'))] })
    expect(answer).toMatchObject({ finish: 'end', parts: [{ type: 'text', text: 'Hi' }] })
  })

  test.each<[string, unknown, string]>([
    ['a failed response', { status: 'failed', error: { code: 'server_error', message: 'x' } }, 'model_provider_failed'],
    ['an error', { error: { code: 'rate_limit_exceeded', message: 'x' } }, 'model_rate_limited'],
    ['one that has not ended', { status: 'in_progress', output: [] }, 'model_provider_failed'],
    ['a list', [], 'model_malformed_answer'],
  ])('%s', (_what, response, code) => {
    expect(decodeWhole(response)).toMatchObject({ code })
  })
})

describe('[DONE] in place of the event that ends the response', () => {
  const spoken = [added(message()), text('Sunny.'), done({ ...message(said('Sunny.')), status: 'completed' })]
  const called = [added(call(), 1), done(call({ arguments: '{"x":1}', status: 'completed' }), 1)]

  test('all items are whole: so is the answer', () => {
    expect(readAnswer([...spoken, '[DONE]'])).toMatchObject({
      parts: [{ type: 'text', text: 'Sunny.' }],
      finish: 'end',
    })
    expect(readAnswer([...spoken, ...called, '[DONE]'])).toMatchObject({
      parts: [{ type: 'text' }, { type: 'call', name: 'a', arguments: '{"x":1}' }],
      finish: 'tool-calls',
    })
  })

  test.each<[string, readonly (object | string)[]]>([
    ['nothing came', ['[DONE]']],
    ['a text is open', [added(message()), text('Sun'), '[DONE]']],
    ['a call is open', [...spoken, added(call(), 1), args('{"x":1}', 1), '[DONE]']],
    ['a text says that it was cut', [done({ ...message(said('Sun')), status: 'incomplete' }), '[DONE]']],
    [
      'a call says that it was cut',
      [...spoken, done(call({ arguments: '{"x":1}', status: 'incomplete' }), 1), '[DONE]'],
    ],
    ['the arguments of a call are cut', [...spoken, done(call({ arguments: '{"x":' }), 1), '[DONE]']],
    ['arguments belong to no call', [...spoken, args('{"x":1}', 7), '[DONE]']],
    ['there is no [DONE]', [...spoken, ...called]],
  ])('%s: the answer was cut off', (_, events) => {
    expect(describeFailure(events)).toMatchObject({ code: 'model_cut_off' })
  })
})

describe('servers that nearly speak this wire', () => {
  const oslo = call({ name: 'a', arguments: '{"city":"Oslo"}', status: 'completed' })
  const begun = call({ name: 'a', arguments: '' })
  const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'E' }
  const withoutIndex = (event: object) => ({ ...event, output_index: undefined })
  const read = (events: readonly object[]) =>
    readAnswer(events).parts.map((part) => [
      part.type,
      part.type === 'call' ? part.arguments : 'text' in part ? part.text : '',
    ])
  const CALL = ['call', '{"city":"Oslo"}']
  const THOUGHT = ['reasoning', '']

  test.each<[string, readonly object[], readonly (readonly string[])[]]>([
    [
      'two items under one index',
      [added(thought), done(thought), added(begun), done(oslo), end('completed', { output: [thought, oslo] })],
      [THOUGHT, CALL],
    ],
    [
      'no index',
      [
        ...[thought, oslo].flatMap((item) => [withoutIndex(added(item)), withoutIndex(done(item))]),
        end('completed', { output: [thought, oslo] }),
      ],
      [THOUGHT, CALL],
    ],
    [
      'an end of an item without its content',
      [added(message()), text('Hello'), done(message()), end('completed')],
      [['text', 'Hello']],
    ],
    ['text without items', [text('hello'), end('completed', { output: [] })], [['text', 'hello']]],
    [
      'arguments without items, and the call in the end',
      [args('{"city":'), args('"Oslo"}'), end('completed', { output: [oslo] })],
      [CALL],
    ],
    [
      'items that only the end lists',
      [text('Hm'), end('completed', { output: [message(said('Hm')), oslo] })],
      [['text', 'Hm'], CALL],
    ],
    ['items that the end does not list', [added(begun), done(oslo), end('completed', { output: [] })], [CALL]],
    [
      'another id for the same call in the end',
      [added(begun), done(oslo), end('completed', { output: [{ ...oslo, call_id: 'other' }] })],
      [CALL],
    ],
    [
      'an end of an item that comes twice',
      [added(begun), done(oslo), done(oslo), end('completed', { output: [oslo] })],
      [CALL],
    ],
  ])('%s', (_situation, events, parts) => {
    expect(read(events)).toEqual(parts)
  })

  test('two calls of the same name and arguments with ids of their own stay two', () => {
    const second = { ...oslo, call_id: 'call_2' }
    const events = [added(begun), done(oslo), added({ ...begun, call_id: 'call_2' }, 1), done(second, 1)]
    expect(read([...events, end('completed', { output: [oslo, second] })])).toEqual([CALL, CALL])
  })
})
