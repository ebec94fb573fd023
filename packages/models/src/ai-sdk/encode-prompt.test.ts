// The bridge's settings and thinking, depending on the model behind it.
import type { ModelSettings } from '@baton/core'
import { expect, test } from 'vitest'
import { createToolNames } from '../tool-names.ts'
import { encodeCallOptions } from './encode-prompt.ts'

function encode(model: string, settings: ModelSettings) {
  const { reasoning, maxOutputTokens, temperature, topP, stopSequences, seed, providerOptions } = encodeCallOptions(
    {
      instructions: '',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
      tools: [],
      toolChoice: { type: 'auto' },
      settings: { maxOutputTokens: 512, ...settings },
      session: 's',
    },
    { provider: 'ai-sdk:x', model, names: createToolNames([]) },
  )
  return { reasoning, maxOutputTokens, temperature, topP, stopSequences, seed, providerOptions }
}

test.each<[string, ModelSettings, object]>([
  ['m', {}, { reasoning: undefined, maxOutputTokens: 512 }],
  ['claude-opus-5', {}, { reasoning: 'none', maxOutputTokens: 512 }],
  ['claude-opus-5-5', {}, { reasoning: 'low', maxOutputTokens: 8704 }],
  ['claude-opus-5-5', { temperature: 0.3 }, { temperature: undefined }],
  ['gpt-5.6-sol', { temperature: 0.3 }, { reasoning: 'none', temperature: 0.3 }],
  ['gemini-2.5-flash', {}, { reasoning: 'none', maxOutputTokens: 512 }],
  ['claude-haiku-4-5', { effort: 'medium' }, { reasoning: 'medium', maxOutputTokens: 8704 }],
  ['deepseek-r1', {}, { reasoning: undefined, maxOutputTokens: 8704 }],
])('%s with %j', (model, settings, expected) => {
  expect(encode(model, settings)).toMatchObject(expected)
})

test('other settings, and fields for providers', () => {
  const provider = { anthropic: { metadata: { userId: 'u' } } }
  const settings = { topP: 0.5, stop: ['END'], seed: 7, provider }
  expect(encode('m', settings)).toMatchObject({ topP: 0.5, stopSequences: ['END'], seed: 7, providerOptions: provider })
})
