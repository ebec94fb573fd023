// The axis of a turn: work has its length, and a long wait does not hide it.
import { expect, test } from 'vitest'
import { readLog } from './kept-log.test-kit.ts'
import { createTimeScale } from './time-scale.ts'
import type { TimelineRow } from './timeline-row.ts'
import { readTimeline } from './timeline.ts'

const row = (kind: TimelineRow['kind'], segments: TimelineRow['segments']): TimelineRow => ({
  id: 'r',
  kind,
  depth: 0,
  title: '',
  outcome: '',
  state: 'ok',
  fromMs: 0,
  segments,
  marks: [],
  records: [],
  taint: [],
})

test('work keeps its proportions, and an hour of waiting takes less than a quarter', () => {
  const rows = [
    row('attempt', [{ state: 'ok', fromMs: 0, toMs: 6000, note: '' }]),
    row('call', [
      { state: 'person', fromMs: 6000, toMs: 3_606_000, note: '' },
      { state: 'ok', fromMs: 3_606_000, toMs: 3_610_000, note: '' },
    ]),
  ]
  const { place, breaks } = createTimeScale(rows, 0)
  const [model, wait, call] = [place(6000), place(3_606_000) - place(6000), 1 - place(3_606_000)]
  expect(model / call).toBeCloseTo(1.5)
  expect(wait).toBeLessThan(0.25)
  expect(wait).toBeGreaterThan(0.1)
  expect(breaks.map(({ fromMs, toMs }) => [fromMs, toMs])).toEqual([[6000, 3_606_000]])
  expect([place(-5), place(0), place(3_610_000), place(9_999_999)]).toEqual([0, 0, 1, 1])
})

test('what is open ends now', () => {
  const { place } = createTimeScale([row('call', [{ state: 'running', fromMs: 0, note: '' }])], 2000)
  expect(place(1000)).toBe(0.5)
})

test('a moment without any length is drawn at the start', () => {
  const { rows } = readTimeline(readLog('text-turns'))
  expect(
    createTimeScale(
      rows.filter(({ kind }) => kind !== 'input'),
      0,
    ).place(1_000_000_000_000),
  ).toBe(0)
})
