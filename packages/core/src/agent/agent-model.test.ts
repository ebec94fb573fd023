// An agent whose model or settings cannot work is refused when it is defined, not at its first answer.
import { expect, test } from 'vitest'
import { createScriptedModel } from '../testing/scripted-model.ts'
import { defineAgent } from './agent.ts'
import { outputTokensFor } from './model.ts'

const fromAiSdk = { specificationVersion: 'v4', modelId: 'm', provider: 'p', doStream: () => {}, doGenerate: () => {} }

test.each<[string, unknown]>([
  ['a model of the AI SDK', fromAiSdk],
  ['one without an id', { run: () => {}, capabilities: {} }],
  ['one without capabilities', { id: 'm', run: () => {} }],
  ['a number', 42],
  ['a name without characters', ''],
])('%s is no model', (_what, model) => {
  const define = () => defineAgent({ name: 'a', model: model as string })
  expect(define).toThrow(expect.objectContaining({ code: 'invalid_agent' }))
  expect(() => defineAgent({ name: 'a', model: ['offline', model as string] })).toThrow(/agent "a": model must be/)
})

test('a model of the AI SDK is told how to become one', () => {
  const refusal = { hint: 'Convert an AI SDK model with fromAiSdkModel from @baton/models/ai-sdk.' }
  expect(() => defineAgent({ name: 'a', model: fromAiSdk as never })).toThrow(expect.objectContaining(refusal))
})

test.each<[object, RegExp]>([
  [{ effort: 'ultra' }, /effort must be "none"/],
  [{ temperature: 'hot' }, /temperature/],
  [{ maxTokens: 5000 }, /maxTokens/],
  [{ serverTools: { anthropic: { type: 'web_search' } } }, /serverTools/],
  [{ serverTools: [{ type: 'web_search' }] }, /serverTools/],
])('settings %j are refused', (settings, message) => {
  const model = createScriptedModel({ steps: () => ({ text: 'x' }) })
  const define = () => defineAgent({ name: 'a', model, settings })
  expect(define).toThrow(expect.objectContaining({ code: 'invalid_agent', message: expect.stringMatching(message) }))
})

test('with moreForTools, tools leave room for arguments, those of the provider too', () => {
  const maxOutputTokens = 512
  const serverTools = { anthropic: [{ type: 'web_search_20250305' }] }
  expect(outputTokensFor({ maxOutputTokens, serverTools }, true)).toBe(512)
  const settings = { maxOutputTokens, moreForTools: true }
  expect(outputTokensFor(settings, false)).toBe(512)
  expect(outputTokensFor(settings, true)).toBe(2048)
  expect(outputTokensFor({ ...settings, serverTools: { anthropic: [] } }, false)).toBe(512)
  expect(outputTokensFor({ ...settings, serverTools }, false)).toBe(2048)
  expect(outputTokensFor({ ...settings, maxOutputTokens: 5000 }, true)).toBe(5000)
  expect(outputTokensFor({ moreForTools: true, serverTools }, true)).toBeUndefined()
})
