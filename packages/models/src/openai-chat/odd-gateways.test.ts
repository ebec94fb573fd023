// Streams that only gateways send: ids, arguments, texts, reasons, counts and errors in other places and spellings.
import type { JsonObject } from '@baton/core'
import { describe, expect, test } from 'vitest'
import type { Chunk } from './decode.test-kit.ts'
import { CALLED, STOPPED, calls, decode, delta, made, readAnswer } from './decode.test-kit.ts'

const X1 = '{"x":1}'
const X2 = '{"x":2}'

function read(chunks: readonly Chunk[]): readonly unknown[] {
  const { parts, finish } = readAnswer(chunks)
  const said = parts.map((part) =>
    part.type === 'call' ? [part.name, part.arguments] : 'text' in part ? [part.type, part.text] : part.type,
  )
  return [...said, finish]
}

describe('which call a piece belongs to', () => {
  const one = [['a', X1], 'tool-calls']
  const two = [['a', X1], ['a', X2], 'tool-calls']

  test.each<[string, readonly Chunk[], readonly unknown[]]>([
    [
      'one id for two calls of a tool, each begun empty',
      [
        calls({ index: 0, id: 'i', ...made('a', '') }),
        calls({ index: 0, id: 'i', ...made(null, X1) }),
        calls({ index: 1, id: 'i', ...made('a', '') }),
        calls({ index: 1, id: 'i', ...made(null, X2) }),
      ],
      two,
    ],
    [
      'one id for two calls, in turns',
      [
        calls({ index: 0, id: 'i', ...made('a', X1) }),
        calls({ index: 1, id: 'i', ...made('a', '{"x"') }),
        calls({ index: 0, id: 'i', ...made(null, '') }),
        calls({ index: 1, id: 'i', ...made(null, ':2}') }),
      ],
      two,
    ],
    [
      'an empty repetition under the next number',
      [calls({ index: 0, id: 'i', ...made('a', X1) }), calls({ index: 1, id: 'i', ...made('a', '') })],
      one,
    ],
    [
      'in both fields, in pieces',
      [
        delta({ function_call: made('a', '{"x"').function, tool_calls: [{ index: 0, id: 'i', ...made('a', '{"x"') }] }),
        delta({ function_call: { arguments: ':1}' }, tool_calls: [{ index: 0, ...made(null, ':1}') }] }),
      ],
      one,
    ],
    [
      'calls by number in place of a list (PHP)',
      [delta({ tool_calls: { '0': { index: 0, ...made('a', X1) }, '1': { index: 1, ...made('a', X2) } } })],
      two,
    ],
    ['a list in a list', [delta({ tool_calls: [[{ index: 0, ...made('a', X1) }]] })], one],
    ['the list as JSON text', [delta({ tool_calls: JSON.stringify([{ index: 0, ...made('a', X1) }]) })], one],
    ['the function as JSON text', [calls({ index: 0, function: JSON.stringify(made('a', X1).function) })], one],
    ['text that is no list', [delta({ content: 'x', tool_calls: 'null' })], [['text', 'x'], 'end']],
  ])('%s', (_situation, chunks, parts) => {
    expect(read([...chunks, CALLED, '[DONE]'])).toEqual(parts)
  })
})

describe('arguments', () => {
  test.each<[string, readonly JsonObject[], string]>([
    ['under parameters', [{ function: { name: 'a', parameters: { x: 1 } } }], X1],
    ['under input', [{ function: { name: 'a', input: X1 } }], X1],
    ['beside the function', [{ function: { name: 'a' }, arguments: X1 }], X1],
    ['null, then the whole (Go)', [made('a', 'null'), made(null, X1)], X1],
    ['an empty list, then the whole (PHP)', [made('a', '[]'), made(null, X1)], X1],
    ['an empty text, then the whole', [made('a', '""'), made(null, X1)], X1],
    [
      'objects that grow',
      [made('a', {}), made('a', { x: '' }), made('a', { x: '1' }), made('a', { x: '12' })],
      '{"x":"12"}',
    ],
    ['an empty list', [{ function: { name: 'a', arguments: [] } }], '{}'],
    ['an empty list as text', [made('a', '[]')], '{}'],
    ['null as text', [made('a', 'null')], '{}'],
    ['two quotes', [made('a', '""')], '{}'],
  ])('%s', (_situation, pieces, text) => {
    const chunks = pieces.map((piece) => calls({ index: 0, id: 'i', ...piece }))
    expect(read([...chunks, CALLED, '[DONE]'])).toEqual([['a', text], 'tool-calls'])
  })

  test('in a string, without a reason: the string is closed, so they are whole', () => {
    const text = JSON.stringify(X1)
    expect(read([calls({ index: 0, id: 'i', ...made('a', text) }), '[DONE]'])).toEqual([['a', text], 'tool-calls'])
    const { outcome } = decode([calls({ index: 0, id: 'i', ...made('a', text.slice(0, 5)) }), '[DONE]'])
    expect(outcome).toMatchObject({ code: 'model_cut_off' })
  })

  test('two strings without numbers and ids are two calls', () => {
    const pieces = [X1, X2].map((text) => calls(made('a', JSON.stringify(text))))
    expect(read([...pieces, CALLED])).toEqual([['a', JSON.stringify(X1)], ['a', JSON.stringify(X2)], 'tool-calls'])
  })
})

describe('why an answer ended', () => {
  const call = calls({ index: 0, id: 'i', ...made('a', X1) })

  test.each([
    ['length', 'stop', 'max-tokens'],
    ['length', 'tool_calls', 'max-tokens'],
    ['content_filter', 'stop', 'refusal'],
    ['stop', 'length', 'max-tokens'],
    ['tool_calls', 'stop', 'tool-calls'],
  ])('%s, then %s with nothing between', (first, second, finish) => {
    expect(readAnswer([call, delta({}, first), delta({}, second), '[DONE]']).finish).toBe(finish)
  })

  test('a gateway that went on behind the limit did not cut', () => {
    const chunks = [delta({ content: 'Sun' }, 'length'), delta({ content: 'ny.' }), STOPPED]
    expect(read(chunks)).toEqual([['text', 'Sunny.'], 'end'])
  })

  test.each<[string, JsonObject]>([
    ['in the delta', { delta: { finish_reason: 'length' } }],
    ['in another spelling', { delta: {}, finishReason: 'length' }],
    ['as a name of an enumeration', { delta: {}, finish_reason: 'FINISH_REASON_MAX_TOKENS' }],
  ])('the reason %s', (_where, choice) => {
    expect(readAnswer([call, { choices: [{ index: 0, ...choice }] }, '[DONE]']).finish).toBe('max-tokens')
  })

  test('"null" is no reason', () => {
    expect(read([delta({ content: 'Sun' }, 'null'), delta({ content: 'ny.' }, 'null'), '[DONE]'])).toEqual([
      ['text', 'Sunny.'],
      'end',
    ])
    expect(decode([delta({ content: 'Sun' }, 'null')]).outcome).toMatchObject({ code: 'model_cut_off' })
  })
})

describe('texts', () => {
  test.each<[string, JsonObject]>([
    ['strings in a list', { choices: [{ index: 0, delta: { content: ['Sun', 'ny.'] } }] }],
    [
      'a text with a value',
      { choices: [{ index: 0, delta: { content: [{ type: 'text', text: { value: 'Sunny.' } }] } }] },
    ],
    ['a part with content', { choices: [{ index: 0, delta: { content: [{ type: 'text', content: 'Sunny.' }] } }] }],
    ['a string as the delta', { choices: [{ index: 0, delta: 'Sunny.' }] }],
    ['a text in the delta', { choices: [{ index: 0, delta: { text: 'Sunny.' } }] }],
    ['one choice in place of the list', { choices: { index: 0, delta: { content: 'Sunny.' } } }],
  ])('%s', (_situation, chunk) => {
    expect(read([chunk, STOPPED])).toEqual([['text', 'Sunny.'], 'end'])
  })

  test('all of the text again in the piece with the reason is said once', () => {
    const pieces = ['It is sunny ', 'in Oslo ', 'today.']
    const all = pieces.join('')
    const chunks = [...pieces.map((content) => delta({ content })), delta({ content: all }, 'stop')]
    expect(read(chunks)).toEqual([['text', all], 'end'])
    expect(decode(chunks).events).not.toContainEqual({ type: 'text-delta', text: all })
  })

  test('a short text that is said twice stays', () => {
    const chunks = [delta({ content: 'h' }), delta({ content: 'a' }), delta({ content: 'ha' }, 'stop')]
    expect(read(chunks)).toEqual([['text', 'haha'], 'end'])
  })
})

describe('counts', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const none = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }

  test.each<[string, readonly JsonObject[]]>([
    ['zeros behind them', [usage, none]],
    ['zeros before them', [none, usage]],
    ['in the words of the AI SDK', [{ promptTokens: 10, completionTokens: 5, totalTokens: 15 }]],
  ])('%s', (_situation, told) => {
    const chunks = told.map((one) => ({ choices: [], usage: one }))
    expect(readAnswer([delta({ content: 'x' }), STOPPED, ...chunks]).usage).toEqual({
      inputTokens: 10,
      outputTokens: 5,
    })
  })
})

describe('errors', () => {
  test.each<[string, JsonObject, string, string]>([
    [
      'of MiniMax',
      { choices: null, base_resp: { status_code: 1008, status_msg: 'no balance' } },
      'model_auth_failed',
      'no balance',
    ],
    ['of MiniMax, unknown', { base_resp: { status_code: 7, status_msg: 'odd' } }, 'model_provider_failed', 'odd'],
    ['a message beside no choices', { choices: [], message: 'loading', code: 503 }, 'model_overloaded', 'loading'],
  ])('%s', (_situation, chunk, code, words) => {
    const { outcome } = decode([chunk, '[DONE]'])
    expect(outcome).toMatchObject({ code, message: expect.stringContaining(words) })
  })

  test.each<[string, JsonObject]>([
    ['empty', {}],
    ['of empty fields (Go)', { message: '', type: '', param: '', code: null }],
  ])('an error %s beside a choice is none', (_situation, error) => {
    expect(read([{ ...delta({ content: 'x' }, 'stop'), error }])).toEqual([['text', 'x'], 'end'])
    expect(decode([{ error }]).outcome).toMatchObject({ code: 'model_provider_failed' })
  })

  test('a success of MiniMax is none', () => {
    const chunk = { ...delta({ content: 'x' }, 'stop'), base_resp: { status_code: 0, status_msg: '' } }
    expect(read([chunk])).toEqual([['text', 'x'], 'end'])
  })
})
