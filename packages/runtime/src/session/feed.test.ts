// The feed of one session: live pieces in their place among the records, whatever order they arrive in.
import type { Frame, LiveFrame } from '@baton/core/internal'
import type { Fact, SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { SessionFeed } from './feed.ts'
import type { FrameReader } from './frame-reader.ts'

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
  // The session was reopened from a snapshot of a host that had it meanwhile.
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

function of(pos: number, ...facts: readonly Fact[]): SessionRecord {
  return { ...record(pos, 1), facts }
}

/** All frames that a reader has so far, without waiting for more. */
async function readAll(reader: FrameReader): Promise<readonly Frame[]> {
  const frames: Frame[] = []
  for (let batch = await reader.nextBatch(false); batch?.length; batch = await reader.nextBatch(false))
    frames.push(...batch)
  return frames
}

test.each<Fact>([
  { type: 'attempt-superseded', attempt: 1, reason: 'failed' },
  { type: 'attempt-failed', attempt: 1, error: { code: 'model_overloaded', message: 'busy', retryable: true } },
  { type: 'step-salvaged', step: 1, attempt: 1, textChars: 3 },
  { type: 'turn-finished', turn: 1, outcome: 'stopped', text: '' },
])('what an attempt says after $type is told to nobody', async (ended) => {
  const { feed, next } = openFeed()
  feed.publishRecord(record(0, 1))
  feed.publishLive({ type: 'server-tool', attempt: 1, name: 'search', status: 'started' })
  feed.publishLive(text(1, 0, 'old'))
  feed.publishRecord(of(1, ended))
  feed.publishLive({ type: 'server-tool', attempt: 1, name: 'search', status: 'finished' })
  feed.publishLive(text(1, 3, ' and late'))
  expect((await next())?.map(({ type }) => type)).toEqual(['fact', 'server-tool', 'text-delta', 'fact'])
  expect(feed.textOfAttempt(1)).toBe('')
})

test('a reader that comes while an answer is written has what was said in its place; one from now on, what follows', async () => {
  const past = [record(0, 1), of(1, { type: 'session-paused' })]
  const feed = new SessionFeed({
    readPast: async function* (fromPos) {
      yield* past.slice(fromPos)
    },
  })
  for (const one of past) feed.publishRecord(one)
  const thought: LiveFrame = { type: 'reasoning-delta', attempt: 1, offset: 0, text: 'Hm.' }
  feed.publishLive(thought)
  feed.publishLive(text(1, 0, 'All is'))
  const [whole, later] = [feed.read(0), feed.read(undefined)]
  feed.publishLive(text(1, 6, ' done.'))
  expect(await readAll(whole)).toMatchObject([
    { type: 'fact', pos: 0 },
    thought, // before the log’s own text of the attempt
    { type: 'fact', pos: 1 },
    thought,
    text(1, 0, 'All is done.'),
  ])
  expect(await readAll(later)).toEqual([text(1, 6, ' done.')])
})

test('records of another host end what an attempt was saying here', () => {
  const { feed } = openFeed()
  feed.publishRecord(record(0, 1))
  feed.publishLive(text(1, 0, 'old'))
  feed.startAfter(5)
  expect(feed.textOfAttempt(1)).toBe('')
})

test('each attempt has its own room before its record, and a later one waits for its own', async () => {
  const { feed, next } = openFeed()
  const long = 'x'.repeat(3 * 1024 * 1024)
  for (const attempt of [1, 2]) {
    feed.publishLive(text(attempt, 0, long))
    feed.publishLive(text(attempt + 1, 0, 'next'))
    feed.publishRecord(record(attempt, attempt))
    expect(feed.textOfAttempt(attempt)).toHaveLength(long.length)
    await next()
  }
})

test('what binds an approval to its arguments is told to nobody, and the last fact of a record says so', async () => {
  const { feed, next } = openFeed()
  const call = { callId: 'c', name: 'pay', runs: 'server', effect: 'once', timeoutMs: 1, parallel: true } as const
  const bound = { argumentsHash: 'secret', tokenHash: 'secret' }
  const said = {
    step: 1,
    attempt: 1,
    model: 'm',
    parts: [],
    finish: 'tool-calls',
    usage: {},
    textChars: 0,
    chars: 0,
  } as const
  const facts: readonly Fact[] = [
    { ...said, type: 'step-finished', interrupted: false, calls: [{ ...call, ...bound, onInterrupt: 'cancel' }] },
    { type: 'approval-requested', callId: 'c', approvalId: 'a', argumentsHash: 'secret', expiresAtMs: 9 },
    {
      type: 'approval-decided',
      callId: 'c',
      approvalId: 'a',
      decision: 'edit',
      principal: 'ann',
      edited: { arguments: '{}', ...bound },
    },
  ]
  feed.publishRecord({ ...of(3, ...facts), wallMs: 77 })
  const told = (await next()) ?? []
  expect(JSON.stringify(told)).not.toContain('secret')
  expect(told).toMatchObject(facts.map(({ type }) => ({ pos: 3, wallMs: 77, fact: { type } })))
  expect(told.map((frame) => 'more' in frame)).toEqual([true, true, false])
})

test('whoever reads after the end is told so at once', async () => {
  const { feed } = openFeed()
  feed.end()
  expect(await feed.read(undefined).nextBatch(false)).toBeUndefined()
})
