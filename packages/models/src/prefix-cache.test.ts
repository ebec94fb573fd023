// Cached lists, and how long they live.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createPrefixCache } from './prefix-cache.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void // provided by the flag

/** Weak references are kept alive until the end of the running task. */
async function afterCollection(): Promise<void> {
  await new Promise((resolve) => void setImmediate(resolve))
  collectGarbage()
}

test('the newest outlive a collection of garbage, older ones do not, and no list is held for ever', async () => {
  const prefixes = createPrefixCache<object, number>()
  const lists = Array.from({ length: 40 }, () => [{}, {}])
  for (const [index, items] of lists.entries()) prefixes.keep({ items, value: index })
  await afterCollection()
  const found = lists.map((items) => prefixes.take(items)?.value)
  expect(found.slice(24)).toEqual(Array.from({ length: 16 }, (_, index) => 24 + index))
  expect(found.slice(0, 24).every((value) => value === undefined)).toBe(true)
})

test('what is taken is held no more', async () => {
  const prefixes = createPrefixCache<object, object>()
  const items = [{}]
  prefixes.keep({ items, value: {} })
  const value = new WeakRef(prefixes.take(items)?.value ?? {})
  await afterCollection()
  expect(value.deref()).toBeUndefined()
})

test('the longest prefix of the same objects and of the same key is taken, also once it is no longer held', () => {
  const prefixes = createPrefixCache<object, string>()
  const [one, two, three] = [{}, {}, {}]
  prefixes.keep({ items: [one], value: 'short' }, 'a')
  prefixes.keep({ items: [one, two], value: 'long' }, 'a')
  prefixes.keep({ items: [one, two, three], value: 'of another key' }, 'b')
  prefixes.keep({ items: [one, {}], value: 'of another end' }, 'a')
  expect(prefixes.take([one, two, three], 'a')?.value).toBe('long')
  expect(prefixes.take([one, two, three], 'a')?.value).toBe('short')
  expect(prefixes.take([one, two, three], 'a')).toBeUndefined()
  for (let count = 0; count < 20; count++) prefixes.keep({ items: [{}], value: 'newer' }, 'b')
  expect(prefixes.take([one, two, three, {}], 'b')?.value).toBe('of another key')
})
