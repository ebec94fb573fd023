// Session events over frames: a reader that was too slow reads the log again, and each record is told once and whole.
import type { EventCursor, Frame } from '@baton/core'
import { SessionProjection } from '@baton/core'
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

/** A reading whose frames the test hands out: one reader after the other, as it follows again. */
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
