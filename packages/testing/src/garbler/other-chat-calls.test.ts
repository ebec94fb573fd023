// Calls of servers that almost speak Chat Completions: which call a piece belongs to, and calls whose arguments never
// arrived.
import { expect, test } from 'vitest'
import type { Row } from './other-servers.test-kit.ts'
import {
  CALLED,
  chunk,
  DONE,
  LISTED,
  lost,
  LS,
  made,
  openChat,
  OSLO,
  piece,
  readRow,
  SRV,
  WEATHER,
} from './other-servers.test-kit.ts'

const CUMULATIVE: readonly Row[] = [
  [
    'all so far, the name and the id in the first piece only',
    [
      piece(made({ index: 0, id: 'a' }, '{"path":', LS)),
      piece(made({ index: 0 }, '{"path":"/s')),
      piece(made({ index: 0 }, SRV)),
      CALLED,
      DONE,
    ],
    [LISTED],
  ],
  [
    'all so far, the last with the reason and once more behind it',
    [
      piece(made({ index: 0, id: 'a' }, '{"pa', LS)),
      piece(made({ index: 0, id: 'a' }, SRV, LS), 'tool_calls'),
      piece(made({ index: 0, id: 'a' }, SRV, LS), 'tool_calls'),
      DONE,
      DONE,
    ],
    [LISTED],
  ],
  [
    'all so far of two calls in turns, indexes as texts, ids in the first',
    [
      piece(made({ index: '0', id: 'a' }, '{"path":', LS)),
      piece(made({ index: '1', id: 'b' }, '{"city"', 'get_weather')),
      piece(made({ index: '0' }, SRV)),
      piece(made({ index: '1' }, OSLO)),
      CALLED,
    ],
    [LISTED, WEATHER],
  ],
  [
    'all so far, without an index, ids as numbers',
    [piece(made({ id: 1 }, '{"path":"', LS)), piece(made({ id: 1 }, SRV, LS)), chunk({ content: '' }, 'stop'), DONE],
    [LISTED],
  ],
]

const EMPTY_FIRST: readonly Row[] = [
  [
    'an empty object itself, then the arguments as an object',
    [
      piece(made({ index: 0, id: 'a' }, {}, LS)),
      piece(made({ index: 0, id: 'a' }, { path: '/srv' }, LS)),
      CALLED,
      DONE,
    ],
    [LISTED],
  ],
  [
    'an empty object, then pieces with the name',
    [
      piece(made({ index: 0, id: 'a' }, '{}', LS)),
      piece(made({ index: 0, id: null }, '{"path":', LS)),
      piece(made({ index: 0, id: '' }, '"/srv"}', LS)),
      CALLED,
      DONE,
    ],
    [LISTED],
  ],
  [
    'an empty object, then the whole with the name, without index and id',
    [piece(made({}, '{}', LS)), piece(made({}, SRV, LS)), CALLED, DONE],
    [LISTED],
  ],
  [
    'an empty object under the number of the tool, then the whole with the name under that of the call',
    [piece(made({ index: 3, id: 'a' }, '{}', LS)), piece(made({ index: 0 }, SRV, LS)), CALLED, DONE],
    [LISTED],
  ],
  [
    'an empty object under the number of the tool, then the whole under that of the call',
    [piece(made({ index: 3, id: 'a' }, '{}', LS)), piece(made({ index: 0 }, SRV)), CALLED, DONE],
    [LISTED],
  ],
  [
    'null, then the whole',
    [piece(made({ index: 0, id: 'a' }, null, LS)), piece(made({ index: 0, id: 'a' }, SRV, null)), CALLED, DONE],
    [LISTED],
  ],
  [
    'two calls in one piece without index and id, the first with none',
    [chunk({ tool_calls: [made({}, {}, 'now'), made({}, { zone: 'UTC' }, 'now')] }), CALLED, DONE],
    [
      ['now', '{}'],
      ['now', '{"zone":"UTC"}'],
    ],
  ],
]

const REASONS: readonly Row[] = [
  [
    'the reason before the call, and the end of the connection behind it',
    [chunk({}, 'tool_calls'), piece(made({ index: 0, id: 'x' }, '{"path":', LS)), piece(made({ index: 0 }, '"/srv"}'))],
    [LISTED],
  ],
  [
    'stop, then text, then a call',
    [chunk({ content: 'So:' }, 'stop'), chunk({ content: ' go' }), piece(made({ index: 0, id: 'x' }, SRV, LS)), DONE],
    [['text', 'So: go'], LISTED],
  ],
  [
    'function_call with the last piece, which has an empty content',
    [
      piece(made({ index: 0, id: 'a', type: 'function' }, '{"path":', LS)),
      chunk({ content: '', tool_calls: [made({ index: 0 }, '"/srv"}')] }, 'function_call'),
      DONE,
    ],
    [LISTED],
  ],
  [
    'tool_use with the last piece, "" before',
    [piece(made({ index: 0, id: 'a' }, '{"path":', LS), ''), piece(made({ index: 0 }, '"/srv"}'), 'tool_use')],
    [LISTED],
  ],
  [
    'a reason in the first piece, null then',
    [
      piece(made({ index: 0, id: 'a' }, '', LS), 'tool_calls'),
      piece(made({ index: 0, id: 'a' }, '{"path":')),
      piece(made({ index: 0, id: 'a' }, '"/srv"}')),
      DONE,
    ],
    [LISTED],
  ],
  [
    'a message in place of the delta, in a stream',
    [
      {
        choices: [
          { message: { content: null, tool_calls: [made({ id: 'a' }, SRV, LS)] }, finish_reason: 'tool_calls' },
        ],
      },
    ],
    [LISTED],
  ],
  [
    'the reason in a piece with usage and no delta',
    [
      piece(made({ index: 0, id: 'a' }, SRV, LS)),
      { usage: { prompt_tokens: 1, completion_tokens: 2 }, choices: [{ index: 0, finish_reason: 'tool_calls' }] },
    ],
    [LISTED],
  ],
]

const INDEXES: readonly Row[] = [
  [
    'the number of the tool, then none',
    [piece(made({ index: 3, id: 'x' }, '', LS)), piece(made({ index: null }, SRV)), CALLED, DONE],
    [LISTED],
  ],
  [
    'the number of the tool, then that of the call, with the name and without the id',
    [piece(made({ index: 3, id: 'x' }, '', LS)), piece(made({ index: 0 }, SRV, LS)), CALLED, DONE],
    [LISTED],
  ],
  [
    'numbers of tools as texts, then those of calls, with ids',
    [
      piece(made({ index: '3', id: 'x' }, '', LS)),
      piece(made({ index: '5', id: 'y' }, '', 'get_weather')),
      piece(made({ index: '0', id: 'x' }, SRV)),
      piece(made({ index: '1', id: 'y' }, OSLO)),
      CALLED,
      DONE,
    ],
    [LISTED, WEATHER],
  ],
  [
    'numbers that count pieces, without ids, the name in each',
    [
      piece(made({ index: 0 }, '', LS)),
      piece(made({ index: 1 }, '{"path":', LS)),
      piece(made({ index: 2 }, '"/srv"}', LS)),
      CALLED,
      DONE,
    ],
    [lost(LS), LISTED],
  ],
  [
    'numbers of two calls that went to the tools first, without ids then: nobody can say whose the arguments are',
    [
      piece(made({ index: 3, id: 'x' }, '', 'now')),
      piece(made({ index: 5, id: 'y' }, '', LS)),
      piece(made({ index: 0 }, SRV)),
      CALLED,
      DONE,
    ],
    [lost('now'), lost(LS)],
  ],
  [
    'an id as a number, the same for two calls of two tools',
    [chunk({ tool_calls: [made({ id: 0 }, SRV, LS), made({ id: 0 }, OSLO, 'get_weather')] }), CALLED],
    [LISTED, WEATHER],
  ],
  [
    'ids as numbers, one index, two calls that say the same',
    [piece(made({ index: 0, id: 1 }, SRV, LS)), piece(made({ index: 0, id: 2 }, SRV, LS)), CALLED],
    [LISTED, LISTED],
  ],
]

const MADE_UP_IDS: readonly Row[] = [
  [
    'the arguments in two pieces',
    [
      piece(made({ index: 0, id: 'a' }, '{"path":', LS)),
      piece(made({ index: 0, id: 'b' }, '"/srv"}', LS)),
      CALLED,
      DONE,
    ],
    [LISTED],
  ],
  [
    'the name in the first piece alone',
    [piece(made({ index: 0, id: 'a' }, '', LS)), piece(made({ index: 0, id: 'b' }, SRV)), CALLED, DONE],
    [LISTED],
  ],
  [
    'the arguments in the second piece: it may be another call, and the first may have lost its own',
    [piece(made({ index: 0, id: 'a' }, '', LS)), piece(made({ index: 0, id: 'b' }, SRV, LS)), CALLED, DONE],
    [lost(LS), LISTED],
  ],
]

const IDENTICAL: readonly Row[] = [
  [
    'under one index, without ids: once',
    [piece(made({ index: 0 }, SRV, LS)), piece(made({ index: 0 }, SRV, LS)), CALLED, DONE],
    [LISTED],
  ],
  [
    'under two indexes, without ids: both',
    [piece(made({ index: 0 }, SRV, LS)), piece(made({ index: 1 }, SRV, LS)), CALLED, DONE],
    [LISTED, LISTED],
  ],
  [
    'in pieces under two indexes, without ids: both',
    [
      piece(made({ index: 0 }, '{"path":', LS)),
      piece(made({ index: 0 }, '"/srv"}')),
      piece(made({ index: 1 }, '{"path":', LS)),
      piece(made({ index: 1 }, '"/srv"}')),
      CALLED,
      DONE,
    ],
    [LISTED, LISTED],
  ],
  [
    'under one index with two ids: both',
    [piece(made({ index: 0, id: 'a' }, SRV, LS)), piece(made({ index: 0, id: 'b' }, SRV, LS)), CALLED, DONE],
    [LISTED, LISTED],
  ],
  [
    'under two indexes with one id: once',
    [piece(made({ index: 0, id: 'a' }, SRV, LS)), piece(made({ index: 1, id: 'a' }, SRV, LS)), CALLED, DONE],
    [LISTED],
  ],
  [
    'without arguments under two indexes, without ids: both',
    [piece(made({ index: 0 }, '{}', 'now')), piece(made({ index: 1 }, '{}', 'now')), CALLED, DONE],
    [
      ['now', '{}'],
      ['now', '{}'],
    ],
  ],
]

test.each(CUMULATIVE)('arguments: %s', async (_situation, events, expected) => {
  expect(await readRow(openChat, events)).toEqual([expected])
})
test.each(EMPTY_FIRST)('%s', async (_situation, events, expected) => {
  expect(await readRow(openChat, events)).toEqual([expected])
})
test.each(REASONS)('reasons: %s', async (_situation, events, expected) => {
  expect(await readRow(openChat, events)).toEqual([expected])
})
test.each(INDEXES)('indexes: %s', async (_situation, events, expected) => {
  expect(await readRow(openChat, events)).toEqual([expected])
})
test.each(MADE_UP_IDS)('another id in each piece: %s', async (_situation, events, expected) => {
  expect(await readRow(openChat, events)).toEqual([expected])
})
test.each(IDENTICAL)('two calls that say the same %s', async (_situation, events, expected) => {
  expect(await readRow(openChat, events)).toEqual([expected])
})

const half = piece(made({ index: 0, id: 'a' }, '{"path":', LS))
test.each<Row>([
  ['half a call and no reason', [half, DONE], 'model_cut_off'],
  ['half a call and no end', [half], 'model_cut_off'],
  ['an error in place of a piece', [half, { error: { message: 'overloaded', code: 503 } }], 'model_overloaded'],
])('%s is no answer', async (_situation, events, expected) => {
  expect(await readRow(openChat, events)).toEqual([expected])
})
