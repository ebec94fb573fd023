// A goal names tools, a verdict and limits of its agent: valid ones are used, and others are refused by name.
import { defineAgent, tool } from '@baton/core'
import { expect, test } from 'vitest'
import { narrowAgent } from './places.ts'

const named = (name: string) => tool({ name, description: name, input: { type: 'object' }, execute: () => 'done' })
const agent = defineAgent({ name: 'reviewer', instructions: 'Review.', tools: [named('scan'), named('read')] })

test('a goal has the tools that it names, and its limits win over the agent’s', () => {
  const narrowed = narrowAgent(agent, { tools: ['scan'], limits: { callsPerTurn: 3 } })
  expect(narrowed.tools.map(({ name }) => name)).toEqual(['scan'])
  expect(narrowed.limits).toEqual({ ...agent.limits, callsPerTurn: 3 })
})

test('a tool that the agent does not have is refused, with a list of its tools', () => {
  expect(() => narrowAgent(agent, { tools: ['scan', 'delete'] })).toThrow(
    'agent "reviewer" has no tool "delete"; it has scan, read',
  )
})

test.each([
  ['callsPerTurn', 0],
  ['callsPerTurn', -1],
  ['callsPerTurn', NaN],
  ['callsPerTurn', Infinity],
  ['tokens', 5],
  ['toString', 5],
])('a limit "%s" of %s is refused', (name, value) => {
  expect(() => narrowAgent(agent, { limits: { [name]: value } })).toThrow(`cannot have the limit "${name}" of ${value}`)
})

test('a verdict is an object at its root', () => {
  expect(() => narrowAgent(agent, { outputSchema: { type: 'array' } })).toThrow('must have the type "object"')
})
