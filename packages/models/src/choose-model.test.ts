// The choice of a model: which one, why, and what a person is told who named one that cannot be used.
import type { HttpRequest } from '@baton/core'
import { isBatonError } from '@baton/core'
import { createScriptedModel } from '@baton/core/testing'
import { expect, test } from 'vitest'
import type { ChooseModelInit } from './choose-model.ts'
import { chooseModel, createModelOf } from './choose-model.ts'

const KEY = { ANTHROPIC_API_KEY: 'sk-1' }

test.each<[string, ChooseModelInit, string, string]>([
  ['nothing is set', { variables: {} }, 'offline', 'because no key is set; set ANTHROPIC_API_KEY for a real model'],
  [
    'an empty key is none',
    { variables: { ANTHROPIC_API_KEY: ' ' } },
    'offline',
    'because no key is set; set ANTHROPIC_API_KEY for a real model',
  ],
  ['a key', { variables: KEY }, 'anthropic/claude-haiku-4-5', 'because ANTHROPIC_API_KEY is set'],
  [
    'a key and a model',
    { variables: { ...KEY, ANTHROPIC_MODEL: 'claude-x' } },
    'anthropic/claude-x',
    'because ANTHROPIC_API_KEY is set',
  ],
  [
    'a provider',
    { variables: { ...KEY, MODEL_PROVIDER: 'anthropic' } },
    'anthropic/claude-haiku-4-5',
    'because MODEL_PROVIDER is anthropic',
  ],
  [
    'the provider is a choice, a key is not',
    { variables: { ...KEY, MODEL_PROVIDER: 'offline' } },
    'offline',
    'because MODEL_PROVIDER is offline',
  ],
  [
    'the agent before the variables',
    { agentModels: ['offline'], variables: KEY },
    'offline',
    'because the agent names it',
  ],
  [
    'an agent with a model of its own',
    { agentModels: [createScriptedModel({ steps: [] })], variables: {} },
    'scripted/model',
    'because the agent brings it',
  ],
  [
    'the flag before all',
    { flag: 'anthropic/claude-y', agentModels: ['offline'], variables: KEY },
    'anthropic/claude-y',
    'because the option --model names it',
  ],
])('%s', (_situation, init, id, reason) => {
  expect(chooseModel(init)).toEqual({ id, reason })
})

test.each<[ChooseModelInit, string, string]>([
  [
    { flag: 'anthropic/claude-y', variables: {} },
    'model_not_configured',
    'the model anthropic/claude-y needs a key; set ANTHROPIC_API_KEY, or use the model "offline"',
  ],
  [
    { agentModels: ['anthropic/z'], variables: {} },
    'model_not_configured',
    'the model anthropic/z needs a key; set ANTHROPIC_API_KEY, or use the model "offline"',
  ],
  [
    { variables: { MODEL_PROVIDER: 'bedrock' } },
    'unknown_model',
    'the provider "bedrock" is not supported yet; use "anthropic/<model>" or "offline"',
  ],
  [
    { flag: 'claude-haiku-4-5', variables: KEY },
    'unknown_model',
    'no model is named "claude-haiku-4-5"; did you mean "anthropic/claude-haiku-4-5"?',
  ],
  [{ flag: 'gpt', variables: KEY }, 'unknown_model', 'no model is named "gpt"; use "anthropic/<model>" or "offline"'],
  [{ flag: '', variables: KEY }, 'unknown_model', 'no model is named ""; use "anthropic/<model>" or "offline"'],
  [
    { flag: 'anthropic/', variables: KEY },
    'unknown_model',
    'no model is named "anthropic/"; use "anthropic/<model>" or "offline"',
  ],
])('%j is refused', (init, code, message) => {
  expect(thrownBy(() => chooseModel(init))).toEqual([code, message])
})

function thrownBy(act: () => unknown): readonly string[] {
  try {
    act()
    return []
  } catch (error) {
    return isBatonError(error) ? [error.code, error.message] : [String(error)]
  }
}

test('a model is made once, with the address and the output tokens of the variables', async () => {
  const asked: HttpRequest[] = []
  const modelOf = createModelOf({
    variables: { ...KEY, ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', ANTHROPIC_MAX_TOKENS: '5000' },
    clock: { nowMs: () => 0 },
    transport: {
      post: (request) => {
        asked.push(request)
        return Promise.reject(new Error('no network in this test'))
      },
    },
  })
  const model = modelOf('anthropic/claude-y')
  expect(modelOf('anthropic/claude-y')).toBe(model)
  expect(modelOf('offline').id).toBe('offline')
  const request = {
    instructions: '',
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
    tools: [],
    toolChoice: { type: 'auto' },
    settings: {},
    session: 's',
  } as const
  const run = (settings: object) =>
    model.run({ ...request, settings }, () => {}, new AbortController().signal).catch(() => {})
  await run({})
  await run({ maxOutputTokens: 7 })
  expect(asked.map(({ url, body }) => [url, (JSON.parse(body) as { max_tokens: number }).max_tokens])).toEqual([
    ['http://127.0.0.1:1/v1/messages', 5000],
    ['http://127.0.0.1:1/v1/messages', 7],
  ])
})

const WRONG_ADDRESS = 'ANTHROPIC_BASE_URL must be an address such as https://api.anthropic.com, without a query, not '
const WRONG_KEY = 'ANTHROPIC_API_KEY has a line break or another character that no key has; set it to the key alone'

test.each([
  ['ANTHROPIC_MAX_TOKENS', 'many', 'ANTHROPIC_MAX_TOKENS must be a whole number above 0, not "many"'],
  ['ANTHROPIC_BASE_URL', 'notaurl', `${WRONG_ADDRESS}"notaurl"`],
  ['ANTHROPIC_BASE_URL', 'localhost:8080', `${WRONG_ADDRESS}"localhost:8080"`],
  ['ANTHROPIC_BASE_URL', 'http://', `${WRONG_ADDRESS}"http://"`],
  ['ANTHROPIC_BASE_URL', 'https://me:pass@gateway.example/?key=1', `${WRONG_ADDRESS}"https://gateway.example/"`],
  ['ANTHROPIC_API_KEY', 'sk-1\nsk-2', WRONG_KEY],
  ['ANTHROPIC_API_KEY', 'sk-1…', WRONG_KEY],
])('%s=%j is refused at the start', (name, value, message) => {
  const init = { transport: { post: () => Promise.reject(new Error('unused')) }, clock: { nowMs: () => 0 } }
  expect(thrownBy(() => createModelOf({ ...init, variables: { [name]: value } }))).toEqual(['invalid_option', message])
})
