// The bounded map that a connection keeps names and bodies in.
import { expect, test } from 'vitest'
import { Recent } from './recent.ts'

test('past its bound the oldest entry gives way', () => {
  const recent = new Recent<number>(2)
  recent.set('a', 1)
  recent.set('b', 2)
  recent.set('c', 3)
  expect(['a', 'b', 'c'].map((key) => recent.get(key))).toEqual([undefined, 2, 3])
})

test('an entry that is taken is there no more, and makes room', () => {
  const recent = new Recent<number>(2)
  expect(recent.take('a')).toBeUndefined()
  recent.set('a', 1)
  recent.set('b', 2)
  expect(recent.take('a')).toBe(1)
  expect(recent.get('a')).toBeUndefined()
  recent.set('c', 3)
  expect(recent.get('b')).toBe(2)
})

test('an entry that is put in again takes no other’s place', () => {
  const recent = new Recent<number>(2)
  recent.set('a', 1)
  recent.set('b', 2)
  recent.set('b', 3)
  expect([recent.get('a'), recent.get('b')]).toEqual([1, 3])
})
