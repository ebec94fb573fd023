// How small pieces of a fast answer are joined, with time controlled by the test.
import type { SessionEvent } from '@baton/core'
import { expect, test } from 'vitest'
import { createPieceJoiner } from './event-response.ts'

const cursor = { pos: 0 }
const piece = (text: string): SessionEvent => ({ type: 'text', message: 'm1', step: 1, offset: 0, text, cursor })
const live: SessionEvent = { type: 'live', cursor }

function createTime() {
  let nowMs = 0
  const due: { readonly atMs: number; readonly callback: () => void }[] = []
  const pass = (ms: number) => {
    nowMs += ms
    for (const one of due.splice(0)) {
      if (one.atMs <= nowMs) one.callback()
      else due.push(one)
    }
  }
  const start = (delayMs: number, callback: () => void) => {
    due.push({ atMs: nowMs + delayMs, callback })
    return () => {}
  }
  return { world: { clock: { nowMs: () => nowMs }, timers: { start } }, pass }
}

test('pieces that come close together are told a frame of a screen apart', async () => {
  const { world, pass } = createTime()
  const joiner = createPieceJoiner(world)
  expect(joiner([piece('a')])).toBeUndefined()
  pass(2)
  let isOver = false
  const waited = joiner([piece('b')])?.then(() => (isOver = true))
  pass(15)
  await Promise.resolve()
  expect(isOver).toBe(false)
  pass(1)
  await waited
  expect(joiner([piece('cdefg')])).toBeInstanceOf(Promise)
})

test('pieces of a slow answer, long pieces and other events never wait', () => {
  const { world, pass } = createTime()
  const joiner = createPieceJoiner(world)
  for (const text of 'slow') {
    expect(joiner([piece(text)])).toBeUndefined()
    pass(40)
  }
  void joiner([piece('x')])
  expect(joiner([live])).toBeUndefined()
  expect(joiner([piece('x'), live])).toBeUndefined()
  expect(joiner([piece('x'.repeat(257))])).toBeUndefined()
  expect(joiner([])).toBeUndefined()
})
