// One reader of a session as an iterator, whose `next` several callers may call at once.
import { expect, test } from 'vitest'
import { openStream } from './stream.test-kit.ts'

test('of several calls of next at once, each gets the next event, and none is lost', async () => {
  const { publish, read } = openStream()
  const title = (name: string) => ({ type: 'session-described', title: name }) as const
  const reader = read()
  const waiting = [reader.next(), reader.next()]
  publish(title('one'), title('two'), title('three'))
  const later = [reader.next(), reader.next()]
  await new Promise((resolve) => setImmediate(resolve))
  publish(title('four'))
  const told = await Promise.all([...waiting, ...later])
  expect(told.map(({ value }) => value)).toMatchObject(
    ['one', 'two', 'three', 'four'].map((name) => ({ type: 'session', title: name })),
  )
  const ends = [reader.next(), reader.next()]
  await reader.return()
  expect((await Promise.all(ends)).map(({ done }) => done)).toEqual([true, true])
})
