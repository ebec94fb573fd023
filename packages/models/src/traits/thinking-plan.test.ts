// Thinking settings and their token budget, by request and by model.
import type { ModelSettings } from '@baton/core'
import { expect, test } from 'vitest'
import { findTraits } from './find-traits.ts'
import { limitOutput, planThinking } from './thinking-plan.ts'

const plan = (model: string, settings: ModelSettings) => planThinking(findTraits({ model }).traits, settings)

test.each<[string, ModelSettings, object]>([
  ['gpt-4.1', { effort: 'high' }, { isOn: false, roomTokens: 0 }],
  ['claude-haiku-4-5', {}, { isOn: false, roomTokens: 0 }],
  ['claude-haiku-4-5', { reasoningTokens: 1 }, { isOn: true, budget: 1024, roomTokens: 1024 }],
  ['claude-haiku-4-5', { effort: 'medium' }, { isOn: true, budget: 8192, roomTokens: 8192 }],
  ['claude-opus-5', {}, { isOn: false, roomTokens: 0 }],
  ['claude-opus-5', { reasoningTokens: 20_000 }, { isOn: true, isAsked: true, effort: 'high', roomTokens: 32_768 }],
  ['claude-opus-5', { reasoningTokens: 50_000 }, { effort: 'high', roomTokens: 50_000 }],
  ['claude-opus-5', { reasoningTokens: 50_000, effort: 'none' }, { isOn: false, roomTokens: 0 }],
  ['claude-opus-5-5', {}, { isOn: true, isAsked: false, effort: 'low', roomTokens: 8192 }],
  ['claude-opus-5-5', { effort: 'none' }, { isOn: true, isAsked: false, effort: 'low', roomTokens: 8192 }],
  ['claude-sonnet-5-5', {}, { isOn: true, isAsked: false, roomTokens: 2048 }],
  ['claude-opus-4-6', { effort: 'xhigh' }, { effort: 'max', roomTokens: 98_304 }],
  ['gpt-5.6-sol', {}, { isOn: false, effort: 'none', roomTokens: 0 }],
  ['gpt-5-pro', { effort: 'low' }, { effort: 'high', roomTokens: 32_768 }],
  ['gpt-5-mini', { effort: 'max' }, { effort: 'high' }],
  ['gemini-3-pro-preview', { effort: 'medium' }, { effort: 'high' }],
  ['gemini-2.5-pro', {}, { isOn: true, budget: 128, roomTokens: 2048 }],
  ['qwen3', {}, { isOn: true, isAsked: false, roomTokens: 8192 }],
])('%s with %j', (model, settings, expected) => {
  expect(plan(model, settings)).toMatchObject(expected)
})

test('a request asks for no more than the model can write, and leaves half of a known window to the question', () => {
  const { traits } = findTraits({ model: 'claude-haiku-4-5' })
  const most = plan('claude-haiku-4-5', { reasoningTokens: 90_000 })
  const request = { instructions: '', messages: [] }
  expect(limitOutput(traits, 2048, { plan: most, request })).toBe(64_000)
  const small = findTraits({ model: 'qwen3', override: { contextTokens: 4096 } }).traits
  expect(limitOutput(small, 512, { plan: planThinking(small, {}), request })).toBe(2048)
})

test.each([
  ['a short question: all that the model can write', 3000, 64_000],
  ['a long history: what the window has room for', 450_000, 42_000],
  ['a full window: enough for an answer', 600_000, 4096],
])('without a number, %s', (_, chars, tokens) => {
  const { traits } = findTraits({ model: 'claude-haiku-4-5' })
  const messages = [{ role: 'user' as const, parts: [{ type: 'text' as const, text: 'x'.repeat(chars) }] }]
  const asked = { plan: plan('claude-haiku-4-5', {}), request: { instructions: '', messages } }
  expect(limitOutput(traits, undefined, asked)).toBe(tokens)
  expect(limitOutput(findTraits({ model: 'my-own' }).traits, undefined, asked)).toBeUndefined()
})
