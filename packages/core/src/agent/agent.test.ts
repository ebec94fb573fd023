// What `defineAgent` refuses: an option that would be ignored, or would make the agent do nothing.
import { expect, test } from 'vitest'
import type { AgentInit } from './agent.ts'
import { defineAgent } from './agent.ts'

test.each<[string, Partial<AgentInit>, string]>([
  ['a limit that does not exist', { limits: { inputBytes: 5 } as object }, 'limits has no field "inputBytes"'],
  ['a window that does not exist', { window: { turns: 5 } as object }, 'window has no field "turns"'],
  ['no parallel call', { limits: { parallelCalls: 0 } }, 'parallelCalls must be 1 or more'],
  [
    'a text as a limit',
    { limits: { toolRounds: 'abc' as never } },
    'toolRounds must be a number of 0 or more, not abc',
  ],
  ['a negative pause', { retry: { baseMs: -1 } }, 'baseMs must be a number of 0 or more, not -1'],
  ['nothing as a limit', { limits: { turnMs: null as never } }, 'turnMs must be a number of 0 or more, not null'],
  ['no name', { name: '' }, 'name must have 1 to 64 characters'],
])('an agent with %s is refused', (_, init, message) => {
  expect(() => defineAgent({ name: 'a', ...init })).toThrow(
    expect.objectContaining({ code: 'invalid_agent', message: expect.stringContaining(message) }),
  )
})

test('a window may name the sizes that have no default', () => {
  expect(defineAgent({ name: 'a', window: { contextTokens: 4096, actAtTokens: 3500 } }).window).toMatchObject({
    contextTokens: 4096,
    actAtTokens: 3500,
  })
})
