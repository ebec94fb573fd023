// Frames for a slow reader.
import type { Frame } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { FrameReader, FRAMES_MAX, TEXT_MAX } from './frame-reader.ts'

const fact = (pos: number): Frame => ({ type: 'fact', pos, nowMs: 0, fact: { type: 'session-paused' } })
const text = (attempt: number, said: string, offset = 0): Frame => ({ type: 'text-delta', attempt, offset, text: said })

function reader(nextPos = 0, past?: AsyncIterable<Frame>) {
  const ends: number[] = []
  const made = new FrameReader({ nextPos, ...(past && { past }), onEnd: () => ends.push(1) })
  const iterator = made[Symbol.asyncIterator]()
  return { made, iterator, ends, next: async () => (await iterator.next()).value }
}

test('a reader that lags in the middle of a record is sent back to its beginning', async () => {
  const { made, next, ends } = reader()
  made.push(fact(0))
  made.push(fact(1))
  made.push(fact(1))
  await next()
  await next()
  // The second half of record 1 was taken with the first, and the following records wait.
  for (let count = 0; count <= FRAMES_MAX; count++) made.push(fact(2 + count))
  expect(await next()).toEqual(fact(1))
  expect(await next()).toEqual({ type: 'lagged', pos: 2 })
  expect(await next()).toBeUndefined()
  expect(ends).toEqual([1])
})

test('a reader that lags on text alone is sent to the next record', async () => {
  const { made, next } = reader(7)
  made.push(text(1, 'x'.repeat(TEXT_MAX)))
  made.push(text(1, 'y'))
  expect(await next()).toEqual({ type: 'lagged', pos: 7 })
})

test('text that was read makes room for more', async () => {
  const { made, next } = reader()
  for (let count = 0; count < 3; count++) {
    made.push(text(1, 'x'.repeat(TEXT_MAX)))
    expect(await next()).toMatchObject({ type: 'text-delta' })
  }
})

test('text of one attempt is joined while it waits, that of two is not', async () => {
  const { made, next } = reader()
  for (const frame of [text(1, 'a'), text(1, 'b', 1), text(2, 'c'), fact(0), text(2, 'd', 1)]) made.push(frame)
  const read = [await next(), await next(), await next(), await next()]
  expect(read).toEqual([text(1, 'ab'), text(2, 'c'), fact(0), text(2, 'd', 1)])
})

test('a piece that comes again, or after one that was lost, keeps its own offset', async () => {
  const { made, next } = reader()
  const pieces = [text(1, 'one '), text(1, 'one '), text(1, 'three', 8)]
  for (const piece of pieces) made.push(piece)
  expect([await next(), await next(), await next()]).toEqual(pieces)
})

test('what is over comes before what is live, and a past that cannot be read ends the reading', async () => {
  async function* past(): AsyncGenerator<Frame> {
    yield fact(0)
    throw new Error('disk gone')
  }
  const { made, iterator, ends } = reader(1, past())
  made.push(fact(1))
  expect((await iterator.next()).value).toEqual(fact(0))
  await expect(iterator.next()).rejects.toThrow('disk gone')
  expect(await iterator.next()).toEqual({ done: true, value: undefined })
  expect(ends).toEqual([1])
})

test('the arguments of two calls are not joined while they wait', async () => {
  const { made, next } = reader()
  const write = (index: number, offset: number, said: string): Frame => {
    return { type: 'call-delta', attempt: 1, index, name: 'look', offset, text: said }
  }
  const pieces = [write(0, 0, '{}'), write(1, 2, '"a"')]
  for (const piece of pieces) made.push(piece)
  expect([await next(), await next()]).toEqual(pieces)
})

test('a reader that leaves closes the past that it was reading, and is told nothing more', async () => {
  let isOpen = true
  async function* past(): AsyncGenerator<Frame> {
    try {
      yield fact(0)
      yield fact(1)
    } finally {
      isOpen = false
    }
  }
  const { made, iterator, ends } = reader(2, past())
  await iterator.next()
  await iterator.return?.()
  await new Promise((resolve) => setImmediate(resolve))
  expect(isOpen).toBe(false)
  made.push(fact(2))
  expect(await iterator.next()).toEqual({ done: true, value: undefined })
  expect(ends).toEqual([1])
})
