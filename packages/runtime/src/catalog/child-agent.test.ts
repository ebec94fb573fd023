// The agent of a child: whatever it does not inherit is left as it is.
import type { Agent, DelegateRules } from '@baton/core/internal'
import { defineAgent, delegate } from '@baton/core/internal'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import { createChildAgent } from './child-agent.ts'

const model = createScriptedModel({ steps: [] })
const helper = defineAgent({ name: 'helper', model }) as Agent
const { delegation } = delegate({ agent: helper, description: 'Helps' })
const rules = delegation as DelegateRules // of a delegating tool

test('an agent that inherits nothing is itself, so what a host knows of it is not worked out for each child', () => {
  const caller = defineAgent({ name: 'boss', model }) as Agent
  expect(createChildAgent(caller, 'call_1', rules)).toBe(helper)
})

test('an agent of a caller with a policy or permissions is another one, with them', () => {
  const permissions = [{ tools: [] }] as unknown as Agent['permissions']
  const judged = { ...helper, name: 'boss', approvalPolicy: () => 'deny' as const } as Agent
  expect(createChildAgent(judged, 'call_1', rules)).toMatchObject({
    name: 'helper',
    approvalPolicy: expect.any(Function),
  })
  const held = { ...helper, name: 'boss', permissions } as Agent
  expect(createChildAgent(held, 'call_1', rules)).toMatchObject({ name: 'helper', permissions })
})
