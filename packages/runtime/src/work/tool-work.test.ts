// Plans of one tool run: the newest counts, few become records, and the last one always does.
import type { PlanEntry, Timers } from '@baton/core/internal'
import { expect, test } from 'vitest'
import { ToolPlans } from './tool-work.ts'
import type { ToolIo, WorkContext } from './work.ts'

const plan = (content: string): readonly PlanEntry[] => [{ content, status: 'pending' }]

function create() {
  const timers = new Set<() => void>()
  const told: string[] = []
  const warnings: unknown[] = []
  const start: Timers['start'] = (_, callback) => {
    timers.add(callback)
    return () => void timers.delete(callback)
  }
  const context = { timers: { start }, log: { warn: (_: string, about: unknown) => void warnings.push(about) } }
  const io = { plan: (entries: readonly PlanEntry[]) => void told.push(entries.map(({ content }) => content).join()) }
  // The parts that plans use.
  const plans = new ToolPlans(context as unknown as WorkContext, { callId: 'c' } as never, io as unknown as ToolIo)
  const pass = (): void => {
    const due = [...timers]
    timers.clear()
    for (const fire of due) fire()
  }
  return { plans, told, timers, warnings, pass }
}

test('the first plan is told at once, then the newest after each pause, and the same one never twice', () => {
  const { plans, told, timers, pass } = create()
  for (const content of ['one', 'two', 'three']) plans.set(plan(content))
  expect(told).toEqual(['one'])
  pass()
  expect(told).toEqual(['one', 'three'])
  plans.set(plan('three'))
  pass()
  expect(told).toEqual(['one', 'three'])
  expect(timers.size).toBe(0)
})

test('the last plan is told when its tool ends, and nothing waits any more', () => {
  const { plans, told, timers } = create()
  for (const content of ['one', 'two']) plans.set(plan(content))
  plans.end()
  expect([told, timers.size]).toEqual([['one', 'two'], 0])
})

test('a plan that cannot be read is logged, and the last one before it stays', () => {
  const { plans, told, warnings } = create()
  plans.set(plan('one'))
  plans.set([{ content: 'two', status: 'lost' as never }])
  plans.end()
  expect(told).toEqual(['one'])
  expect(warnings).toMatchObject([{ callId: 'c', cause: expect.stringMatching(/^entry 0 must be/) }])
})
