// The map of limited size where a connection keeps names and bodies.
import { expect, test } from 'vitest'
import { BoundedMap } from './bounded-map.ts'

test('past its bound the oldest entry gives way', () => {
  const map = new BoundedMap<number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.set('c', 3)
  expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([undefined, 2, 3])
})

test('an entry that was taken is removed, and makes room', () => {
  const map = new BoundedMap<number>(2)
  expect(map.take('a')).toBeUndefined()
  map.set('a', 1)
  map.set('b', 2)
  expect(map.take('a')).toBe(1)
  expect(map.get('a')).toBeUndefined()
  map.set('c', 3)
  expect(map.get('b')).toBe(2)
})

test('an entry that is put in again takes no other’s place', () => {
  const map = new BoundedMap<number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.set('b', 3)
  expect([map.get('a'), map.get('b')]).toEqual([1, 3])
})
