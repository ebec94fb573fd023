// The feed of one session: live pieces in their place among the records, whatever order they come in.
import type { Frame, LiveFrame } from '@baton/core'
import type { Fact, SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { SessionFeed } from './feed.ts'

const STARTED = {
  type: 'model-started',
  step: 1,
  model: 'm',
  fromEntry: 1,
  toEntry: 1,
  chars: 1,
  choice: 'auto',
} as const

function record(pos: number, attempt: number): SessionRecord {
  const facts: readonly Fact[] = [{ ...STARTED, attempt }]
  return { version: 1, pos, nowMs: 0, epoch: 1, input: { type: 'user-input' }, facts }
}

function text(attempt: number, offset: number, said: string): LiveFrame {
  return { type: 'text-delta', attempt, offset, text: said }
}

async function* noPast(): AsyncGenerator<never> {}

function openFeed() {
  const feed = new SessionFeed({ readPast: noPast })
  const reader = feed.read(undefined)
  return { feed, next: async (): Promise<readonly Frame[] | undefined> => await reader.nextBatch() }
}

test('pieces that come before the record that begins their attempt wait for it, however many they are', async () => {
  const { feed, next } = openFeed()
  const count = 50_000
  for (let index = 0; index < count; index++) feed.publishLive(text(1, index, 'x'))
  feed.publishRecord(record(0, 1))
  expect(await next()).toMatchObject([{ type: 'fact', pos: 0 }, text(1, 0, 'x'.repeat(count))])
  expect(feed.textOfAttempt(1)).toHaveLength(count)
})

test('of text that is too much to wait for its record, the rest is dropped, and what comes behind the hole too', async () => {
  const { feed, next } = openFeed()
  const half = 'x'.repeat(3 * 1024 * 1024)
  feed.publishLive(text(1, 0, half))
  feed.publishLive(text(1, half.length, half))
  feed.publishRecord(record(0, 1))
  feed.publishLive(text(1, 2 * half.length, 'end'))
  expect(await next()).toMatchObject([{ type: 'fact' }, { offset: 0 }])
  expect(feed.textOfAttempt(1)).toBe(half)
})

test('a piece before which another one is missing is told when both have come', async () => {
  const { feed, next } = openFeed()
  feed.publishRecord(record(0, 1))
  feed.publishLive(text(1, 6, ' done.'))
  feed.publishLive(text(1, 0, 'All is'))
  feed.publishLive(text(1, 0, 'All is'))
  feed.publishLive(text(1, 6, ' done.'))
  expect(feed.textOfAttempt(1)).toBe('All is done.')
  expect(await next()).toMatchObject([{ type: 'fact' }, { offset: 0, text: 'All is done.' }])
})

test('a reader learns that it missed records which another host wrote, and reads them again', async () => {
  const past = [record(0, 1), record(1, 2), record(2, 3)]
  const feed = new SessionFeed({
    readPast: async function* (fromPos) {
      yield* past.slice(fromPos)
    },
  })
  feed.publishRecord(record(0, 1))
  const reader = feed.read(0)
  // The session was opened again, from a snapshot of a host that had it in between.
  feed.startAfter(2)
  feed.publishRecord(record(3, 4))
  expect(await reader.nextBatch()).toMatchObject([{ type: 'fact', pos: 0 }])
  expect(await reader.nextBatch()).toEqual([{ type: 'lagged', pos: 1 }])
  expect(await reader.nextBatch()).toBeUndefined()
  const again = feed.read(1)
  expect(await again.nextBatch()).toMatchObject([{ type: 'fact', pos: 1 }])
  expect(await again.nextBatch()).toMatchObject([{ type: 'fact', pos: 2 }])
})

test('pieces of an attempt that was over before its record came are dropped', async () => {
  const { feed, next } = openFeed()
  feed.publishLive(text(1, 0, 'old'))
  feed.publishLive(text(2, 0, 'new'))
  feed.publishRecord(record(0, 2))
  expect(await next()).toMatchObject([{ type: 'fact' }, text(2, 0, 'new')])
})
