// Sizes in UTF-16 units: what counts for the window, and what counts for limits.
import { expect, test } from 'vitest'
import { countChars, heldChars } from './size.ts'

const image = { type: 'image', mediaType: 'image/png', source: { type: 'base64', data: 'AAAAA' } } as const
const file = { type: 'file', mediaType: 'application/pdf', source: { type: 'url', url: 'https://x' } } as const
const state = { provider: 'p', model: 'm', data: { a: 1 } }

test('in a request a picture counts as what providers charge for a large one', () => {
  expect(countChars([{ type: 'text', text: 'ab' }, image])).toBe(2 + 6000)
  expect(countChars([file])).toBe(6000)
  expect(countChars([{ type: 'reasoning', text: 'abc' }])).toBe(3)
  expect(countChars([{ type: 'call', callId: 'c', name: 'read', arguments: '{}' }])).toBe(6)
  expect(countChars([{ type: 'provider', state }])).toBe('{"a":1}'.length)
  const kept = { type: 'blob', handle: 'abc', bytes: 90_000 } as const
  expect(
    countChars([
      { ...file, source: kept },
      { ...image, source: kept },
    ]),
  ).toBe(2 * 6000)
  for (const mediaType of ['text/csv', 'application/json', 'application/ld+json', 'application/yaml'])
    expect(countChars([{ ...file, mediaType, source: kept }])).toBe(90_000)
  expect(countChars([{ ...file, mediaType: 'text/csv', source: image.source }])).toBe(6000)
  expect(countChars([{ type: 'source', id: 's', title: 'A page', quote: 'its words' }])).toBe(0)
  expect(countChars([])).toBe(0)
})

test('for limits of text an address counts, and bytes do not', () => {
  const kept = { ...image, source: { type: 'blob', handle: 'abc', bytes: 9 } } as const
  expect(heldChars([{ type: 'text', text: 'ab' }, image, kept, file])).toBe(2 + 9)
})
