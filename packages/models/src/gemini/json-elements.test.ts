// The framing as one JSON array: the same elements for any pieces, and an error for anything else.
import { isBatonError } from '@baton/core'
import { expect, test } from 'vitest'
import { createJsonElementReader } from './json-elements.ts'

function read(text: string, pieceLength: number, most?: number): readonly unknown[] {
  const elements: unknown[] = []
  const reader = createJsonElementReader((element) => elements.push(JSON.parse(element)), most)
  const bytes = new TextEncoder().encode(text)
  for (let start = 0; start < bytes.length; start += pieceLength)
    reader.push(bytes.subarray(start, start + pieceLength))
  return elements
}
const findCode = (act: () => unknown) => {
  try {
    return act()
  } catch (error) {
    return isBatonError(error) ? error.code : error
  }
}
const VALUES = [{ a: '}]\\" 🦀{[' }, { b: [{ c: [] }, '\\'] }, {}]

test.each([1, 2, 3, 7, 1000])('an array, pretty or not, in pieces of %i bytes', (pieceLength) => {
  expect(read(JSON.stringify(VALUES), pieceLength)).toEqual(VALUES)
  expect(read(JSON.stringify(VALUES, null, 2).replaceAll('\n', '\r\n'), pieceLength)).toEqual(VALUES)
  expect(read(JSON.stringify(VALUES[0]), pieceLength)).toEqual([VALUES[0]])
  expect(read(JSON.stringify(VALUES).slice(0, -3), pieceLength)).toEqual(VALUES.slice(0, 2))
})

test('a page, a number, or an element without end is refused', () => {
  const bad = 'model_malformed_answer'
  expect(findCode(() => read('<html>', 1))).toBe(bad)
  expect(findCode(() => read('[1]', 1))).toBe(bad)
  expect(findCode(() => read(`[{"a":"${'x'.repeat(100)}`, 10, 50))).toBe(bad)
})
