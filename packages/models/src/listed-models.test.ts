// Context windows from the extract of the third-party list.
import { calcPrice, findProvider } from '@pydantic/genai-prices'
import { expect, test } from 'vitest'
import { findListedWindow, LISTED_PROVIDERS } from './listed-models.ts'

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

test('the extract gives every model the window that the list itself gives it', () => {
  const wrong = Object.entries(LISTED_PROVIDERS).flatMap(([provider, providerId]) => {
    const names = (findProvider({ providerId })?.models ?? []).flatMap(({ id }, index) =>
      index % 8 === 0 ? [id, id.toUpperCase(), `${id}-20250807`, `us.${id}-v1:0`] : [id],
    )
    return names
      .filter((name) => findListedWindow(provider, name) !== listedWindow(providerId, name))
      .map((name) => `${provider}/${name}`)
  })
  expect(wrong).toEqual([])
})

function listedWindow(providerId: string, name: string): number | undefined {
  try {
    return calcPrice({ input_tokens: 0, output_tokens: 0 }, name, { providerId })?.model.context_window
  } catch {
    return findProvider({ providerId })?.models.find(({ id }) => id === name)?.context_window
  }
}
