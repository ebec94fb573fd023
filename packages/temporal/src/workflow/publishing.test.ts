// Records of a session on their way to the log: an activity that fails to write them leaves none behind.
import type { SessionRecord } from '@baton/core/machine'
import { expect, onTestFinished, test, vi } from 'vitest'
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

/** Records on their way, with activities that end when the test says so. */
async function createPublishing() {
  const activities: { readonly positions: readonly number[]; readonly end: () => void }[] = []
  vi.resetModules() // test files share what is loaded
  vi.doMock('./activities.ts', () => ({
    publishRecords: (_: string, taken: readonly SessionRecord[]) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      activities.push({ positions: read(taken), end: resolve })
      return promise
    },
  }))
  onTestFinished(() => {
    vi.doUnmock('./activities.ts')
    vi.resetModules()
  })
  const loaded = await import('./publishing.ts')
  const carried = (): readonly (readonly number[])[] => activities.map(({ positions }) => positions)
  return { publishing: new loaded.Publishing('s', []), carried, endFirst: () => activities[0]?.end() }
}

test('records that are added while earlier ones are being written are kept, and published after them', async () => {
  const { publishing, carried, endFirst } = await createPublishing()
  publishing.add(records(0, 1))
  publishing.publish()
  publishing.add(records(2))
  publishing.publish()
  publishing.add(records(3))
  expect(carried()).toEqual([[0, 1]])
  endFirst()
  await expect.poll(() => read(publishing.waiting)).toEqual([2, 3])
  expect(carried()).toEqual([
    [0, 1],
    [2, 3],
  ])
})
