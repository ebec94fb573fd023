// Summaries of results from unknown tools.
import { expect, test } from 'vitest'
import { summariseResult } from './answer.ts'

const told = (value: unknown): string => summariseResult(JSON.stringify(value))

test.each<readonly [string, unknown, string]>([
  [
    'a list of things with a name',
    {
      entries: [
        { name: 'a', size: 3 },
        { name: 'b', size: 0 },
      ],
    },
    '2 entries:\n- a (size 3)\n- b',
  ],
  ['one thing', { matches: [{ title: 'T' }] }, '1 match:\n- T'],
  ['nothing', { matches: [], scanned: 7 }, 'Nothing was found: no matches (scanned 7).'],
  ['a plain list', ['x', 'y'], '2 results:\n- x\n- y'],
  ['fields', { city: 'Paris', celsius: 21, wind: { kmh: 5 } }, '- city: Paris\n- celsius: 21\n- wind: {"kmh":5}'],
  ['a text', { path: 'a.md', text: 'one\ntwo' }, 'a.md:\n```\none\ntwo\n```'],
  ['a number', 42, 'The result is 42.'],
  ['null', null, 'The result is null.'],
  ['an empty object', {}, 'The result is empty.'],
  ['a string', 'done', 'done'],
  ['a cut list', { items: [1], truncated: true }, '1 item:\n- 1\nThere is more: the result was cut off at its limit.'],
])('%s', (_situation, value, expected) => {
  expect(told(value)).toBe(expected)
})

test('text that is no JSON is given as it is', () => {
  expect(summariseResult('It is sunny.')).toBe('It is sunny.')
})

test('long lists and long texts end with how much there is', () => {
  expect(
    told(Array.from({ length: 50 }, (_, index) => ({ id: index })))
      .split('\n')
      .at(-1),
  ).toBe('- and 30 more')
  expect(told({ text: 'x\n'.repeat(500) })).toContain('… (501 lines in total)')
})

test('a text with a fence in it stands in a longer fence', () => {
  expect(told({ text: '```\ncode\n```' })).toBe('````\n```\ncode\n```\n````')
})
