// Answers of servers that almost speak Anthropic's Messages.
import type { JsonObject } from '@baton/core'
import { describe, expect, test } from 'vitest'
import type { Row, Said } from './other-servers.test-kit.ts'
import { DONE, openMessages, OSLO, readAnswers, readRow, WEATHER } from './other-servers.test-kit.ts'

const START = {
  type: 'message_start',
  message: { role: 'assistant', id: 'msg', content: [], usage: { output_tokens: 1, input_tokens: 10 } },
}
const opened = (index: JsonObject, block: JsonObject): JsonObject => ({
  content_block: block,
  ...index,
  type: 'content_block_start',
})
const grown = (index: JsonObject, delta: JsonObject): JsonObject => ({ delta, ...index, type: 'content_block_delta' })
const closed = (index: JsonObject): JsonObject => ({ ...index, type: 'content_block_stop' })
const at = (index: number | string): JsonObject => ({ index })
const ended = (reason: string | null, more: JsonObject = {}): JsonObject => ({
  usage: { output_tokens: 20 },
  delta: { stop_reason: reason, ...more },
  type: 'message_delta',
})
const STOP = { type: 'message_stop' }
const TOOL = { input: {}, name: 'get_weather', id: 'toolu_1', type: 'tool_use' }
const hi = (index: JsonObject): readonly JsonObject[] => [
  opened(index, { type: 'text', text: '' }),
  grown(index, { type: 'text_delta', text: 'hi' }),
  closed(index),
]
const input = (index: JsonObject, text = OSLO): JsonObject =>
  grown(index, { type: 'input_json_delta', partial_json: text })
const weather = (index: JsonObject, text = OSLO): readonly JsonObject[] => [
  opened(index, TOOL),
  input(index, text),
  closed(index),
]
const HI: Said = ['text', 'hi']

describe('Messages', () => {
  test.each<Row>([
    ['[DONE] twice behind the end', [START, ...hi(at(0)), ended('end_turn'), STOP, DONE, DONE], [HI]],
    [
      '[DONE] with a name in place of the end',
      [START, ...weather(at(0)), ended('tool_use'), `event: done\n${DONE}`],
      [WEATHER],
    ],
    ['the end twice', [START, ...hi(at(0)), ended('end_turn'), STOP, STOP], [HI]],
    ['no end behind end_turn', [START, ...weather(at(0)), ended('end_turn')], [WEATHER]],
    [
      'the reason before the end of the block, and no end',
      [START, ...weather(at(0)).slice(0, 2), ended('tool_use'), closed(at(0))],
      [WEATHER],
    ],
    ['reasons in the words of OpenAI', [START, ...weather(at(0)), ended('tool_calls'), STOP], [WEATHER]],
    ['reasons in the words of OpenAI, and no end', [START, ...hi(at(0)), ended('stop')], [HI]],
    [
      'one index for three blocks',
      [
        START,
        ...hi(at(0)),
        ...weather(at(0)),
        opened(at(0), { ...TOOL, id: 'toolu_2' }),
        input(at(0)),
        closed(at(0)),
        ended('tool_use'),
        STOP,
      ],
      [HI, WEATHER, WEATHER],
    ],
    ['one call twice, under one id', [START, ...weather(at(0)), ...weather(at(1)), ended('tool_use'), STOP], [WEATHER]],
    ['no index', [START, ...hi({}), ...weather({}), ended('tool_use'), STOP], [HI, WEATHER]],
    ['indexes as texts', [START, ...hi(at('0')), ...weather(at('1')), ended('tool_use'), STOP], [HI, WEATHER]],
    [
      'beginnings with an index as text, the rest with a number',
      [START, opened(at('0'), TOOL), input(at(0)), closed(at(0)), ended('tool_use'), STOP],
      [WEATHER],
    ],
    [
      'beginnings counted from 1, the rest from 0',
      [
        START,
        opened(at(1), { type: 'text', text: '' }),
        grown(at(0), { type: 'text_delta', text: 'hi' }),
        closed(at(0)),
        opened(at(2), TOOL),
        input(at(1)),
        closed(at(1)),
        ended('tool_use'),
        STOP,
      ],
      [HI, WEATHER],
    ],
    [
      'blocks that never end',
      [START, ...hi(at(0)).slice(0, 2), ...weather(at(1)).slice(0, 2), ended('tool_use'), STOP],
      [HI, WEATHER],
    ],
    [
      'blocks that never end, under one index',
      [START, ...hi(at(0)).slice(0, 2), ...weather(at(0)).slice(0, 2), ended('tool_use'), STOP],
      [HI, WEATHER],
    ],
    ['a block that never ends, and no end', [START, ...weather(at(0)).slice(0, 2), ended('tool_use')], 'model_cut_off'],
    [
      'a call that never ends, with half its arguments',
      [START, opened(at(0), TOOL), input(at(0), '{"city":'), ended('tool_use'), STOP],
      'model_malformed_answer',
    ],
    [
      'arguments in the beginning and in a piece',
      [
        START,
        opened(at(0), { ...TOOL, input: { city: 'Oslo' } }),
        input(at(0)),
        closed(at(0)),
        ended('tool_use'),
        STOP,
      ],
      [WEATHER],
    ],
    [
      'arguments in the beginning alone',
      [START, opened(at(0), { ...TOOL, input: { city: 'Oslo' } }), closed(at(0)), ended('tool_use'), STOP],
      [WEATHER],
    ],
    [
      'arguments in the beginning as a text',
      [START, opened(at(0), { ...TOOL, input: OSLO }), closed(at(0)), ended('tool_use'), STOP],
      [WEATHER],
    ],
    [
      'an empty object before the arguments',
      [START, opened(at(0), TOOL), input(at(0), '{}'), input(at(0)), closed(at(0)), ended('tool_use'), STOP],
      [WEATHER],
    ],
    [
      'a text that stands in the beginning',
      [START, opened(at(0), { type: 'text', text: 'hi' }), closed(at(0)), ended('end_turn'), STOP],
      [HI],
    ],
    [
      'markup in the name',
      [
        START,
        opened(at(0), { ...TOOL, name: 'functions.get_weather:0' }),
        input(at(0)),
        closed(at(0)),
        ended('tool_use'),
        STOP,
      ],
      [WEATHER],
    ],
    [
      'the name of each event beside a type that is missing',
      [START, ...weather(at(0)), ended('tool_use'), STOP].map((event) => {
        const { type, ...rest } = event as JsonObject
        return `event: ${type as string}\ndata: ${JSON.stringify(rest)}`
      }),
      [WEATHER],
    ],
  ])('%s', async (_situation, events, expected) => {
    expect(await readRow(openMessages, events)).toEqual([expected])
  })

  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
  test.each([search, { ...search, type: 'mcp_tool_use', server_name: 's' }])(
    'a call of the provider’s own tools that the limit cut is marked as such: $type',
    async (block) => {
      for (const rest of [[input(at(0), '{"q'), closed(at(0))], [input(at(0), '{"q')], [closed(at(0))]]) {
        const events = [START, opened(at(0), block), ...rest, ended('max_tokens'), STOP]
        const answers = await readAnswers(openMessages, events)
        expect(answers).toMatchObject([
          {
            finish: 'max-tokens',
            parts: [{ type: 'provider', state: { data: { cut: true } } }],
          },
        ])
      }
    },
  )

  test.each<[string, JsonObject, JsonObject]>([
    ['in the start alone', { container: { id: 'c1' } }, {}],
    ['in the end alone', {}, { container: { id: 'c1' } }],
    ['in the start, null in the end', { container: { id: 'c1' } }, { container: null }],
  ])('the container of an answer: %s', async (_situation, first, last) => {
    const start = { ...START, message: { ...START.message, ...first } }
    const events = [start, ...weather(at(0)), ended('tool_use', last), STOP]
    const answers = await readAnswers(openMessages, events)
    expect(answers).toMatchObject([
      {
        parts: [{ type: 'call' }, { type: 'provider', state: { data: { container: { id: 'c1' } } } }],
      },
    ])
  })
})
