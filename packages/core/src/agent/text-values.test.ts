// Texts become lists and objects if the schema leaves no other reading.
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../json.ts'
import { withoutTextValues } from './text-values.ts'

const list = { type: 'array', items: { type: 'object', properties: { tags: { type: 'array' } } } }

test.each<[string, JsonObject, JsonValue, JsonValue]>([
  ['a list', { properties: { a: list } }, { a: '[1, 2]' }, { a: [1, 2] }],
  ['a list in Python', { properties: { a: list } }, { a: "['x', True,]" }, { a: ['x', true] }],
  ['an object', { properties: { a: { type: 'object' } } }, { a: ' {"b": 1}' }, { a: { b: 1 } }],
  ['one inside of another', { properties: { a: list } }, { a: '[{"tags": "[1]"}]' }, { a: [{ tags: [1] }] }],
  [
    'behind a reference and a variant',
    { $defs: { l: { anyOf: [list, { type: 'null' }] } }, properties: { a: { $ref: '#/$defs/l' } } },
    { a: '[]' },
    { a: [] },
  ],
  ['a text where a text may be', { properties: { a: { type: ['array', 'string'] } } }, { a: '[1]' }, { a: '[1]' }],
  ['a text that is no JSON', { properties: { a: list } }, { a: '[1' }, { a: '[1' }],
  ['a list where an object is wanted', { properties: { a: { type: 'object' } } }, { a: '[1]' }, { a: '[1]' }],
  ['a text of any type', { properties: { a: {} } }, { a: '[1]' }, { a: '[1]' }],
  ['a number in a text', { properties: { a: { type: 'number' } } }, { a: '1' }, { a: '1' }],
])('%s', (_, schema, value, meant) => {
  expect(withoutTextValues(schema, value)).toEqual(meant)
})
