// When a call must stop, and what its watchers see.
import { expect, test } from 'vitest'
import { CallBudget } from './call-budget.ts'
import { WORKSPACE_LIMITS } from './workspace-limits.ts'

function start() {
  const clock = { now: 0, nowMs: () => clock.now }
  const notes: unknown[] = []
  const controller = new AbortController()
  const limits = { ...WORKSPACE_LIMITS, timeMs: 5000, walkedEntriesMax: 2 }
  const budget = new CallBudget(clock, limits, { signal: controller.signal, progress: (note) => notes.push(note) })
  return { clock, notes, controller, budget }
}

test('a short call tells nothing, a long one twice a second how far it is', () => {
  const { clock, notes, budget } = start()
  for (clock.now = 0; clock.now < 500; clock.now += 100) budget.isSpent()
  expect(notes).toEqual([])
  budget.takeEntry()
  budget.filesSearched++
  for (; clock.now <= 1000; clock.now += 100) budget.isSpent()
  expect(notes).toEqual([
    { entriesSeen: 1, filesSearched: 1 },
    { entriesSeen: 1, filesSearched: 1 },
  ])
})

test('time or entries used up: it stays spent', () => {
  const late = start()
  late.clock.now = 5000
  expect(late.budget.isSpent()).toBe(false)
  late.clock.now = 5001
  expect([late.budget.isSpent(), late.budget.hasStopped]).toEqual([true, true])
  const wide = start()
  for (let count = 0; count < 3; count++) wide.budget.takeEntry()
  expect(wide.budget.isSpent()).toBe(true)
})

test('a clock that is set while a call works neither ends nor prolongs it', () => {
  const { clock, budget } = start()
  Object.assign(clock, { monotonicMs: () => 5000 })
  clock.now = 86_400_000
  expect(budget.isSpent()).toBe(false)
  Object.assign(clock, { now: -86_400_000, monotonicMs: () => 5001 })
  expect(budget.isSpent()).toBe(true)
})

test('an aborted call stops as aborted, not as spent', () => {
  const { controller, budget } = start()
  controller.abort()
  expect(() => budget.isSpent()).toThrow(expect.objectContaining({ code: 'cancelled' }))
})
