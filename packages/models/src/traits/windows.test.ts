// Context windows from the third-party list.
import { expect, test } from 'vitest'
import { findListedWindow } from './windows.ts'

test.each([
  ['openai', 'gpt-4', 8192],
  ['bedrock', 'us.amazon.nova-lite-v1:0', 300_000],
  ['xai', 'grok-3', 131_072],
  ['fireworks', 'accounts/fireworks/models/kimi-k3', 1_040_000],
  ['ollama', 'qwen3', undefined],
  ['openai', 'my-deployment', undefined],
  ['constructor', 'x', undefined],
])('the window of %s/%s has %s tokens', (provider, model, tokens) => {
  expect(findListedWindow(provider, model)).toBe(tokens)
})
