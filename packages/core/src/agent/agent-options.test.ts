// Default limits of an agent, and those of a profile.
import { expect, test } from 'vitest'
import { defineAgent } from './agent.ts'
import { createSpec } from './create-spec.ts'
import { voice } from './agent-options.ts'

test('an agent has 50 rounds, the whole window of its model with summaries, and answers as long as the model can write', () => {
  const agent = defineAgent({ name: 'a' })
  const { limits, window } = createSpec(agent, ['m'], 200_000)
  expect([limits.toolRounds, window.summarise, window.contextTokens]).toEqual([50, true, 200_000])
  expect(window.exchanges).toBe(Number.MAX_SAFE_INTEGER)
  expect(agent.settings).toEqual({})
})

test('the voice profile answers shortly, remembers 20 exchanges, and has 8 rounds', () => {
  const { limits, window, settings } = defineAgent({ name: 'a', profile: voice })
  expect([limits.toolRounds, limits.callsPerTurn, settings]).toEqual([
    8,
    64,
    { maxOutputTokens: 512, moreForTools: true },
  ])
  expect(window).toMatchObject({ exchanges: 20, summarise: false })
})

test('what an agent says itself wins over its profile, field by field', () => {
  const { limits, window, settings, emptyAnswer } = defineAgent({
    name: 'a',
    profile: { ...voice, emptyAnswer: 'silence' },
    limits: { toolRounds: 3 },
    window: { summarise: true },
    settings: { temperature: 0 },
  })
  expect([limits.toolRounds, limits.callsPerTurn, window.exchanges, window.summarise]).toEqual([3, 64, 20, true])
  expect([settings, emptyAnswer]).toEqual([{ maxOutputTokens: 512, moreForTools: true, temperature: 0 }, 'silence'])
})

test('a profile with a limit that there is not is refused', () => {
  const profile = { limits: { rounds: 3 } as object }
  expect(() => defineAgent({ name: 'a', profile })).toThrow('limits has no field "rounds"')
})
