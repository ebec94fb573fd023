// Answers of servers that almost speak OpenAI's Responses.
import type { JsonObject } from '@baton/core'
import { describe, expect, test } from 'vitest'
import type { Row, Said } from './other-servers.test-kit.ts'
import { DONE, LISTED, LS, openResponses, OSLO, readAnswers, readRow, SRV, WEATHER } from './other-servers.test-kit.ts'

const HI: Said = ['text', 'hi']

const item = (more: JsonObject = {}): JsonObject => ({ type: 'function_call', name: 'get_weather', ...more })
const WHOLE = item({ id: 'fc_1', call_id: 'call_1', arguments: OSLO, status: 'completed' })
const BEGUN = item({ id: 'fc_1', call_id: 'call_1', arguments: '', status: 'in_progress' })
const THOUGHT = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'E' }
const event = (type: string, more: JsonObject): JsonObject => ({ ...more, type: `response.${type}` })
const added = (one: JsonObject, more: JsonObject = {}): JsonObject => event('output_item.added', { item: one, ...more })
const finished = (one: JsonObject, more: JsonObject = {}): JsonObject =>
  event('output_item.done', { item: one, ...more })
const completed = (...output: readonly JsonObject[]): JsonObject =>
  event('completed', { response: { output, status: 'completed', id: 'resp_1' } })
const heard = (delta: string, more: JsonObject = {}): JsonObject => event('output_text.delta', { delta, ...more })
const spoken = (text: string): JsonObject => ({ type: 'message', content: [{ type: 'output_text', text }] })
const argued = (delta: string, more: JsonObject = {}): JsonObject =>
  event('function_call_arguments.delta', { delta, ...more })
const first = { output_index: 0 }

describe('Responses', () => {
  test.each<Row>([
    [
      'two items without index, ids and ids of events',
      [
        added({ ...THOUGHT, id: '' }),
        finished({ ...THOUGHT, id: '' }),
        added(BEGUN),
        argued(OSLO),
        finished(WHOLE),
        completed(),
      ],
      [WEATHER],
    ],
    [
      'one index, pieces with the id of their item',
      [
        added(THOUGHT, first),
        finished(THOUGHT, first),
        added(BEGUN, first),
        argued('{"city":', { ...first, item_id: 'fc_1' }),
        argued('"Oslo"}', { ...first, item_id: 'fc_1' }),
        finished(WHOLE, first),
        completed(WHOLE, THOUGHT),
      ],
      [WEATHER],
    ],
    [
      'a call that only the end of its arguments closes',
      [
        added(BEGUN, first),
        argued(OSLO, first),
        event('function_call_arguments.done', { ...first, arguments: OSLO }),
        completed(),
      ],
      [WEATHER],
    ],
    [
      'a call whose arguments come at their end alone',
      [added(BEGUN, first), event('function_call_arguments.done', { item_id: 'fc_1', arguments: OSLO }), completed()],
      [WEATHER],
    ],
    [
      'two calls under one index, open at once',
      [
        added(BEGUN, first),
        added(item({ id: 'fc_2', call_id: 'call_2', arguments: '', name: LS }), first),
        finished(WHOLE, first),
        finished(item({ id: 'fc_2', call_id: 'call_2', arguments: SRV, name: LS }), first),
        completed(),
      ],
      [WEATHER, LISTED],
    ],
    [
      'a call that the end lists otherwise: with another id, and before its thought',
      [added(THOUGHT), finished(THOUGHT), added(BEGUN), finished(WHOLE), completed({ ...WHOLE, id: 'other' }, THOUGHT)],
      [WEATHER],
    ],
    ['a call and a text that only the end lists', [completed(spoken('hi'), WHOLE)], [HI, WEATHER]],
    ['text without items and index', [heard('h'), heard('i'), completed()], [HI]],
    [
      'text with an id and no item',
      [heard('h', { item_id: 'm' }), heard('i', { item_id: 'm' }), completed(spoken('hi'))],
      [HI],
    ],
    ['text that only its end tells', [event('output_text.done', { ...first, text: 'hi' }), completed()], [HI]],
    [
      'text in pieces and at its end',
      [heard('h', first), heard('i', first), event('output_text.done', { ...first, text: 'hi' }), completed()],
      [HI],
    ],
    [
      'text without items, then a call at its index',
      [heard('hi', first), added(BEGUN, first), finished(WHOLE, first), completed()],
      [HI, WEATHER],
    ],
    ['arguments without a call, and an end without it', [argued(OSLO, first), completed()], 'model_malformed_answer'],
    [
      'indexes as texts',
      [
        added(THOUGHT, { output_index: '0' }),
        finished(THOUGHT, { output_index: '0' }),
        added(BEGUN, { output_index: '1' }),
        argued(OSLO, { output_index: '1' }),
        finished(WHOLE, { output_index: '1' }),
        completed(),
      ],
      [WEATHER],
    ],
    [
      'the end twice and [DONE]',
      [added(BEGUN, first), finished(WHOLE, first), completed(WHOLE), completed(WHOLE), DONE],
      [WEATHER],
    ],
    ['no end', [added(BEGUN, first), finished(WHOLE, first)], 'model_cut_off'],
    [
      'arguments twice',
      [added(BEGUN, first), finished({ ...WHOLE, arguments: OSLO + OSLO }, first), completed()],
      [WEATHER],
    ],
    [
      'markup in the name',
      [
        added({ ...BEGUN, name: 'default_api.get_weather' }, first),
        finished({ ...WHOLE, name: 'default_api.get_weather' }, first),
        completed(),
      ],
      [WEATHER],
    ],
  ])('%s', async (_situation, events, expected) => {
    expect(await readRow(openResponses, events)).toEqual([expected])
  })

  test('a call before the limit does not run, and is not lost', async () => {
    const end = event('incomplete', { response: { incomplete_details: { reason: 'max_output_tokens' }, output: [] } })
    const answers = await readAnswers(openResponses, [added(BEGUN, first), finished(WHOLE, first), end])
    expect(answers).toMatchObject([{ finish: 'max-tokens', parts: [{ type: 'call', arguments: OSLO }] }])
  })
})
