// Names, thinking and token counts of servers that almost speak Chat Completions.
import type { JsonObject } from '@baton/core'
import { expect, test } from 'vitest'
import type { Event, Row, Said } from './other-servers.test-kit.ts'
import {
  CALLED,
  chunk,
  DONE,
  LISTED,
  LS,
  made,
  openChat,
  piece,
  readAnswers,
  readRow,
  SRV,
} from './other-servers.test-kit.ts'

const named = (...names: readonly string[]): readonly Event[] => [
  ...names.map((name) => piece(made({ index: 0, id: 'a' }, '', name))),
  piece(made({ index: 0 }, SRV)),
  CALLED,
  DONE,
]

const NAMES: readonly Row[] = [
  ['of Kimi', named('functions.list_files:0'), [LISTED]],
  ['of gpt-oss', named('list_files<|constrain|>json'), [LISTED]],
  ['of gpt-oss, addressed', named('to=functions.list_files<|channel|>commentary json'), [LISTED]],
  ['of Kimi, behind a token of its template', named('<|tool_call_begin|>functions.list_files:1'), [LISTED]],
  ['of Gemini', named('default_api:list_files'), [LISTED]],
  ['markup in a second piece', named('list_files', '<|channel|>commentary'), [LISTED]],
  ['two pieces, then the whole', named('list_', 'files', 'list_files'), [LISTED]],
  ['in capitals', named('List_Files'), [LISTED]],
  ['with hyphens, in a namespace', named('functions.list-files'), [LISTED]],
  ['in camel case', named('listFiles'), [LISTED]],
  [
    'markup in each piece',
    [
      piece(made({ index: 0, id: 'a' }, '{"path":', 'list_files<|channel|>commentary')),
      piece(made({ index: 0, id: 'a' }, '"/srv"}', 'list_files<|channel|>commentary')),
      CALLED,
      DONE,
    ],
    [LISTED],
  ],
]

const says = (...texts: readonly string[]): readonly Event[] => [
  ...texts.map((content) => chunk({ content })),
  chunk({}, 'stop'),
  DONE,
]
const SUNNY: readonly Said[] = [
  ['thought', 'I guess sun.'],
  ['text', 'It is sunny.'],
]

const THOUGHTS: readonly Row[] = [
  ['never opened, the tag over pieces', says('I guess sun.\n</', 'thi', 'nk>\n', '\nIt is sunny.'), SUNNY],
  ['opened and closed, both tags over pieces', says('<th', 'ink>I guess sun.<', '/think', '>\n\nIt is sunny.'), SUNNY],
  [
    'never opened, in one piece with the reason',
    [chunk({ content: 'I guess sun.</think>It is sunny.' }, 'stop')],
    SUNNY,
  ],
  [
    'thoughts in a field of their own, and the tag that ended them in the text',
    [chunk({ reasoning_content: 'I guess sun.' }), ...says('</think>', '\n\nIt is sunny.')],
    SUNNY,
  ],
  ['nothing but the tag', says('</think>\n\nIt is sunny.'), [['text', 'It is sunny.']]],
  ['nothing between the tags', says('<think>\n\n</think>\n\n', 'It is sunny.'), [['text', 'It is sunny.']]],
  [
    'a tag within thoughts',
    says('<think>A <think>B</think> C</think>', 'It is sunny.'),
    [
      ['thought', 'A <think>B\n\nC'],
      ['text', 'It is sunny.'],
    ],
  ],
  [
    'never opened, before a call',
    [chunk({ content: 'I guess sun.\n</think>\n\n' }), piece(made({ index: 0, id: 'a' }, SRV, LS)), CALLED, DONE],
    [['thought', 'I guess sun.'], LISTED],
  ],
]

test.each(NAMES)('a name %s', async (_situation, events, expected) => {
  expect(await readRow(openChat, events)).toEqual([expected])
})
test.each(THOUGHTS)('thoughts: %s', async (_situation, events, expected) => {
  expect(await readRow(openChat, events)).toEqual([expected])
})

const cached = { cached_tokens: 7351 }
test.each<[string, JsonObject, JsonObject]>([
  [
    'the cache beside the prompt, in the words of Anthropic',
    { prompt_tokens: 10, completion_tokens: 30, total_tokens: 7391, cache_read_input_tokens: 7351 },
    { inputTokens: 7361, outputTokens: 30 },
  ],
  [
    'the cache beside the prompt, without a field of details',
    { prompt_tokens: 10, completion_tokens: 30, total_tokens: 7391, ...cached },
    { inputTokens: 7361, outputTokens: 30 },
  ],
  [
    'the cache beside the prompt, read and written',
    {
      prompt_tokens: 10,
      completion_tokens: 30,
      total_tokens: 7491,
      prompt_tokens_details: { ...cached, cache_write_tokens: 100 },
    },
    { inputTokens: 7461, outputTokens: 30 },
  ],
  [
    'the cache within the prompt, told in two styles',
    {
      prompt_tokens: 7361,
      completion_tokens: 30,
      total_tokens: 7391,
      prompt_cache_hit_tokens: 7351,
      prompt_cache_miss_tokens: 10,
      prompt_tokens_details: cached,
    },
    { inputTokens: 7361, outputTokens: 30 },
  ],
  [
    'the cache within the prompt, and counted in the total once more',
    { prompt_tokens: 7361, completion_tokens: 30, total_tokens: 14_742, prompt_tokens_details: cached },
    { inputTokens: 7361, outputTokens: 30 },
  ],
  [
    'thoughts in the answer, and in the total once more',
    {
      prompt_tokens: 10,
      completion_tokens: 30,
      total_tokens: 60,
      completion_tokens_details: { reasoning_tokens: 20 },
    },
    { inputTokens: 10, outputTokens: 50 },
  ],
  [
    'details that are null and lists',
    {
      prompt_tokens: 10,
      completion_tokens: 30,
      total_tokens: 40,
      prompt_tokens_details: null,
      completion_tokens_details: [],
    },
    { inputTokens: 10, outputTokens: 30 },
  ],
])('counts: %s', async (_situation, usage, counted) => {
  const call = piece(made({ index: 0, id: 'x' }, SRV, LS))
  const none = { ...call, usage: null }
  const early = { ...call, usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } }
  for (const events of [
    [none, { ...CALLED, usage }],
    [early, CALLED, { choices: [], usage }, DONE],
  ]) {
    expect(await readAnswers(openChat, events)).toMatchObject([{ finish: 'tool-calls', usage: counted }])
  }
})

test('a total that nobody explains cuts no call', async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 30, total_tokens: 7391 }
  const events = [piece(made({ index: 0, id: 'x' }, SRV, LS)), chunk({}, 'stop'), { choices: [], usage }, DONE]
  expect(await readAnswers(openChat, events)).toMatchObject([{ finish: 'tool-calls' }])
})
