// A session whose writer is elsewhere: an input is answered once its record has arrived, in whatever order the two
// come, or once it is known that the record will not arrive.
import { BatonError } from '@baton/core/internal'
import type { Accepted } from '@baton/core/internal'
import type { Fact, Input, SessionRecord } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { openEvents } from './reader.ts'
import { ReplicatedSession } from './replicated-session.ts'

const paused: Input = { type: 'pause' }
const closed = new BatonError({ code: 'session_closed', message: 'the worker is gone' })

function record(pos: number, ...facts: readonly Fact[]): SessionRecord {
  return { version: 1, pos, nowMs: 0, epoch: 1, input: { type: 'pause' }, facts }
}

const OPENED: Fact = { type: 'session-opened', session: 's', birth: '', principal: '', agent: 'a', specHash: '' }

/** The writer accepts each input at the next position; the test publishes the records. */
function create() {
  let pos = 0
  const session = new ReplicatedSession({
    session: 's',
    world: { current: { spec: { limits: {}, window: {} } } } as never, // what projections read
    update: (inputs) => Promise.resolve(inputs.map((): Accepted => ({ type: 'accepted', pos: (pos += 1) }))),
    readPast: async function* () {},
  })
  session.publishRecords([record(0, OPENED)])
  return session
}

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const late = new Promise<false>((resolve) => setImmediate(() => resolve(false)))
  const settled = promise.then(
    () => true,
    () => true,
  )
  return await Promise.race([settled, late])
}

test('inputs are answered when the last of their records has come', async () => {
  const session = create()
  const answers = session.submit([paused, paused])
  session.publishRecords([record(1)])
  expect(await isSettled(answers)).toBe(false)
  session.publishRecords([record(1), record(2)])
  expect(await answers).toEqual([
    { type: 'accepted', pos: 1 },
    { type: 'accepted', pos: 2 },
  ])
})

test('an input whose record never comes is refused with the end of the session, and so are those after it', async () => {
  const session = create()
  const answers = session.submit([paused])
  expect(await isSettled(answers)).toBe(false)
  session.end(closed)
  await expect(answers).rejects.toBe(closed)
  await expect(session.submit([paused])).rejects.toBe(closed)
  await expect(session.reached(9)).rejects.toBe(closed)
  await session.reached(0) // it has arrived
})

test('a record that comes twice is told once', async () => {
  const session = create()
  const reader = openEvents(session, {})
  session.publishRecords([record(1, { type: 'session-paused' })])
  session.publishRecords([record(1, { type: 'session-paused' })])
  expect(await reader.nextBatch()).toMatchObject({
    events: [{ type: 'session', activity: 'paused' }],
    next: { pos: 2 },
  })
  expect(await reader.nextBatch(false)).toBeUndefined()
})

test('an interrupt is told once what the model had said', () => {
  const session = create()
  const started = { attempt: 1, step: 1, model: 'm', fromEntry: 1, toEntry: 1, choice: 'auto', chars: 1 } as const
  session.publishRecords([
    record(
      1,
      { type: 'turn-started', turn: 1, exchange: 1, models: ['m'], deadlineMs: 9 },
      { type: 'model-started', ...started },
    ),
  ])
  session.publishLive({ type: 'text-delta', attempt: 1, offset: 0, text: 'All is' })
  expect(session.takeStoppedModel()).toBeUndefined()
  session.publishRecords([record(2, { type: 'interrupt-accepted', reason: 'x', heard: { type: 'all' }, untilMs: 9 })])
  expect(session.takeStoppedModel()).toEqual({ type: 'model-stopped', attempt: 1, text: 'All is' })
  expect(session.takeStoppedModel()).toBeUndefined()
})
