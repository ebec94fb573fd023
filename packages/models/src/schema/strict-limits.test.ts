// Schemas beyond the limits of a strict dialect.
import type { JsonObject } from '@baton/core'
import { expect, test } from 'vitest'
import { findTraits } from '../traits/find-traits.ts'
import { exceedsLimits } from './strict-limits.ts'

const CLAUDE = findTraits({ model: 'claude-opus-5' }).traits.schemas
const GPT = findTraits({ model: 'gpt-5.6' }).traits.schemas

const objectOf = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const nested = (levels: number): JsonObject =>
  levels === 1 ? objectOf({ a: { type: 'string' } }) : objectOf({ a: nested(levels - 1) })
const unions = (count: number) =>
  objectOf(Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { type: ['string', 'null'] }])))
const enumOf = (count: number) => objectOf({ a: { enum: Array.from({ length: count }, (_, index) => `v${index}`) } })
const TREE = {
  ...objectOf({ root: { $ref: '#/$defs/node' } }),
  $defs: { node: objectOf({ next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } }) },
}
const CHAIN = {
  ...objectOf({ a: { $ref: '#/$defs/b' }, c: { $ref: '#/$defs/b' } }),
  $defs: { b: objectOf({ d: { $ref: '#/$defs/e' } }), e: { type: 'string' } },
}

test.each<[string, JsonObject, boolean, boolean]>([
  ['a plain object', objectOf({ a: { type: 'string' } }), false, false],
  ['10 levels', nested(10), false, false],
  ['11 levels', nested(11), false, true],
  ['1,000 values', enumOf(1000), false, false],
  ['1,001 values', enumOf(1001), false, true],
  ['16 unions', unions(16), false, false],
  ['17 unions', unions(17), true, false],
  ['a definition inside itself', TREE, true, false],
  ['a schema inside itself', objectOf({ a: { items: { $ref: '#' } } }), true, false],
  ['definitions used twice and in a row', CHAIN, false, false],
  ['a pattern that looks ahead', objectOf({ a: { type: 'string', pattern: '^(?=x)' } }), true, true],
  ['a pattern with a group', objectOf({ a: { type: 'string', pattern: '^(?:x)' } }), false, false],
])('%s', (_what, schema, isBeyondClaude, isBeyondGpt) => {
  expect([exceedsLimits(schema, CLAUDE), exceedsLimits(schema, GPT)]).toEqual([isBeyondClaude, isBeyondGpt])
})

test('a schema that is nested without end is beyond all', () => {
  let schema: JsonObject = { type: 'string' }
  for (let level = 0; level < 5000; level++) schema = { type: 'array', items: schema }
  expect(exceedsLimits(schema, GPT)).toBe(true)
})
