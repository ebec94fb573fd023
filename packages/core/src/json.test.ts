// Equal values have one sorted text, whatever order their keys came in.
import { expect, test } from 'vitest'
import { stringifySorted } from './json.ts'

test('equal values with keys in another order give the same text', () => {
  const one = { b: [{ y: 1, x: null }], a: 'text', __proto: 0 }
  const other = { __proto: 0, a: 'text', b: [{ x: null, y: 1 }] }
  expect(stringifySorted(one)).toBe(stringifySorted(other))
  expect(stringifySorted(one)).toBe('{"__proto":0,"a":"text","b":[{"x":null,"y":1}]}')
})

test('the order of a list counts, and a key named __proto__ is kept', () => {
  expect(stringifySorted([1, 2])).not.toBe(stringifySorted([2, 1]))
  expect(stringifySorted(JSON.parse('{"z":1,"__proto__":{"b":1,"a":2}}'))).toBe('{"__proto__":{"a":2,"b":1},"z":1}')
})
