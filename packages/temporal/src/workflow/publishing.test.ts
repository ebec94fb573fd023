// Records of a session on their way to the log: an activity that fails to write them leaves none behind.
import type { SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { Publishing } from './publishing.ts'

const records = (...positions: readonly number[]): readonly SessionRecord[] =>
  positions.map((pos) => ({
    version: 1,
    pos,
    nowMs: 1,
    epoch: 1,
    input: { type: 'pause' },
    facts: [{ type: 'session-paused' }],
  }))
const read = (taken: readonly SessionRecord[]): readonly number[] => taken.map(({ pos }) => pos)

test('each record is carried by one activity at a time, and by another one after a failure', () => {
  const publishing = new Publishing('s', records(3))
  publishing.add(records(4))
  expect(read(publishing.takeAlong())).toEqual([3, 4])
  expect(read(publishing.takeAlong())).toEqual([])
  // The next one takes everything not known to be in the log, because the first may be lost.
  publishing.add(records(5))
  expect(read(publishing.takeAlong())).toEqual([3, 4, 5])
  publishing.release()
  expect(read(publishing.takeAlong())).toEqual([3, 4, 5])
  publishing.confirm(4)
  expect(read(publishing.waiting)).toEqual([5])
  publishing.release()
  expect(read(publishing.takeAlong())).toEqual([5])
  publishing.confirm(5)
  publishing.release()
  expect([read(publishing.waiting), read(publishing.takeAlong())]).toEqual([[], []])
})
