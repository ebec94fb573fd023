// Turns over a reading of events: what becomes of the readers of turns that never begin, and of turns that lost frames.
import type { Frame, Refused } from '@baton/core'
import { SessionProjection } from '@baton/core'
import { expect, test } from 'vitest'
import { EventReader } from './event-reader.ts'
import { FrameReader } from './frame-reader.ts'
import { followTurn, refuseTurn } from './turn.ts'

const text = (said: string, offset = 0): Frame => ({ type: 'text-delta', attempt: 1, offset, text: said })

function openReader() {
  const ends: number[] = []
  const frames = new FrameReader({ nextPos: 0, onEnd: () => ends.push(1) })
  return { frames, ends }
}

function readEvents(frames: FrameReader, follow: (pos?: number) => FrameReader): EventReader {
  return new EventReader({ frames, follow, projection: new SessionProjection(), from: { pos: 0 } })
}

test.each([
  [
    'refused',
    () => Promise.resolve<Refused[]>([{ type: 'refused', code: 'queue_full', message: 'full' }]),
    'queue_full',
  ],
  ['not answered, because its session died', () => Promise.reject(Object.assign(new Error(), { code: 'x' })), 'x'],
])('the reader of an input that is %s ends', async (_, accepted, code) => {
  const { frames, ends } = openReader()
  const events = readEvents(frames, () => frames)
  const turn = followTurn({ inputId: 'i', reading: { events, output: undefined }, accepted: accepted() })
  await expect(turn.answer).rejects.toMatchObject({ code })
  expect(ends).toEqual([1])
})

test('a turn that lost frames reads them again and is answered, and no text is told twice', async () => {
  const first = openReader().frames
  const again = openReader().frames
  const asked: unknown[] = []
  const events = readEvents(first, (pos) => {
    asked.push(pos)
    return again
  })
  const turn = followTurn({
    inputId: 'i',
    reading: { events, output: undefined },
    accepted: Promise.resolve([{ type: 'accepted', pos: 1 }]),
  })
  const live = { type: 'fact', pos: 2, nowMs: 0, more: true } as const
  first.push({ ...live, fact: { type: 'turn-started', turn: 1, exchange: 1, models: ['m'], deadlineMs: 9 } })
  const entered = [{ entry: 1, inputs: ['i'], notes: [], chars: 1 }]
  first.push({ ...live, fact: { type: 'inputs-entered', exchange: 1, entries: entered } })
  const started = { attempt: 1, step: 1, model: 'm', fromEntry: 1, toEntry: 1, choice: 'auto', chars: 1 } as const
  first.push({ type: 'fact', pos: 2, nowMs: 0, fact: { type: 'model-started', ...started } })
  first.push(text('found '))
  first.push({ type: 'lagged', pos: 3 })
  first.end()
  again.push(text('found again'))
  again.push(text(' and on', 11))
  const finished = { type: 'turn-finished', turn: 1, outcome: 'answered', text: 'found again and on' } as const
  again.push({ type: 'fact', pos: 3, nowMs: 0, fact: finished })
  expect((await turn.answer).text).toBe('found again and on')
  expect(asked).toEqual([3])
  let told = ''
  for await (const event of turn) if (event.type === 'text') told += event.text
  expect(told).toBe('found again and on')
})

test('a reader for a device that lost frames is told so, and its reading ends', async () => {
  const { frames } = openReader()
  const init = { frames, follow: () => openReader().frames, projection: new SessionProjection(), from: { pos: 0 } }
  const events = new EventReader({ ...init, delivery: true })
  frames.push({ type: 'lagged', pos: 3 })
  frames.end()
  expect(await events.nextBatch()).toMatchObject({ events: [{ type: 'behind' }] })
  expect(await events.nextBatch()).toBeUndefined()
})

test('a loop over a turn that was refused throws what was refused, as its answer does', async () => {
  const turn = refuseTurn('i', { code: 'unknown_model', message: 'no model is named so' })
  await expect(turn.answer).rejects.toMatchObject({ code: 'unknown_model' })
  await expect(turn[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: 'unknown_model' })
})
