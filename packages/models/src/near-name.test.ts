// Misspelled model names: the suggested corrections, and where they appear.
import type { Model } from '@baton/core'
import { BatonError } from '@baton/core'
import { expect, test } from 'vitest'
import { createModelOf } from './choose-model.ts'
import { answerWith, HELLO, JSON_TYPE } from './memory-transport.test-kit.ts'
import { findMeantModel, withMeantName } from './near-name.ts'

test.each([
  ['anthropic', 'claude-sonet-5', 'claude-sonnet-5'],
  ['anthropic', 'cluade-haiku-4-5', 'claude-haiku-4-5'],
  ['anthropic', 'claude-sonnet-5', undefined],
  ['anthropic', 'claude-sonnet-9', undefined],
  ['openai', 'gpt-5-mni', 'gpt-5-mini'],
  ['openai', 'gpt-5', undefined],
  ['openai', 'gpt-9', undefined],
  ['gemini', 'gemini-2.5-flsh', 'gemini-2.5-flash'],
  ['ollama', 'qwne3', undefined],
  ['constructor', 'claude-sonet-5', undefined],
])('the model of %s that is named %s may be %s', (provider, model, meant) => {
  expect(findMeantModel(provider, model)).toBe(meant)
})

const answer = (code: 'model_not_found' | 'model_overloaded'): Model => ({
  id: 'anthropic/claude-sonet-5',
  provider: 'anthropic',
  capabilities: { tools: 'native', images: true },
  run: () => Promise.reject(new BatonError({ code, message: 'no' })),
})
const signal = new AbortController().signal

test('only a provider that does not know the model makes the name doubtful', async () => {
  const meant = 'anthropic/claude-sonnet-5'
  await expect(withMeantName(answer('model_not_found'), meant).run(HELLO, () => {}, signal)).rejects.toMatchObject({
    code: 'model_not_found',
    message: 'no; did you mean "anthropic/claude-sonnet-5"?',
  })
  await expect(withMeantName(answer('model_overloaded'), meant).run(HELLO, () => {}, signal)).rejects.toMatchObject({
    message: 'no',
  })
})

test('a model that is found by its name says so of itself, and when it is asked', async () => {
  const body = '{"type":"error","error":{"type":"not_found_error","message":"model: claude-sonet-5"}}'
  const { transport, clock } = answerWith({ status: 404, ...JSON_TYPE }, body)
  const model = createModelOf({ variables: { ANTHROPIC_API_KEY: 'k' }, transport, clock })('anthropic/claude-sonet-5')
  expect(model.capabilities.meantId).toBe('anthropic/claude-sonnet-5')
  await expect(model.run(HELLO, () => {}, signal)).rejects.toMatchObject({
    code: 'model_not_found',
    message: expect.stringContaining('did you mean "anthropic/claude-sonnet-5"?'),
  })
})
