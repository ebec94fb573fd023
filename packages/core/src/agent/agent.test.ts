// Options that `defineAgent` refuses, because they would be ignored or would make the agent do nothing.
import { describe, expect, test } from 'vitest'
import type { AgentOptions } from './agent.ts'
import { defineAgent } from './agent.ts'
import { tool } from './tool.ts'

test.each<[string, Partial<AgentOptions>, string]>([
  ['a limit that does not exist', { limits: { inputBytes: 5 } as object }, 'limits has no field "inputBytes"'],
  ['a window that does not exist', { window: { turns: 5 } as object }, 'window has no field "turns"'],
  ['no name', { name: '' }, 'name must have 1 to 64 characters'],
])('an agent with %s is refused', (_, init, message) => {
  expect(() => defineAgent({ name: 'a', ...init })).toThrow(
    expect.objectContaining({ code: 'invalid_agent', message: expect.stringContaining(message) }),
  )
})

test.each<[string, Partial<AgentOptions>, string, string]>([
  ['no parallel call', { limits: { parallelCalls: 0 } }, 'limits.parallelCalls', 'a whole number of 1 or more, not 0'],
  [
    'half a parallel call',
    { limits: { parallelCalls: 1.5 } },
    'limits.parallelCalls',
    'whole number of 1 or more, not 1.5',
  ],
  ['a text as a limit', { limits: { toolRounds: 'abc' as never } }, 'limits.toolRounds', 'of 0 or more, not "abc"'],
  ['a number in a text', { limits: { toolRounds: '8' as never } }, 'limits.toolRounds', 'of 0 or more, not "8"'],
  ['NaN', { limits: { callsPerTurn: NaN } }, 'limits.callsPerTurn', 'of 0 or more, not NaN'],
  ['a limit without end', { limits: { turnMs: Infinity } }, 'limits.turnMs', 'of 0 or more, not Infinity'],
  ['half a round', { limits: { toolRounds: 0.5 } }, 'limits.toolRounds', 'of 0 or more, not 0.5'],
  ['nothing as a limit', { limits: { turnMs: null as never } }, 'limits.turnMs', 'of 0 or more, not null'],
  ['an object as a limit', { limits: { turnMs: {} as never } }, 'limits.turnMs', 'of 0 or more, not an object'],
  ['a negative pause', { retry: { baseMs: -1 } }, 'retry.baseMs', 'of 0 or more, not -1'],
  ['no try', { retry: { attempts: 0 } }, 'retry.attempts', 'of 1 or more, not 0'],
  ['no exchange', { window: { exchanges: 0 } }, 'window.exchanges', 'of 1 or more, not 0'],
  ['a window of no tokens', { window: { contextTokens: 0 } }, 'window.contextTokens', 'of 1 or more, not 0'],
  [
    'a word where yes or no is meant',
    { window: { summarise: 'no' as never } },
    'window.summarise',
    'true or false, not "no"',
  ],
  ['half a transcript', { batch: { entries: 2.5 } }, 'batch.entries', 'of 0 or more, not 2.5'],
])('an agent with %s is refused, with the field and its value', (_, init, field, message) => {
  expect(() => defineAgent({ name: 'a', ...init })).toThrow(
    expect.objectContaining({
      code: 'invalid_agent',
      message: expect.stringContaining(message),
      data: expect.objectContaining({ field }),
    }),
  )
})

test('a window may name the sizes that have no default', () => {
  expect(defineAgent({ name: 'a', window: { contextTokens: 4096, actAtTokens: 3500 } }).window).toMatchObject({
    contextTokens: 4096,
    actAtTokens: 3500,
  })
})

test.each<[string, object]>([
  ['instructions must be text, not an array', { instructions: ['Be brief.'] }],
  ['prepareStep must be a function, not 1', { prepareStep: 1 }],
  ['approvalPolicy must be a function, not "ask"', { approvalPolicy: 'ask' }],
  ['collisions must be "refuse", "first", "prefix", not "last"', { collisions: 'last' }],
  ['emptyAnswer must be "retry", "silence", not "x"', { emptyAnswer: 'x' }],
  ['sources must be an array, not 1', { sources: 1 }],
  ['profile must be an object, not "voice"', { profile: 'voice' }],
])('an agent: %s', (message, init) => {
  expect(() => defineAgent({ name: 'a', ...init })).toThrow(
    expect.objectContaining({ code: 'invalid_agent', message: `agent "a": ${message}` }),
  )
})

test.each<[string, object]>([
  ['effect must be "pure", "idempotent", "once", not "Once"', { effect: 'Once' }],
  ['trust must be "trusted", "untrusted", not "low"', { trust: 'low' }],
  ['approval must be true, false or a function, not "always"', { approval: 'always' }],
  ['approval must be true, false or a function, not null', { approval: null }],
  ['execute must be a function, not null', { execute: null }],
  ['onInterrupt must be "cancel", "finish", "detach", "background", not "stop"', { onInterrupt: 'stop' }],
  ['parallel must be true or false, not "no"', { parallel: 'no' }],
  ['onInterrupt: "detach" is for a tool with execute, but a client runs this one', { onInterrupt: 'detach' }],
  ['waiting.afterMs must be whole milliseconds from 0 to 2147483647, not -1', { waiting: { afterMs: -1, say: 'x' } }],
  [
    'waiting.afterMs must be whole milliseconds from 0 to 2147483647, not 2147483648',
    { waiting: { afterMs: 2 ** 31, say: 'x' } },
  ],
  ['waiting.say must be words or a function that gives them, not ""', { waiting: { afterMs: 1, say: '' } }],
  ['waiting.say must have at most 500 characters, not 501', { waiting: { afterMs: 1, say: 'x'.repeat(501) } }],
])('a tool: %s', (message, init) => {
  const plain = { name: 't', description: 't', input: { type: 'object' } as const }
  expect(() => tool({ ...plain, ...init })).toThrow(
    expect.objectContaining({ code: 'invalid_tool', message: `tool "t": ${message}` }),
  )
})

describe('a group of options that is no plain object is refused, and the hint shows one', () => {
  const groups = {
    limits: 'toolRounds',
    window: 'exchanges',
    retry: 'attempts',
    batch: 'silenceMs',
    settings: 'temperature',
  }
  test.each(Object.entries(groups))('%s', (name, field) => {
    for (const given of [3, 'three', true, null, [], [3], new Map([[field, 1]]), new Date(0)]) {
      const refusal = expect.objectContaining({
        code: 'invalid_agent',
        message: expect.stringContaining(`agent "a": ${name} must be a plain object, not `) as string,
        hint: expect.stringContaining(`${name}: { ${field}: `) as string,
      })
      expect(() => defineAgent({ name: 'a', [name]: given })).toThrow(refusal)
      const inProfile = expect.objectContaining({
        code: 'invalid_agent',
        message: expect.stringContaining(`agent "a": profile.${name} must be a plain object, not `) as string,
      })
      expect(() => defineAgent({ name: 'a', profile: { [name]: given } as object })).toThrow(inProfile)
    }
    expect(() =>
      defineAgent({ name: 'a', [name]: Object.create(null) as object, profile: { [name]: undefined } as object }),
    ).not.toThrow()
  })

  test.each([[[]], [new Map()], [3]])('a profile like %o', (profile) => {
    expect(() => defineAgent({ name: 'a', profile: profile as object })).toThrow('agent "a": profile must be')
  })
})
