// Turns over a reading of events: the readers of turns that never begin, and of turns that lost frames.
import type { AssistantPart, Frame, Refused } from '@baton/core/internal'
import { SessionProjection } from '@baton/core/internal'
import type { Fact } from '@baton/core/machine'
import { expect, test } from 'vitest'
import type { OutputReader } from '../work/output.ts'
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

test('what the turn before it cited, forgot and reached is not of the turn that waited', async () => {
  const { frames } = openReader()
  const reading = { events: readEvents(frames, () => frames), output: undefined }
  const accepted = Promise.resolve([{ type: 'accepted', pos: 1 } as const])
  const turn = followTurn({ inputId: 'i', reading, accepted })
  const source = { type: 'source', id: 'source-1', url: 'https://a.example', title: 'A' } as const
  let pos = 0
  const push = (...facts: readonly Fact[]): void => {
    for (const fact of facts) frames.push({ type: 'fact', pos: (pos += 1), nowMs: 0, fact })
  }
  const play = (at: number, inputId: string, parts: readonly AssistantPart[], finish: 'end' | 'max-tokens'): void => {
    const step = { step: at, attempt: at, model: 'm', textChars: 0, chars: 0 }
    push(
      { type: 'turn-started', turn: at, exchange: at, models: ['m'], deadlineMs: 9 },
      { type: 'inputs-entered', exchange: at, entries: [{ entry: at, inputs: [inputId], notes: [], chars: 1 }] },
    )
    if (at === 1) push({ type: 'window-moved', fromEntry: 1 })
    push(
      { type: 'model-started', ...step, fromEntry: at, toEntry: at, choice: 'auto' },
      { type: 'step-finished', ...step, parts, calls: [], finish, usage: {}, interrupted: false },
      { type: 'turn-finished', turn: at, outcome: 'answered', text: `answer ${at}` },
    )
  }
  play(1, 'other', [source], 'max-tokens')
  play(2, 'i', [], 'end')
  expect(await turn.answer).toMatchObject({ text: 'answer 2', stop: 'end', sources: [], limits: [], forgotten: false })
  const told: string[] = []
  for await (const event of turn) told.push(event.type)
  expect(told[0]).toBe('message-entered')
  expect(told.filter((type) => type === 'turn-finished')).toHaveLength(1)
})

const OUTPUT: OutputReader = {
  check: () => Promise.resolve({ issue: null }),
  read: () => Promise.resolve('its value'),
}

/** Plays a turn with an output schema over frames written by the test. */
async function playTurn(...frames: readonly Frame[]) {
  const reader = openReader().frames
  const reading = { events: readEvents(reader, () => reader), output: OUTPUT }
  const turn = followTurn({ inputId: 'i', reading, accepted: Promise.resolve([{ type: 'accepted', pos: 1 } as const]) })
  const fact = (pos: number, one: Fact): void => reader.push({ type: 'fact', pos, nowMs: 0, fact: one })
  fact(1, { type: 'turn-started', turn: 1, exchange: 1, models: ['m'], deadlineMs: 9 })
  fact(2, { type: 'inputs-entered', exchange: 1, entries: [{ entry: 1, inputs: ['i'], notes: [], chars: 1 }] })
  for (const frame of frames) reader.push(frame)
  fact(1_000_000, { type: 'turn-finished', turn: 1, outcome: 'answered', text: 'done' })
  await turn.answer
  return turn
}

test('of a turn that nobody has read yet, each call keeps its newest progress', async () => {
  const progress = (callId: string, note: number): Frame => ({ type: 'tool-progress', callId, note })
  const turn = await playTurn(progress('one', 1), progress('two', 1), progress('one', 2))
  const told: unknown[] = []
  for await (const event of turn) if (event.type === 'call-progress') told.push([event.callId, event.note])
  expect(told).toEqual([
    ['two', 1],
    ['one', 2],
  ])
})

test('of a turn that nobody has read yet, each call keeps its newest view, however often its clients come and go', async () => {
  const ids = ['call_1_0', 'call_1_1']
  const step = { step: 1, attempt: 1, model: 'm', textChars: 0, chars: 0 }
  const proposal = { name: 'look', runs: 'client', effect: 'pure', timeoutMs: 1, parallel: true } as const
  const calls = ids.map((callId) => ({ ...proposal, callId, onInterrupt: 'cancel', argumentsHash: '' }) as const)
  const parts = ids.map((callId) => ({ type: 'call', callId, name: 'look', arguments: '{}' }) as const)
  const facts: Fact[] = [
    { type: 'model-started', ...step, fromEntry: 1, toEntry: 1, choice: 'auto' },
    { type: 'step-finished', ...step, parts, calls, finish: 'tool-calls', usage: {}, interrupted: false },
  ]
  for (let offer = 1; offer <= 1500; offer += 1)
    facts.push({ type: 'call-offered', callId: ids[offer < 3 ? 0 : 1] ?? '', connection: `client ${offer}`, offer })
  const turn = await playTurn(...facts.map((fact, at): Frame => ({ type: 'fact', pos: at + 3, nowMs: 0, fact })))
  const holders = new Map<string, unknown>()
  let views = 0
  for await (const event of turn)
    if (event.type === 'call') {
      views += 1
      holders.set(event.call.callId, event.call.holder)
    }
  expect(Object.fromEntries(holders)).toEqual({ call_1_0: 'client 2', call_1_1: 'client 1500' })
  expect(views).toBeLessThan(1500)
})

function begin(attempt: number, pos: number): Frame {
  const step = { attempt, step: 1, model: 'm', fromEntry: 1, toEntry: 1, choice: 'auto', chars: 1 } as const
  return { type: 'fact', pos, nowMs: 0, fact: { type: 'model-started', ...step } }
}

test('a value is read anew where the model writes it once more, also if it is shorter then', async () => {
  const again: Fact = { type: 'attempt-superseded', attempt: 1, reason: 'failed' }
  const turn = await playTurn(
    begin(1, 3),
    text(`{"note":"${'a long note '.repeat(5)}`),
    { type: 'fact', pos: 4, nowMs: 0, fact: again },
    begin(2, 5),
    { ...text('{"note":"a short one'), attempt: 2 } as Frame,
  )
  const told: unknown[] = []
  for await (const event of turn) if (event.type === 'text') told.push(event.partial)
  expect(told).toEqual([{ note: 'a long note '.repeat(5) }, { note: 'a short one' }])
})

test('of a turn that nobody has read yet, what is written of two calls is not joined', async () => {
  const write = (index: number, offset: number, said: string): Frame => {
    return { type: 'call-delta', attempt: 1, index, name: 'look', offset, text: said }
  }
  const turn = await playTurn(begin(1, 3), write(1, 0, '{"'), write(0, 0, '{}'), write(1, 2, 'a":1}'))
  const told = new Map<string, string>()
  for await (const event of turn)
    if (event.type === 'call-writing') told.set(event.callId, (told.get(event.callId) ?? '') + event.text)
  expect(Object.fromEntries(told)).toEqual({ call_1_0: '{}', call_1_1: '{"a":1}' })
})

test('a loop that was left gets nothing more, and another one gets the rest', async () => {
  const turn = await playTurn({ type: 'tool-progress', callId: 'one', note: 1 })
  const left = turn[Symbol.asyncIterator]()
  expect(await left.next()).toMatchObject({ done: false })
  await left.return?.()
  expect(await left.next()).toEqual({ done: true, value: undefined })
  const told: string[] = []
  for await (const event of turn) told.push(event.type)
  expect(told.at(-1)).toBe('turn-finished')
})

test('text that was joined because nobody read it has the place behind all of it', async () => {
  const reader = openReader().frames
  const reading = { events: readEvents(reader, () => reader), output: undefined }
  const turn = followTurn({ inputId: 'i', reading, accepted: Promise.resolve([{ type: 'accepted', pos: 1 } as const]) })
  const entered = [{ entry: 1, inputs: ['i'], notes: [], chars: 1 }]
  const facts: readonly Fact[] = [
    { type: 'turn-started', turn: 1, exchange: 1, models: ['m'], deadlineMs: 9 },
    { type: 'inputs-entered', exchange: 1, entries: entered },
  ]
  for (const [pos, fact] of facts.entries()) reader.push({ type: 'fact', pos, nowMs: 0, fact })
  reader.push(begin(1, 2))
  for (const [offset, said] of ['All', ' is', ' well.'].entries()) {
    await new Promise((resolve) => setImmediate(resolve)) // each piece is read separately
    reader.push(text(said, offset * 3))
  }
  reader.push({
    type: 'fact',
    pos: 9,
    nowMs: 0,
    fact: { type: 'turn-finished', turn: 1, outcome: 'answered', text: '' },
  })
  await turn.answer
  const told: unknown[] = []
  for await (const event of turn) if (event.type === 'text') told.push([event.text, event.cursor.text])
  expect(told).toEqual([['All is well.', 12]])
})
