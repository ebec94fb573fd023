// What the Session API gives and refuses by itself, before any host.
import { expect, test } from 'vitest'
import { defineAgent } from './agent.ts'
import { readOutput } from './session-api.ts'

test('an agent without a schema has no output, and one whose schema is no object is refused', () => {
  expect(() => readOutput(defineAgent({ name: 'a' }), { outcome: 'answered', text: 'hi', usage: {} })).toThrow(
    'agent "a" has no output schema',
  )
  expect(() => defineAgent({ name: 'a', output: { type: 'string' } })).toThrow('output of agent "a"')
})
