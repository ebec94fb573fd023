// Session events over frames: a reader that was too slow reads the log again, and each record is emitted once and
// whole.
import type { EventCursor, Frame } from '@baton/core/internal'
import { SessionProjection } from '@baton/core/internal'
import type { Fact } from '@baton/core/machine'
import { expect, test } from 'vitest'
import { EventReader } from './event-reader.ts'
import { FrameReader } from './frame-reader.ts'

const added = (inputId: string): Fact => ({
  type: 'input-accepted',
  inputId,
  body: { type: 'user', parts: [{ type: 'text', text: inputId }] },
  chars: 1,
  heldChars: 1,
  delivery: 'queue',
  ready: true,
})
const frame = (pos: number, fact: Fact, more?: true): Frame => ({
  type: 'fact',
  pos,
  nowMs: 0,
  fact,
  ...(more && { more }),
})

/** A reading whose frames the test supplies: one reader after another, as it follows again. */
function read(from: EventCursor = { pos: 0 }) {
  const asked: (number | undefined)[] = []
  const readers: FrameReader[] = []
  const follow = (pos?: number): FrameReader => {
    asked.push(pos)
    const made = new FrameReader({ nextPos: pos ?? 0, onEnd: () => {} })
    readers.push(made)
    return made
  }
  const events = new EventReader({ follow, frames: follow(0), projection: new SessionProjection(), from })
  const push = (reader: number, ...frames: readonly Frame[]): void =>
    frames.forEach((one) => readers[reader]?.push(one))
  const end = (reader: number): void => readers[reader]?.end()
  const listMessages = async (): Promise<readonly string[]> => {
    const told: string[] = []
    for await (const event of events) if (event.type === 'message-added') told.push(event.message.id)
    return told
  }
  return { events, asked, push, end, listMessages }
}

test('a record that was read in part when frames were lost is told once, and whole', async () => {
  const { push, end, asked, listMessages } = read()
  push(0, frame(1, added('one')), frame(2, added('two'), true), { type: 'lagged', pos: 2 })
  end(0)
  const told = listMessages()
  await new Promise((resolve) => setImmediate(resolve))
  push(1, frame(2, added('two'), true), frame(2, added('three')))
  end(1)
  expect(await told).toEqual(['one', 'two', 'three'])
  expect(asked).toEqual([0, 2])
})

test('a reader that lost frames reads on behind what it has told, though the log is offered from further back', async () => {
  const { push, end, asked, listMessages } = read()
  push(0, frame(1, added('one')), frame(2, added('two')), { type: 'lagged', pos: 1 })
  end(0)
  const told = listMessages()
  await new Promise((resolve) => setImmediate(resolve))
  push(1, frame(2, added('two')), frame(3, added('three')))
  end(1)
  expect(await told).toEqual(['one', 'two', 'three'])
  expect(asked).toEqual([0, 3])
})

test('whoever goes on from a cursor in the middle of a record is told the rest of it', async () => {
  const whole = read()
  const frames = [
    frame(1, added('one'), true),
    frame(1, added('two'), true),
    frame(1, added('three')),
    frame(2, added('four')),
  ]
  whole.push(0, ...frames)
  const batch = await whole.events.nextBatch()
  const cursors = batch?.events.map(({ cursor }) => cursor) ?? []
  const ids = ['one', 'two', 'three', 'four']
  for (const [index, cursor] of cursors.entries()) {
    const again = read(cursor)
    again.push(0, ...frames)
    again.end(0)
    expect(await again.listMessages()).toEqual(ids.slice(index + 1))
  }
  expect(cursors).toHaveLength(4)
})

const started: Fact = {
  type: 'model-started',
  attempt: 1,
  step: 1,
  model: 'm',
  fromEntry: 1,
  toEntry: 1,
  choice: 'auto',
  chars: 1,
}
const piece = (offset: number, text: string): Frame => ({ type: 'text-delta', attempt: 1, offset, text })

test('whoever goes on from a cursor in the middle of a text is told the rest of it, once', async () => {
  const turn: readonly Frame[] = [
    frame(1, { type: 'turn-started', turn: 1, exchange: 1, models: ['m'], deadlineMs: 9 }, true),
    frame(1, started),
  ]
  const whole = read()
  whole.push(0, ...turn, piece(0, 'All is '), piece(7, 'well.'))
  whole.end(0)
  const cursors: EventCursor[] = []
  for await (const event of whole.events) if (event.type === 'text') cursors.push(event.cursor)
  expect(cursors).toHaveLength(1) // joined while waiting
  expect(cursors[0]).toMatchObject({ attempt: 1, text: 12 })
  const told: string[] = []
  const again = read({ pos: 2, since: 1, attempt: 1, text: 7 })
  // Live text arrives behind the records, and once before them because it was written meanwhile.
  again.push(0, piece(0, 'All is '), ...turn, piece(0, 'All is well.'), piece(12, ' Really.'))
  again.end(0)
  for await (const event of again.events) if (event.type === 'text') told.push(event.text)
  expect(told.join('')).toBe('well. Really.')
})

test('whoever goes on in a text that was finished meanwhile is told the rest of it, once', async () => {
  const turn = { type: 'turn-started', turn: 1, exchange: 1, models: ['m'], deadlineMs: 9 } as const
  const said = { step: 1, attempt: 1, model: 'm', textChars: 12, chars: 12, usage: {}, calls: [] } as const
  const parts = [{ type: 'text', text: 'All is well.' }] as const
  const { events, push, end } = read({ pos: 2, since: 1, attempt: 1, text: 7 })
  const finished = { ...said, type: 'step-finished', parts, finish: 'end', interrupted: false } as const
  push(0, frame(1, turn, true), frame(1, started), frame(2, finished))
  end(0)
  const told: string[] = []
  for await (const event of events) if (event.type === 'text') told.push(event.text)
  expect(told).toEqual(['well.'])
})

test.each([
  ['a reader is told what belongs to the newer turn', false, [2]],
  ['a device is told all of it', true, [1, 2]],
])('of a record that ends one turn and begins the next, %s', async (_, delivery, ended) => {
  const reader = new FrameReader({ nextPos: 0, onEnd: () => {} })
  const init = { frames: reader, follow: () => reader, projection: new SessionProjection() }
  const events = new EventReader({ ...init, from: { pos: 5, since: 5 }, delivery })
  const end = (turn: number): Fact => ({ type: 'turn-finished', turn, outcome: 'answered', text: '' })
  const begun: Fact = { type: 'turn-started', turn: 2, exchange: 2, models: ['m'], deadlineMs: 9 }
  for (const one of [frame(5, end(1), true), frame(5, begun), frame(6, end(2))]) reader.push(one)
  reader.end()
  const told: number[] = []
  for await (const event of events) if (event.type === 'turn-finished') told.push(event.turn)
  expect(told).toEqual(ended)
})

test('a batch says where to go on, also behind records that tell nothing', async () => {
  const { events, push } = read()
  push(0, frame(1, added('one')), frame(2, { type: 'client-detached', connection: 'phone' }))
  expect(await events.nextBatch()).toMatchObject({ events: [{ type: 'message-added' }], next: { pos: 3 } })
})
