// Turns that end at the results of their calls, without another answer: tools with `endsTurn`, and the agent's `stopWhen`.
import { tool } from '@baton/core'
import { expect } from 'vitest'
import { act, listCalls } from './situation-parts.ts'
import type { Situations } from './situation.ts'

export const ENDING_SITUATIONS: Situations = {
  'a turn ends at a tool, and its answer has the calls of that step': async ({ createWorld }) => {
    const submit = tool({
      name: 'submit',
      description: 'Submits the report',
      input: { type: 'object' },
      endsTurn: true,
      execute: () => ({ id: 7 }),
    })
    const steps = [{ text: 'I send it.', calls: [{ name: 'submit', arguments: { to: 'ann' } }] }, { text: 'next' }]
    const world = await createWorld({ tools: [submit, act(() => 'seen')], steps })
    const session = await world.open()
    const answer = await world.time.until(session.send('go').answer)
    expect(answer).toMatchObject({
      outcome: 'tool',
      stop: 'tool',
      text: 'I send it.',
      calls: [{ name: 'submit', input: { to: 'ann' }, result: { type: 'ok', value: { id: 7 } } }],
    })
    expect(world.model.requests).toHaveLength(1)
    const next = await world.time.until(session.send('and?').answer)
    expect(next).toMatchObject({ stop: 'end', text: 'next' })
    expect(world.model.requests[1]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user'])
  },
  'a turn ends after as many rounds as stopWhen says': async ({ createWorld }) => {
    const steps = [listCalls('act'), listCalls('act'), { text: 'too late' }]
    const world = await createWorld({ tools: [act(() => null)], stopWhen: { rounds: 2 }, steps })
    const session = await world.open()
    const answer = await world.time.until(session.send('go').answer)
    // A result null has its value, and only the last step's calls are the answer's.
    expect(answer).toMatchObject({ stop: 'tool', text: '', calls: [{ step: 2, result: { type: 'ok', value: null } }] })
    expect(world.model.requests).toHaveLength(2)
  },
  'a failed call of a tool that ends turns is told to the model': async ({ createWorld }) => {
    const fails = act(
      () => {
        throw new Error('no paper')
      },
      { endsTurn: true },
    )
    const world = await createWorld({ tools: [fails], steps: [listCalls('act'), { text: 'Sorry.' }] })
    const session = await world.open()
    expect(await world.time.until(session.send('go').answer)).toMatchObject({ stop: 'end', text: 'Sorry.' })
  },
}
