// The Session API by itself, before any host: its types and its refusals.
import { expect, test } from 'vitest'
import { defineAgent } from './agent.ts'
import type { Answer } from './session-api.ts'
import { readOutput } from './read-output.ts'

const ANSWER: Answer = {
  outcome: 'answered',
  stop: 'end',
  output: undefined,
  text: 'hi',
  usage: {},
  sources: [],
  limits: [],
  forgotten: false,
}

test('an agent without a schema has no output, and one whose schema is no object is refused', () => {
  expect(() => readOutput(defineAgent({ name: 'a' }), ANSWER)).toThrow('agent "a" has no output schema')
  expect(() => defineAgent({ name: 'a', output: { type: 'string' } })).toThrow('output of agent "a"')
})
