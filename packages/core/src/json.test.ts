// Equal values have the same sorted text, whatever the order of their keys; text that nests too deep is not parsed.
import { expect, test } from 'vitest'
import { isDeeper, parseJson, stringifySorted } from './json.ts'

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

test('text may nest 100 levels, and one more is too deep', () => {
  const nest = (levels: number): string => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2)
  expect(parseJson(nest(100)).ok).toBe(true)
  expect(parseJson(`[${nest(100)}]`)).toEqual({ ok: false, cutOff: false, tooDeep: true })
  expect(parseJson('['.repeat(20_000))).toEqual({ ok: false, cutOff: false, tooDeep: true })
  expect(isDeeper(JSON.parse(nest(100)))).toBe(false)
  expect(isDeeper(JSON.parse(`[${nest(100)}]`))).toBe(true)
})

test('brackets in texts and beside each other are no levels', () => {
  const text = JSON.stringify([{ a: '{['.repeat(200), b: '"\\[' }, ...Array.from({ length: 200 }, () => [{}])])
  expect(parseJson(text)).toEqual({ ok: true, value: JSON.parse(text) })
})
