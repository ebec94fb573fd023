// Requests that OpenAI rejects for each model, as of November 2026: developers.openai.com/api/docs/guides/reasoning and
// models, vane#1173, docs.laozhang.ai gpt-6-chat-tools-2026-11, and recordings with gpt-5.6.
import type { JsonObject } from '@baton/core'
import type { Refusal } from './rule.ts'
import { STARVED, THOUGHTS_TOKENS_MIN, VOICE_TOKENS, listAt, listBroken, numberAt, objectAt, textAt } from './rule.ts'

/** Efforts by model, from the models' pages; models not listed here do not think. */
const EFFORTS: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^gpt-6-astra|^gpt-6\.1-sol/, ['low', 'medium', 'high', 'xhigh', 'max']],
  [/^gpt-6|^gpt-5\.6/, ['none', 'low', 'medium', 'high', 'xhigh', 'max']],
  [/^gpt-5-pro/, ['high']],
  [/^gpt-5\.[2-5]/, ['none', 'low', 'medium', 'high', 'xhigh']],
  [/^gpt-5\.1/, ['none', 'low', 'medium', 'high']],
  [/^gpt-5/, ['minimal', 'low', 'medium', 'high']],
  [/^o\d/, ['low', 'medium', 'high']],
]

export function checkResponses(body: JsonObject): readonly Refusal[] {
  const effort = objectAt(body, 'reasoning')['effort']
  const maxTokens = numberAt(body, 'max_output_tokens')
  return checkBoth(body, effort, maxTokens)
}

export function checkChat(body: JsonObject): readonly Refusal[] {
  const { reasoning_effort: effort } = body
  const needsNone = /^gpt-5\.([2-9])|^gpt-6/.test(textAt(body, 'model'))
  const beside = listAt(body, 'tools').length > 0 && effort !== 'none'
  return [
    ...checkBoth(body, effort, numberAt(body, 'max_completion_tokens')),
    ...listBroken([
      [needsNone && beside, 'Function tools with reasoning_effort are not supported in /v1/chat/completions.'],
      [body['max_tokens'] !== undefined, "'max_tokens' is not supported with this model."],
    ]),
  ]
}

function checkBoth(body: JsonObject, effort: unknown, maxTokens: number): readonly Refusal[] {
  const model = textAt(body, 'model')
  const allowed = EFFORTS.find(([pattern]) => pattern.test(model))?.[1] ?? []
  const thinks = allowed.length > 0 && effort !== 'none'
  const samples = body['temperature'] !== undefined || body['top_p'] !== undefined
  const forbidsParallel = body['parallel_tool_calls'] !== undefined
  return listBroken([
    [effort !== undefined && !allowed.some((one) => one === effort), `effort is one of ${allowed.join(', ')}`],
    [samples && thinks, "'temperature' is not supported with this model."],
    [thinks && maxTokens < VOICE_TOKENS + THOUGHTS_TOKENS_MIN, STARVED],
    [maxTokens > (model === 'gpt-5-pro' ? 272_000 : 128_000), 'max_output_tokens is above the maximum of the model'],
    [/^o\d/.test(model) && forbidsParallel, "'parallel_tool_calls' is not supported with this model"],
    [/^(gpt-5|gpt-6|o\d)/.test(model) && body['stop'] !== undefined, "'stop' is not supported with this model."],
  ])
}
