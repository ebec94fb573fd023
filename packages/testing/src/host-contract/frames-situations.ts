// Frames for readers of a session: every fact once from the requested position, with live pieces in the right places.
import type { Frame, LiveFrame, Session } from '@baton/core/internal'
import { BatonError } from '@baton/core/internal'
import { expect } from 'vitest'
import { act, listCalls, collect } from './situation-parts.ts'
import type { Situations } from './situation.ts'
import { forEachRow } from './situation.ts'
import { createStreamingModel } from './streaming-model.ts'

/** Joins pieces into the whole text by offset; pieces may repeat. */
function joinPieces(pieces: readonly { readonly offset: number; readonly text: string }[]): string {
  return pieces.reduce((text, piece) => text + piece.text.slice(Math.max(0, text.length - piece.offset)), '')
}

function splitPieces<Type extends LiveFrame['type']>(
  frames: readonly Frame[],
  type: Type,
): readonly Extract<LiveFrame, { readonly type: Type }>[] {
  return frames.filter((frame): frame is Extract<LiveFrame, { readonly type: Type }> => frame.type === type)
}

function listPositions(frames: readonly Frame[]): readonly number[] {
  return [...new Set(frames.flatMap((frame) => (frame.type === 'fact' ? [frame.pos] : [])))]
}

/** Checks that no piece precedes the record that began its attempt, or follows the record that ended it. */
function checkOrder(frames: readonly Frame[]): void {
  let running: number | undefined
  for (const frame of frames) {
    if (frame.type === 'fact' && frame.fact.type === 'model-started') running = frame.fact.attempt
    else if (frame.type === 'fact' && ['step-finished', 'attempt-superseded'].includes(frame.fact.type))
      running = undefined
    else if (frame.type !== 'fact' && 'attempt' in frame) expect(frame.attempt).toBe(running)
  }
}

function checkPieces(frames: readonly Frame[]): void {
  expect(joinPieces(splitPieces(frames, 'reasoning-delta'))).toBe('Let me think.')
  const first = splitPieces(frames, 'text-delta').filter(({ attempt }) => attempt === 1)
  expect(joinPieces(first)).toBe('I look at it.')
  for (const [index, text] of ['{"a":1}', '{"b":2}'].entries()) {
    const pieces = splitPieces(frames, 'call-delta').filter((piece) => piece.index === index)
    expect(joinPieces(pieces)).toBe(text)
    expect(pieces.every(({ name }) => name === 'act')).toBe(true)
  }
}

async function readUntilFinished(session: Session, pos: number): Promise<readonly Frame[]> {
  const frames: Frame[] = []
  for await (const frame of session.frames({ pos })) {
    frames.push(frame)
    if (frame.type === 'fact' && frame.fact.type === 'turn-finished') return frames
  }
  return frames
}

export const FRAME_SITUATIONS: Situations = {
  ...forEachRow(
    'text, reasoning and tool input stream with their offsets, in their place among the facts, %s',
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
      const seen = collect(session.frames())
      await world.time.until(session.send('go').answer)
      await session.close()
      await seen.done
      checkOrder(seen.frames)
      checkPieces(seen.frames)
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
    const late = collect(session.frames({ pos: 0 }))
    await world.time.until(turn.answer)
    await session.close()
    await late.done
    checkPieces(late.frames)
  },
  'a reader resumes from any position, and is told every fact from there on once and in order': async ({
    createWorld,
  }) => {
    const world = await createWorld({
      tools: [act(() => 'seen')],
      steps: [{ text: 'look', ...listCalls('act', 'act') }, { text: 'done' }],
    })
    const session = await world.open()
    await world.time.until(session.send('go').answer)
    const all = await readUntilFinished(session, 0)
    const last = listPositions(all).at(-1) ?? 0
    expect(last).toBeGreaterThan(3)
    expect(listPositions(all)).toEqual(Array.from({ length: last + 1 }, (_, pos) => pos))
    for (let pos = 1; pos <= last; pos++) {
      const rest = await readUntilFinished(session, pos)
      expect(rest).toEqual(all.filter((frame) => frame.type === 'fact' && frame.pos >= pos))
    }
  },
  'readers of all positions, also while the turn runs, are told the same': async ({ createWorld }) => {
    const world = await createWorld({
      tools: [act(() => world.time.wait(100))],
      steps: [
        { text: 'look at this', pieceMs: 30, ...listCalls('act') },
        { text: 'it is done', pieceMs: 30 },
      ],
    })
    const session = await world.open()
    const readers = [collect(session.frames({ pos: 0 }))]
    const turn = session.send('go')
    turn.answer.catch(() => {})
    for (let count = 0; count < 8; count++) {
      await world.time.pass(35)
      readers.push(collect(session.frames({ pos: 0 })))
    }
    await world.time.until(turn.answer)
    await session.close()
    const facts = []
    for (const { frames, done } of readers) {
      await done
      facts.push(frames.filter(({ type }) => type === 'fact'))
      checkOrder(frames)
    }
    for (const told of facts) expect(told).toEqual(facts[0])
  },
  'pieces of an attempt that was given up are followed by that, and come again from the beginning': async ({
    createWorld,
  }) => {
    const error = new BatonError({ code: 'model_overloaded', message: 'busy', retryable: true })
    const world = await createWorld({ steps: [{ text: 'Half of', error }, { text: 'Half of it' }] })
    const session = await world.open()
    const seen = collect(session.frames())
    await world.time.until(session.send('go').answer)
    await session.close()
    await seen.done
    checkOrder(seen.frames)
    const pieces = splitPieces(seen.frames, 'text-delta')
    const attempts = [...new Set(pieces.map(({ attempt }) => attempt))]
    expect(attempts.map((attempt) => joinPieces(pieces.filter((piece) => piece.attempt === attempt)))).toEqual([
      'Half of',
      'Half of it',
    ])
  },
  'two handles of one session are told the same, whoever speaks': async ({ createWorld }) => {
    const world = await createWorld({ steps: () => ({ text: 'yes' }) })
    const [one, two] = [await world.open(), await world.open()]
    const seen = [collect(one.frames({ pos: 0 })), collect(two.frames({ pos: 0 }))]
    await world.time.until(one.send('from one').answer)
    await world.time.until(two.send('from two').answer)
    await one.close()
    await two.close()
    const [first, second] = await Promise.all(seen.map(async ({ frames, done }) => (await done, frames)))
    const upToEnd = (frames: readonly Frame[] = []) => frames.filter(({ type }) => type === 'fact').slice(0, 8)
    expect(upToEnd(second)).toEqual(upToEnd(first))
  },
  'a reader from now on is told nothing of the past': async ({ createWorld }) => {
    const world = await createWorld({ steps: () => ({ text: 'yes' }) })
    const session = await world.open()
    await world.time.until(session.send('past').answer)
    const before = (await world.records()).length
    const seen = collect(session.frames())
    await world.time.until(session.send('now').answer)
    await session.close()
    await seen.done
    expect(listPositions(seen.frames)[0]).toBe(before)
  },
}
