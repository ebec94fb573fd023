// Nulls without a meaning are removed, and no others; texts become lists and objects if the schema leaves no other reading.
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../json.ts'
import { withoutForcedNulls, withoutTextValues } from './loose-values.ts'

const text = { type: 'string' }
const object = (properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  properties,
  required,
})

test.each<[string, JsonObject, JsonObject, JsonObject]>([
  ['an optional property that may not be null', object({ a: text }), { a: null, b: null }, { b: null }],
  ['a required property', object({ a: text }, ['a']), { a: null }, { a: null }],
  ['a property that may be null', object({ a: { type: ['string', 'null'] } }), { a: null }, { a: null }],
  [
    'a property that may be null as a variant',
    object({ a: { anyOf: [text, { type: 'null' }] } }),
    { a: null },
    { a: null },
  ],
  ['a property of one of several values', object({ a: { enum: ['x'] } }), { a: null }, {}],
  ['a property of several values, null among them', object({ a: { enum: ['x', null] } }), { a: null }, { a: null }],
  ['a property of any type', object({ a: {} }), { a: null }, { a: null }],
  ['a constant', object({ a: { const: 1 } }), { a: null }, {}],
  ['a null constant', object({ a: { const: null } }), { a: null }, { a: null }],
  ['one deep inside', object({ a: object({ b: object({ c: text }) }) }), { a: { b: { c: null } } }, { a: { b: {} } }],
  [
    'one in each item of a list',
    object({ a: { type: 'array', items: object({ b: text }) } }),
    { a: [{ b: null }, { b: 'x' }] },
    { a: [{}, { b: 'x' }] },
  ],
  [
    'one behind a reference, in a schema that stands in itself',
    { ...object({ a: { $ref: '#/$defs/node' } }), $defs: { node: object({ next: { $ref: '#/$defs/node' } }) } },
    { a: { next: { next: null } } },
    { a: { next: {} } },
  ],
  [
    'a property of a part',
    { allOf: [object({ a: text }), object({ b: text }, ['b'])] },
    { a: null, b: null },
    { b: null },
  ],
])('%s', (_, schema, value, expected) => {
  expect(withoutForcedNulls(schema, value)).toEqual(expected)
})

test('variants that share their variants are looked at once each, however deep they are', () => {
  const level = (index: number) => ({ anyOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] })
  const levels = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`d${index}`, level(index)]))
  const $defs = { ...levels, d25: { type: 'object', properties: { a: { type: 'string' } } } }
  const schema = { type: 'object', properties: { x: { $ref: '#/$defs/d0' } }, $defs }
  expect(withoutForcedNulls(schema, { x: { a: null } })).toEqual({ x: {} })
})

test('whether null is meant is decided in steps as many as there are schemas', () => {
  const $defs: Record<string, JsonObject> = { d60: { type: 'string' } }
  for (let level = 0; level < 60; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` }
    $defs[`d${level}`] = { anyOf: [next, next] }
  }
  const schema = { type: 'object', properties: { x: { $ref: '#/$defs/d0' } }, $defs }
  expect(withoutForcedNulls(schema, { x: null })).toEqual({})
})

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
