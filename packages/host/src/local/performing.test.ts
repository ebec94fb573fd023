// Work of a session that is given up: late output of models and tools is neither shown nor logged, timers fire on time,
// and the log follows an answer at its own pace.
import type { SessionEvent, Store, Timers, ToolContext } from '@baton/core/internal'
import { expect, test } from 'vitest'
import type { ManualTime } from './test-world.test-kit.ts'
import {
  act,
  createManualTime,
  createTestWorld,
  listCalls,
  noUnhandledRejections,
  ownStore,
} from './test-world.test-kit.ts'

noUnhandledRejections()

/** Collects the session's later events. */
async function noteEvents(session: Awaited<ReturnType<ReturnType<typeof createTestWorld>['open']>>) {
  const events: SessionEvent[] = []
  const reader = session.events({ from: 'now' })
  void (async () => {
    for await (const event of reader) events.push(event)
  })()
  return events
}

test('output of an abandoned model is neither shown nor logged, and its end is not recorded', async () => {
  const time = createManualTime()
  const steps = [{ pieces: ['one ', 'two ', 'three '], pieceMs: 700, hangs: 'for-ever' as const }, { text: 'next' }]
  const world = createTestWorld({ time, steps, host: { interruptMs: 0, abortMs: 0 } })
  const session = await world.open()
  const events = await noteEvents(session)
  const turn = session.send('go')
  await time.pass(800)
  await time.until(session.interrupt())
  expect(await time.until(turn.answer)).toMatchObject({ text: 'one ' })
  const records = (await world.records()).length
  await time.pass(60_000)
  expect(events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('')).toBe('one ')
  expect(await world.records()).toHaveLength(records)
})

test('progress of a tool after its turn was interrupted is not shown', async () => {
  const time = createManualTime()
  const told = Promise.withResolvers<ToolContext>()
  const slow = act((_, context) => {
    told.resolve(context)
    return new Promise(() => {})
  })
  const world = createTestWorld({ time, tools: [slow], steps: [listCalls('act'), { text: 'next' }] })
  const session = await world.open()
  const events = await noteEvents(session)
  session.send('go').answer.catch(() => {})
  await time.settle()
  const context = await told.promise
  context.progress('half')
  await time.settle()
  await time.until(session.interrupt())
  context.progress('more')
  await time.settle()
  expect(events.flatMap((event) => (event.type === 'call-progress' ? [event.note] : []))).toEqual(['half'])
})

test.each([
  {
    how: 'by time, while little is said',
    pieces: Array.from({ length: 20 }, () => 'word '),
    pieceMs: 100,
    passMs: 2100,
    least: 3,
  },
  {
    how: 'by length, while much is said at once',
    pieces: Array.from({ length: 7 }, () => 'x'.repeat(1000)),
    pieceMs: 0,
    passMs: 0,
    least: 2,
  },
])('the log follows an answer $how, each word once', async ({ pieces, pieceMs, passMs, least }) => {
  const world = createTestWorld({ steps: [{ pieces, pieceMs, hangs: 'until-aborted' }] })
  const session = await world.open()
  session.send('go').answer.catch(() => {})
  await world.time.settle()
  await world.time.pass(passMs)
  const kept = await world.facts('attempt-progressed')
  expect(kept.length).toBeGreaterThanOrEqual(least)
  const text = kept.map((piece) => piece.text).join('')
  expect(pieces.join('').startsWith(text)).toBe(true)
  expect(kept.map(({ offset }) => offset)).toEqual(
    kept.map((_piece, index) => kept.slice(0, index).reduce((sum, piece) => sum + piece.text.length, 0)),
  )
})

/** Timers of a system with this maximum delay. */
function capTimers(time: ManualTime, mostMs: number): Timers {
  return { start: (delayMs, callback) => time.environment.timers.start(Math.min(delayMs, mostMs), callback) }
}

test('a wait that is longer than a timer of the system ends at its time, and not with the timer', async () => {
  const time = createManualTime()
  const environment = { ...time.environment, timers: capTimers(time, 1000) }
  const slow = act(() => new Promise(() => {}), { timeoutMs: 10_000 })
  const world = createTestWorld({
    time,
    tools: [slow],
    steps: [listCalls('act'), { text: 'late' }],
    host: { environment },
  })
  const session = await world.open()
  const turn = session.send('go')
  await time.pass(9000)
  expect(world.model.requests).toHaveLength(1)
  expect(await time.until(turn.answer)).toMatchObject({ text: 'late' })
})

test('an input and its simultaneous interrupt end the turn at once, without asking or waiting for the model', async () => {
  const world = createTestWorld({ steps: [{ text: 'never' }], host: { interruptMs: 60_000 } })
  const session = await world.open()
  const turn = session.send('go')
  const interrupted = session.interrupt()
  await world.time.settle()
  expect(await turn.answer).toMatchObject({ outcome: 'interrupted' })
  await interrupted
  expect(world.model.requests).toHaveLength(0)
})

test('a tool that waits for an answer of its user hears that its host has stopped', async () => {
  const time = createManualTime()
  const heard: string[] = []
  const asks = act(async (_, { ask }) => {
    try {
      return JSON.stringify(await ask({ message: 'Which?', schema: { type: 'object' } }))
    } catch (cause) {
      heard.push((cause as { readonly code: string }).code)
      throw cause
    }
  })
  const world = createTestWorld({ time, tools: [asks], steps: [listCalls('act'), { text: 'next' }] })
  const session = await world.open()
  session.send('go').answer.catch(() => {})
  await time.settle()
  expect(await session.questions()).toHaveLength(1)
  await time.until(world.host.stop({ drainMs: 0 }))
  expect(heard).toHaveLength(1)
})

test('after a rewind behind the window the model reads the earlier state, however long the store takes', async () => {
  const time = createManualTime()
  const disk = ownStore()
  const store: Store = {
    ...disk,
    read: async function* (...given) {
      await new Promise<void>((resolve) => void time.environment.timers.start(500, resolve))
      yield* disk.read(...given)
    },
  }
  const window = { messages: 4, summarise: false, keepExchanges: 1 }
  const world = createTestWorld({ time, store, window, steps: () => ({ text: 'Yes.' }) })
  const session = await world.open()
  for (const text of ['one', 'two', 'three', 'four']) await time.until(session.send(text, { inputId: text }).answer)
  expect(JSON.stringify(world.model.requests.at(-1)?.messages)).not.toContain('one')
  await time.until(session.rewind({ message: 'two', again: true }))
  await time.until(session.turn('two').answer)
  const read = JSON.stringify(world.model.requests.at(-1)?.messages)
  expect([read.includes('"one"'), read.includes('"two"'), read.includes('"three"')]).toEqual([true, true, false])
})
