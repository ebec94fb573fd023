// Streams that only gateways to Gemini send: snake case, other lists and reasons, arguments in other forms.
import { isBatonError } from '@baton/core'
import { describe, expect, test } from 'vitest'
import { HELLO, answerWith } from '../memory-transport.test-kit.ts'
import { createToolNames } from '../tool-names.ts'
import { createGeminiDecoder } from './decode-stream.ts'
import { createGeminiModel } from './index.ts'

const X1 = { x: 1 }
const said = (parts: unknown, finishReason?: unknown, more: object = {}) => ({
  candidates: [{ content: { parts }, finishReason, index: 0 }],
  ...more,
})
const words = (text: string) => ({ text })
const call = (more: object = { args: X1 }) => ({ functionCall: { name: 'a', ...more } })

function answer(events: readonly (object | string)[], event?: string) {
  const decoder = createGeminiDecoder({ model: 'm', names: createToolNames(['a']) })
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

const SUNNY = [['text', 'Sunny.'], 'end']
const CALL = [['a', '{"x":1}'], 'tool-calls']

test.each<[string, readonly object[], readonly unknown[]]>([
  [
    'an index that is a text',
    [{ candidates: [{ ...said([words('Sunny.')], 'STOP').candidates[0], index: '0' }] }],
    SUNNY,
  ],
  ['one candidate in place of the list', [{ candidates: said([words('Sunny.')], 'STOP').candidates[0] }], SUNNY],
  ['one part in place of the list', [said(words('Sunny.'), 'STOP')], SUNNY],
  ['texts as parts', [said(['Sun', 'ny.'], 'STOP')], SUNNY],
  ['a text as the content', [{ candidates: [{ content: 'Sunny.', finishReason: 'STOP' }] }], SUNNY],
  ['chunks in a response (Code Assist)', [{ response: said([words('Sunny.')], 'STOP') }], SUNNY],
  ['NaN beside the text', [], SUNNY],
  [
    'snake case',
    [
      {
        candidates: [
          { content: { parts: [{ function_call: { name: 'a', args: { city_name: 'x' } } }] }, finish_reason: 'STOP' },
        ],
      },
    ],
    [['a', '{"city_name":"x"}'], 'tool-calls'],
  ],
])('%s', (_situation, events, parts) => {
  const nan = '{"candidates":[{"content":{"parts":[{"text":"Sunny."}]},"finishReason":"STOP","avgLogprobs":NaN}]}'
  expect(read(answer(events.length > 0 ? events : [nan]))).toEqual(parts)
})

describe('arguments', () => {
  test.each<[string, object, string]>([
    ['in a string of a string', { args: JSON.stringify(JSON.stringify(X1)) }, '{"x":1}'],
    ['under arguments', { arguments: '{"x":1}' }, '{"x":1}'],
    ['an empty list (PHP)', { args: [] }, '{}'],
    ['an empty text', { args: '' }, '{}'],
  ])('%s', (_situation, more, whole) => {
    expect(read(answer([said([call(more)], 'STOP')]))).toEqual([['a', whole], 'tool-calls'])
  })

  test('that are no object make the call malformed', () => {
    expect(read(answer([said([call({ args: [1] })], 'STOP')])).at(-1)).toBe('malformed-call')
  })
})

describe('why it ended', () => {
  test.each<[unknown, string]>([
    ['stop', 'end'],
    ['end_turn', 'end'],
    ['length', 'max-tokens'],
    [1, 'end'],
    [2, 'max-tokens'],
    [7, 'other'],
  ])('%s', (reason, finish) => {
    expect(read(answer([said([words('x')], reason)]))).toEqual([['text', 'x'], finish])
  })

  test.each(['FUNCTION_CALL', 'TOOL_CALLS', 'tool_calls'])('%s', (reason) => {
    expect(read(answer([said([call()], reason)]))).toEqual(CALL)
    expect(read(answer([said([words('x')], reason)]))).toEqual([['text', 'x'], 'end'])
  })

  test.each([
    ['MAX_TOKENS', 'max-tokens'],
    ['SAFETY', 'refusal'],
  ])('%s, then STOP with nothing between', (reason, finish) => {
    expect(read(answer([said([call()], reason), said([], 'STOP')]))).toEqual([['a', '{"x":1}'], finish])
    expect(read(answer([said([words('Sun')], reason), said([words('ny.')], 'STOP')]))).toEqual(SUNNY)
  })

  test('[DONE] ends an answer without a reason, unless a call is open', () => {
    expect(read(answer([said([words('Sunny.')]), ' [DONE] ']))).toEqual(SUNNY)
    expect(read(answer(['[DONE]']))).toEqual(['model_cut_off'])
    expect(read(answer([said([call({ willContinue: true })]), '[DONE]']))).toEqual(['model_cut_off'])
  })
})

describe('counts', () => {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5 }
  test.each<[string, readonly object[]]>([
    ['as texts', [{ promptTokenCount: '10', candidatesTokenCount: '5' }]],
    ['zeros behind them', [usageMetadata, { promptTokenCount: 0, candidatesTokenCount: 0 }]],
    ['in snake case', [{ prompt_token_count: 10, candidates_token_count: 5 }]],
  ])('%s', (_situation, told) => {
    const outcome = answer([said([words('x')], 'STOP'), ...told.map((one) => ({ usageMetadata: one }))])
    expect(outcome).toMatchObject({ usage: { inputTokens: 10, outputTokens: 5 } })
  })
})

test.each<[string, object, object]>([
  [
    'a cache beside the prompt',
    { promptTokenCount: 10, cachedContentTokenCount: 7351, candidatesTokenCount: 30, totalTokenCount: 7391 },
    { inputTokens: 7361, cacheReadTokens: 7351, outputTokens: 30 },
  ],
  ['a total alone', { totalTokenCount: 15 }, { inputTokens: 15 }],
  ['a total beside the prompt', { promptTokenCount: 10, totalTokenCount: 15 }, { inputTokens: 10, outputTokens: 5 }],
])('counts: %s', (_situation, usageMetadata, usage) => {
  expect(answer([said([words('x')], 'STOP', { usageMetadata })])).toMatchObject({ usage })
})

describe('errors', () => {
  test('without JSON, and as a message', () => {
    for (const outcome of [answer(['it broke'], 'error'), answer([{ code: 500, message: 'it broke' }])])
      expect(outcome).toMatchObject({ code: 'model_provider_failed', message: expect.stringContaining('it broke') })
  })

  test('an empty one beside a candidate is none', () => {
    expect(read(answer([said([words('Sunny.')], 'STOP', { error: {} })]))).toEqual(SUNNY)
  })
})

test.each<[string, string, string]>([
  [
    'a list labelled as events',
    'text/event-stream',
    JSON.stringify([said([words('Sun')]), said([words('ny.')], 'STOP')], null, 1),
  ],
  ['an object labelled as events', 'text/event-stream', JSON.stringify(said([words('Sunny.')], 'STOP'), null, 1)],
  [
    'events labelled as JSON',
    'application/json',
    `\n data: ${JSON.stringify(said([words('Sunny.')], 'STOP'))}\n\n`.replace(' data', 'data'),
  ],
])('%s', async (_situation, type, body) => {
  const bytes = Array.from(new TextEncoder().encode(body), (byte) => Uint8Array.of(byte))
  const provider = answerWith({ headers: { 'content-type': type } }, ...bytes)
  const model = createGeminiModel({
    ...provider,
    model: 'gemini-2.5-flash',
    access: { type: 'gemini-api', apiKey: 'k' },
  })
  expect(read(await model.run(HELLO, () => undefined, new AbortController().signal))).toEqual(SUNNY)
})
