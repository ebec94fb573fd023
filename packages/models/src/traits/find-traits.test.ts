// Names as people, gateways and Bedrock write them, and names that no row matches.
import { expect, test } from 'vitest'
import { TRAITS_TABLE, describeCapabilities, findTraits } from './find-traits.ts'

test.each([
  ['claude-opus-5-5', 'Claude Opus 5.5'],
  ['us.anthropic.claude-opus-5-5', 'Claude Opus 5.5'],
  ['anthropic/claude-opus-5.5', 'Claude Opus 5.5'],
  ['anthropic/claude-opus-5.5:thinking', 'Claude Opus 5.5'],
  ['claude-haiku-4-5-20251001', 'Claude 4.5'],
  ['global.anthropic.claude-haiku-4-5-20251001-v1:0', 'Claude 4.5'],
  ['claude-sonnet-4-5@20250929', 'Claude 4.5'],
  ['claude-opus-4-20250514', 'Claude Opus 4'],
  ['claude-3-7-sonnet-latest', 'Claude Sonnet 4, Sonnet 3.7'],
  ['claude-3-5-haiku-20241022', 'Claude 3.5'],
  ['claude-2.1', 'Claude 3 and before'],
  ['gpt-5-mini-2025-08-07', 'GPT-5'],
  ['openai/gpt-5.6-sol', 'GPT-5.6'],
  ['gpt-5-chat-latest', 'GPT-5 chat'],
  ['ft:gpt-4.1-mini:acme::abc', 'GPT-4.1'],
  ['gpt-4o', 'GPT-4o'],
  ['o4-mini', 'o1, o3, o4'],
  ['gpt-oss:20b', 'gpt-oss'],
  ['gemini-3-pro-preview', 'Gemini 3 Pro'],
  ['models/gemini-2.5-flash-lite-preview-09-2025', 'Gemini 2.5 Flash-Lite'],
  ['gemini-flash-latest', 'Gemini Flash and Pro, latest'],
  ['gemini-1.5-pro-002', 'Gemini 2.0 and before'],
  ['arn:aws:bedrock:us-east-1:1:inference-profile/us.amazon.nova-lite-v1:0', 'Nova'],
  ['Qwen/Qwen3-8B', 'Qwen 3 and later'],
  ['qwen3-coder:30b', 'Qwen without thinking'],
  ['deepseek-ai/DeepSeek-V3.1', 'DeepSeek 3.1 and later'],
  ['accounts/fireworks/models/deepseek-v3p2', 'DeepSeek 3.1 and later'],
  ['my-model', 'All others'],
])('%s is %s', (model, row) => {
  expect(findTraits({ model })).toMatchObject({ row, isAssumed: false })
})

test.each([
  ['claude-opus-6', 'Claude Fable 5.1'],
  ['claude-sonnet-5-7', 'Claude Fable 5.1'],
  ['gpt-7-sol', 'GPT-6 Astra, GPT-6.1 Sol'],
  ['gpt-6.2-sol', 'GPT-6 Astra, GPT-6.1 Sol'],
  ['gemini-4-flash', 'Gemini 3.7 and 3.8 Flash'],
  ['grok-5', 'Grok 4.5 and 4.6'],
])('%s, which no row knows, is taken for %s and says so', (model, newest) => {
  const { row, isAssumed, traits } = findTraits({ model })
  expect([row, isAssumed]).toEqual([newest, true])
  expect(traits.thinking.off).toBe('never')
  expect(describeCapabilities({ model }).assumedTraits).toBe(newest)
})

test('a name that says nothing is of the family that is asked for, or of none', () => {
  const model = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/abc'
  expect(findTraits({ model, family: 'claude' }).family).toBe('claude')
  expect(findTraits({ model })).toMatchObject({ family: 'other', isAssumed: false })
})

test('a user knows better', () => {
  const override = { contextTokens: 9, images: false, thinking: { off: 'disabled' } } as const
  const { traits } = findTraits({ model: 'claude-opus-6', override })
  expect([traits.contextTokens, traits.images, traits.thinking]).toEqual([
    9,
    false,
    { kind: 'adaptive', efforts: ['low', 'medium', 'high', 'xhigh', 'max'], off: 'disabled' },
  ])
  expect(describeCapabilities({ model: 'claude-opus-6', override })).toMatchObject({
    contextTokens: 9,
    images: false,
  })
})

test.each([
  ['claude-haiku-4-5', 200_000],
  ['claude-opus-5-5', 1_000_000],
  ['gpt-5-mini', 400_000],
  ['gemini-2.5-pro', 1_048_576],
  ['qwen3', undefined],
])('the window of %s has %s tokens', (model, tokens) => {
  expect(describeCapabilities({ model }).contextTokens).toBe(tokens)
})

test('rows say when and from where, the newest of each family first', () => {
  for (const row of TRAITS_TABLE) {
    expect(row.source).not.toBe('')
    expect(row.checked).toMatch(/^20\d\d-\d\d$/)
  }
})
