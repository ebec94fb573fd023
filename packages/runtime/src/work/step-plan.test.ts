// Changes that `prepareStep` makes to a request: it never chooses a tool that the step does not have.
import type { Agent, ModelRequest, StepChange, ToolChoice } from '@baton/core/internal'
import { defineAgent } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import type { CallModel } from './jobs.ts'
import { applyStepChange } from './step-plan.ts'

const agent: Agent = defineAgent({ name: 'a', model: createScriptedModel({ steps: [] }) })
const declare = (name: string): ModelRequest['tools'][number] => {
  return { name, description: name, inputSchema: { type: 'object' }, effect: 'pure' }
}
const request: ModelRequest = {
  instructions: 'Help.',
  messages: [],
  tools: [declare('look'), declare('scan')],
  toolChoice: { type: 'auto' },
  settings: { temperature: 0.5 },
  session: 's',
}

const ANY = { type: 'any' } as const
const LOOK = { type: 'tool', name: 'look' } as const

interface Asked {
  readonly change: StepChange
  readonly choice: CallModel['choice']
}

interface Prepared {
  readonly toolChoice: ToolChoice
  readonly tools: readonly string[]
}

const BOTH = ['look', 'scan']

test.each<[string, Asked, Prepared]>([
  ['nothing', { change: {}, choice: 'auto' }, { toolChoice: { type: 'auto' }, tools: BOTH }],
  ['a tool', { change: { toolChoice: LOOK }, choice: 'auto' }, { toolChoice: LOOK, tools: BOTH }],
  [
    'a tool that it takes away',
    { change: { toolChoice: LOOK, tools: ['scan'] }, choice: 'auto' },
    { toolChoice: { type: 'auto' }, tools: ['scan'] },
  ],
  [
    'any tool of some',
    { change: { toolChoice: ANY, tools: ['scan'] }, choice: 'auto' },
    { toolChoice: ANY, tools: ['scan'] },
  ],
  [
    'any tool of none',
    { change: { toolChoice: ANY, tools: [] }, choice: 'auto' },
    { toolChoice: { type: 'auto' }, tools: [] },
  ],
  [
    'a tool after the last round',
    { change: { toolChoice: LOOK }, choice: 'none' },
    { toolChoice: { type: 'none' }, tools: BOTH },
  ],
])('a step that asks for %s', (_, { change, choice }, { toolChoice, tools }) => {
  const given = { ...request, toolChoice: { type: choice } } as const
  const prepared = applyStepChange(given, change, { agent, effect: { choice } as CallModel })
  expect(prepared.toolChoice).toEqual(toolChoice)
  expect(prepared.tools.map(({ name }) => name)).toEqual(tools)
  expect(prepared).toMatchObject({ instructions: 'Help.', settings: { temperature: 0.5 } })
})

test('settings of a step stand beside those of the request', () => {
  const change = { settings: { maxOutputTokens: 9 }, instructions: 'Be brief.' }
  const prepared = applyStepChange(request, change, { agent, effect: { choice: 'auto' } as CallModel })
  expect(prepared).toMatchObject({ instructions: 'Be brief.', settings: { temperature: 0.5, maxOutputTokens: 9 } })
})
