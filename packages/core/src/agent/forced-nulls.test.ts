// Nulls without a meaning are removed, and no others.
import { expect, test } from 'vitest'
import type { JsonObject } from '../json.ts'
import { withoutForcedNulls } from './forced-nulls.ts'

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
