// The choice of the thread that commits, by the durations of earlier commits.
import { expect, test } from 'vitest'
import type { Batch } from './commit-pace.ts'
import { CommitPace } from './commit-pace.ts'

const SMALL: Batch = { sessions: ['s'], chars: 100 }
const LARGE: Batch = { sessions: ['s'], chars: 1_000_000 }

test('the way of a large batch to the worker says nothing about that of a small one', () => {
  const pace = new CommitPace(3)
  for (let nowMs = 0; nowMs < 10_000; nowMs += 100) {
    pace.noteElsewhere(LARGE, 3, 23)
    expect(pace.isQuick(SMALL, nowMs)).toBe(false)
    pace.noteElsewhere(SMALL, 3, 3.1)
  }
})

test('after one long pause of the caller’s thread, a stall of the disk is still noticed', () => {
  const pace = new CommitPace(2)
  pace.noteElsewhere(SMALL, 2, 2002)
  let nowMs = 0
  let stalls = 0
  for (let commit = 0; commit < 500; commit += 1) {
    nowMs += 100
    const tookMs = commit % 20 === 19 ? 20 : 0.1
    if (!pace.isQuick(SMALL, nowMs)) {
      pace.noteElsewhere(SMALL, tookMs, tookMs + 0.1)
      continue
    }
    pace.noteHere(tookMs, nowMs)
    if (tookMs > 10) stalls += 1
  }
  expect(stalls).toBeLessThanOrEqual(10)
})
