// The progress of a plan while calls of one answer run concurrently and the conversation arrives late.
import type { Message, PlanEntry } from '@baton/core/internal'
import { createToolContext } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { PlanProgress } from './plan-progress.ts'

const LIST = 'fs.list_dir'
const entries = [{ content: 'See what there is', tool: LIST }, { content: 'Read the cart' }]

/** Calls of one turn, whose conversation arrives with `arrive`. */
function createTurn() {
  const progress = new PlanProgress(new Set([LIST]))
  const conversation = Promise.withResolvers<readonly Message[]>()
  const plans: string[] = []
  const of = (callId: string) =>
    createToolContext({
      callId,
      messages: () => conversation.promise,
      plan: (plan: readonly PlanEntry[]) => void plans.push(plan.map(({ status }) => status).join(' ')),
    })
  /** Starts a call; `end` ends it. */
  const start = (callId: string) => {
    const begun = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<void>()
    const done = progress.follow(of(callId), LIST, () => (begun.resolve(), ended.promise))
    return { begun: begun.promise, end: () => (ended.resolve(), done) }
  }
  return { progress, plans, of, start, arrive: conversation.resolve }
}

const asked: Message = { role: 'user', parts: [{ type: 'text', text: 'Explore.' }] }

test('a listing from before the plan ticks nothing off, even if a call asked for the conversation before it', async () => {
  const { progress, plans, of, start, arrive } = createTurn()
  const call = start('second')
  progress.set(of('plan'), entries)
  arrive([
    asked,
    { role: 'assistant', parts: [{ type: 'call', callId: 'first', name: LIST, arguments: '{}' }] },
    { role: 'tool', parts: [{ type: 'result', callId: 'first', name: LIST, isError: false, content: [] }] },
  ])
  await call.begun
  expect(plans.at(-1)).toBe('in_progress pending')
  await call.end()
  expect(plans.at(-1)).toBe('completed pending')
})

test('after a restart, two calls at once are both shown as running', async () => {
  const { plans, start, arrive } = createTurn()
  const calls = [start('one'), start('other')]
  const set = { type: 'call', callId: 'plan', name: 'plan.set', arguments: JSON.stringify({ entries }) } as const
  arrive([asked, { role: 'assistant', parts: [set] }])
  for (const { begun } of calls) await begun
  expect(plans.at(-1)).toBe('in_progress in_progress')
  for (const { end } of calls) await end()
  expect(plans.at(-1)).toBe('completed completed')
})
