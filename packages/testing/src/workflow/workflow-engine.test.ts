// Situations specific to workflows: an activity whose worker died while everything else continues. The contract covers
// the rest.
import type { Fact } from '@baton/core/machine'
import type { WorkEffect } from '@baton/runtime'
import { expect, test } from 'vitest'
import { act } from '../host-contract/situation-parts.ts'
import { createWorkflowKind } from '../host-contract/host-kinds.ts'

/** One turn with two tools, in which the first activity of a type is lost. */
async function converse(type: WorkEffect['type'], when: 'early' | 'late') {
  let isLost = false
  const kind = createWorkflowKind('workflow', {
    loses: (effect) => (!isLost && effect.type === type && (isLost = true) ? when : undefined),
  })
  const effects: string[] = []
  const make = (name: string, effect: 'pure' | 'once') =>
    act(() => void effects.push(name), { name, effect, timeoutMs: 60_000 })
  const asked = ['pay', 'look'].map((name) => ({ name, arguments: {} }))
  const world = await kind.createWorld({
    tools: [make('pay', 'once'), make('look', 'pure')],
    steps: (request) => (request.messages.at(-1)?.role === 'user' ? { text: 'Wait.', calls: asked } : { text: 'done' }),
  })
  const session = await world.open()
  const answer = await world.time.until(session.send('go').answer)
  const facts = (await world.records()).flatMap((record): readonly Fact[] => record.facts)
  await world.time.until(world.host.stop())
  return { answer, effects, facts, model: world.model }
}

test('a model call whose worker died is asked again, and nothing else is disturbed', async () => {
  const { answer, effects, facts, model } = await converse('call-model', 'late')
  expect(answer.text).toBe('Wait.\n\ndone')
  expect(facts.flatMap((fact) => (fact.type === 'attempt-superseded' ? [fact.reason] : []))).toEqual(['restart'])
  expect(effects).toEqual(['pay', 'look'])
  expect(model.requests).toHaveLength(3)
})

test.each([
  ['before it began', 'early', ['look']],
  ['before it could report', 'late', ['pay', 'look']],
] as const)('a once tool whose worker died %s is unknown, and never begins again', async (_, when, ran) => {
  const { effects, facts } = await converse('run-tool', when)
  expect(effects).toEqual(ran)
  const settled = facts.flatMap((fact) => (fact.type === 'call-settled' ? [fact.settlement.type] : []))
  expect(settled.toSorted()).toEqual(['ok', 'unknown'])
})

test('a pure tool whose worker died runs again', async () => {
  const lost: string[] = []
  const kind = createWorkflowKind('workflow', {
    loses: (effect) => (effect.type === 'run-tool' && lost.push(effect.callId) === 1 ? 'late' : undefined),
  })
  let runs = 0
  const steps = [{ calls: [{ name: 'act', arguments: {} }] }, { text: 'done' }]
  const world = await kind.createWorld({ tools: [act(() => (runs += 1))], steps })
  const session = await world.open()
  expect((await world.time.until(session.send('go').answer)).text).toBe('done')
  expect(runs).toBe(2)
  expect((await world.facts('call-settled')).map(({ settlement }) => settlement.type)).toEqual(['ok'])
})
