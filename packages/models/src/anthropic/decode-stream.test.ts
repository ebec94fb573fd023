// The decoder, event by event; complete recordings are in recordings.test.ts.
import type { JsonObject, ModelEvent } from '@baton/core/internal'
import { isBatonError, isJsonObject } from '@baton/core/internal'
import { describe, expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { createAnthropicDecoder, decodeAnthropicMessage } from './decode-stream.ts'

const names = createToolNames(['agent.spawn'])
const options = { model: 'claude-haiku-4-5', names }

const start = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'claude-haiku-4-5-20251001', content: [], usage: { input_tokens: 10 } },
}
const blockStart = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, piece: object) => ({ type: 'content_block_delta', index, delta: piece })
const blockStop = (index: number) => ({ type: 'content_block_stop', index })
const end = (reason: string | null, more: object = {}, usage: object = { output_tokens: 5 }) => [
  { type: 'message_delta', delta: { stop_reason: reason, ...more }, usage },
  { type: 'message_stop' },
]
const toolUse = (index: number, id: string, pieces: readonly string[]) => [
  blockStart(index, { type: 'tool_use', id, name: 'agent_-dot-spawn', input: {} }),
  ...pieces.map((partial_json) => delta(index, { type: 'input_json_delta', partial_json })),
  blockStop(index),
]

function decode(events: readonly (object | string)[]) {
  const seen: ModelEvent[] = []
  const decoder = createAnthropicDecoder({ ...options, sink: (event) => seen.push(event), requestId: 'req_1' })
  for (const event of events) decoder.push({ data: typeof event === 'string' ? event : JSON.stringify(event) })
  return { seen, decoder, outcome: decoder.end() }
}

function readAnswer(events: readonly object[]) {
  const { outcome } = decode(events)
  if (isBatonError(outcome)) throw outcome
  return outcome
}

function findCode(events: readonly (object | string)[]): string {
  const { outcome } = decode(events)
  return isBatonError(outcome) ? outcome.code : 'an answer'
}

test('text, then two calls: events in order, names decoded, ids kept', () => {
  const { seen, outcome } = decode([
    start,
    blockStart(0, { type: 'text', text: '' }),
    delta(0, { type: 'text_delta', text: 'I ' }),
    delta(0, { type: 'text_delta', text: 'go' }),
    blockStop(0),
    ...toolUse(1, 'toolu_a', ['', '{"prompt"', ':"x"}']),
    ...toolUse(2, 'toolu_b', ['']),
    ...end(
      'tool_use',
      {},
      { input_tokens: 12, cache_read_input_tokens: 100, cache_creation_input_tokens: 7, output_tokens: 5 },
    ),
  ])
  expect(seen.filter((event) => event.type !== 'usage')).toEqual([
    { type: 'text-delta', text: 'I ' },
    { type: 'text-delta', text: 'go' },
    { type: 'call-start', index: 0, name: 'agent.spawn' },
    { type: 'call-delta', index: 0, text: '{"prompt"' },
    { type: 'call-delta', index: 0, text: ':"x"}' },
    { type: 'call-end', index: 0 },
    { type: 'call-start', index: 1, name: 'agent.spawn' },
    { type: 'call-end', index: 1 },
  ])
  const state = (id: string) => ({ provider: 'anthropic', model: 'claude-haiku-4-5', data: { id } })
  expect(outcome).toEqual({
    parts: [
      { type: 'text', text: 'I go' },
      { type: 'call', name: 'agent.spawn', arguments: '{"prompt":"x"}', state: state('toolu_a') },
      { type: 'call', name: 'agent.spawn', arguments: '{}', state: state('toolu_b') },
    ],
    finish: 'tool-calls',
    usage: { inputTokens: 119, cacheReadTokens: 100, cacheWriteTokens: 7, outputTokens: 5 },
    model: 'claude-haiku-4-5-20251001',
    requestId: 'req_1',
  })
})

describe('why it stopped', () => {
  test.each([
    ['end_turn', 'end'],
    ['stop_sequence', 'end'],
    ['max_tokens', 'max-tokens'],
    ['pause_turn', 'pause'],
    ['refusal', 'refusal'],
    ['model_context_window_exceeded', 'context-full'],
    ['brand_new_reason', 'other'],
    ['constructor', 'other'],
    [null, 'other'],
  ])('%s', (reason, finish) => {
    expect(readAnswer([start, ...end(reason)]).finish).toBe(finish)
  })

  test('a refusal with its category', () => {
    expect(
      readAnswer([start, ...end('refusal', { stop_details: { type: 'refusal', category: 'cyber' } })]).refusal,
    ).toBe('cyber')
    expect(readAnswer([start, ...end('refusal', { stop_details: { category: null } })])).not.toHaveProperty('refusal')
  })
})

test('thinking keeps its signature; redacted thinking and server tools are kept whole', () => {
  const { parts } = readAnswer([
    start,
    blockStart(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'thinking_delta', thinking: 'hm' }),
    delta(0, { type: 'signature_delta', signature: 'sig' }),
    blockStop(0),
    blockStart(1, { type: 'redacted_thinking', data: 'opaque' }),
    blockStop(1),
    blockStart(2, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
    blockStop(2),
    ...end('pause_turn'),
  ])
  const provider = { provider: 'anthropic', model: 'claude-haiku-4-5' }
  expect(parts).toEqual([
    { type: 'reasoning', text: 'hm', state: { ...provider, data: { signature: 'sig' } } },
    { type: 'provider', state: { ...provider, data: { block: { type: 'redacted_thinking', data: 'opaque' } } } },
    {
      type: 'provider',
      state: {
        ...provider,
        data: { block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } } },
      },
    },
  ])
})

test.each([
  ['max_tokens', true],
  ['end_turn', true],
  ['pause_turn', false],
  ['tool_use', false],
])('a call of Anthropic’s own tools without its result, in an answer that ended with %s', (reason, isCut) => {
  const { parts } = readAnswer([
    start,
    blockStart(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
    blockStop(0),
    blockStart(1, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
    blockStop(1),
    blockStart(2, { type: 'server_tool_use', id: 'srvtoolu_2', name: 'web_search', input: {} }),
    delta(2, { type: 'input_json_delta', partial_json: '{"que' }),
    blockStop(2),
    ...end(reason),
  ])
  const cuts = parts.map((part) => part.type === 'provider' && isJsonObject(part.state.data) && part.state.data['cut'])
  expect(cuts).toEqual([undefined, undefined, isCut || undefined])
})

test('the container of an answer is kept with it', () => {
  const container = { id: 'container_1', expires_at: '2026-11-28T00:00:00Z' }
  const { parts } = readAnswer([start, ...end('end_turn', { container })])
  expect(parts).toEqual([
    { type: 'provider', state: { provider: 'anthropic', model: 'claude-haiku-4-5', data: { container } } },
  ])
})

test('citations stay with their text', () => {
  const [part] = readAnswer([
    start,
    blockStart(0, { type: 'text', text: '', citations: null }),
    delta(0, { type: 'text_delta', text: 'cited' }),
    delta(0, { type: 'citations_delta', citation: { type: 'char_location', cited_text: 'c' } }),
    blockStop(0),
    ...end('end_turn'),
  ]).parts
  expect(part).toMatchObject({ state: { data: { citations: [{ type: 'char_location', cited_text: 'c' }] } } })
})

test('unknown events, blocks and deltas do not throw and are kept', () => {
  const { parts } = readAnswer([
    start,
    { type: 'brand_new_event' },
    { no: 'type' },
    blockStart(0, { type: 'brand_new_block', x: 1 }),
    delta(0, { type: 'brand_new_delta', y: 2 }),
    blockStop(0),
    blockStart(1, { type: 'text', text: 'a' }),
    delta(1, { type: 'brand_new_delta', z: 3 }),
    blockStop(1),
    ...end('end_turn'),
  ])
  expect(parts.map((part) => 'state' in part && part.state?.data)).toEqual([
    { block: { type: 'brand_new_block', x: 1 }, unknownDeltas: [{ type: 'brand_new_delta', y: 2 }] },
    { unknownDeltas: [{ type: 'brand_new_delta', z: 3 }] },
  ])
})

test('an answer that its limit cut in mid-call is a cut, with the text before it and a call that is not whole', () => {
  const text = [blockStart(0, { type: 'text', text: '' }), delta(0, { type: 'text_delta', text: 'I ' }), blockStop(0)]
  const cut = toolUse(1, 'toolu_a', ['{"prompt":"wr']).slice(0, -1)
  for (const reason of ['max_tokens', 'model_context_window_exceeded']) {
    const { seen, outcome } = decode([start, ...text, ...cut, ...end(reason)])
    expect(outcome).toMatchObject({
      finish: reason === 'max_tokens' ? 'max-tokens' : 'context-full',
      parts: [
        { type: 'text', text: 'I ' },
        { type: 'call', name: 'agent.spawn', arguments: '{"prompt":"wr' },
      ],
    })
    expect(seen.some(({ type }) => type === 'call-end')).toBe(false)
  }
})

describe('streams that are no answer', () => {
  const call = toolUse(0, 'toolu_a', ['{}'])
  test.each([
    ['nothing came', [], 'model_cut_off'],
    ['message_stop and its reason are missing', [start, ...call], 'model_cut_off'],
    [
      'message_stop is missing behind an open block',
      [start, ...call.slice(0, 2), ...end('tool_use').slice(0, 1)],
      'model_cut_off',
    ],
    [
      'message_stop is missing behind an unknown reason',
      [start, ...call, ...end('novel').slice(0, 1)],
      'model_cut_off',
    ],
    ['a call was never closed', [start, ...call.slice(0, 2), ...end('tool_use')], 'model_malformed_answer'],
    [
      'a block begins where another is open',
      [start, ...call.slice(0, 2), ...toolUse(0, 'toolu_b', [])],
      'model_malformed_answer',
    ],
    [
      'arguments without their block',
      [start, delta(0, { type: 'input_json_delta', partial_json: '{}' })],
      'model_malformed_answer',
    ],
    ['[DONE] without a reason', [start, ...toolUse(0, 'toolu_a', []).slice(0, 1), '[DONE]'], 'model_cut_off'],
    ['an end without a start', end('end_turn'), 'model_malformed_answer'],
    ['another answer is spliced in', [start, ...call, start, ...call, ...end('tool_use')], 'model_malformed_answer'],
  ])('%s', (_name, events, code) => {
    expect(findCode(events)).toBe(code)
  })

  test('an event that is not JSON', () => {
    const decoder = createAnthropicDecoder(options)
    decoder.push({ event: 'message_start', data: '<html>' })
    expect(decoder.failure?.code).toBe('model_malformed_answer')
  })
})

describe('an answer that does not end', () => {
  const piece = 'x'.repeat(400)
  const bounded = { ...options, answerLengthMax: 1000 }
  const opens = (block: object) => [start, blockStart(0, block)]
  test.each<[string, readonly object[], object]>([
    ['text', opens({ type: 'text', text: '' }), delta(0, { type: 'text_delta', text: piece })],
    ['reasoning', opens({ type: 'thinking', thinking: '' }), delta(0, { type: 'thinking_delta', thinking: piece })],
    [
      'arguments',
      opens({ type: 'tool_use', id: 't', name: 'n', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: piece }),
    ],
    ['what is not known', opens({ type: 'text', text: '' }), delta(0, { type: 'new_delta', what: piece })],
  ])('of %s is malformed above its bound, and no retry', (_kind, opening, more) => {
    const told: string[] = []
    const sink = (event: ModelEvent) => 'text' in event && told.push(event.text)
    const decoder = createAnthropicDecoder({ ...bounded, sink })
    for (const event of [...opening, more, more]) decoder.push({ data: JSON.stringify(event) })
    expect(decoder.failure).toBe(undefined)
    decoder.push({ data: JSON.stringify(more) })
    expect(decoder.failure).toMatchObject({
      code: 'model_malformed_answer',
      message: 'Anthropic’s answer is longer than 1000 characters',
      retryable: false,
    })
    expect(told.join('').length).toBeLessThanOrEqual(1000)
  })

  test('in more and more blocks is bounded too, and so is one that came whole', () => {
    const blocks = [0, 1, 2].map((index) => blockStart(index, { type: 'text', text: piece }))
    const decoder = createAnthropicDecoder(bounded)
    for (const event of [start, ...blocks]) decoder.push({ data: JSON.stringify(event) })
    expect(decoder.failure).toMatchObject({ code: 'model_malformed_answer', retryable: false })
    const content = blocks.map((event) => event.content_block as JsonObject)
    expect(decodeAnthropicMessage({ type: 'message', content }, bounded)).toEqual(decoder.failure)
  })
})

test('the same message_start twice is read once, and what follows the end is not read', () => {
  const answer = readAnswer([start, start, ...end('end_turn'), start, ...toolUse(0, 'toolu_late', ['{}'])])
  expect([answer.finish, answer.parts]).toEqual(['end', []])
})

describe('an error event after HTTP 200', () => {
  test.each([
    ['overloaded_error', 'Overloaded', 'model_overloaded', true],
    ['rate_limit_error', 'slow down', 'model_rate_limited', true],
    ['api_error', 'internal', 'model_provider_failed', true],
    ['authentication_error', 'bad key', 'model_auth_failed', false],
    ['invalid_request_error', 'prompt is too long: 9 tokens > 8 maximum', 'context_overflow', false],
    ['brand_new_error', '?', 'model_provider_failed', true],
  ])('%s', (type, message, code, retryable) => {
    const { outcome, decoder } = decode([
      start,
      { type: 'error', error: { type, message }, request_id: 'req_9' },
      ...end('end_turn'),
    ])
    expect(isBatonError(outcome) && [outcome.code, outcome.retryable, outcome.data]).toEqual([
      code,
      retryable,
      { type, requestId: 'req_9' },
    ])
    expect(decoder.failure).toBe(outcome)
  })
})

test('end() may be asked between any two events', () => {
  const events = [start, ...toolUse(0, 'toolu_a', ['{"a":', '1}']), ...end('tool_use')]
  const decoder = createAnthropicDecoder(options)
  const outcomes = events.map((event) => {
    decoder.push({ data: JSON.stringify(event) })
    decoder.end()
    return isBatonError(decoder.end())
  })
  // A known reason after closed blocks also ends the answer.
  expect(outcomes).toEqual(events.map((_event, index) => index < events.length - 2))
  expect(decoder.end()).toEqual(decoder.end())
})

test('an error body in place of a message', () => {
  const outcome = decodeAnthropicMessage({ type: 'error', error: { type: 'overloaded_error', message: 'x' } }, options)
  expect(isBatonError(outcome) && outcome.code).toBe('model_overloaded')
})

describe('servers that nearly speak this wire', () => {
  const hi = (index: number) => [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    delta(index, { type: 'text_delta', text: 'hi' }),
    { type: 'content_block_stop', index },
  ]
  const call = (index: number) => toolUse(index, 'toolu_a', ['{"city":', '"Oslo"}'])
  const CALL = ['call', '{"city":"Oslo"}']
  const read = (events: readonly (object | string)[]) => {
    const decoder = createAnthropicDecoder(options)
    for (const event of events) decoder.push({ data: typeof event === 'string' ? event : JSON.stringify(event) })
    const answer = decoder.end()
    if (isBatonError(answer)) throw answer
    return answer.parts.map((part) => [
      part.type,
      part.type === 'call' ? part.arguments : 'text' in part ? part.text : '',
    ])
  }
  const TEXT = ['text', 'hi']

  test.each<[string, readonly (object | string)[], readonly (readonly string[])[]]>([
    ['[DONE] behind message_stop', [start, ...hi(0), ...end('end_turn'), '[DONE]'], [TEXT]],
    ['[DONE] in place of message_stop', [start, ...hi(0), end('end_turn')[0] ?? '', '[DONE]'], [TEXT]],
    ['no message_stop', [start, ...call(0), end('tool_use')[0] ?? ''], [CALL]],
    ['an index is used again', [start, ...hi(0), ...call(0), ...end('tool_use')], [TEXT, CALL]],
    ['indexes begin at 1', [start, ...hi(1), ...call(2), ...end('tool_use')], [TEXT, CALL]],
    ['indexes have gaps', [start, ...hi(0), ...call(7), ...end('tool_use')], [TEXT, CALL]],
    [
      'the end of a block comes twice',
      [start, ...hi(0), { type: 'content_block_stop', index: 0 }, ...call(1), ...end('tool_use')],
      [TEXT, CALL],
    ],
    [
      'deltas under another index than the only open block',
      [
        start,
        ...toolUse(3, 'toolu_a', []).slice(0, 1),
        delta(0, { type: 'input_json_delta', partial_json: '{"city":"Oslo"}' }),
        { type: 'content_block_stop', index: 3 },
        ...end('tool_use'),
      ],
      [CALL],
    ],
    [
      'the whole arguments twice',
      [start, ...toolUse(0, 'toolu_a', ['{"city":"Oslo"}', '{"city":"Oslo"}']), ...end('tool_use')],
      [CALL],
    ],
    ['arguments that never came', [start, ...toolUse(0, 'toolu_a', []), ...end('end_turn')], [['call', '']]],
    ['no arguments', [start, ...toolUse(0, 'toolu_a', []), ...end('tool_use')], [['call', '{}']]],
  ])('%s', (_situation, events, parts) => {
    expect(read(events)).toEqual(parts)
  })
})
