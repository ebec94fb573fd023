// Definitions of delegating tools: a mistake is an error at once, with the field's right name.
import { expect, test } from 'vitest'
import { defineAgent } from './agent.ts'
import { delegate } from './delegate.ts'
import { runsWhere } from './tool.ts'

const agent = defineAgent({ name: 'helper' })
const description = 'Helps'
const input = { type: 'object', properties: { city: { type: 'string' } } } as const

test('the agent’s name, a task and ten minutes are the defaults', () => {
  const made = delegate({ agent, description })
  expect(made).toMatchObject({ name: 'helper', timeoutMs: 600_000, approval: false, parallel: true })
  expect(made.inputSchema).toMatchObject({
    required: ['task'],
    properties: { task: { type: 'string', minLength: 1, maxLength: 50_000 } },
  })
  expect(runsWhere(made)).toBe('child')
  expect(made.delegation?.inherits).toEqual({ policies: true, permissions: true })
})

test.each([
  ['an agent in place of options', agent, 'delegate takes options, not an agent'],
  ['no description', { agent }, 'description must be text'],
  ['no agent', { description }, 'agent must be an agent made by defineAgent()'],
  ['the name of an agent', { agent: 'helper', description }, 'not "helper"'],
  ['a function without a name', { agent: () => agent, description }, 'needs a name'],
  ['arguments without a prompt', { agent, description, input }, 'has its own input, and no prompt'],
  ['inputSchema', { agent, description, inputSchema: input }, 'it is called "input" here'],
  ['execute', { agent, description, execute: () => '' }, 'delegate has no field "execute"'],
  ['too little time', { agent, description, timeoutMs: 999 }, 'from 1000 to 604800000, not 999'],
  ['a misspelt limit', { agent, description, limits: { token: 5 } }, 'it is called "tokens" here'],
  ['a negative limit', { agent, description, limits: { calls: -1 } }, 'calls must be a number of calls from 0 on'],
  ['trust that it cannot have', { agent, description, trust: 'trusted' }, 'trust must be "untrusted"'],
  ['inherits of another kind', { agent, description, inherits: { policies: 'no' } }, 'policies must be true or false'],
  ['a prompt that is text', { agent, description, prompt: 'Help' }, 'prompt must be a function'],
])('%s is refused', (_, options, message) => {
  expect(() => delegate(options as never)).toThrow(expect.objectContaining({ code: 'invalid_tool' }) as Error)
  expect(() => delegate(options as never)).toThrow(message)
})
