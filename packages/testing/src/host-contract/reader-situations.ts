// Readers of a session: every event once from the requested place, with live pieces in their place among them.
import type { FrontSession, SessionEvent, SessionEventOf } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { expect } from 'vitest'
import { act, listCalls, collect } from './situation-parts.ts'
import type { Situations } from './situation.ts'
import { forEachRow } from './situation.ts'
import { createStreamingModel } from './streaming-model.ts'

type WrittenEvent = SessionEventOf<'text' | 'reasoning' | 'call-writing'>

function isWritten(event: SessionEvent): event is WrittenEvent {
  return event.type === 'text' || event.type === 'reasoning' || event.type === 'call-writing'
}

function splitPieces<Type extends SessionEvent['type']>(
  events: readonly SessionEvent[],
  type: Type,
): readonly SessionEventOf<Type>[] {
  return events.filter((event): event is SessionEventOf<Type> => event.type === type)
}

/** Joins pieces, each of which follows the previous one. */
function joinPieces(pieces: readonly { readonly offset: number; readonly text: string }[]): string {
  return pieces.reduce((text, piece) => {
    expect(piece.offset).toBe(text.length)
    return text + piece.text
  }, '')
}

/** The events of each attempt at a step, in order. */
function splitAttempts(events: readonly SessionEvent[]): readonly (readonly SessionEvent[])[] {
  const attempts: SessionEvent[][] = []
  for (const event of events)
    if (event.type === 'step-started') attempts.push([event])
    else attempts.at(-1)?.push(event)
  return attempts
}

/** Checks that no piece precedes the beginning of its attempt, or follows its end. */
function checkOrder(events: readonly SessionEvent[]): void {
  let running: number | undefined
  for (const event of events) {
    if (event.type === 'step-started') running = event.step
    else if (event.type === 'step-finished' || event.type === 'step-reset') running = undefined
    else if (isWritten(event)) expect(event.step).toBe(running)
  }
}

function checkPieces(events: readonly SessionEvent[]): void {
  expect(joinPieces(splitPieces(events, 'reasoning'))).toBe('Let me think.')
  expect(joinPieces(splitPieces(splitAttempts(events)[0] ?? [], 'text'))).toBe('I look at it.')
  const writing = splitPieces(events, 'call-writing')
  const calls = [...new Set(writing.map(({ callId }) => callId))]
  expect(calls.map((callId) => joinPieces(writing.filter((piece) => piece.callId === callId)))).toEqual([
    '{"a":1}',
    '{"b":2}',
  ])
  expect(writing.every(({ name }) => name === 'act')).toBe(true)
}

/** Events that a reader gets wherever it joins: texts in one piece, and no place where the past ended. */
function normalise(events: readonly SessionEvent[]): readonly object[] {
  const joined: Partial<SessionEvent>[] = []
  for (const { cursor: _, ...event } of events) {
    const last = joined.at(-1)
    if (event.type === 'live') continue
    if (event.type === 'text' && last?.type === 'text' && last.step === event.step)
      joined[joined.length - 1] = { ...last, text: `${last.text}${event.text}` }
    else joined.push(event)
  }
  return joined
}

async function readUntilFinished(
  session: FrontSession,
  from: SessionEvent['cursor'] | 'start',
): Promise<readonly SessionEvent[]> {
  const events: SessionEvent[] = []
  for await (const event of session.events({ from })) {
    if (event.type !== 'live') events.push(event)
    if (event.type === 'turn-finished') return events
  }
  return events
}

export const READER_SITUATIONS: Situations = {
  ...forEachRow(
    'text, reasoning and tool input stream with their offsets, in their place among the events, %s',
    [
      ['all at once', 0],
      ['piece by piece', 50],
    ],
    async ({ createWorld }, [, pauseMs]) => {
      const held: { pause: () => Promise<void> } = { pause: async () => {} }
      const model = createStreamingModel(() => held.pause())
      const world = await createWorld({ steps: [], models: model, tools: [act(() => 'seen')] })
      if (pauseMs > 0) held.pause = () => world.time.wait(pauseMs)
      const session = await world.open()
      const seen = collect(session.events())
      await world.time.until(session.send('go').answer)
      await session.close()
      await seen.done
      checkOrder(seen.events)
      checkPieces(seen.events)
    },
  ),
  'a reader that comes in the middle of an answer is told what was said so far, once': async ({ createWorld }) => {
    const held: { pause: () => Promise<void> } = { pause: async () => {} }
    const model = createStreamingModel(() => held.pause())
    const world = await createWorld({ steps: [], models: model, tools: [act(() => 'seen')] })
    held.pause = () => world.time.wait(50)
    const session = await world.open()
    const turn = session.send('go')
    await world.time.pass(330)
    const late = collect(session.events({ from: 'start' }))
    await world.time.until(turn.answer)
    await session.close()
    await late.done
    checkPieces(late.events)
  },
  'a reader resumes from any cursor, and is told every event from there on once and in order': async ({
    createWorld,
  }) => {
    const world = await createWorld({
      tools: [act(() => 'seen')],
      steps: [{ text: 'look', ...listCalls('act', 'act') }, { text: 'done' }],
    })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    const all = await readUntilFinished(session, 'start')
    expect(all.length).toBeGreaterThan(10)
    for (const [index, { cursor }] of all.slice(0, -1).entries())
      expect(await readUntilFinished(session, cursor)).toEqual(all.slice(index + 1))
  },
  'readers of all places, also while the turn runs, are told the same': async ({ createWorld }) => {
    const world = await createWorld({
      tools: [act(() => world.time.wait(100))],
      steps: [
        { text: 'look at this', pieceMs: 30, ...listCalls('act') },
        { text: 'it is done', pieceMs: 30 },
      ],
    })
    const session = await world.open()
    const readers = [collect(session.events({ from: 'start' }))]
    const turn = session.send('go')
    turn.answer.catch(() => {})
    for (let count = 0; count < 8; count++) {
      await world.time.pass(35)
      readers.push(collect(session.events({ from: 'start' })))
    }
    await world.time.until(turn.answer)
    await session.close()
    const told = []
    for (const { events, done } of readers) {
      await done
      checkOrder(events)
      told.push(normalise(events))
    }
    for (const one of told) expect(one).toEqual(told[0])
  },
  'pieces of an attempt that was given up are followed by that, and come again from the beginning': async ({
    createWorld,
  }) => {
    const error = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
    const world = await createWorld({ steps: [{ text: 'Half of', error }, { text: 'Half of it' }] })
    const session = await world.open()
    const seen = collect(session.events())
    await world.time.until(session.send('go').answer)
    await session.close()
    await seen.done
    checkOrder(seen.events)
    const attempts = splitAttempts(seen.events)
    expect(attempts.map((events) => joinPieces(splitPieces(events, 'text')))).toEqual(['Half of', 'Half of it'])
    expect(splitPieces(attempts[0] ?? [], 'step-reset')).toHaveLength(1)
  },
  'two handles of one session are told the same, whoever speaks': async ({ createWorld }) => {
    const world = await createWorld({ steps: () => ({ text: 'yes' }) })
    const [one, two] = [await world.open(), await world.open()]
    const seen = [collect(one.events({ from: 'start' })), collect(two.events({ from: 'start' }))]
    await world.time.until(one.send('from one').answer)
    await world.time.until(two.send('from two').answer)
    await one.close()
    await two.close()
    const [first, second] = await Promise.all(seen.map(async ({ events, done }) => (await done, normalise(events))))
    // One handle is closed before the other.
    expect(second?.slice(0, 8)).toEqual(first?.slice(0, 8))
    expect(first?.length).toBeGreaterThan(8)
  },
  'a reader from now on is told nothing of the past': async ({ createWorld }) => {
    const world = await createWorld({ steps: () => ({ text: 'yes' }) })
    const session = await world.open()
    await world.time.until(session.send('past').answer)
    const before = (await world.records()).length
    const seen = collect(session.events({ delivery: true }))
    await world.time.until(session.send('now').answer)
    await session.close()
    await seen.done
    expect(seen.events.find(({ at }) => at !== undefined)?.at?.pos).toBe(before)
    expect(seen.events.filter(({ type }) => type === 'turn-finished')).toHaveLength(1)
  },
}
