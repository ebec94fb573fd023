// Links of a tree look at records as they are published: nothing is read from the log twice, and nothing is skipped.
import { expect, test } from 'vitest'
import { RecordTail } from './record-tail.ts'
import { beginTurn, finishTurn, openStream } from './stream.test-kit.ts'

function openTail(count: number) {
  const reads: number[] = []
  const world = openStream({
    readLog: async function* (fromPos) {
      reads.push(fromPos)
      yield* world.log.slice(fromPos)
    },
  })
  const write = (records: number): void => {
    for (let left = records; left > 0; left -= 1) world.publish(...beginTurn(left))
  }
  write(count)
  const tail = new RecordTail(world.stream)
  const positions = async (from: number) => (await tail.from(from)).map(({ pos }) => pos)
  return { ...world, tail, write, reads, positions }
}

test('a record that is published is not read from the log', async () => {
  const { write, reads, positions } = openTail(2)
  write(3)
  expect(await positions(2)).toEqual([2, 3, 4])
  expect(await positions(4)).toEqual([4])
  expect(await positions(5)).toEqual([])
  expect(reads).toEqual([])
})

test('eight links that begin at one record read the log once, and what they read is kept', async () => {
  const { write, reads, positions } = openTail(5)
  const all = await Promise.all(Array.from({ length: 8 }, () => positions(3)))
  expect(all).toEqual(Array.from({ length: 8 }, () => [3, 4]))
  write(1)
  expect(await positions(3)).toEqual([3, 4, 5])
  expect(reads).toEqual([3])
})

test('a link that is far behind reads the log, and then nothing twice', async () => {
  const { write, reads, positions } = openTail(0)
  write(40)
  expect(await positions(0)).toHaveLength(40)
  expect(await positions(30)).toHaveLength(10)
  expect(reads).toEqual([0])
})

test('records that another host wrote are read from the log', async () => {
  const { stream, append, fold, publish, positions } = openTail(2)
  publish(finishTurn(1))
  fold(append(...beginTurn(2)))
  stream.startAfter(3)
  expect(await positions(2)).toEqual([2, 3])
  publish(finishTurn(2))
  expect(await positions(2)).toEqual([2, 3, 4])
})

test('a tail that is stopped keeps nothing and reads the log', async () => {
  const { tail, write, reads, positions } = openTail(0)
  write(2)
  tail.stop()
  write(1)
  expect(await positions(1)).toEqual([1, 2])
  expect(reads).toEqual([1])
})
