// Costs: from the list, from a user's own prices, and none if unknown.
import { expect, test } from 'vitest'
import { createPriceOf } from './prices.ts'

const TOKENS = { inputTokens: 1_000_000, outputTokens: 100_000 }

test('a listed model costs what its input and its output cost', () => {
  const micros = createPriceOf()('anthropic/claude-haiku-4-5', TOKENS) ?? 0
  expect(micros).toBeGreaterThan(100_000)
  expect(createPriceOf()('anthropic/claude-haiku-4-5', { ...TOKENS, outputTokens: 0 })).toBeLessThan(micros)
})

test('what was read from a cache is cheaper, and is a part of the input', () => {
  const priceOf = createPriceOf()
  const fresh = priceOf('anthropic/claude-haiku-4-5', TOKENS) ?? 0
  expect(priceOf('anthropic/claude-haiku-4-5', { ...TOKENS, cacheReadTokens: 900_000 })).toBeLessThan(fresh)
})

test("a user's own price wins, cached tokens included", () => {
  const priceOf = createPriceOf({ 'anthropic/claude-haiku-4-5': { input: 2, output: 10, cacheRead: 0.5 } })
  expect(priceOf('anthropic/claude-haiku-4-5', TOKENS)).toBe(3_000_000)
  expect(priceOf('anthropic/claude-haiku-4-5', { ...TOKENS, cacheReadTokens: 400_000 })).toBe(2_400_000)
})

test.each([
  ['a model that is not listed', 'anthropic/no-such-model-9', TOKENS],
  ['a provider that is not listed', 'ollama/llama3', TOKENS],
  ['an answer without counts', 'anthropic/claude-haiku-4-5', {}],
  ['counts that do not add up', 'anthropic/claude-haiku-4-5', { ...TOKENS, cacheReadTokens: 9_000_000 }],
  ['a name like a property of every object', 'constructor/x', TOKENS],
])('%s has no cost', (_, model, usage) => {
  expect(createPriceOf()(model, usage)).toBeUndefined()
})

test.each<[string, unknown, string]>([
  [
    'of tokens under other names',
    { inputTokens: 1, outputTokens: 5 },
    'has no field "inputTokens"; it is called "input"',
  ],
  ['without an output', { input: 1 }, 'output must be dollars per million tokens, not undefined'],
  ['that is a text', { input: '1', output: 5 }, 'input must be dollars per million tokens, not "1"'],
  ['below zero', { input: 1, output: 5, cacheRead: -1 }, 'cacheRead must be dollars per million tokens, not -1'],
  ['that is a number', 5, 'must be an object of options'],
])('a price %s is refused: a cost limit would never be reached', (_, price, message) => {
  const own = { 'anthropic/claude-haiku-4-5': price } as Record<string, { input: number; output: number }> // untyped callers
  expect(() => createPriceOf(own)).toThrow(
    expect.objectContaining({ code: 'invalid_option', message: expect.stringContaining(message) as string }),
  )
})
