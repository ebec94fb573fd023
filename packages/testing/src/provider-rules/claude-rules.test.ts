// The rules for Claude requests, each with a request that breaks only that rule: a rule that never triggers checks
// nothing.
import type { JsonObject } from '@baton/core'
import { expect, test } from 'vitest'
import { checkClaude, readAnthropicFields } from './claude-rules.ts'

const TOOL = { type: 'tool', name: 'scan' }

test.each<[name: string, model: string, fields: JsonObject, refusal: RegExp]>([
  ['a tool forced by name', 'claude-opus-5-5', { tool_choice: TOOL }, /forces tool use/],
  ['any tool forced', 'claude-opus-5-5', { tool_choice: { type: 'any' } }, /forces tool use/],
  [
    'a forced tool beside thoughts',
    'claude-sonnet-4-5',
    { tool_choice: TOOL, thinking: { type: 'enabled', budget_tokens: 2048 } },
    /Thinking may not be enabled/,
  ],
  [
    'a budget',
    'claude-opus-5',
    { thinking: { type: 'enabled', budget_tokens: 2048 } },
    /is not supported for this model/,
  ],
  ['adaptive thoughts', 'claude-opus-4-5', { thinking: { type: 'adaptive' } }, /adaptive thinking is not supported/],
  ['no thoughts', 'claude-opus-5-5', { thinking: { type: 'disabled' } }, /"thinking.type.disabled" is not supported/],
  ['a temperature', 'claude-opus-5', { temperature: 0.5 }, /`temperature` is deprecated/],
  ['both ways of sampling', 'claude-opus-4-5', { temperature: 0.5, top_p: 0.5 }, /cannot both be specified/],
  [
    'an effort that the model does not know',
    'claude-opus-4-5',
    { output_config: { effort: 'low' } },
    /effort parameter/,
  ],
  ['an effort that nobody knows', 'claude-opus-5', { output_config: { effort: 'huge' } }, /effort is one of/],
  ['too many tokens', 'claude-sonnet-4-5', { max_tokens: 64_001 }, /above the maximum/],
  [
    'a budget above the tokens',
    'claude-sonnet-4-5',
    { thinking: { type: 'enabled', budget_tokens: 16_000 }, max_tokens: 16_000 },
    /must be greater than thinking.budget_tokens/,
  ],
])('%s is refused to %s', (_name, model, fields, refusal) => {
  const broken = checkClaude(model, readAnthropicFields({ max_tokens: 16_000, ...fields }))
  expect(broken).toContainEqual(expect.stringMatching(refusal))
})

test.each(['claude-opus-4-5', 'claude-opus-5', 'claude-opus-5-5', 'claude-sonnet-4-5'])(
  'a plain request is fine for %s',
  (model) => {
    expect(checkClaude(model, readAnthropicFields({ max_tokens: 16_000 }))).toEqual([])
  },
)
