// A soak notices an input that reached no model call, and an input that occurs twice.
import type { ModelRequest } from '@baton/core'
import { expect, test } from 'vitest'
import { mark } from './converse.ts'
import { ReadBook } from './soak-model.ts'

function readAll(...requests: readonly (readonly number[])[]): ReadBook {
  const book = new ReadBook()
  for (const serials of requests) {
    const text = serials.map((serial) => `[Transcript] Ann: ${mark(7, serial)} Gladly.`).join('\n')
    book.read({
      session: 's',
      messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
    } as unknown as ModelRequest) // all that it reads
  }
  return book
}

test('requests that go on where the last one ended have everything, also behind a window that moved', () => {
  const book = readAll([1, 2], [1, 2, 3], [1, 2, 3], [3, 4, 5])
  expect(book.problems).toEqual([])
  expect(book.newest(7)).toBe(5)
})

test('an input between two requests that neither had was lost', () => {
  expect(readAll([1, 2], [4, 5]).problems).toEqual(['conversation 7: 3 to 3 were lost'])
})

test('an input that stands twice, and one that is left out within a request, are problems', () => {
  expect(readAll([1, 2, 2]).problemCount).toBe(1)
  expect(readAll([1, 3]).problemCount).toBe(1)
})

test('a request that ends before a former one is a problem', () => {
  expect(readAll([1, 2, 3], [1, 2]).problems).toHaveLength(1)
})
